"""Records made up for tests, quick to import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checkers.profile import Mode
from checkers.verdict import Verdict
from envs import __version__
from runner.models.model_types import Usage
from runner.records.episode_record import (
    EpisodeRecord,
    Outcome,
    RecordedEpisode,
    ReplyRecord,
    StepRecord,
)
from runner.records.run_definition import (
    DatasetReference,
    ModelSettings,
    RunDefinition,
    Selection,
)

Turns = Sequence[Sequence[Any]]

ASKED = ModelSettings(**dict.fromkeys(ModelSettings._fields))._replace(
    mode="prompt", reasoning="all", extra_headers=[], extra_body={}
)
EVERYTHING = Selection(None, None, None, None, None, 1)


def defining(model: str = "m", profile: str = "strict") -> RunDefinition:
    """Return what defines a run on data that is nowhere."""
    data = DatasetReference("made-up", "1", "0" * 64)
    return RunDefinition(model, ASKED, "0" * 64, data, profile, 20, EVERYTHING, __version__)


def answered(
    id: str, turns: Turns | None, mode: Mode = "fc", trial: int = 0, **more: Any
) -> RecordedEpisode:
    """Return what a result file has of an episode, with further members of a record."""
    record = EpisodeRecord(id, trial, "", None, None, None, result=turns)
    return RecordedEpisode(record._replace(**more), mode)


def episode(
    id: str, trial: int, category: str, outcome: Outcome, turns: int, passed: int
) -> EpisodeRecord:
    """Return what became of an episode, and nothing else."""
    verdict = Verdict(outcome == "passed", None, None, turns, passed)
    return EpisodeRecord(id, trial, category, outcome, verdict, None)


def step(turn: int, calls: Sequence[str] = (), results: Sequence[str] = ()) -> StepRecord:
    """Return a request whose answer made calls."""
    reply = ReplyRecord(None, [], None, "stop")
    return StepRecord(turn, 1, None, reply, [*calls], [*results], [], Usage(), 0.5, None, 1)
