"""Decoder that reads executable calls in a model's answers; BFCL's decoder is ``as_bfcl``.

The step of a function-calling model is a list of ``{name: arguments}``. The step of a prompting
model is text. No expression is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from envs.calls import Call, make_call_from_tool, parse_calls
from envs.errors import MalformedCall

Step = Sequence[Mapping[str, object]] | str | None
"""One recorded answer of a model: tool calls, text or None."""

UNREADABLE = "(unreadable)"
"""If a step cannot be parsed, a call with this name records the error message."""

Decoder = Callable[[Any], list[Call | MalformedCall]]
"""Function that converts a step to calls; raises MalformedCall if no part can be parsed."""


def decode_tool_calls(step: Step) -> list[Call | MalformedCall]:
    """Read the tool calls of a step."""
    if step is None or isinstance(step, str):
        return []
    return [tool_call(name, arguments) for member in step for name, arguments in member.items()]


def tool_call(name: str, arguments: object) -> Call | MalformedCall:
    """Convert a tool call to a call, or return its parse error."""
    if name == UNREADABLE and isinstance(arguments, str):
        return MalformedCall(arguments)
    try:
        return make_call_from_tool(name, arguments)
    except MalformedCall as error:
        return error


def decode_text(step: Step, variables: Collection[str] = ()) -> list[Call | MalformedCall]:
    """Read the calls in a step of text; other steps have no calls.

    An argument may be a name in ``variables``; the name then becomes a string.

    Raises MalformedCall if a part of the text looks like calls but cannot be parsed.
    """
    return [*parse_calls(step, variables)] if isinstance(step, str) else []
