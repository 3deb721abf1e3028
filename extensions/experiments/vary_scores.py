"""What became of an experiment on the list of functions: every figure of its levels, once.

The lines of ``eval`` and ``turnwise vary``, CSV, JSON and the page take their numbers from here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import log2
from pathlib import Path
from typing import Any, NamedTuple, Self

from checkers.statistics import (
    Attempts,
    Pair,
    RunDifference,
    Slope,
    cluster_interval,
    compare,
    holm,
    pass_at_1,
    share_interval,
    slope_within,
    unpaired,
)
from checkers.verdict import Selected
from extensions.experiments.vary import Block, Design
from runner.analysis.figures import RunFigures, SelectionFigures, totals_of
from runner.records.codec import members_of, read
from runner.records.files import write_whole
from runner.records.record import EpisodeRecord
from runner.records.run import is_run, open_run
from trajectories.errors import DataError
from trajectories.jsonl import parse_object, read_text
from trajectories.schema import Trajectory

VARY_FILE = "vary.json"
"""What an experiment's folder holds besides the runs."""

_MOST_FUNCTIONS = 1_000_000
Share = tuple[float, tuple[float, float]]
"""A share, and its 95% interval."""


class BlockFile(NamedTuple):
    """One axis in the file: the runs at its levels."""

    axis: str
    rest: Mapping[str, str]
    """At which levels the other axes are."""
    runs: Mapping[str, str]
    """Level to the name of a folder; the others are compared with the first."""


class VaryFile(NamedTuple):
    """The file ``vary.json``."""

    design: str | None
    """``full``, ``latin``, or null for each axis alone."""
    trials: int
    """How often each entry is done."""
    blocks: Sequence[BlockFile]
    """What the runs say something of."""
    sizes: Mapping[str, Mapping[str, int]]
    """Run to how many functions each of its entries offers, by id."""
    bases: Mapping[str, str]
    """Entry to what it shares with others that were made from the same scenario."""

    @classmethod
    def of(
        cls,
        blocks: Sequence[Block],
        sizes: Mapping[str, Mapping[str, int]],
        trajectories: Sequence[Trajectory],
        design: Design | None,
        trials: int,
    ) -> Self:
        """Return what the runs of an experiment are."""
        found = []
        for block in blocks:
            first = next(iter(block.runs.values()))
            rest = {axis: level for axis, level in first.axes.items() if axis != block.axis}
            runs = {level: levels.name for level, levels in block.runs.items()}
            found.append(BlockFile(block.axis, rest, runs))
        bases = {trajectory.id: trajectory.base for trajectory in trajectories}
        return cls(design, trials, found, sizes, bases)


def write_file(file: VaryFile, folder: Path) -> None:
    """Keep what the runs of an experiment are, to which levels may have been added.

    Raises:
        DataError: It cannot be written, or the folder has an experiment with other runs.
    """
    if (folder / VARY_FILE).is_file():
        before = read_file(folder)
        other = [run for run, sizes in before.sizes.items() if file.sizes.get(run) != sizes]
        if other or before.trials != file.trials:
            what = f"has the run {other[0]}, which is" if other else "has trials, which are"
            raise DataError(
                str(folder),
                f"{what} not what is asked for now; name the same entries, axes and levels, and "
                "further ones if need be, or choose another folder",
            )
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(
        folder / VARY_FILE,
        [json.dumps(members_of(file), indent=1, allow_nan=False).encode() + b"\n"],
    )


def read_file(folder: Path) -> VaryFile:
    """Return what the runs of an experiment are.

    Raises:
        DataError: There is none in the folder, or its file cannot be read.
    """
    path = folder / VARY_FILE
    if not path.is_file():
        raise DataError(str(folder), f"holds no experiment: there is no {VARY_FILE}")
    file = read(VaryFile, parse_object(read_text(path), str(path)), str(path))
    for place, problem in _misfits(file):
        raise DataError(str(path), f"${place}: {problem}")
    return file


def _misfits(file: VaryFile) -> Iterator[tuple[str, str]]:
    """Yield JSON path and what is wrong of members that are of the right type."""
    if file.trials < 1:
        yield ".trials", "must be at least 1"
    for index, block in enumerate(file.blocks):
        if not block.runs:
            yield f".blocks[{index}].runs", "names no run"
        for name in block.runs.values():
            if Path(name).name != name:
                yield f".blocks[{index}].runs", f"{name!r:.80} is no name of a folder"
    for name, sizes in file.sizes.items():
        if any(not 1 <= size <= _MOST_FUNCTIONS for size in sizes.values()):
            least = f"an entry offers at least one function, and at most {_MOST_FUNCTIONS}"
            yield f".sizes[{name!r:.80}]", least


