"""The command ``turnwise dataset vary``: the entries of an experiment as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from extensions.authoring.making.build import lines
from extensions.experiments.vary import FLAG, Levels, axes_of, varied
from runner.commands import DONE
from runner.commands.options import argument, index, option
from runner.commands.shared import EntriesOptions, note
from runner.data import choose
from runner.records.files import written
from runner.show.terminal import say
from trajectories.errors import DataError
from trajectories.schema import Category

EXAMPLE = "turnwise dataset vary wide --vary tools=40 --category base"
_OF_DATA = ("tools", "distractors", "words")


@dataclass(frozen=True, kw_only=True)
class Options(EntriesOptions):
    """What to vary, and how."""

    folder: Path = argument("where to write them", "FOLDER")
    vary: tuple[str, ...] = option(
        "one level of an axis that is data: tools=need, a number or all; distractors=far or near; "
        "words=FILE; may be repeated",
        "AXIS=LEVEL",
        required=True,
    )
    vary_seed: int = option("seed of what is drawn", "S", default=0, read=index)


def run(options: Options) -> int:
    """Write the varied entries, a file for each category."""
    axes = axes_of(options.vary)
    for axis in axes:
        if axis.name not in _OF_DATA:
            known = ", ".join(_OF_DATA)
            raise DataError(FLAG, f"{axis.name} is no data, but how they are shown; data: {known}")
        if len(axis.levels) > 1:
            raise DataError(FLAG, f"{axis.name}: one level makes one data set; run it for each")
    if not options.folder.is_dir():
        raise DataError(str(options.folder), "is no folder; make it first")
    dataset = choose.dataset_named(options.dataset, options.category, note)
    everything = choose.trajectories(dataset, None, options.split)
    chosen = choose.part(everything, options.ids, options.limit, None, 0)
    levels = Levels({axis.name: axis.levels[0] for axis in axes}, options.vary_seed)
    made = varied(dataset, levels, [trajectory.id for trajectory in chosen])
    if made.left_out:
        note(f"{len(made.left_out)} entries are left out: they cannot be varied so")
    if made.raised:
        note(f"{made.raised} entries need more functions than that, and have what they need")
    entries = [*made.dataset.trajectories.values()]
    for category in Category:
        mine = [entry for entry in entries if entry.category is category]
        if mine:
            path = options.folder / f"{category}.jsonl"
            with written(path) as file:
                file.write(lines(mine))
            say(f"{path}: {len(mine)} entries")
    return DONE
