"""Audit of a data set: recorded runs show entries whose ground truth may be wrong.

A person should check an entry if all models fail it, or if most models end in the same wrong state.
All runs of one model together count as one vote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from os.path import realpath
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.profile import Profile
from checkers.verdict import ExecutedTurn, Verdict
from envs.errors import DataError
from envs.state import Difference, Snapshot
from extensions.authoring.audit_score import EpisodesScore, score
from runner.episodes.entry_kinds import JudgingResult, JudgingTerms
from runner.episodes.judging import judge_again
from runner.records.episode_record import RecordedEpisode
from runner.records.recorded_run import Run, open_run
from trajectories.dataset import Dataset
from trajectories.errata.corrections import AS_PUBLISHED, CorrectedEntries, select_first_right
from trajectories.prepared_trajectory import PreparedTrajectory, prepare

_Named = TypeVar("_Named")

Models = Mapping[str, Sequence[str]]
"""Maps the name of each model to the names of its runs."""


class ReplayedRuns(NamedTuple):
    """Replayed runs and their ground truths."""

    truths: Mapping[str, Sequence[ExecutedTurn]]
    """Maps each entry id to the outcomes of the ground truth's turns."""
    runs: Mapping[str, Mapping[str, JudgingResult]]
    """Judging results. The outer key is the name of a run, the inner key is the id of an entry."""

    def scores(self) -> dict[str, EpisodesScore]:
        """Return each run's score."""
        return {
            name: score([run.verdict for run in entries.values()])
            for name, entries in self.runs.items()
        }


def read_runs(paths: Iterable[Path]) -> dict[str, Run]:
    """Read runs from result files or folders; return them by name.

    Raises DataError if a path contains no run, or two runs have the same name.
    """
    resolved = [Path(realpath(path)) for path in paths]
    names = Counter([path.name for path in resolved])
    runs: dict[str, Run] = {}
    for path in resolved:
        name = path.name.removesuffix(".json")
        if names[path.name] > 1:
            name = f"{path.parent.name}/{name}"
        if name in runs:
            raise DataError(str(path), f"duplicate run name {name}; rename one of the runs")
        runs[name] = open_run(path)
    return runs


def group_by_model(runs: Iterable[str], groups: Iterable[tuple[str, Sequence[str]]]) -> Models:
    """Group runs by model; a group is a list of run names or patterns.

    A run that is in no group counts as a separate model.

    Raises DataError if a pattern matches no run, or a run is in two groups.
    """
    names = list(runs)
    of_run: dict[str, str] = {}
    for model, patterns in groups:
        for pattern in patterns:
            found = [name for name in names if fnmatchcase(name, pattern)]
            if not found:
                message = f"{pattern!r} matches no run; the runs are {', '.join(names)}"
                raise DataError("--group", message)
            for name in found:
                if of_run.setdefault(name, model) != model:
                    message = f"{name} is in two groups, {of_run[name]} and {model}"
                    raise DataError("--group", message)
    models: dict[str, list[str]] = {}
    for name in names:
        models.setdefault(of_run.get(name, name), []).append(name)
    return models


def execute_runs(
    dataset: Dataset,
    models: Mapping[str, Run],
    profile: Profile,
    readings: CorrectedEntries = AS_PUBLISHED,
) -> ReplayedRuns:
    """Replay and judge runs. Entries that are withdrawn in the errata are skipped."""
    truths: dict[str, Sequence[ExecutedTurn]] = {}
    runs: dict[str, dict[str, JudgingResult]] = {model: {} for model in models}
    recorded_of = {model: run.entries() for model, run in models.items()}
    for id in dict.fromkeys(id for entries in recorded_of.values() for id in entries):
        try:
            prepared = [
                prepare(dataset, reading, profile)
                for reading in readings.of(dataset.trajectories[id])
            ]
        except UnjudgeableEntry:
            continue
        if not prepared:
            continue
        truths[id] = prepared[0].truth
        for model, entries in recorded_of.items():
            if id in entries:
                with suppress(UnjudgeableEntry):
                    runs[model][id] = _judge(prepared, entries[id], profile)
    return ReplayedRuns(truths, runs)


def _judge(
    prepared: Sequence[PreparedTrajectory], recorded: RecordedEpisode, profile: Profile
) -> JudgingResult:
    """Judge an episode with each version of its entry. Stop when the episode passes."""
    judged = select_first_right(
        (judge_again(each, recorded, JudgingTerms(profile)) for each in prepared),
        lambda judgement: judgement.verdict.valid,
    )
    assert judged is not None
    return judged


class MajorityState(NamedTuple):
    """Wrong final state that most models reach."""

    models: tuple[str, ...]
    turn: int
    """Index of the first turn after which the models have the same wrong state."""
    differences: tuple[Difference, ...]
    """Differences from the expected state after the last turn."""


