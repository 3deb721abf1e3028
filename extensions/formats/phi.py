"""Phi: the word ``functools`` and a JSON list of calls."""

from __future__ import annotations

from extensions.formats.json_calls import reading_list, writing_list
from extensions.formats.raw import RESULT, blocks
from extensions.formats.showing import answering, indented, showing
from runner.models.protocols.base import Frame, Written

_MARK = "functools"


write = writing_list(_MARK)
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
