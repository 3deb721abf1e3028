"""What recorded runs say of the data: entries that every model fails, and where models agree.

When most models end in one state and the ground truth in another, one of the two is wrong, and a
person should look at both. Nothing is printed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from checkers.calls.documents import CannotJudge
from checkers.profile import Profile
from checkers.statistics import Score, score
from checkers.verdict import TurnOutcome, Verdict
from envs.state import Difference, Snapshot
from runner.episodes.evaluate import judge_recorded
from runner.episodes.kinds import Judgement
from runner.records.record import Recorded
from runner.records.run import Run, open_run
from trajectories.dataset import Dataset
from trajectories.errata.readings import AS_PUBLISHED, Readings, first_right
from trajectories.errors import DataError
from trajectories.prepare import Prepared, prepare


class Executed(NamedTuple):
    """What recorded runs came to."""

    truths: Mapping[str, Sequence[TurnOutcome]]
    """Entry id to what its ground truth leads to."""
    runs: Mapping[str, Mapping[str, Judgement]]
    """Model to entry id to its run."""

    def scores(self) -> dict[str, Score]:
        """Return each model's score."""
        return {
            model: score([run.verdict for run in entries.values()])
            for model, entries in self.runs.items()
        }


def read_runs(paths: Iterable[Path]) -> dict[str, Run]:
    """Read the runs of several models, each a result file or a folder of them.

    Raises:
        DataError: A path holds no run, or two have the same name.
    """
    models: dict[str, Run] = {}
    for path, name in _named([path.resolve() for path in paths]):
        if name in models:
            raise DataError(str(path), f"a run called {name} is there already; rename one of them")
        models[name] = open_run(path)
    return models


def _named(paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield each path with its own name, preceded by the folder's where names are not enough."""
    names = Counter([path.name for path in paths])
    for path in paths:
        name = path.name.removesuffix(".json")
        yield path, name if names[path.name] == 1 else f"{path.parent.name}/{name}"


def execute_runs(
    dataset: Dataset,
    models: Mapping[str, Run],
    profile: Profile,
    readings: Readings = AS_PUBLISHED,
) -> Executed:
    """Execute the runs of several models again and judge them.

    Args:
        dataset: What they are runs of.
        models: Model to its recorded entries.
        profile: How steps are decoded, executed and judged.
        readings: By what entries are judged; those that errata withdraw are left out.
    """
    truths: dict[str, Sequence[TurnOutcome]] = {}
    runs: dict[str, dict[str, Judgement]] = {model: {} for model in models}
    recorded_of = {model: run.entries() for model, run in models.items()}
    for id in dict.fromkeys(id for entries in recorded_of.values() for id in entries):
        try:
            prepared = [
                prepare(dataset, reading, profile)
                for reading in readings.of(dataset.trajectories[id])
            ]
        except CannotJudge:
            continue
        if not prepared:
            continue
        truths[id] = prepared[0].truth
        for model, entries in recorded_of.items():
            if id in entries:
                # Without a verdict there is nothing to be said of the entry.
                with suppress(CannotJudge):
                    runs[model][id] = _judged(prepared, entries[id], profile)
    return Executed(truths, runs)


def _judged(prepared: Sequence[Prepared], recorded: Recorded, profile: Profile) -> Judgement:
    """Judge an entry's run by any of its readings, of which there is at least one."""
    turns, mode = recorded.turns, recorded.mode
    judged = first_right(
        (judge_recorded(each, turns, mode, profile) for each in prepared),
        lambda judgement: judgement.verdict.valid,
    )
    assert judged is not None
    return judged


class Agreement(NamedTuple):
    """A state that most models reach in place of the ground truth's."""

    models: tuple[str, ...]
    """Those that agree, by name."""
    turn: int
    """Index of the first turn at whose end they agree on another state."""
    differences: tuple[Difference, ...]
    """At the end of the last turn: what is expected, and what they agree on."""


class Finding(NamedTuple):
    """An entry that a person should look at."""

    id: str
    reasons: Mapping[str, str]
    """Model to why it fails; models that pass are not in it."""
    runs: int
    """How many models have a run of it."""
    agreement: Agreement | None

    @property
    def all_fail(self) -> bool:
        """Whether no model passes."""
        return len(self.reasons) == self.runs

    def to_json(self) -> dict[str, Any]:
        """Return the finding as a JSON object."""
        shown: dict[str, Any] = {
            "id": self.id,
            "runs": self.runs,
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
    truths: Mapping[str, Sequence[TurnOutcome]], runs: Mapping[str, Mapping[str, Judgement]]
) -> list[Finding]:
    """Return the entries that all models fail, or on whose final state most agree otherwise.

    Outcomes of ground truths are by entry id, runs by model and entry id.
    """
    findings = []
    for id, truth in truths.items():
        of_entry = {model: entries[id] for model, entries in runs.items() if id in entries}
        reasons = {model: _reason(run.verdict) for model, run in of_entry.items()}
        failed = {model: reason for model, reason in reasons.items() if reason}
        agreement = agreed(truth, of_entry)
        finding = Finding(id, failed, len(of_entry), agreement)
        if of_entry and (finding.all_fail or agreement):
            findings.append(finding)
    return findings


def agreed(truth: Sequence[TurnOutcome], runs: Mapping[str, Judgement]) -> Agreement | None:
    """Return the final state that most models, at least two, share and that is not the truth's."""
    groups: list[tuple[Snapshot, list[str]]] = []
    for model, run in runs.items():
        if len(run.outcomes) != len(truth):
            continue
        final = run.outcomes[-1].snapshot
        for state, members in groups:
            if state == final:
                members.append(model)
                break
        else:
            groups.append((final, [model]))
    if not groups:
        return None
    shared, models = max(groups, key=lambda group: len(group[1]))
    expected = truth[-1].snapshot
    if len(models) < 2 or 2 * len(models) <= len(runs) or shared == expected:
        return None
    turn = _parting(truth, [runs[model].outcomes for model in models])
    return Agreement(tuple(models), turn, tuple(expected.differences(shared)))


def _parting(truth: Sequence[TurnOutcome], runs: Sequence[Sequence[TurnOutcome]]) -> int:
    """Return the first turn at whose end the runs share a state that is not the truth's."""
    for turn, expected in enumerate(truth):
        states = [outcomes[turn].snapshot for outcomes in runs]
        if states[0] != expected.snapshot and all(state == states[0] for state in states):
            return turn
    return len(truth) - 1


def _reason(verdict: Verdict) -> str:
    if verdict.valid or verdict.failure is None:
        return ""
    turn = "" if verdict.failed_turn is None else f" in turn {verdict.failed_turn}"
    return f"{verdict.failure.reason}{turn}"
