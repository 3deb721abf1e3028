"""Hermes, Qwen 2.5 and 3: a JSON object between tags for each call."""

from __future__ import annotations

from collections.abc import Sequence

from envs.calls import Call
from extensions.formats.json_calls import reading_each, written
from extensions.formats.raw import CHATML
from extensions.formats.showing import answering, before, in_tags, showing
from runner.models.protocols.base import Written
from runner.models.tools import Document


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls, each between tags."""
    each = [f"<tool_call>\n{written(call)}\n</tool_call>" for call in calls]
    return before(text, "\n".join(each))


show = showing("several", write, in_tags)
answer = answering("<tool_response>\n{result}\n</tool_response>")
read = reading_each("<tool_call>", "</tool_call>")

HERMES = Written("hermes", "text", True, show, write, answer, read)
HERMES_RAW = HERMES._replace(name="hermes-raw", kind="raw", frame=CHATML, stops=("<|im_end|>",))
