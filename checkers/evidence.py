"""Evidence of a failed turn."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple, Self, TypeVar

from checkers.reasons import Reason
from envs.state import ABSENT, Difference, cut_repr, to_json

Plain = TypeVar("Plain")


class StateEvidence:
    """Differences between a state and the state of the ground truth.

    The differences are computed when they are first read, because the computation is slow.
    """

    def __init__(self, find: Callable[[], Iterable[Difference]]) -> None:
        self._find = find

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Differences from the ground truth's state."""
        return tuple(self._find())

    def __eq__(self, other: object) -> bool:
        """Compare the differences."""
        return isinstance(other, StateEvidence) and self.differences == other.differences

    def __hash__(self) -> int:
        """Return a hash of the paths of the differences."""
        return hash(tuple([difference.path for difference in self.differences]))

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the differences, because whole states are large."""
        return {"differences": self.differences}


class UnseenFact(NamedTuple):
    """A needed fact that the model does not know."""

    name: str
    """Path of the field in the result, such as ``fuelLevel`` or ``owner.name``."""
    value: Any
    call: str

    def __str__(self) -> str:
        """Return one line with the fact and the call that returns the fact."""
        fact = f"{self.name} {cut_repr(self.value)}" if self.name else "a result"
        return f"{fact}; {self.call} returns it"


class ResultEvidence(NamedTuple):
    """Needed results that the model has not seen."""

    missing: tuple[str, ...]
    facts: tuple[UnseenFact, ...] = ()
    """Facts that no result contained; empty for ``bfcl``, which compares whole results."""

    def lines(self) -> Iterator[str]:
        """Yield one line per missing fact or result."""
        yield from map(str, self.facts) if self.facts else self.missing


class UnreportedInfoEvidence(NamedTuple):
    """Required information that is missing in the answers of a turn."""

    untold: tuple[str, ...]


class ServerRejectionEvidence(NamedTuple):
    """A request that the model's server refused to answer."""

    said: str


class CallEvidence(NamedTuple):
    """Mistake in one call, in all calls of a turn, or in a result."""

    reason: Reason
    message: str
    function: str | None = None
    parameter: str | None = None
    expected: Any = ABSENT
    actual: str | None = None
    """Python literal of the given value; None if the argument is missing."""
    causes: tuple[CallEvidence, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield the message of the error, and the indented messages of the causes."""
        place = ".".join(name for name in (self.function, self.parameter) if name)
        yield f"{place}: {self.message}" if place else self.message
        for cause in self.causes:
            yield from (f"  {line}" for line in cause.lines())

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
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
        """Read a JSON object from ``to_json``."""
        return cls(
            Reason(document["error_type"]),
            document["message"],
            function=document.get("function"),
            parameter=document.get("parameter"),
            expected=document.get("expected", ABSENT),
            actual=document.get("actual"),
            causes=tuple([cls.from_json(cause) for cause in document.get("causes", ())]),
        )


Evidence = (
    StateEvidence | ResultEvidence | UnreportedInfoEvidence | ServerRejectionEvidence | CallEvidence
)


def read_evidence(document: Mapping[str, Any]) -> Evidence | None:
    """Return the evidence in the JSON object of a verdict, or None if there is no evidence."""
    match document:
        case {"differences": differences}:
            return StateEvidence(partial(tuple, [*map(Difference.from_json, differences)]))
        case {"missing_results": missing}:
            facts = [UnseenFact(**fact) for fact in document.get("missing_facts", ())]
            return ResultEvidence(read_strings(missing), tuple(facts))
        case {"untold": untold}:
            return UnreportedInfoEvidence(read_strings(untold))
        case {"said": said}:
            return ServerRejectionEvidence(read_plain(str, said))
        case {"calls": calls}:
            return CallEvidence.from_json(calls)
    return None


def read_plain(kind: type[Plain], value: object) -> Plain:
    """Return a value of a JSON object. Raises TypeError if the value is not of type ``kind``."""
    if type(value) is not kind:
        raise TypeError(f"{value!r:.60} is not of type {kind.__name__}")
    if isinstance(value, int) and abs(value) > sys.maxsize:
        raise TypeError(f"{value!r:.60} is too large")
    return value


def read_strings(value: object) -> tuple[str, ...]:
    """Return a list of strings as a tuple. Raises TypeError for any other value."""
    return tuple([read_plain(str, text) for text in read_plain(list, value)])
