"""From a model's step to the calls that are executed, done right; ``as_bfcl`` does it as BFCL does.

A step of a function-calling model is a list of ``{name: arguments}``, one of a prompting model is
text. Nothing is ever evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from envs.calls import Call, call_from_tool, parse_calls
from envs.errors import MalformedCall

Step = Sequence[Mapping[str, object]] | str | None
"""One recorded answer of a model: tool calls, text, or nothing."""

UNREADABLE = "(unreadable)"
"""In the place of a function's name: calls were meant, and its arguments say why there are none."""

Decoder = Callable[[Any], list[Call | MalformedCall]]
"""Turns a step into calls; raises MalformedCall where the step as a whole cannot be read."""


def decode_tool_calls(step: Step) -> list[Call | MalformedCall]:
    """Read the tool calls of a function-calling step; a bad one does not spoil the others.

    Args:
        step: A list of ``{name: arguments}``; text or None holds no calls.
    """
    if step is None or isinstance(step, str):
        return []
    return [tool_call(name, arguments) for member in step for name, arguments in member.items()]


def tool_call(name: str, arguments: object) -> Call | MalformedCall:
    """Return the call that a tool call stands for, or why it cannot be read."""
    if name == UNREADABLE and isinstance(arguments, str):
        return MalformedCall(arguments)
    try:
        return call_from_tool(name, arguments)
    except MalformedCall as error:
        return error


def decode_text(step: Step, variables: Collection[str] = ()) -> list[Call | MalformedCall]:
    """Read the calls in a prompting model's text.

    Args:
        step: The text; anything else holds no calls.
        variables: Names that may stand for a value; each is read as a text.

    Raises:
        MalformedCall: The text holds what looks like calls but cannot be read.
    """
    return [*parse_calls(step, variables)] if isinstance(step, str) else []
