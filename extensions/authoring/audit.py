"""What recorded runs say of the data: entries that every model fails, and where models agree.

When most models end in one state and the ground truth in another, one of the two is wrong, and a
person should look at both. Runs of one model are no witnesses of each other: a model may have
several, and speaks with one voice. Nothing is printed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from os.path import realpath
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from checkers.calls.documents import CannotJudge
from checkers.profile import Profile
from checkers.statistics import Score, score
from checkers.verdict import TurnOutcome, Verdict
from envs.state import Difference, Snapshot
from runner.episodes.evaluate import judge_again
from runner.episodes.kinds import Judgement, Terms
from runner.records.record import Recorded
from runner.records.run import Run, open_run
from trajectories.dataset import Dataset
from trajectories.errata.readings import AS_PUBLISHED, Readings, first_right
from trajectories.errors import DataError
from trajectories.prepare import Prepared, prepare

_Named = TypeVar("_Named")

Models = Mapping[str, Sequence[str]]
"""Name of a model to the names of its runs."""


class Executed(NamedTuple):
    """What recorded runs came to."""

    truths: Mapping[str, Sequence[TurnOutcome]]
    """Entry id to what its ground truth leads to."""
    runs: Mapping[str, Mapping[str, Judgement]]
    """Name of a run to entry id to what came of it."""

    def scores(self) -> dict[str, Score]:
        """Return each run's score."""
        return {
            name: score([run.verdict for run in entries.values()])
            for name, entries in self.runs.items()
        }


def read_runs(paths: Iterable[Path]) -> dict[str, Run]:
    """Read the runs of several models, each a result file or a folder of them.

    Raises:
        DataError: A path holds no run, or two have the same name.
    """
    models: dict[str, Run] = {}
    for path, name in _named([Path(realpath(path)) for path in paths]):
        if name in models:
            raise DataError(str(path), f"a run called {name} is there already; rename one of them")
        models[name] = open_run(path)
    return models


def models_of(runs: Iterable[str], groups: Iterable[tuple[str, Sequence[str]]]) -> Models:
    """Return the models, each with its runs; a run that is in no group is a model by itself.

    Args:
        runs: The names of all runs.
        groups: A model's name, and its runs by name or pattern, such as ``gpt-*``.

    Raises:
        DataError: A pattern is of no run, or a run is of two models.
    """
    names = list(runs)
    of_run: dict[str, str] = {}
    for model, patterns in groups:
        for pattern in patterns:
            found = [name for name in names if fnmatchcase(name, pattern)]
            if not found:
                raise DataError("--group", f"no run is called {pattern!r}: {', '.join(names)}")
            for name in found:
                if of_run.setdefault(name, model) != model:
                    raise DataError("--group", f"{name} is of {of_run[name]} and of {model}")
    models: dict[str, list[str]] = {}
    for name in names:
        models.setdefault(of_run.get(name, name), []).append(name)
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
    """Execute the runs of several models, by name, again and judge them.

    Entries that errata withdraw are left out.
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
    judged = first_right(
        (judge_again(each, recorded, Terms(profile)) for each in prepared),
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
    """Name of a run to why it fails; runs that pass are not in it."""
    runs: int
    """How many runs there are of it."""
    models: int
    """How many models these are of."""
    failing: int
    """How many models have no run that passes."""
    agreement: Agreement | None

    @property
    def all_fail(self) -> bool:
        """Whether no model passes."""
        return self.failing == self.models

    @property
    def weight(self) -> tuple[int, int, int]:
        """How much speaks against the data: who agrees, how many fail without exception, runs."""
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
    truths: Mapping[str, Sequence[TurnOutcome]],
    runs: Mapping[str, Mapping[str, Judgement]],
    models: Models | None = None,
) -> list[Finding]:
    """Return the entries that all models fail, or on whose final state most agree otherwise.

    Args:
        truths: By entry id, what the ground truth leads to.
        runs: By name of a run and entry id, what came of it.
        models: Which runs are of one model; by default each is of its own.

    Returns:
        The entries against which most speaks first, else in the order of the data.
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
        agreement = agreed(truth, of_entry)
        finding = Finding(id, reasons, len(every), len(of_entry), failing, agreement)
        if of_entry and (finding.all_fail or agreement):
            findings.append(finding)
    return sorted(findings, key=lambda finding: finding.weight, reverse=True)


def agreed(
    truth: Sequence[TurnOutcome], models: Mapping[str, Mapping[str, Judgement]]
) -> Agreement | None:
    """Return the final state that most models, at least two, share and that is not the truth's."""
    voices = [
        (model, run) for model, runs in models.items() if (run := _voice(truth, runs.values()))
    ]
    states = _alike([(model, run.outcomes[-1].snapshot) for model, run in voices])
    if not states:
        return None
    shared, agreeing = max(states, key=lambda state: len(state[1]))
    expected = truth[-1].snapshot
    if len(agreeing) < 2 or 2 * len(agreeing) <= len(models) or shared == expected:
        return None
    turn = _parting(truth, [run.outcomes for model, run in voices if model in agreeing])
    return Agreement(tuple(agreeing), turn, tuple(expected.differences(shared)))


def _voice(truth: Sequence[TurnOutcome], runs: Collection[Judgement]) -> Judgement | None:
    """Return a run that ends in the state in which more than half of a model's runs end."""
    ended = [run for run in runs if len(run.outcomes) == len(truth)]
    for _, alike in _alike([(run, run.outcomes[-1].snapshot) for run in ended]):
        if 2 * len(alike) > len(runs):
            return alike[0]
    return None


def _alike(named: Iterable[tuple[_Named, Snapshot]]) -> list[tuple[Snapshot, list[_Named]]]:
    """Return each state with those who are in it."""
    states: list[tuple[Snapshot, list[_Named]]] = []
    for name, state in named:
        for known, members in states:
            if known == state:
                members.append(name)
                break
        else:
            states.append((state, [name]))
    return states


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
