"""The records of judging: what a turn led to, and what became of an episode."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from envs.results import Result
from envs.state import Difference, Snapshot, to_json

if TYPE_CHECKING:
    from checkers.calls.verdict import Failure as CallFailure


class Reason(StrEnum):
    """Why an episode failed. All but the last are the reference's error types."""

    INFERENCE_ERROR = "multi_turn:inference_error"
    FORCE_TERMINATED = "multi_turn:force_terminated"
    EMPTY_TURN = "multi_turn:empty_turn_model_response"
    STATE_MISMATCH = "multi_turn:instance_state_mismatch"
    RESPONSE_MISMATCH = "multi_turn:execution_response_mismatch"
    CHANGE_IN_EMPTY_TURN = "multi_turn:state_change_in_empty_turn"


class TurnOutcome(NamedTuple):
    """What the calls of one turn led to."""

    results: tuple[Result, ...]
    """One per call, in order."""
    snapshot: Snapshot
    """The state at the end of the turn."""
    acted: bool
    """Whether there was at least one step with calls."""


class Failure(NamedTuple):
    """Why one turn failed, with the evidence."""

    reason: StrEnum
    """A Reason, or that of a single turn whose calls are compared."""
    expected: Snapshot | None = None
    """The state that the ground truth leads to, where the model's is another one."""
    actual: Snapshot | None = None
    """The state that the model's calls have led to."""
    missing: tuple[str, ...] = ()
    """Ground-truth results that the model has not seen."""
    calls: CallFailure | None = None
    """What is wrong with the calls of a single turn."""

    @property
    def differences(self) -> list[Difference]:
        """Where the state departs from what the ground truth leads to."""
        if self.expected is None or self.actual is None:
            return []
        return self.expected.differences(self.actual)


class Verdict(NamedTuple):
    """What became of one episode."""

    valid: bool
    failure: Failure | None
    failed_turn: int | None
    """Index of the first failing turn; None when valid or when no turn was checked."""
    turns: int
    """Number of turns of the trajectory."""
    turns_passed: int
    """Number of turns before the first failing one."""

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as one flat JSON object."""
        failure = self.failure
        shown: dict[str, Any] = {
            "valid": self.valid,
            "error_type": failure.reason.value if failure else None,
            "failed_turn": self.failed_turn,
            "turns": self.turns,
            "turns_passed": self.turns_passed,
        }
        differences = failure.differences if failure else []
        if differences:
            shown["differences"] = [
                {"path": d.path, "expected": to_json(d.expected), "actual": to_json(d.actual)}
                for d in differences
            ]
        if failure and failure.missing:
            shown["missing_results"] = list(failure.missing)
        if failure and failure.calls:
            shown["calls"] = failure.calls.to_json()
        return shown
