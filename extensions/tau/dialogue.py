"""Dialogue of an episode: messages and calls of both sides, stored in the episode's record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from checkers.verdict import Verdict
from extensions.tau.simulations import Simulation
from runner.records.codec import read
from runner.records.record import EpisodeRecord, StepRecord


class DialogueRecord(NamedTuple):
    """Dialogue of an episode."""

    domain: str
    solo: bool
    simulation: Simulation

    @property
    def own_functions(self) -> Sequence[str]:
        """Return nothing, because the user's functions do not belong to the model."""
        return ()

    def all_steps(self, kept: Sequence[StepRecord]) -> Sequence[StepRecord]:
        """Return the steps of the record."""
        return kept

    def message_of(self, step: StepRecord) -> Mapping[str, Any] | None:
        """Return None, because all answers are in the record."""
        return None

    def verdict_members(self, verdict: Verdict | None) -> Mapping[str, Any]:
        """Return the recorded reward, if the dialogue was judged before."""
        recorded = self.simulation.recorded
        return {} if recorded is None else {"recorded_reward": recorded.reward}

    def problems(self, record: EpisodeRecord) -> Iterator[tuple[str, str]]:
        """Yield nothing, because the dialogue depends on no other part of the record."""
        yield from ()


def read_dialogue(member: Mapping[str, Any], where: str) -> DialogueRecord:
    """Return the dialogue of an episode's record. Raises DataError if it is invalid."""
    return read(DialogueRecord, member, f"{where}: $.extensions.tau")
