"""Calls in Python: read within bounds, and named as structured calls name their arguments."""

from __future__ import annotations

from collections.abc import Sequence

from envs.calls import Call, call_from_tool, holds_call, parse_calls, plain_calls
from envs.errors import MalformedCall
from extensions.formats.reading import check_length
from runner.models.protocols.base import parameters_of
from runner.models.tools import Document

_MOST_PYTHON = 150_000
"""Characters of what is not in the plain form of calls."""
_NO_WORDS = ("[", "(", "`", "{")
"""Where one of these stands before a list, it may be calls that are meant, or a fence."""


def python_calls(text: str) -> list[Call]:
    """Read the calls in Python in a reply.

    Raises:
        MalformedCall: They cannot be read, or are so long that a syntax tree takes seconds.
    """
    check_length(text)
    calls = plain_calls(text) or _after_words(text)
    if not calls:
        check_python(text)
    return calls or parse_calls(text)


def _after_words(text: str) -> list[Call]:
    """Return the calls in plain form on the last line, where words alone stand before it."""
    begin = text.rfind("\n[") + 1
    words = text[:begin]
    if not words or any(sign in words for sign in _NO_WORDS):
        return []
    return plain_calls(text[begin:])


def check_python(text: str) -> None:
    """Refuse Python that a syntax tree would take seconds for.

    Raises:
        MalformedCall: It is too long.
    """
    if len(text) > _MOST_PYTHON:
        raise MalformedCall(f"At most {_MOST_PYTHON} characters of Python are read.")


def with_names(call: Call, documents: Sequence[Document]) -> Call:
    """Return a call of Python with all arguments named, as a structured call has them.

    Raises:
        MalformedCall: An argument is a call itself, or has no name.
    """
    if call.nested or any(map(holds_call, call.args)):
        raise MalformedCall(
            f"{call.name[:100]} has a call inside; make that one first and use its result."
        )
    if not call.args:
        return call_from_tool(call.name, dict(call.kwargs))
    names = list(parameters_of(call.name, documents))
    if len(call.args) > len(names):
        raise MalformedCall(f"{call.name[:100]}: name each argument.")
    positional = dict(zip(names, call.args, strict=False))
    for name in call.kwargs:
        if name in positional:
            raise MalformedCall(f"{call.name[:100]}: the argument {name} is given twice.")
    return call_from_tool(call.name, {**positional, **call.kwargs})
