"""Session that compares executed and recorded results; it can return the recorded results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Self

from envs.calls import Call, check_bounds
from envs.errors import MalformedCall, Refused, ToolError
from envs.results import Result
from envs.session import Session
from envs.state import ABSENT, to_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runner.models.conversation import Observe

_ERROR = "error"


class RecordedResult(Result):
    """A recorded result that replaces the result of the execution."""

    __slots__ = ()


class RecordedSession(Session):
    """A session whose calls have recorded results."""

    given: dict[int, str]
    """Maps the index of a call to its recorded result."""
    trusts: bool
    """Whether a different recorded result replaces our result. The state is always the state of the
    execution.
    """
    observe: Observe | None
    """Function that renders our results for the model."""
    made: int
    """Number of calls so far."""
    differing: dict[int, str]
    """Maps the index of a call to our result, if the recorded result differs."""

    @classmethod
    def of(
        cls,
        template: Session,
        given: Mapping[int, str],
        *,
        trusts: bool,
        observe: Observe | None = None,
    ) -> Self:
        """Return a copy of the session ``template`` with the recorded results in ``given``."""
        kind, fork = type(template), template.fork()
        copy: Self = object.__new__(cls if kind is Session else type(cls.__name__, (cls, kind), {}))
        for base in kind.__mro__:
            for name in getattr(base, "__slots__", ()):
                setattr(copy, name, getattr(fork, name))
        copy._begin(given, trusts=trusts, observe=observe)
        # A session with worlds links its backends in a fork.
        return copy.fork()

    def _begin(
        self, given: Mapping[int, str], *, trusts: bool, observe: Observe | None, made: int = 0
    ) -> None:
        self.given, self.trusts, self.observe = dict(given), trusts, observe
        self.made, self.differing = made, {}

    def fork(self, *, checks_arguments: bool | None = None) -> Self:
        """Return an independent copy."""
        copy = super().fork(checks_arguments=checks_arguments)
        copy._begin(self.given, trusts=self.trusts, observe=self.observe, made=self.made)
        return copy

    def expect(self, results: Sequence[str | None]) -> None:
        """Set the recorded results of the next calls."""
        self.given |= {
            self.made + place: text for place, text in enumerate(results) if text is not None
        }

    def call(self, call: Call | MalformedCall) -> Result:
        """Execute a call; return its result or, if ``trusts`` is true, the recorded result."""
        number = self.made
        self.made += 1
        result = super().call(call)
        theirs = self.given.get(number)
        if theirs is None or _is_alike(result.text, to_json(result.held), theirs):
            return result
        shown = self.observe and self.observe(self, call, result, "")
        if shown is not None and _is_alike(shown, None, theirs):
            return result
        self.differing[number] = result.text
        return _recorded(result, theirs) if self.trusts else result


def _is_alike(text: str, value: object, theirs: str) -> bool:
    if theirs.strip() == text.strip():
        return True
    found = _parse(theirs)
    return bool(found is not ABSENT and found == value)


def _parse(text: str) -> Any:
    """Parse JSON text within the size limits of a call; return ABSENT for other text."""
    try:
        value = json.loads(text)
        check_bounds(value)
    except (ValueError, RecursionError, MalformedCall):
        return ABSENT
    return value


def _recorded(ours: Result, text: str) -> RecordedResult:
    value = _parse(text)
    error: ToolError | None = None
    if isinstance(value, dict) and value.keys() == {_ERROR}:
        error, value = Refused(f"{value[_ERROR]}"), None
    elif value is ABSENT:
        value = text
    result = RecordedResult(value, error, ours.changed, text)
    result.call = ours.call
    return result
