"""Metrics of an experiment, for each level.

The text report, the CSV file, the JSON file and the HTML page show these metrics.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import log2
from pathlib import Path
from typing import Any, NamedTuple, Self

from checkers.statistics import (
    EntryPair,
    RunDifference,
    TrialCounts,
    cluster_interval,
    compare,
    holm,
    pass_at_1,
)
from envs.errors import DataError
from extensions.experiments.axes import AxisRuns, Design
from extensions.experiments.level_statistics import (
    Slope,
    compare_unpaired,
    item_interval,
    slope_within,
)
from runner.analysis.figures import RunFigures, totals_of
from runner.records.durable_files import write_whole
from runner.records.episode_record import EpisodeRecord
from runner.records.json_codec import members_of, read
from runner.records.recorded_run import is_run, open_run
from trajectories.jsonl import parse_object, read_text
from trajectories.schema import Trajectory

VARY_FILE = "vary.json"
"""File that describes the runs in an experiment's folder."""

_MAX_FUNCTIONS = 1_000_000
Share = tuple[float, tuple[float, float]]
"""A share and its 95% interval."""


class RecordedAxis(NamedTuple):
    """One axis of an experiment, with a run for each of its levels."""

    axis: str
    rest: Mapping[str, str]
    """Levels of the other axes."""
    runs: Mapping[str, str]
    """Run folder by level. The first run is the baseline."""


class VaryFile(NamedTuple):
    """Content of ``vary.json``."""

    design: str | None
    """Design ``full`` or ``latin``; None if each run varies only one axis."""
    trials: int
    """Number of trials per entry."""
    blocks: Sequence[RecordedAxis]
    sizes: Mapping[str, Mapping[str, int]]
    """Number of functions that each entry offers, by run and entry id."""
    bases: Mapping[str, str]
    """Scenario of each entry. Entries of the same scenario are not independent."""

    @classmethod
    def of(
        cls,
        blocks: Sequence[AxisRuns],
        sizes: Mapping[str, Mapping[str, int]],
        trajectories: Sequence[Trajectory],
        design: Design | None,
        trials: int,
    ) -> Self:
        """Return the description of an experiment's runs."""
        found = []
        for block in blocks:
            first = next(iter(block.runs.values()))
            rest = {axis: level for axis, level in first.axes.items() if axis != block.axis}
            runs = {level: levels.name for level, levels in block.runs.items()}
            found.append(RecordedAxis(block.axis, rest, runs))
        bases = {trajectory.id: trajectory.base for trajectory in trajectories}
        return cls(design, trials, found, sizes, bases)


def write_vary_file(file: VaryFile, folder: Path) -> None:
    """Write the description of an experiment's runs, or add levels to an existing description.

    Raises DataError if the file cannot be written, or the folder contains another experiment.
    """
    if (folder / VARY_FILE).is_file():
        before = read_vary_file(folder)
        other = [run for run, sizes in before.sizes.items() if file.sizes.get(run) != sizes]
        if other or before.trials != file.trials:
            what = f"the run {other[0]} differs" if other else "the number of trials differs"
            message = f"{what}; use the same entries, levels and trials, or a new folder"
            raise DataError(str(folder), f"holds another experiment: {message}")
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(members_of(file), indent=1, allow_nan=False)
    write_whole(folder / VARY_FILE, [text.encode() + b"\n"])


def read_vary_file(folder: Path) -> VaryFile:
    """Read the description of an experiment's runs.

    Raises DataError if the description is missing or cannot be read.
    """
    path = folder / VARY_FILE
    if not path.is_file():
        raise DataError(str(folder), f"contains no experiment: {VARY_FILE} is missing")
    file = read(VaryFile, parse_object(read_text(path), str(path)), str(path))
    for place, problem in _find_problems(file):
        raise DataError(str(path), f"${place}: {problem}")
    return file


