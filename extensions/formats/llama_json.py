"""Llama 3.1: a JSON object of name and parameters, several of them with ``;`` between."""

from __future__ import annotations

import re
from collections.abc import Sequence

from envs.calls import Call
from extensions.formats.json_calls import written
from extensions.formats.raw import LLAMA
from extensions.formats.reading import add, call_of, check_length, json_at
from extensions.formats.showing import answering, before, indented, showing
from runner.models.protocols.base import Written
from runner.models.tools import Document

_TAG = "<|python_tag|>"
_BEGINNING = re.compile(r"\{\s*+\"(?:name|type)\"\s*+:")


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls as objects."""
    return before(text, "; ".join([written(call, "parameters") for call in calls]))


def write_raw(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls as objects behind the tag."""
    return before(text, f"{_TAG}{write(calls)}" if calls else "")


def read(text: str, _documents: Sequence[Document]) -> list[Call]:
    """Read all objects with a name and parameters, wherever they stand; others are prose.

    Raises:
        MalformedCall: One cannot be read.
    """
    check_length(text)
    calls: list[Call] = []
    found = _BEGINNING.search(text)
    while found:
        value, end = json_at(text, found.start())
        for arguments in ("parameters", "arguments"):
            if isinstance(value, dict) and isinstance(value.get(arguments), (dict, str)):
                add(calls, call_of(value, arguments=arguments))
                break
        found = _BEGINNING.search(text, end)
    return calls


LLAMA_JSON = Written(
    "llama_json",
    "text",
    False,
    showing("one", write, indented),
    write,
    answering("{result}"),
    read,
)
LLAMA_JSON_RAW = LLAMA_JSON._replace(
    name="llama_json-raw",
    kind="raw",
    show=showing("one", write_raw, indented),
    write=write_raw,
    answer=answering("{result}", "ipython", together=False),
    frame=LLAMA,
    stops=("<|eot_id|>", "<|eom_id|>"),
)
