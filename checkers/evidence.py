"""What shows that a turn failed: the evidence that a failure carries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

from checkers.reasons import Reason
from envs.state import ABSENT, Difference, brief, to_json


@dataclass(frozen=True, eq=False)
class StateEvidence:
    """The state is not the one that the ground truth leads to.

    Attributes:
        find: Gives the differences; asked once, by who looks first. To find them takes as long as
            to judge, and most are never looked at.
    """

    find: Callable[[], Iterable[Difference]]

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Where the state departs from what the ground truth leads to."""
        return tuple(self.find())

    def __eq__(self, other: object) -> bool:
        """Tell whether the differences are the same."""
        return isinstance(other, StateEvidence) and self.differences == other.differences

    def __hash__(self) -> int:
        """Return a hash that agrees with equality."""
        return hash(tuple([difference.path for difference in self.differences]))


class MissingFact(NamedTuple):
    """Something that the model should know and does not."""

    name: str
    """The member of the result, such as ``fuelLevel``; inner ones after a point."""
    value: Any
    """Its value, in JSON's types."""
    call: str
    """The ground-truth call that gives it."""

    def __str__(self) -> str:
        """Return the fact and where it could have been had, in one line."""
        fact = f"{self.name} {brief(self.value)}" if self.name else "what was asked"
        return f"{fact}; {self.call} gives it"


class ResultEvidence(NamedTuple):
    """The model has not seen all that it should have."""

    missing: tuple[str, ...]
    """Ground-truth results, as text."""
    facts: tuple[MissingFact, ...] = ()
    """Which of their facts it does not know; none where whole results are compared."""

    def lines(self) -> Iterator[str]:
        """Yield what was not seen, a line each."""
        yield from map(str, self.facts) if self.facts else self.missing


class ToldEvidence(NamedTuple):
    """The model did all that it should, and did not say all that was asked."""

    untold: tuple[str, ...]
    """The facts of the turn that were not told, as people read them."""


class FaultEvidence(NamedTuple):
    """The model did something for which its server gave no answer."""

    said: str
    """The server's words, in one line."""


class CallEvidence(NamedTuple):
    """What is wrong with the calls of a turn, with one of them or with its result."""

    reason: Reason
    message: str
    """One sentence."""
    function: str | None = None
    """The function of the call that is wrong."""
    parameter: str | None = None
    """The parameter that is wrong."""
    expected: Any = ABSENT
    """What would have been right: a number of calls, a type, a list of allowed values."""
    actual: str | None = None
    """What was given, as Python writes it; None where nothing was."""
    causes: tuple[CallEvidence, ...] = ()
    """Why each of the calls that could have matched did not."""

    def lines(self) -> Iterator[str]:
        """Yield what is wrong and its causes, a line each."""
        place = ".".join(name for name in (self.function, self.parameter) if name)
        yield f"{place}: {self.message}" if place else self.message
        for cause in self.causes:
            yield from (f"  {line}" for line in cause.lines())

    def to_json(self) -> dict[str, Any]:
        """Return the evidence as one JSON object."""
        shown: dict[str, Any] = {"error_type": self.reason.value, "message": self.message}
        if self.function is not None:
            shown["function"] = self.function
        if self.parameter is not None:
            shown["parameter"] = self.parameter
            if self.expected is not ABSENT:
                shown["expected"] = to_json(self.expected)
            if self.actual is not None:
                shown["actual"] = self.actual
        if self.causes:
            shown["causes"] = [cause.to_json() for cause in self.causes]
        return shown

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` writes."""
        return cls(
            Reason(document["error_type"]),
            document["message"],
            function=document.get("function"),
            parameter=document.get("parameter"),
            expected=document.get("expected", ABSENT),
            actual=document.get("actual"),
            causes=tuple([cls.from_json(cause) for cause in document.get("causes", ())]),
        )


Evidence = StateEvidence | ResultEvidence | ToldEvidence | FaultEvidence | CallEvidence