class LevelScore(NamedTuple):
    """What became of one level of an axis."""

    level: str
    run: str
    """Name of its folder."""
    figures: RunFigures
    planned: int
    """Number of episodes."""
    tools: float
    """How many functions its entries offer on average."""
    scored: bool
    """Whether all is done, with few errors."""
    passed: Share | None
    function_right: Share | None
    arguments_right: Share | None
    difference: RunDifference | None = None
    """Passing at this level less at the first; None of the first, and without a fair score."""
    corrected: float | None = None
    """The difference's p-value, corrected for the levels of the axis."""

    @property
    def selection(self) -> SelectionFigures | None:
        """How well functions were chosen; None where nothing was counted."""
        return self.figures.selection

    @property
    def tokens(self) -> float | None:
        """Prompt tokens an episode; None where no server said."""
        totals, count = self.figures.totals, len(self.figures.outcomes)
        return totals.prompt_tokens / count if totals and totals.prompt_tokens and count else None

    @property
    def latency(self) -> float | None:
        """Seconds a request, on average; None where there are none."""
        latencies = self.figures.totals.latencies if self.figures.totals else ()
        return sum(latencies) / len(latencies) if any(latencies) else None

    def invented(self, what: str) -> int:
        """Return how many functions or parameters were made up."""
        acts = self.figures.hallucinations.get(f"invented_{what}")
        return acts.acts if acts else 0


class AxisScore(NamedTuple):
    """What became of an axis."""

    axis: str
    rest: Mapping[str, str]
    levels: Sequence[LevelScore]
    slopes: Mapping[str, Slope]
    """By measure its growth for every doubling of the functions; empty of other axes."""
    bias: float | None = None
    """Half the summed distance of right choices by place from even; of near distractors only."""


class Experiment(NamedTuple):
    """A model's runs at all levels."""

    model: str
    path: Path
    dataset: str
    profile: str
    design: str | None
    axes: Sequence[AxisScore]


def experiment_of(folder: Path, *, allow_errors: bool = False) -> Experiment:
    """Return what became of an experiment, as far as its runs have come.

    Raises:
        DataError: There is none in the folder, or something in it cannot be read.
    """
    file = read_file(folder)
    runs = _Runs(folder, file, allow_errors)
    axes = [_axis_score(block, runs) for block in file.blocks]
    return Experiment(*runs.named, file.design, axes)


class _Runs:
    """The runs of an experiment, each read once."""

    def __init__(self, folder: Path, file: VaryFile, allow_errors: bool) -> None:
        self.folder = folder
        self.file = file
        self._allow_errors = allow_errors
        self._figures: dict[str, RunFigures] = {}

    @cached_property
    def named(self) -> tuple[str, Path, str, str]:
        """Name of the model, the folder, and names of data and profile."""
        for name in self.file.sizes:
            if is_run(self.folder / name):
                definition = open_run(self.folder / name).definition
                assert definition is not None
                data = f"{definition.dataset.name} {definition.dataset.version}"
                return definition.model, self.folder, data, definition.profile
        raise DataError(str(self.folder), "holds no run that has begun")

    def figures(self, name: str) -> RunFigures:
        """Return the figures of a run; of one that has not begun those of no episode."""
        if name not in self._figures:
            place = self.folder / name
            records = list(open_run(place).records) if is_run(place) else []
            self._figures[name] = RunFigures(
                records, totals=totals_of(records), allow_errors=self._allow_errors
            )
        return self._figures[name]

    def base(self, id: str) -> str:
        """Return what an entry shares with others."""
        return self.file.bases.get(id, id)

    def attempts(self, figures: RunFigures) -> dict[str, Attempts]:
        """Return the trials by entry, each in its cluster."""
        found = figures.attempts_by_id
        return {id: each._replace(cluster=self.base(id)) for id, each in found.items()}


def _axis_score(block: BlockFile, runs: _Runs) -> AxisScore:
    levels = [_level_score(level, name, runs) for level, name in block.runs.items()]
    first, *others = levels
    differences: dict[str, RunDifference] = {}
    for each in others:
        found = _difference(first, each, runs) if first.scored and each.scored else None
        if found is not None:
            differences[each.level] = found
    corrected = dict(zip(differences, holm([d.p_value for d in differences.values()]), strict=True))
    levels = [
        each._replace(difference=differences.get(each.level), corrected=corrected.get(each.level))
        for each in levels
    ]
    slopes = _slopes(levels, runs) if block.axis == "tools" else {}
    near = block.axis == "place" and block.rest.get("distractors") == "near"
    return AxisScore(block.axis, block.rest, levels, slopes, _bias(levels) if near else None)


def _level_score(level: str, name: str, runs: _Runs) -> LevelScore:
    figures, sizes = runs.figures(name), runs.file.sizes.get(name, {})
    planned = len(sizes) * runs.file.trials
    attempts = [*runs.attempts(figures).values()]
    judged = bool(attempts) and figures.scored
    return LevelScore(
        level,
        name,
        figures=figures,
        planned=planned,
        tools=sum(sizes.values()) / len(sizes) if sizes else 0.0,
        scored=judged and len(figures.outcomes) >= planned,
        passed=(pass_at_1(attempts), cluster_interval(attempts)) if judged else None,
        function_right=_share(figures, runs, "functions", "needed"),
        arguments_right=_share(figures, runs, "arguments", "functions"),
    )