class AuditFinding(NamedTuple):
    """Entry that a person should check."""

    id: str
    reasons: Mapping[str, str]
    """Reason of each failure; the key is the name of the failing run."""
    runs: int
    models: int
    failing: int
    """Number of models without a passing run."""
    agreement: MajorityState | None

    @property
    def all_fail(self) -> bool:
        """Whether all models fail."""
        return self.failing == self.models

    @property
    def weight(self) -> tuple[int, int, int]:
        """Strength of the evidence: numbers of agreeing models, failing models and failing runs."""
        agreeing = len(self.agreement.models) if self.agreement else 0
        return agreeing, self.failing if self.all_fail else 0, len(self.reasons)

    def to_json(self) -> dict[str, Any]:
        """Return the finding as a JSON object."""
        shown: dict[str, Any] = {
            "id": self.id,
            "runs": self.runs,
            "models": self.models,
            "all_fail": self.all_fail,
            "failures": dict(self.reasons),
        }
        if self.agreement:
            shown["agreement"] = {
                "models": list(self.agreement.models),
                "turn": self.agreement.turn,
                "differences": [
                    difference.to_json(second="agreed") for difference in self.agreement.differences
                ],
            }
        return shown


def audit(
    truths: Mapping[str, Sequence[ExecutedTurn]],
    runs: Mapping[str, Mapping[str, JudgingResult]],
    models: Models | None = None,
) -> list[AuditFinding]:
    """Return suspicious entries, for example entries that all models fail.

    The entries with the most evidence come first. Without ``models``, each run counts as a separate
    model.
    """
    models = models or {name: [name] for name in runs}
    findings = []
    for id, truth in truths.items():
        of_entry = {
            model: {name: runs[name][id] for name in names if id in runs[name]}
            for model, names in models.items()
        }
        of_entry = {model: found for model, found in of_entry.items() if found}
        every = {name: run for found in of_entry.values() for name, run in found.items()}
        reasons = {name: reason for name, run in every.items() if (reason := _reason(run.verdict))}
        failing = sum(found.keys() <= reasons.keys() for found in of_entry.values())
        agreement = find_agreement(truth, of_entry)
        finding = AuditFinding(id, reasons, len(every), len(of_entry), failing, agreement)
        if of_entry and (finding.all_fail or agreement):
            findings.append(finding)
    return sorted(findings, key=lambda finding: finding.weight, reverse=True)


def find_agreement(
    truth: Sequence[ExecutedTurn], models: Mapping[str, Mapping[str, JudgingResult]]
) -> MajorityState | None:
    """Return the wrong final state that most models (at least two) reach, or None."""
    voices = [
        (model, run) for model, runs in models.items() if (run := _voice(truth, runs.values()))
    ]
    states = _group_by_state([(model, run.outcomes[-1].snapshot) for model, run in voices])
    if not states:
        return None
    shared, agreeing = max(states, key=lambda state: len(state[1]))
    expected = truth[-1].snapshot
    if len(agreeing) < 2 or 2 * len(agreeing) <= len(models) or shared == expected:
        return None
    turn = _find_divergence(truth, [run.outcomes for model, run in voices if model in agreeing])
    return MajorityState(tuple(agreeing), turn, tuple(expected.differences(shared)))


def _voice(truth: Sequence[ExecutedTurn], runs: Collection[JudgingResult]) -> JudgingResult | None:
    """If more than half of the runs end in the same state, return one of these runs."""
    ended = [run for run in runs if len(run.outcomes) == len(truth)]
    for _, alike in _group_by_state([(run, run.outcomes[-1].snapshot) for run in ended]):
        if 2 * len(alike) > len(runs):
            return alike[0]
    return None


def _group_by_state(
    named: Iterable[tuple[_Named, Snapshot]],
) -> list[tuple[Snapshot, list[_Named]]]:
    states: list[tuple[Snapshot, list[_Named]]] = []
    for name, state in named:
        for known, members in states:
            if known == state:
                members.append(name)
                break
        else:
            states.append((state, [name]))
    return states


def _find_divergence(truth: Sequence[ExecutedTurn], runs: Sequence[Sequence[ExecutedTurn]]) -> int:
    """Return the index of the first turn after which all runs have the same wrong state."""
    for turn, expected in enumerate(truth):
        states = [outcomes[turn].snapshot for outcomes in runs]
        if states[0] != expected.snapshot and all(state == states[0] for state in states):
            return turn
    return len(truth) - 1


def _reason(verdict: Verdict) -> str:
    if verdict.valid or verdict.failure is None:
        return ""
    turn = "" if verdict.failed_turn is None else f" in turn {verdict.failed_turn + 1}"
    return f"{verdict.failure.reason}{turn}"
