"""From a model's step to the calls that are compared: done right, and as the reference does it.

Values are not converted here: those of Java and JavaScript are still the texts of expressions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from checkers.calls.documents import Language
from checkers.calls.errors import Unreadable
from checkers.replies.as_bfcl.calls import UNNAMED, java_calls, javascript_calls
from checkers.replies.calls_in_code import calls_in_code
from checkers.replies.decoding import (
    Step,
    bracketed,
    decode_text,
    decode_tool_calls,
    resolve_calls_as_bfcl,
)
from checkers.verdict import Reason
from envs.calls import MAX_TEXT, Call
from envs.errors import MalformedCall

ToolCallReader = Callable[[Step], list[Call]]
"""Turns a function-calling model's step into calls; raises Unreadable."""
TextReader = Callable[[Step, Language], list[Call]]
"""Turns a prompting model's step into calls; raises Unreadable."""


def read_tool_calls(step: Step) -> list[Call]:
    """Read the tool calls of a function-calling step; text or nothing has none.

    Raises:
        Unreadable: The arguments of a call cannot be read.
    """
    return _without_malformed(decode_tool_calls(step))


def read_text(step: Step, language: Language) -> list[Call]:
    """Read the calls in a prompting model's text.

    Raises:
        Unreadable: The text holds what looks like calls but cannot be read.
    """
    if language is not Language.PYTHON:
        return calls_in_code(step, language) if isinstance(step, str) else []
    try:
        return _without_malformed(decode_text(step))
    except MalformedCall as error:
        raise Unreadable(str(error), attempted=True) from None


def _without_malformed(calls: list[Call | MalformedCall]) -> list[Call]:
    for call in calls:
        if isinstance(call, MalformedCall):
            raise Unreadable(str(call), attempted=True)
    return [call for call in calls if isinstance(call, Call)]


def read_tool_calls_as_bfcl(step: Step) -> list[Call]:
    """Read the tool calls of a step as the reference does.

    Raises:
        Unreadable: The step is text or nothing, or the arguments of a call are no JSON object.
    """
    if step is None or (isinstance(step, str) and step):
        raise Unreadable("the step has no tool calls")
    return [_tool_call_as_bfcl(member) for member in step]


def _tool_call_as_bfcl(member: object) -> Call:
    if not isinstance(member, dict) or not member:
        raise Unreadable("a tool call is not an object")
    name, text = next(iter(member.items()))
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise Unreadable(f"the arguments of {name} are not a text that is read")
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"the arguments of {name} are not valid JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise Unreadable(f"the arguments of {name} are no JSON object", Reason.WRONG_FORMAT)
    return Call(name, (), arguments)


def read_text_as_bfcl(step: Step, language: Language) -> list[Call]:
    """Read a prompting model's text as the reference's default decoder does.

    Raises:
        Unreadable: The text is not a list of calls, or holds a value that does not decode.
    """
    try:
        text = bracketed(step)
        if language is Language.PYTHON:
            return [_call(*resolved) for resolved in resolve_calls_as_bfcl(text)]
    except MalformedCall as error:
        raise Unreadable(str(error)) from None
    return java_calls(text[1:-1]) if language is Language.JAVA else javascript_calls(text[1:-1])


def _call(name: str, named: Mapping[str | None, Any]) -> Call:
    return Call(name, (), {UNNAMED if key is None else key: value for key, value in named.items()})
