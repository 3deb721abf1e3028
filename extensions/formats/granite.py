"""Granite: a JSON list of calls behind a mark."""

from __future__ import annotations

from collections.abc import Sequence

from envs.calls import Call
from extensions.formats.json_calls import reading_list, written_list
from extensions.formats.raw import blocks
from extensions.formats.showing import answering, before, indented, showing
from runner.models.protocols.base import Frame, Written
from runner.models.tools import Document

_MARK = "<|tool_call|>"


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls as one list behind the mark."""
    return before(text, f"{_MARK}{written_list(calls)}" if calls else "")


show = showing("several", write, indented)
read = reading_list(_MARK, "<tool_call>")

GRANITE = Written("granite", "text", True, show, write, answering("{result}"), read)
GRANITE_RAW = GRANITE._replace(
    name="granite-raw",
    kind="raw",
    answer=answering("{result}", "tool_response", together=False),
    frame=Frame(
        blocks(
            "<|start_of_role|>{role}<|end_of_role|>",
            "<|end_of_text|>\n",
            *("system", "user", "assistant", "tool_response"),
        ),
        "<|start_of_role|>assistant<|end_of_role|>",
    ),
    stops=("<|end_of_text|>",),
)
