"""The maker of variants for ``--vary``: experiments on the list of functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from envs.registry import BACKENDS, library, tools_of
from extensions.experiments.feature import VaryFeature, VaryOptions
from extensions.experiments.paraphrases import defects, read_paraphrases
from extensions.experiments.vary import FLAG, Levels, Varied, axes_of, blocks_of, varied
from extensions.experiments.vary_lines import experiment_lines
from extensions.experiments.vary_scores import VaryFile, experiment_of, write_file
from runner.analysis.variants import variant_lines
from runner.commands.eval_options import EvalOptions
from runner.commands.shared import note
from runner.commands.variants import Variant, Variants
from runner.live.campaign import Plan, function_docs_folder
from runner.models.tools import documents_of
from trajectories.errors import DataError
from trajectories.scene import own_functions
from trajectories.schema import Trajectory


def vary_variants(
    options: EvalOptions, own: VaryOptions, plan: Plan, trajectories: Sequence[Trajectory]
) -> Variants:
    """Return a run at each level of the axes that the user names.

    Raises:
        DataError: An axis, a level or a file cannot be used, or nothing is left to run.
    """
    axes = axes_of(own.vary)
    if plan.settings.mode == "prompt" and any(axis.name == "names" for axis in axes):
        raise DataError(FLAG, "names is for function calling: calls in text name the real ones")
    blocks = blocks_of(axes, own.design, own.vary_seed)
    runs = {levels.name: levels for block in blocks for levels in block.runs.values()}
    ids = [trajectory.id for trajectory in trajectories]
    members, sizes, told = [], {}, list[str]()
    for name, levels in runs.items():
        made = varied(plan.dataset, levels, ids)
        if not made.sizes:
            raise DataError(
                FLAG,
                f"{name}: none of the {len(ids)} entries can be varied so: where no function fits "
                "another might, or the file has no words for them that hold",
            )
        _check_words(levels, made, plan)
        told += _told(name, made)
        asked = [*made.dataset.trajectories.values()]
        members.append(
            Variant(
                name, plan.with_feature(VaryFeature(levels))._replace(dataset=made.dataset), asked
            )
        )
        sizes[name] = made.sizes
    file = VaryFile.of(blocks, sizes, trajectories, own.design, options.trials)

    def begin(folder: Path) -> None:
        write_file(file, folder)
        for line in told:
            note(line)

    return Variants(
        FLAG,
        "run",
        members,
        partial(variant_lines, "run"),
        begin,
        partial(_lines, options),
    )


def _lines(options: EvalOptions, folder: Path) -> Iterator[str]:
    yield from experiment_lines([experiment_of(folder, allow_errors=options.allow_errors)])
    yield f"next: turnwise vary {folder} --html curves.html"


def _told(name: str, made: Varied) -> Iterator[str]:
    """Yield what of a run is not as it was asked for."""
    if made.sizes and made.raised:
        mean = sum(made.sizes.values()) / len(made.sizes)
        yield (
            f"{name}: {made.raised} of {len(made.sizes)} entries need more functions than that, "
            f"and have as many as they need; {mean:.1f} on average"
        )
    if made.left_out:
        yield (
            f"{name}: {len(made.left_out)} entries are left out: where no function fits another "
            "might, or they have no words in the file that hold"
        )


def _check_words(levels: Levels, made: Varied, plan: Plan) -> None:
    """Make sure that a file has good words for every function that is offered.

    Raises:
        DataError: It has not.
    """
    words = levels.axes.get("descriptions", "full")
    if levels.arrangement is None or levels.arrangement.paraphrases is None:
        return
    known = read_paraphrases(Path(words))
    folder = function_docs_folder(plan.settings, plan.dataset)
    offered: dict[str, Trajectory] = {}
    for trajectory in made.dataset.trajectories.values():
        for name in own_functions(trajectory):
            offered.setdefault(name, trajectory)
    for name in offered:
        if name not in known:
            raise DataError(words, f"has no words for the function {name}")
    everything = {
        document["name"]: document
        for trajectory in {id(t): t for t in offered.values()}.values()
        for document in documents_of(trajectory, folder)
    }
    names = sorted({*everything, *tools_of((*BACKENDS, *library()))})
    for name in offered:
        for defect in defects(everything[name], known[name], names):
            raise DataError(words, f"$.{name}: {defect}")