def _find_problems(file: VaryFile) -> Iterator[tuple[str, str]]:
    if file.trials < 1:
        yield ".trials", "must be at least 1"
    for index, block in enumerate(file.blocks):
        if not block.runs:
            yield f".blocks[{index}].runs", "names no run"
        for name in block.runs.values():
            if Path(name).name != name:
                yield f".blocks[{index}].runs", f"{name!r:.80} is not a folder name"
    for name, sizes in file.sizes.items():
        if any(not 1 <= size <= _MAX_FUNCTIONS for size in sizes.values()):
            yield f".sizes[{name!r:.80}]", f"every size must be 1 to {_MAX_FUNCTIONS}"


class LevelScore(NamedTuple):
    """Metrics of the run at one level of an axis."""

    level: str
    run: str
    """Folder name."""
    figures: RunFigures
    planned: int
    """Number of episodes."""
    tools: float
    """Mean number of functions that an entry offers."""
    scored: bool
    """Whether the run is complete and has few errors; other runs have no score."""
    passed: Share | None
    function_right: Share | None
    arguments_right: Share | None
    difference: RunDifference | None = None
    """Difference from the first level; None if this is the first level, or if a score is
    missing."""
    corrected: float | None = None
    """P-value of the difference, corrected for the number of levels."""

    @property
    def tokens(self) -> float | None:
        """Prompt tokens per episode; None if no server reported tokens."""
        totals, count = self.figures.totals, len(self.figures.outcomes)
        return totals.prompt_tokens / count if totals and totals.prompt_tokens and count else None

    @property
    def latency(self) -> float | None:
        """Mean seconds per request; None if no request was made."""
        latencies = self.figures.totals.latencies if self.figures.totals else ()
        return sum(latencies) / len(latencies) if any(latencies) else None

    def invented(self, what: str) -> int:
        """Return how many ``functions`` or ``parameters`` the model invented."""
        acts = self.figures.hallucinations.get(f"invented_{what}")
        return acts.acts if acts else 0


class AxisScore(NamedTuple):
    """Metrics of an axis."""

    axis: str
    rest: Mapping[str, str]
    levels: Sequence[LevelScore]
    slopes: Mapping[str, Slope]
    """Change of each measure when the number of functions doubles; empty if the axis is not
    ``tools``."""
    bias: float | None = None
    """Position bias; None unless the distractors are near."""


class Experiment(NamedTuple):
    """Metrics of an experiment with one model."""

    model: str
    path: Path
    dataset: str
    profile: str
    design: str | None
    axes: Sequence[AxisScore]


def load_experiment(folder: Path, *, allow_errors: bool = False) -> Experiment:
    """Return the metrics of an experiment, which may be unfinished.

    Raises DataError if the folder holds no experiment, or a file cannot be read.
    """
    file = read_vary_file(folder)
    runs = _RunReader(folder, file, allow_errors)
    axes = [_score_axis(block, runs) for block in file.blocks]
    return Experiment(*runs.describe(), file.design, axes)


class _RunReader:
    def __init__(self, folder: Path, file: VaryFile, allow_errors: bool) -> None:
        self.folder = folder
        self.file = file
        self._allow_errors = allow_errors
        self._figures: dict[str, RunFigures] = {}

    def describe(self) -> tuple[str, Path, str, str]:
        for name in self.file.sizes:
            if is_run(self.folder / name):
                definition = open_run(self.folder / name).definition
                assert definition is not None
                data = f"{definition.dataset.name} {definition.dataset.version}"
                return definition.model, self.folder, data, definition.profile
        raise DataError(str(self.folder), "contains no run that has started")

    def figures(self, name: str) -> RunFigures:
        if name not in self._figures:
            place = self.folder / name
            records = list(open_run(place).records) if is_run(place) else []
            self._figures[name] = RunFigures(
                records, totals=totals_of(records), allow_errors=self._allow_errors
            )
        return self._figures[name]

    def base(self, id: str) -> str:
        return self.file.bases.get(id, id)

    def attempts(self, figures: RunFigures) -> dict[str, TrialCounts]:
        found = figures.attempts_by_id
        return {id: each._replace(cluster=self.base(id)) for id, each in found.items()}


