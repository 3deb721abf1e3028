"""Phi: the word ``functools`` and a JSON list of calls."""

from __future__ import annotations

from collections.abc import Sequence

from envs.calls import Call
from extensions.formats.json_calls import reading_list, written_list
from extensions.formats.raw import RESULT, blocks
from extensions.formats.showing import answering, before, indented, showing
from runner.models.protocols.base import Frame, Written
from runner.models.tools import Document

_MARK = "functools"


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls as one list behind the word."""
    return before(text, f"{_MARK}{written_list(calls)}" if calls else "")


show = showing("several", write, indented)
read = reading_list(_MARK, "<|tool_call|>")

PHI = Written("phi", "text", True, show, write, answering("{result}"), read)
PHI_RAW = PHI._replace(
    name="phi-raw",
    kind="raw",
    answer=answering("{result}", RESULT, together=False),
    frame=Frame(
        blocks("<|{role}|>", "<|end|>", "system", "user", "assistant", f"{RESULT}=tool"),
        "<|assistant|>",
    ),
    stops=("<|end|>",),
)
