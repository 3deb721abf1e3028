"""Calls as texts, made on a session of one backend; ``extensions.contract`` has those by name."""

from __future__ import annotations

from typing import Any

from envs.calls import parse_call
from envs.errors import ToolError
from envs.results import Result
from envs.session import Session


def call(session: Session, text: str) -> Result:
    return session.call(parse_call(text))


def state(session: Session) -> dict[str, Any]:
    """Return the compared state of a session's only backend as JSON has it."""
    [fields] = session.snapshot().to_json().values()
    return fields


def assert_refused(
    session: Session, text: str, error: type[ToolError], part: str, **flags: bool
) -> None:
    """Check that a call is refused for a reason and leaves no trace, in private state neither."""
    before = session.snapshot().states
    result = call(session, text)
    assert type(result.error) is error
    assert part in result.error.message
    assert result.value == {**flags, "error": result.error.message}
    assert not result.changed
    assert session.snapshot().states == before
