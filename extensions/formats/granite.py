"""Granite: a JSON list of calls behind a mark."""

from __future__ import annotations

from extensions.formats.json_calls import reading_list, writing_list
from extensions.formats.raw import blocks
from extensions.formats.showing import answering, indented, showing
from runner.models.protocols.base import Frame, Written

_MARK = "<|tool_call|>"


write = writing_list(_MARK)
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
