"""Session of a desk; calls return the results and errors of tau2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from envs.calls import Call
from envs.errors import InvalidArgument, MalformedCall, Refused, ToolError, UnknownFunction
from envs.registry import backend_class
from envs.results import Result
from envs.state import has_changed
from envs.tool import parameter_names
from extensions.tau import tool_calls
from extensions.tau.desk import Desk
from extensions.users.session import AnsweringSession
from runner.models.dialogue_user import SAY

_OTHER_SIDE = "assistant."
"""Prefix of the function's name if the agent calls a function of the user."""


class DeskSession(AnsweringSession):
    """Session that executes the calls of the agent and of the user at one desk."""

    __slots__ = ("said", "solo")

    solo: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.solo = False

    @classmethod
    def load(
        cls,
        environments: Sequence[str],
        config: Mapping[str, Mapping[str, Any]],
        *_: Any,
        **__: Any,
    ) -> Self:
        """Create a session without copying the records of the config.

        A database has thousands of records, so a copy would take longer than a dialogue. Functions
        never change a record in place: they replace it.
        """
        (name,) = environments
        desk = backend_class(name)()
        desk.__dict__.update(desk.FIELDS)
        desk.__dict__.update({desk.KEYS[key]: value for key, value in config[name].items()})
        return cls({name: desk})

    def fork(self, *, checks_arguments: bool | None = None) -> Self:
        """Return an independent copy."""
        copy = super().fork(checks_arguments=checks_arguments)
        copy.solo = self.solo
        return copy

    @property
    def desk(self) -> Desk:
        """The desk."""
        (desk,) = self.backends.values()
        assert isinstance(desk, Desk)
        return desk

    def call(self, call: Call | MalformedCall) -> Result:
        """Execute a call by tau2's rules."""
        if not isinstance(call, Call) or call.name == SAY:
            return super().call(call)
        if call.nested:
            return _refuse(InvalidArgument("Arguments cannot be calls"))
        desk, name = self.desk, call.name.removeprefix(_OTHER_SIDE)
        foreign = name != call.name or self.solo
        side = "user" if name in desk.USER_TOOLS and not foreign else "assistant"
        state = desk.__dict__.copy()
        outcome = tool_calls.call(desk, name, _by_name(desk, call, name), side, solo=self.solo)
        changed = has_changed(state, desk.__dict__)
        if not outcome.failed:
            return Result(outcome.value, None, changed, outcome.text)
        return _refuse(_error_of(desk, name, outcome.text), outcome.text, changed)


def _by_name(desk: Desk, call: Call, name: str) -> Mapping[str, Any]:
    tool = desk.TOOLS.get(name)
    if not call.args or tool is None:
        return call.kwargs
    return {**dict(zip(parameter_names(tool)[0], call.args, strict=False)), **call.kwargs}


def _error_of(desk: Desk, name: str, text: str) -> ToolError:
    message = text.removeprefix("Error: ")
    return UnknownFunction(message) if name not in desk.TOOLS else Refused(message)


def _refuse(error: ToolError, text: str | None = None, changed: bool = False) -> Result:
    return Result(None, error, changed, text or f"Error: {error.message}")
