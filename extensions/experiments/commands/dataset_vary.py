"""Command ``turnwise dataset vary``: writes the entries of an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from envs.errors import DataError
from extensions.authoring.making.build import lines
from extensions.experiments.axes import FLAG, Levels, parse_axes, vary_dataset
from runner.commands import DONE
from runner.commands.common_options import EntriesOptions, note
from runner.commands.options import argument, index, option
from runner.data import dataset_choice
from runner.records.durable_files import write_files
from runner.show.terminal import format_count, say
from trajectories.schema import Category

EXAMPLE = "turnwise dataset vary wide --vary tools=40 --category base"
_OF_DATA = ("tools", "distractors", "words", "context")


@dataclass(frozen=True, kw_only=True)
class Options(EntriesOptions):
    """Options for the levels and the output folder."""

    folder: Path = argument("folder for the entries", "FOLDER")
    vary: tuple[str, ...] = option(
        "axis and level: tools=need, tools=N, tools=all, distractors=far, distractors=near, "
        "words=FILE or context=16k; repeatable",
        "AXIS=LEVEL",
        required=True,
    )
    vary_seed: int = option("seed of random draws", "S", default=0, read=index)


def run(options: Options) -> int:
    """Write the varied entries, one file per category."""
    axes = parse_axes(options.vary)
    for axis in axes:
        if axis.name not in _OF_DATA:
            known = ", ".join(_OF_DATA)
            raise DataError(FLAG, f"{axis.name} does not change entries; choose from {known}")
        if len(axis.levels) > 1:
            raise DataError(
                FLAG, f"{axis.name}: needs a single level; run the command once for each level"
            )
    if not options.folder.is_dir():
        raise DataError(str(options.folder), "is not a folder; create it first")
    dataset = dataset_choice.load_named(options.dataset, options.category, note)
    everything = dataset_choice.list_entries(dataset, None, options.subset, options.tag)
    chosen = dataset_choice.select_entries(everything, options.ids, options.limit)
    levels = Levels({axis.name: axis.levels[0] for axis in axes}, options.vary_seed)
    made = vary_dataset(dataset, levels, [trajectory.id for trajectory in chosen])
    if made.left_out:
        note(f"skipped {format_count(len(made.left_out), 'entry')}: a level cannot be applied")
    if made.raised:
        note(f"{made.raised} entries exceed the level, because they need more functions")
    entries = [*made.dataset.trajectories.values()]
    grouped = {c: [entry for entry in entries if entry.category is c] for c in Category}
    parts = {options.folder / f"{c}.jsonl": some for c, some in grouped.items() if some}
    write_files({path: map(str.encode, [lines(some)]) for path, some in parts.items()}, named=True)
    for path, some in parts.items():
        say(f"{path}: {format_count(len(some), 'entry')}")
    return DONE
