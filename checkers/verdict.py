"""The records of judging: what a turn led to, why it failed, and what became of an episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from checkers.evidence import (
    CallEvidence,
    Evidence,
    FaultEvidence,
    MissingFact,
    ResultEvidence,
    StateEvidence,
    ToldEvidence,
)
from checkers.reasons import Reason
from envs.calls import Call
from envs.errors import MalformedCall
from envs.lazy import lazily
from envs.results import Result
from envs.state import Difference, Snapshot, brief

if TYPE_CHECKING:
    from envs import notebook
else:
    notebook = lazily("envs.notebook")


class TurnOutcome(NamedTuple):
    """What the calls of one turn led to."""

    results: tuple[Result, ...]
    """One per call, in order."""
    snapshot: Snapshot
    """The state at the end of the turn."""
    acted: bool
    """Whether there was at least one step with calls."""
    calls: Sequence[Call | MalformedCall]
    """One per result."""


class Failure(NamedTuple):
    """Why one turn failed."""

    reason: Reason
    evidence: Evidence | None = None
    """None where the reason says it all."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Where the state departs from what the ground truth leads to."""
        return self.evidence.differences if isinstance(self.evidence, StateEvidence) else ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Ground-truth results that the model has not seen."""
        return self.evidence.missing if isinstance(self.evidence, ResultEvidence) else ()

    @property
    def unseen(self) -> tuple[str, ...]:
        """What the model has not seen, a line each: facts, or whole results."""
        return tuple(self.evidence.lines()) if isinstance(self.evidence, ResultEvidence) else ()

    @property
    def calls(self) -> CallEvidence | None:
        """What is wrong with the calls of a single turn, or with one call of several turns."""
        return self.evidence if isinstance(self.evidence, CallEvidence) else None


class Hallucinated(NamedTuple):
    """What a model made up, each as often as it did; right or not."""

    functions: tuple[str, ...] = ()
    """Functions that it called and that it had not been offered."""
    parameters: tuple[str, ...] = ()
    """Parameters that it gave and that the function does not have: ``function.parameter``."""
    needless: tuple[str, ...] = ()
    """Functions that it called where none fits."""


NOTHING_MADE_UP = Hallucinated()


class Selected(NamedTuple):
    """How well a model chose among the functions; right or not."""

    needed: int = 0
    """Calls of the ground truth, or expected."""
    functions: int = 0
    """Of these, whose function was called in their turn."""
    arguments: int = 0
    """Of those, with all arguments right."""
    strangers: int = 0
    """Calls of functions that were offered and that the ground truth never calls: distractors."""


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
    irreversible: tuple[str, ...] = ()
    """Calls that cannot be taken back and that the ground truth does not make; right or not."""
    hallucinated: Hallucinated = NOTHING_MADE_UP
    selected: Selected | None = None
    """None where nobody counted."""

    @classmethod
    def of_single_turn(cls, evidence: CallEvidence | None) -> Self:
        """Return the verdict on an entry of one turn, from what is wrong with it."""
        if evidence is None:
            return cls(True, None, None, 1, 1)
        return cls(False, Failure(evidence.reason, evidence), 0, 1, 0)

    @classmethod
    def unanswered(cls, turns: int, kind: str, said: str) -> Self:
        """Return the verdict on an episode that ended since the model's server gave no answer.

        As to BFCL, for which there is no record of it at all, no turn of it has passed.

        Args:
            turns: How many the trajectory has.
            kind: What the model did, as the reasons have it; another only counts as its failure.
            said: The server's words.
        """
        try:
            reason = Reason(f"inference_error:{kind}")
        except ValueError:
            reason = Reason.NO_ANSWER
        return cls(False, Failure(reason, FaultEvidence(said)), None, turns, 0)

    def __repr__(self) -> str:
        """Return what became of it, and where it failed and why."""
        if self.failure is None:
            return f"Verdict(passed: {self.turns} turns)"
        turn = "" if self.failed_turn is None else f" in turn {self.failed_turn + 1}"
        return f"Verdict(failed{turn} of {self.turns}: {self.failure.reason.value})"

    def _repr_html_(self) -> str:
        rows = [
            ("passed" if self.valid else "failed", f"{self.turns_passed} of {self.turns} turns")
        ]
        if self.failure is not None:
            where = "" if self.failed_turn is None else f"turn {self.failed_turn}"
            rows.append((where, f"{self.failure.reason.value}: {self.failure.reason.meaning}"))
            rows += [
                (path, f"expected {brief(one)}, got {brief(other)}")
                for path, one, other in self.failure.differences
            ]
            rows += [("not seen", text) for text in self.failure.unseen]
        return notebook.table(("verdict", repr(self)), rows)

    @property
    def said(self) -> str | None:
        """The server's words, where it gave no answer for what the model did."""
        evidence = self.failure and self.failure.evidence
        return evidence.said if isinstance(evidence, FaultEvidence) else None

    @property
    def error_type(self) -> str | None:
        """What is wrong, as BFCL names it; None when the episode passes."""
        return self.failure.reason.value if self.failure else None

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as one flat JSON object."""
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
        match self.failure and self.failure.evidence:
            case StateEvidence(differences=[_, *_] as differences):
                shown["differences"] = [difference.to_json() for difference in differences]
            case ResultEvidence(missing, facts):
                shown["missing_results"] = [*missing]
                if facts:
                    shown["missing_facts"] = [fact._asdict() for fact in facts]
            case ToldEvidence(untold):
                shown["untold"] = [*untold]
            case FaultEvidence(said):
                shown["said"] = said
            case CallEvidence() as calls:
                shown["calls"] = calls.to_json()
        return shown

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` writes.

        Raises:
            ValueError: It is no verdict, or its reason is unknown.
        """
        try:
            error = document["error_type"]
            return cls(
                document["valid"],
                None if error is None else Failure(Reason(error), _evidence(document)),
                failed_turn=document["failed_turn"],
                turns=document["turns"],
                turns_passed=document["turns_passed"],
                irreversible=tuple(document.get("irreversible", ())),
                hallucinated=_hallucinated(document.get("hallucinated", {})),
                selected=Selected(**document["selected"]) if document.get("selected") else None,
            )
        except (AttributeError, KeyError, TypeError) as fault:
            raise ValueError(f"this is no verdict: {fault}") from None


def _hallucinated(found: Mapping[str, Sequence[str]]) -> Hallucinated:
    return Hallucinated(**{name: tuple(names) for name, names in found.items()})


def _evidence(document: Mapping[str, Any]) -> Evidence | None:
    match document:
        case {"differences": differences}:
            return StateEvidence(partial(tuple, [*map(Difference.from_json, differences)]))
        case {"missing_results": missing}:
            facts = [MissingFact(**fact) for fact in document.get("missing_facts", ())]
            return ResultEvidence(tuple(missing), tuple(facts))
        case {"untold": untold}:
            return ToldEvidence(tuple(untold))
        case {"said": said}:
            return FaultEvidence(said)
        case {"calls": calls}:
            return CallEvidence.from_json(calls)
    return None
