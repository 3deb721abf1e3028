"""Qwen3-Coder, MiMo: a tag for each argument, values on lines of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from envs.calls import Call
from extensions.formats.raw import CHATML
from extensions.formats.showing import answering, before, in_tags, showing
from extensions.formats.typed_texts import text_of
from extensions.formats.xml_calls import Tagged, Tags
from runner.models.protocols.base import Written
from runner.models.tools import Document


class _OnLines(Tagged):
    """Values stand on lines of their own."""

    def text_of(self, value: Any, schema: Mapping[str, Any] | None) -> str:
        """Write a value."""
        return f"\n{text_of(value, schema)}\n"


_TAGGED = _OnLines(Tags("<function=", ">", "</function>", "<parameter=", ">", "</parameter>"))


def write(calls: Sequence[Call], text: str = "", documents: Sequence[Document] = ()) -> str:
    """Write calls, each between tags."""
    each = [f"<tool_call>\n{_TAGGED.call(call, documents)}\n</tool_call>" for call in calls]
    return before(text, "\n".join(each))


show = showing("several", write, in_tags)
answer = answering("<tool_response>\n{result}\n</tool_response>")
read = _TAGGED.read

QWEN_XML = Written("qwen_xml", "text", True, show, write, answer, read)
QWEN_XML_RAW = QWEN_XML._replace(
    name="qwen_xml-raw", kind="raw", frame=CHATML, stops=("<|im_end|>",)
)
