"""Assertions about one call: what it gives, and that it changes what it should and nothing else."""

from __future__ import annotations

from typing import Any

from envs.calls import Call
from envs.errors import ToolError
from envs.session import Session


def state(session: Session) -> dict[str, Any]:
    """Return the compared fields of a session's only backend."""
    [fields] = session.snapshot().compared().values()
    return fields


def succeed(session: Session, name: str, *args: Any, **changes: Any) -> Any:
    """Make a call, assert that it succeeds and changes the named fields, and return its value.

    Args:
        session: A session of one backend.
        name: The function.
        args: Its arguments.
        changes: New value by field; every other compared field must keep its own.
    """
    expected = {**state(session), **changes}
    result = session.call(Call(name, args))
    assert result.error is None, result.error
    assert state(session) == expected
    assert result.changed is bool(changes)
    return result.value


def refuse(session: Session, kind: type[ToolError], message: str, name: str, *args: Any) -> None:
    """Make a call, and assert that it is refused and leaves the state as it was.

    Args:
        session: A session.
        kind: Class of the error.
        message: Part of what it says.
        name: The function.
        args: Its arguments.
    """
    before = session.snapshot()
    written = repr(before.states)
    result = session.call(Call(name, args))
    assert type(result.error) is kind, result
    assert message in result.error.message
    assert repr(session.snapshot().states) == written
