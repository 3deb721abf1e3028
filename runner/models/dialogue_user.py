"""Interface of simulated users, which answer texts of the model.

The module does no I/O.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple, Protocol, Self

from envs.calls import Call
from envs.results import Result
from envs.session import Session
from runner.models.model_types import Reply, Request

SAY = "say_to_user"
"""Name of the call that represents a message to the user; its result is the user's answer."""
EXCHANGE_LIMIT = 60
_OWN_STEP_LIMIT = 20
"""Maximum number of steps in which the user makes calls instead of answering the agent."""


class UserRequest(Request):
    """Request to the model that plays the user."""


class UserAnswer(NamedTuple):
    """Answer of a user."""

    text: str
    stops: bool = False


class UserExchange(NamedTuple):
    """The user's calls, their results, and the user's answer to the model's text."""

    calls: tuple[Call, ...]
    results: tuple[Result, ...]
    answer: UserAnswer


UserAct = UserAnswer | Sequence[Call]


class User(Protocol):
    """Simulated user of one episode; sees the model's texts and the results of the user's calls."""

    extension: str
    """Name of the extension that stores ``kept()`` in the record of the episode."""

    def act(
        self, text: str, done: Sequence[tuple[Call, Result]]
    ) -> Generator[UserRequest, Reply, UserAct]:
        """Answer the agent with calls or a message; yield requests to the user's model."""

    def remember(self, made: UserExchange) -> None:
        """Add an exchange to the conversation."""

    def kept(self) -> Any:
        """Return the ``ExtensionData`` for the record, with the answers that a replay needs."""

    def fork(self) -> Self:
        """Return an independent copy."""


def exchange(
    user: User, text: str, session: Session
) -> Generator[UserRequest, Reply, UserExchange]:
    """Let the user answer a text. The user may make calls before the answer."""
    done: list[tuple[Call, Result]] = []
    act: UserAct = ()
    for _ in range(_OWN_STEP_LIMIT):
        act = yield from user.act(text, done)
        if isinstance(act, UserAnswer):
            break
        done += zip(act, session.play(act), strict=True)
    answer = act if isinstance(act, UserAnswer) else UserAnswer("", stops=True)
    calls, results = zip((Call(SAY, (), {"text": text}), Result(answer.text)), *done, strict=True)
    made = UserExchange(calls, results, answer)
    user.remember(made)
    return made
