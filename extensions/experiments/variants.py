"""Runs of ``--vary``, one for each combination of levels that the experiment compares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from shlex import quote

from envs.errors import DataError
from envs.registry import BACKENDS, list_tools, load_library
from extensions.experiments.axes import (
    FLAG,
    Axis,
    Levels,
    VariedData,
    parse_axes,
    plan_blocks,
    vary_dataset,
)
from extensions.experiments.context_lengths import ContextEntries
from extensions.experiments.experiment_lines import experiment_lines
from extensions.experiments.experiment_scores import VaryFile, load_experiment, write_vary_file
from extensions.experiments.feature import VaryFeature, VaryOptions
from extensions.experiments.paraphrases import find_defects
from runner.analysis.variant_table import variant_lines
from runner.commands.common_options import note
from runner.commands.eval_options import EvalOptions
from runner.commands.variant_types import Variant, VariantSet
from runner.live.live_run import RunInputs, function_docs_folder
from runner.models.toolbox import documents_of
from trajectories.dataset import Dataset
from trajectories.replay_queries import list_own_functions
from trajectories.schema import Trajectory

_REASON = "there are no distractors, no valid texts, or no results of this length"


def make_vary_variants(
    options: EvalOptions, own: VaryOptions, plan: RunInputs, trajectories: Sequence[Trajectory]
) -> VariantSet:
    """Return one run for each combination of levels in the plan of ``--vary``.

    Raises DataError if an axis, a level or a file cannot be used, or no entry is left.
    """
    axes = parse_axes(own.vary)
    if plan.settings.mode == "prompt" and any(axis.name == "names" for axis in axes):
        raise DataError(
            FLAG,
            "the axis `names` needs tool calls (fc), because calls in text contain the real names",
        )
    blocks = plan_blocks(axes, own.design, own.vary_seed)
    runs = {levels.name: levels for block in blocks for levels in block.runs.values()}
    ids = [trajectory.id for trajectory in trajectories]
    notes = [*_drop_unequal(plan.dataset, axes, ids)]
    members, sizes = [], {}
    for name, levels in runs.items():
        made = vary_dataset(plan.dataset, levels, ids)
        if not made.sizes:
            raise DataError(FLAG, f"{name}: cannot vary the {len(ids)} entries: {_REASON}")
        _check_words(levels, made, plan)
        notes += _describe_changes(name, made)
        changed = plan.with_feature(VaryFeature(levels))._replace(dataset=made.dataset)
        members.append(Variant(name, changed, [*made.dataset.trajectories.values()]))
        sizes[name] = made.sizes
    file = VaryFile.of(blocks, sizes, trajectories, own.design, options.trials)

    def begin(folder: Path) -> None:
        write_vary_file(file, folder)
        for line in notes:
            note(line)

    lines = partial(variant_lines, "run")
    return VariantSet(FLAG, "run", members, lines, begin, partial(_result_lines, options))


def _drop_unequal(dataset: Dataset, axes: Sequence[Axis], ids: list[str]) -> Iterator[str]:
    """Remove from ``ids`` the entries that cannot have every context length."""
    for axis in axes:
        if axis.name == "context":
            lengths = [ContextEntries(dataset, level) for level in axis.levels]
            kept = [id for id in ids if all(each.resized(id) for each in lengths)]
            if len(kept) < len(ids):
                omitted = len(ids) - len(kept)
                yield f"{omitted} entries are omitted: some of the requested lengths are impossible"
            ids[:] = kept


def _result_lines(options: EvalOptions, folder: Path) -> Iterator[str]:
    yield from experiment_lines([load_experiment(folder, allow_errors=options.allow_errors)])
    yield f"next: turnwise vary {quote(str(folder))} --html curves.html"


def _describe_changes(name: str, made: VariedData) -> Iterator[str]:
    if made.raised:
        mean = sum(made.sizes.values()) / len(made.sizes)
        yield (
            f"{name}: {made.raised} of {len(made.sizes)} entries need more functions than "
            f"the level allows; mean number of offered functions: {mean:.1f}"
        )
    if made.left_out:
        yield f"{name}: {len(made.left_out)} entries are omitted: {_REASON}"


def _check_words(levels: Levels, made: VariedData, plan: RunInputs) -> None:
    arrangement = levels.arrangement
    if arrangement is None or arrangement.paraphrases is None:
        return
    words, known = levels.axes["descriptions"], arrangement.paraphrases
    folder = function_docs_folder(plan.settings, plan.dataset)
    offered: dict[str, Trajectory] = {}
    for trajectory in made.dataset.trajectories.values():
        for name in list_own_functions(trajectory):
            offered.setdefault(name, trajectory)
    for name in offered:
        if name not in known:
            raise DataError(words, f"does not describe the function {name}")
    everything = {
        document["name"]: document
        for trajectory in {id(t): t for t in offered.values()}.values()
        for document in documents_of(trajectory, folder)
    }
    names = sorted({*everything, *list_tools((*BACKENDS, *load_library()))})
    for name in offered:
        for defect in find_defects(everything[name], known[name], names):
            raise DataError(words, f"$.{name}: {defect}")