def _score_axis(block: RecordedAxis, runs: _RunReader) -> AxisScore:
    levels = [_score_level(level, name, runs) for level, name in block.runs.items()]
    first, *others = levels
    differences: dict[str, RunDifference] = {}
    for each in others:
        found = _compare_levels(first, each, runs) if first.scored and each.scored else None
        if found is not None:
            differences[each.level] = found
    corrected = dict(zip(differences, holm([d.p_value for d in differences.values()]), strict=True))
    levels = [
        each._replace(difference=differences.get(each.level), corrected=corrected.get(each.level))
        for each in levels
    ]
    slopes = _fit_slopes(levels, runs) if block.axis == "tools" else {}
    near = block.axis == "place" and block.rest.get("distractors") == "near"
    bias = _measure_bias(levels) if near else None
    return AxisScore(block.axis, block.rest, levels, slopes, bias)


def _score_level(level: str, name: str, runs: _RunReader) -> LevelScore:
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
        function_right=_compute_share(figures, runs, "functions", "needed"),
        arguments_right=_compute_share(figures, runs, "arguments", "functions"),
    )


def _compute_share(
    figures: RunFigures, runs: _RunReader, counted: str, things: str
) -> Share | None:
    parts = []
    for record in figures.judged:
        if record.verdict and record.verdict.selected:
            counts = record.verdict.selected._asdict()
            parts.append((runs.base(record.id), counts[counted], counts[things]))
    total = sum(count for _, _, count in parts)
    if not total:
        return None
    return sum(count for _, count, _ in parts) / total, item_interval(parts)


def _compare_levels(
    first: LevelScore, second: LevelScore, runs: _RunReader
) -> RunDifference | None:
    """Compare two levels, entry by entry if possible."""
    ours, theirs = runs.attempts(first.figures), runs.attempts(second.figures)
    both = [EntryPair(mine, theirs[id]) for id, mine in ours.items() if id in theirs]
    if runs.file.design == "latin":
        return compare_unpaired([*ours.values()], [*theirs.values()])
    return compare(both) if both else None


MEASURES = {
    "passed": "passed",
    "function right": "correct functions",
    "arguments right": "correct arguments",
    "both right": "both correct",
}
"""Label of each measure, by its key."""


def _fit_slopes(levels: Sequence[LevelScore], runs: _RunReader) -> dict[str, Slope]:
    points: dict[str, dict[tuple[str, str], list[tuple[float, float]]]] = {}
    for each in levels:
        sizes = runs.file.sizes.get(each.run, {})
        for record in each.figures.judged:
            if record.id not in sizes or record.verdict is None:
                continue
            doublings = log2(sizes[record.id])
            key = runs.base(record.id), record.id
            for measure, value in _measure_episode(record).items():
                points.setdefault(measure, {}).setdefault(key, []).append((doublings, value))
    found = {measure: slope_within(points.get(measure, {})) for measure in MEASURES}
    return {measure: slope for measure, slope in found.items() if slope}


def _measure_episode(record: EpisodeRecord) -> dict[str, float]:
    found = {"passed": float(record.outcome == "passed")}
    chosen = record.verdict and record.verdict.selected
    if chosen and chosen.needed:
        found["function right"] = chosen.functions / chosen.needed
        found["both right"] = chosen.arguments / chosen.needed
        if chosen.functions:
            found["arguments right"] = chosen.arguments / chosen.functions
    return found


def _measure_bias(levels: Sequence[LevelScore]) -> float | None:
    """Return the position bias; it is 0 if the model is equally often right at each position."""
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
    difference, chosen = each.difference, each.figures.selection
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
