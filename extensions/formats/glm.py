"""GLM 4.5 to 4.7: the name, then pairs of key and value, each between tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envs.calls import Call, call_from_tool
from envs.errors import MalformedCall
from extensions.formats.raw import blocks
from extensions.formats.reading import LONGEST_NAME, add, after_blanks, check_length, is_name, meant
from extensions.formats.showing import answering, before, in_tags, showing
from extensions.formats.typed_texts import Quoting, text_of, value_of, wrapped
from runner.models.protocols.base import Frame, Written, parameters_of
from runner.models.tools import Document

_OPENING, _CLOSING = "<tool_call>", "</tool_call>"
_KEY, _END_KEY = "<arg_key>", "</arg_key>"
_VALUE, _END_VALUE = "<arg_value>", "</arg_value>"
_QUOTING = Quoting(_END_VALUE)


def write(calls: Sequence[Call], text: str = "", documents: Sequence[Document] = ()) -> str:
    """Write calls, each between tags."""
    return before(text, "\n".join([_written(call, documents) for call in calls]))


def _written(call: Call, documents: Sequence[Document]) -> str:
    schemas = parameters_of(call.name, documents)
    lines = [f"{_OPENING}{call.name}"]
    for name, value in call.kwargs.items():
        shown = _QUOTING.quoted(wrapped(text_of(value, schemas.get(name))))
        lines += [f"{_KEY}{name}{_END_KEY}", f"{_VALUE}{shown}{_END_VALUE}"]
    return "\n".join([*lines, _CLOSING])


def read(text: str, documents: Sequence[Document]) -> list[Call]:
    """Read all calls; an opening tag that no name follows is prose.

    Raises:
        MalformedCall: A tag is out of place or not closed.
    """
    check_length(text)
    calls: list[Call] = []
    position = text.find(_OPENING)
    while position >= 0:
        begin = end = position + len(_OPENING)
        tag = text.find("<", begin, begin + LONGEST_NAME + 2)
        name = text[begin:tag].lstrip("\r\n").rstrip() if tag >= 0 else ""
        if is_name(name):
            arguments, end = _arguments(text, tag, name, documents)
            add(calls, call_from_tool(name, arguments))
        elif tag >= 0 and meant(name) and text.startswith(_CLOSING, tag):
            raise MalformedCall(f"After {_OPENING} must stand the name of a function.")
        position = text.find(_OPENING, end)
    return calls


def _arguments(
    text: str, position: int, name: str, documents: Sequence[Document]
) -> tuple[dict[str, Any], int]:
    schemas = parameters_of(name, documents)
    arguments: dict[str, Any] = {}
    while not text.startswith(_CLOSING, position):
        key, position = _between(text, position, _KEY, _END_KEY, name)
        shown, position = _between(text, position, _VALUE, _END_VALUE, name)
        if key in arguments:
            raise MalformedCall(f"{name}: the argument {key[:100]} is given twice.")
        arguments[key] = value_of(_QUOTING.unquoted(shown), schemas.get(key))
        position = after_blanks(text, position)
    return arguments, position + len(_CLOSING)


def _between(text: str, position: int, opening: str, closing: str, name: str) -> tuple[str, int]:
    """Return what stands between two tags, of which the first is next, and where they end."""
    begin = after_blanks(text, position)
    end = text.find(closing, begin)
    if end < 0 or not text.startswith(opening, begin):
        raise MalformedCall(f"The call of {name} needs {opening} and {closing}, then {_CLOSING}.")
    return text[begin + len(opening) : end], end + len(closing)


show = showing("several", write, in_tags)
answer = answering("<tool_response>\n{result}\n</tool_response>")

GLM = Written("glm", "text", True, show, write, answer, read)
GLM_RAW = GLM._replace(
    name="glm-raw",
    kind="raw",
    answer=answering("<tool_response>\n{result}\n</tool_response>", "observation"),
    frame=Frame(
        blocks("<|{role}|>\n", "", "system", "user", "assistant", "observation"),
        "<|assistant|>\n",
        "[gMASK]<sop>",
    ),
    stops=("<|user|>", "<|observation|>", "<|endoftext|>"),
)
