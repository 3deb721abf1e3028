"""Session of a dialogue. A call of ``SAY`` sends the model's text and returns a recorded answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from envs.calls import Call
from envs.errors import MalformedCall
from envs.results import Result
from envs.session import Session
from runner.models.dialogue_user import SAY


class AnsweringSession(Session):
    """Session that answers ``SAY`` with the next answer of a recorded user.

    A subclass needs ``said`` in its ``__slots__``.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        said: tuple[str, ...]
        """Remaining answers, in order."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.said: tuple[str, ...] = ()  # type: ignore[misc]

    def fork(self, *, checks_arguments: bool | None = None) -> Self:
        """Return an independent copy."""
        copy = super().fork(checks_arguments=checks_arguments)
        copy.said = self.said  # type: ignore[misc]
        return copy

    def call(self, call: Call | MalformedCall) -> Result:
        """Execute a call."""
        if not isinstance(call, Call) or call.name != SAY:
            return super().call(call)
        answer = next(iter(self.said), "")
        self.said = self.said[1:]  # type: ignore[misc]
        return Result(answer)


def with_answers(session: Session, answers: tuple[str, ...]) -> Session:
    """Copy a session; in the copy, the user gives the recorded ``answers``."""
    copy = session.fork()
    if not isinstance(copy, AnsweringSession):
        made = object.__new__(_answering(type(copy)))
        for kind in type(copy).__mro__:
            for name in getattr(kind, "__slots__", ()):
                setattr(made, name, getattr(copy, name))
        copy = made
    copy.said = answers  # type: ignore[misc]
    return copy


_KINDS: dict[type[Session], type[AnsweringSession]] = {}


def _answering(kind: type[Session]) -> type[AnsweringSession]:
    if kind not in _KINDS:
        bases = (AnsweringSession,) if kind is Session else (AnsweringSession, kind)
        _KINDS[kind] = type(f"Answering{kind.__name__}", bases, {"__slots__": ("said",)})
    return _KINDS[kind]
