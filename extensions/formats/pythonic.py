"""Llama 3.2 and 4: a list of calls in Python; raw, between marks."""

from __future__ import annotations

from collections.abc import Sequence

from envs.calls import Call
from extensions.formats import python
from extensions.formats.raw import LLAMA
from extensions.formats.showing import answering, before, indented, showing
from runner.models.protocols.base import Written
from runner.models.tools import Document

_START, _END = "<|python_start|>", "<|python_end|>"

write = python.write


def write_raw(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls as a list between marks."""
    return before(text, f"{_START}{write(calls)}{_END}" if calls else "")


def read(text: str, documents: Sequence[Document]) -> list[Call]:
    """Read calls, between marks where there are any.

    Raises:
        MalformedCall: They cannot be read.
    """
    start, listed = text.find(_START), text.find("[")
    # Inside of the list a mark is part of a string.
    if start >= 0 and (listed < 0 or start < listed):
        text = text[start + len(_START) :].rstrip().removesuffix(_END)
    return python.read(text, documents)


show = showing("several", write, indented)
show_raw = showing("several", write_raw, indented)

PYTHONIC = Written(
    *("pythonic", "text", True, show, write, answering("{result}"), read), identifiers=True
)
PYTHONIC_RAW = Written(
    *("pythonic-raw", "raw", True, show_raw, write_raw, answering("{result}", "ipython"), read),
    stops=("<|eot_id|>", "<|eom_id|>"),
    frame=LLAMA,
    identifiers=True,
)
