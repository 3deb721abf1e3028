"""Calling format of Gemma 4 and FunctionGemma; tokens enclose calls such as ``call:f{a:text,n:3}``.

Values are JSON objects with unquoted names. Special tokens enclose strings, in place of quotation
marks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from envs.calls import MAX_DEPTH, Call, make_call_from_tool
from envs.errors import MalformedCall
from extensions.formats.prompt_text import RESULT, Documents, Made, framed, name_of, writing
from extensions.formats.reply_parsing import EndMarkEscaping, after_blanks, json_at, reading_after
from runner.models.calling_formats.format_types import TextFormat
from runner.models.model_types import ChatMessage

_QUOTE, _ESCAPE = '<|"|>', "<escape>"
"""Quote marks of Gemma 4 and FunctionGemma."""
_QUOTING = EndMarkEscaping(_QUOTE)
_NAMED_MEMBER = re.compile(r"([^\s:{}\[\],<\"]++)\s*+:")
_NEXT = re.compile(r"\s*+([,}\]:]?)")
_PLAIN_KEY = re.compile(r"[A-Za-z_]\w*+")


def _write_value(value: Any) -> str:
    if isinstance(value, str):
        return f"{_QUOTE}{_QUOTING.quoted(value)}{_QUOTE}"
    if isinstance(value, dict):
        members = (f"{_write_key(key)}:{_write_value(member)}" for key, member in value.items())
        return f"{{{','.join(members)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(_write_value, value))}]"
    return json.dumps(value)


def _write_key(key: Any) -> str:
    return key if isinstance(key, str) and _PLAIN_KEY.fullmatch(key) else _write_value(str(key))


class _ValueParser(NamedTuple):
    text: str
    quote: str

    def value(self, position: int, depth: int = 0) -> tuple[Any, int]:
        if depth > MAX_DEPTH:
            raise MalformedCall(f"Arguments are nested more than {MAX_DEPTH} levels deep.")
        text = self.text
        if text.startswith(self.quote, position):
            return self._string(position)
        if text.startswith("[", position):
            return self._members(position + 1, "]", depth)
        if text.startswith("{", position):
            members, end = self._members(position + 1, "}", depth)
            return dict(members), end
        return json_at(text, position, "A value")

    def _string(self, position: int) -> tuple[str, int]:
        begin = position + len(self.quote)
        end = self.text.find(self.quote, begin)
        if end < 0:
            raise MalformedCall(f"A string is not closed by {self.quote}.")
        shown = self.text[begin:end]
        return (_QUOTING.unquoted(shown) if self.quote == _QUOTE else shown), end + len(self.quote)

    def _members(self, position: int, closing: str, depth: int) -> tuple[list[Any], int]:
        members: list[Any] = []
        sign = _sign(self.text, position)
        if sign[0] == closing:
            return members, sign[1]
        while True:
            key = None
            if closing == "}":
                key, position = self._name(position)
            value, position = self.value(after_blanks(self.text, position), depth + 1)
            members.append(value if key is None else (key, value))
            mark, position = _sign(self.text, position)
            if mark == closing:
                return members, position
            if mark != ",":
                raise MalformedCall(f"An argument must be followed by a comma or {closing}.")

    def _name(self, position: int) -> tuple[str, int]:
        position = after_blanks(self.text, position)
        if self.text.startswith(self.quote, position):
            name, position = self._string(position)
            mark, position = _sign(self.text, position)
            if mark == ":":
                return name, position
        elif named := _NAMED_MEMBER.match(self.text, position):
            return named[1], named.end()
        raise MalformedCall("An argument must be NAME:VALUE.")


def _sign(text: str, position: int) -> tuple[str, int]:
    found = _NEXT.match(text, position)
    return (found[1], found.end()) if found else ("", position)


_MARKS = (("<|tool_call>", _QUOTE), ("<start_function_call>", _ESCAPE))
_HEAD = re.compile(r"\s*+call:([\w.-]{1,200}+)\s*+(?=\{)")


def _show(documents: Documents) -> list[ChatMessage]:
    each = [
        f"<|tool>declaration:{document['name']}"
        f"{_write_value({k: v for k, v in document.items() if k != 'name'})}<tool|>"
        for document in documents
    ]
    return [{"role": "system", "content": "".join(each)}]


def _read(text: str, documents: Documents) -> list[Call]:
    mark, quote = next((each for each in _MARKS if each[0] in text), _MARKS[0])
    reader = _ValueParser(text, quote)

    def one(text: str, begin: int, _documents: Documents) -> tuple[list[Call], int]:
        if head := _HEAD.match(text, begin):
            value, end = reader.value(head.end())
            return [make_call_from_tool(head[1], value)], end
        if text.startswith("call:", begin):
            raise MalformedCall("A call must be call:NAME{argument:value}.")
        return [], begin

    return reading_after(mark, one)(text, documents)


def _answer(calls: Made, results: Sequence[str], _said: str) -> list[ChatMessage]:
    return [
        {"role": RESULT, "content": f"response:{name_of(call)}{{result:{_write_value(result)}}}"}
        for call, result in zip(calls, results, strict=True)
    ]


def _closing(text: str) -> str:
    """Return the end token of a reply. A reply with calls has no end token."""
    return "" if _MARKS[0][0] in text else "<turn|>\n"


_write = writing(
    lambda call, _: f"<|tool_call>call:{call.name}{_write_value(dict(call.kwargs))}<tool_call|>", ""
)
_FRAME = framed("<|turn>{role}\n", "<turn|>\n", "assistant=model", begin="<bos>")
GEMMA = TextFormat(
    "gemma",
    "raw",
    parallel=True,
    show=_show,
    write=_write,
    answer=_answer,
    read=_read,
    stops=("<turn|>", "<|tool_response>"),
    frame=_FRAME._replace(
        roles={**_FRAME.roles, RESULT: ("<|tool_response>", "<tool_response|>")},
        closing=_closing,
        joins=frozenset([RESULT]),
    ),
)
