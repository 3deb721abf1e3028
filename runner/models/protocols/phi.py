"""Phi: the word ``functools`` and a JSON list of calls."""

from __future__ import annotations

from runner.models.protocols.base import Written
from runner.models.protocols.json_calls import reading_list, writing_list
from runner.models.protocols.raw import RESULT, Frame, blocks
from runner.models.protocols.showing import answering, indented, showing

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