def _share(figures: RunFigures, runs: _Runs, counted: str, things: str) -> Share | None:
    parts = []
    for record, chosen in _chosen(figures):
        of = chosen._asdict()
        parts.append((runs.base(record.id), of[counted], of[things]))
    total = sum(count for _, _, count in parts)
    if not total:
        return None
    return sum(count for _, count, _ in parts) / total, share_interval(parts)


def _chosen(figures: RunFigures) -> Iterator[tuple[EpisodeRecord, Selected]]:
    for record in figures.judged:
        if record.verdict and record.verdict.selected:
            yield record, record.verdict.selected


def _difference(first: LevelScore, second: LevelScore, runs: _Runs) -> RunDifference | None:
    """Compare two levels entry by entry; where entries were dealt out, as two samples."""
    ours, theirs = runs.attempts(first.figures), runs.attempts(second.figures)
    both = [Pair(mine, theirs[id]) for id, mine in ours.items() if id in theirs]
    if runs.file.design == "latin":
        return unpaired([*ours.values()], [*theirs.values()])
    return compare(both) if both else None


_MEASURES = ("passed", "function right", "arguments right", "both right")


def _slopes(levels: Sequence[LevelScore], runs: _Runs) -> dict[str, Slope]:
    """Return by measure how it grows for every doubling of the functions that are offered."""
    points: dict[str, dict[tuple[str, str], list[tuple[float, float]]]] = {}
    for each in levels:
        sizes = runs.file.sizes.get(each.run, {})
        for record in each.figures.judged:
            if record.id not in sizes or record.verdict is None:
                continue
            doublings = log2(sizes[record.id])
            key = runs.base(record.id), record.id
            for measure, value in _measured(record).items():
                points.setdefault(measure, {}).setdefault(key, []).append((doublings, value))
    found = {measure: slope_within(points.get(measure, {})) for measure in _MEASURES}
    return {measure: slope for measure, slope in found.items() if slope}


def _measured(record: EpisodeRecord) -> dict[str, float]:
    """Return the measures of an episode, of those things of which it has any."""
    found = {"passed": float(record.outcome == "passed")}
    chosen = record.verdict and record.verdict.selected
    if chosen and chosen.needed:
        found["function right"] = chosen.functions / chosen.needed
        found["both right"] = chosen.arguments / chosen.needed
        if chosen.functions:
            found["arguments right"] = chosen.arguments / chosen.functions
    return found


def _bias(levels: Sequence[LevelScore]) -> float | None:
    """Return how far right choices are from even over the places, from 0 to 1."""
    right = [each.function_right[0] for each in levels if each.function_right]
    if len(right) < len(levels) or not sum(right):
        return None
    return sum(abs(share / sum(right) - 1 / len(right)) for share in right) / 2


def experiment_json(found: Experiment) -> dict[str, Any]:
    """Return an experiment as a JSON object."""
    return {
        "model": found.model,
        "path": str(found.path),
        "dataset": found.dataset,
        "profile": found.profile,
        "design": found.design,
        "axes": [
            {
                "axis": axis.axis,
                "at": dict(axis.rest),
                "levels": [level_json(each) for each in axis.levels],
                "slopes_per_doubling": {
                    name: {"value": slope.value, "interval": list(slope.interval)}
                    for name, slope in axis.slopes.items()
                },
                "position_bias": axis.bias,
            }
            for axis in found.axes
        ],
    }


def level_json(each: LevelScore) -> dict[str, Any]:
    """Return a level of an axis as a JSON object."""
    difference, chosen = each.difference, each.selection
    return {
        "level": each.level,
        "run": each.run,
        "episodes": len(each.figures.outcomes),
        "planned": each.planned,
        "errors": each.figures.errors,
        "tools": each.tools,
        "passed": _share_json(each.passed),
        "function_right": _share_json(each.function_right),
        "arguments_right": _share_json(each.arguments_right),
        "distractor_calls": chosen and chosen.distractors,
        "episodes_with_distractor_calls": chosen and chosen.episodes,
        "invented_functions": each.invented("functions"),
        "invented_parameters": each.invented("parameters"),
        "tokens_in": each.tokens,
        "latency": each.latency,
        "difference": difference
        and {
            "value": difference.difference,
            "interval": list(difference.interval),
            "p": difference.p_value,
            "p_holm": each.corrected,
            "mcnemar": difference.mcnemar,
            "entries": difference.entries,
        },
    }


def _share_json(share: Share | None) -> dict[str, Any] | None:
    return share and {"value": share[0], "interval": list(share[1])}
