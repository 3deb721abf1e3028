"""DeepSeek V3 and V3.1: calls between marks, the arguments fenced or bare."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from envs.calls import Call
from extensions.formats.raw import RESULT
from extensions.formats.reading import calls_behind
from extensions.formats.showing import answering, before, indented, showing
from runner.models.protocols.base import Frame, Written
from runner.models.tools import Document

BAR = "\uff5c"
"""A bar of full width, which is part of all marks."""


def _mark(name: str) -> str:
    return f"<{BAR}{name}{BAR}>"


_SECTION, _END_SECTION = _mark("tool▁calls▁begin"), _mark("tool▁calls▁end")
_CALL, _SEPARATOR, _END = _mark("tool▁call▁begin"), _mark("tool▁sep"), _mark("tool▁call▁end")
_OUTPUT, _END_OUTPUT = _mark("tool▁output▁begin"), _mark("tool▁output▁end")
_END_OF_TEXT, _ASSISTANT = _mark("end▁of▁sentence"), _mark("Assistant")
_HEAD = re.compile(
    rf"\s*+(?P<typed>function{_SEPARATOR})?(?P<name>[\w.-]{{1,200}}+)"
    rf"(?(typed)\s*+```(?:json)?+|{_SEPARATOR})"
)
"""Of V3, in which the arguments are fenced, and of V3.1."""


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls as V3.1 does."""
    each = [
        f"{_CALL}{call.name}{_SEPARATOR}{json.dumps(dict(call.kwargs), ensure_ascii=False)}{_END}"
        for call in calls
    ]
    return before(text, "".join([_SECTION, *each, _END_SECTION]) if each else "")


def read(text: str, _documents: Sequence[Document]) -> list[Call]:
    """Read all calls of either form.

    Raises:
        MalformedCall: One cannot be read.
    """
    form = f"A call must be its name, {_SEPARATOR} and JSON of its arguments."
    return calls_behind(_CALL, _HEAD, text, form)


FRAME = Frame(
    {
        "system": ("", ""),
        "user": (_mark("User"), ""),
        "assistant": (_ASSISTANT, _END_OF_TEXT),
        RESULT: (_mark("tool▁outputs▁begin"), _mark("tool▁outputs▁end")),
    },
    _ASSISTANT,
    _mark("begin▁of▁sentence"),
    joins=frozenset([RESULT]),
)
STOPS = (_END_OF_TEXT,)

DEEPSEEK_V3 = Written(
    "deepseek_v3",
    "raw",
    True,
    showing("several", write, indented),
    write,
    answering(f"{_OUTPUT}{{result}}{_END_OUTPUT}", RESULT),
    read,
    STOPS,
    FRAME,
)
