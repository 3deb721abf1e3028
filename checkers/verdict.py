"""Records of verdicts, failures and outcomes of turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from checkers.evidence import (
    CallEvidence,
    Evidence,
    ResultEvidence,
    ServerRejectionEvidence,
    StateEvidence,
    UnreportedInfoEvidence,
    read_evidence,
    read_plain,
    read_strings,
)
from checkers.reasons import Reason
from envs.calls import Call
from envs.errors import MalformedCall
from envs.lazy_modules import lazy_module
from envs.results import Result
from envs.state import Difference, Snapshot, cut_repr

if TYPE_CHECKING:
    from envs import notebook_html
else:
    notebook_html = lazy_module("envs.notebook_html")


Made = Call | MalformedCall
"""A call in a model's answer, or its parse error."""


class ExecutedTurn(NamedTuple):
    """Calls of one turn, their results and the state after them."""

    results: tuple[Result, ...]
    snapshot: Snapshot
    acted: bool
    calls: Sequence[Made]


class PositionAfterCall(NamedTuple):
    """Moment after a call; ``position`` -1 is the moment before the first call of the turn."""

    turn: int
    position: int


class ObservedCall(NamedTuple):
    """A call and its result."""

    call: Made
    result: Result


class Failure(NamedTuple):
    """Failure of one turn."""

    reason: Reason
    evidence: Evidence | None = None

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Differences from the ground truth's state."""
        return self.evidence.differences if isinstance(self.evidence, StateEvidence) else ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Ground-truth results that the model has not seen."""
        return self.evidence.missing if isinstance(self.evidence, ResultEvidence) else ()

    @property
    def unseen(self) -> tuple[str, ...]:
        """One line per fact or result that the model has not seen."""
        return tuple(self.evidence.lines()) if isinstance(self.evidence, ResultEvidence) else ()

    @property
    def calls(self) -> CallEvidence | None:
        """Evidence of wrong calls in the turn; None if the failure has evidence of another type."""
        return self.evidence if isinstance(self.evidence, CallEvidence) else None


class Hallucinations(NamedTuple):
    """All hallucinations of an episode; a hallucination that occurs twice is listed twice."""

    functions: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    """Parameters that the function does not have: ``function.parameter``."""
    needless: tuple[str, ...] = ()
    """Functions that the model called although no offered function fits."""


NOTHING_MADE_UP = Hallucinations()
_MAX_TURNS = 1_000_000


class SelectionCounts(NamedTuple):
    """Number of needed calls, and how many of them have the right function and right arguments."""

    needed: int = 0
    functions: int = 0
    arguments: int = 0
    strangers: int = 0
    """Number of calls of distractors: offered functions that the ground truth never calls."""


class Verdict(NamedTuple):
    """Verdict on one episode."""

    valid: bool
    failure: Failure | None
    failed_turn: int | None
    turns: int
    turns_passed: int
    irreversible: tuple[str, ...] = ()
    """Irreversible calls that are not in the ground truth; a passed episode may also have some."""
    hallucinated: Hallucinations = NOTHING_MADE_UP
    selected: SelectionCounts | None = None
    """Counts of chosen functions and arguments; None if they were not counted."""
    measures: Mapping[str, bool | float | None] = {}
    """Further measures by name, such as ``asking.asked``; None if not applicable."""

    @classmethod
    def of_single_turn(
        cls, evidence: CallEvidence | None, made_up: Hallucinations, chosen: SelectionCounts | None
    ) -> Self:
        """Return the verdict on a single-turn entry: passed if the checker found no mistake."""
        if evidence is None:
            return cls(True, None, None, 1, 1, (), made_up, chosen)
        return cls(False, Failure(evidence.reason, evidence), 0, 1, 0, (), made_up, chosen)

    @classmethod
    def unanswered(cls, turns: int, kind: str, said: str) -> Self:
        """Return the verdict on an episode that ended because a request got no answer.

        No turn counts as passed, because BFCL has no record of the episode.

        Args:
            turns: Number of turns of the trajectory.
            kind: Last part of a reason, such as ``context_overflow``, or the name of another error.
            said: Error message of the server.
        """
        try:
            reason = Reason(f"inference_error:{kind}")
        except ValueError:
            reason = Reason.NO_ANSWER
        return cls(False, Failure(reason, ServerRejectionEvidence(said)), None, turns, 0)

    def __repr__(self) -> str:
        """Return a short text with the result, and with the turn and reason of a failure."""
        if self.failure is None:
            return f"Verdict(passed: {self.turns} turns)"
        turn = "" if self.failed_turn is None else f" in turn {self.failed_turn + 1}"
        return f"Verdict(failed{turn} of {self.turns}: {self.failure.reason.value})"

    def _repr_html_(self) -> str:
        rows = [
            ("passed" if self.valid else "failed", f"{self.turns_passed} of {self.turns} turns")
        ]
        if self.failure is not None:
            where = "" if self.failed_turn is None else f"turn {self.failed_turn + 1}"
            rows.append((where, f"{self.failure.reason.value}: {self.failure.reason.meaning}"))
            rows += [
                (path, f"expected {cut_repr(one)}, got {cut_repr(other)}")
                for path, one, other in self.failure.differences
            ]
            rows += [("not seen", text) for text in self.failure.unseen]
        return notebook_html.table(("verdict", repr(self)), rows)

    @property
    def said(self) -> str | None:
        """Error message of the server if an unanswered request ended the episode."""
        evidence = self.failure and self.failure.evidence
        return evidence.said if isinstance(evidence, ServerRejectionEvidence) else None

    @property
    def error_type(self) -> str | None:
        """Error type, as named by BFCL; None if the episode passes."""
        return self.failure.reason.value if self.failure else None

    def to_json(self) -> dict[str, Any]:
        """Return a flat JSON object."""
        shown: dict[str, Any] = {
            "valid": self.valid,
            "error_type": self.error_type,
            "failed_turn": self.failed_turn,
            "turns": self.turns,
            "turns_passed": self.turns_passed,
        }
        if self.irreversible:
            shown["irreversible"] = [*self.irreversible]
        if any(self.hallucinated):
            shown["hallucinated"] = {
                name: [*found] for name, found in self.hallucinated._asdict().items() if found
            }
        if self.selected:
            shown["selected"] = self.selected._asdict()
        if self.measures:
            shown["measures"] = dict(self.measures)
        match self.failure and self.failure.evidence:
            case StateEvidence(differences=[_, *_] as differences):
                shown["differences"] = [difference.to_json() for difference in differences]
            case ResultEvidence(missing, facts):
                shown["missing_results"] = [*missing]
                if facts:
                    shown["missing_facts"] = [fact._asdict() for fact in facts]
            case UnreportedInfoEvidence(untold):
                shown["untold"] = [*untold]
            case ServerRejectionEvidence(said):
                shown["said"] = said
            case CallEvidence() as calls:
                shown["calls"] = calls.to_json()
        return shown

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Read a JSON object from ``to_json``.

        Raises ValueError if the object is not a valid verdict.
        """
        try:
            error, failed_turn = document["error_type"], document["failed_turn"]
            made_up = document.get("hallucinated", {})
            turns, passed = (read_plain(int, document[n]) for n in ("turns", "turns_passed"))
            if not 0 <= passed <= turns <= _MAX_TURNS:
                raise TypeError(f"{passed} of {turns} turns passed")
            counts = document.get("selected") or {}
            chosen = {name: read_plain(int, count) for name, count in counts.items()}
            return cls(
                read_plain(bool, document["valid"]),
                None if error is None else Failure(Reason(error), read_evidence(document)),
                failed_turn=None if failed_turn is None else read_plain(int, failed_turn),
                turns=turns,
                turns_passed=passed,
                irreversible=read_strings(document.get("irreversible", [])),
                hallucinated=Hallucinations(**{k: read_strings(v) for k, v in made_up.items()}),
                selected=SelectionCounts(**chosen) if chosen else None,
                measures={k: _measure(v) for k, v in document.get("measures", {}).items()},
            )
        except (AttributeError, KeyError, TypeError) as fault:
            raise ValueError(f"not a verdict: {fault}") from None


def _measure(value: object) -> bool | float | None:
    if isinstance(value, bool | float | None):
        return value
    return float(read_plain(int, value))
