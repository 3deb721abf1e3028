"""MiniMax M2 and others: ``invoke`` elements with ``parameter`` elements, the wrapper optional."""

from __future__ import annotations

from collections.abc import Sequence

from envs.calls import Call
from extensions.formats.raw import RESULT, blocks
from extensions.formats.showing import answering, before, in_tags, showing
from extensions.formats.xml_calls import Tagged, Tags
from runner.models.protocols.base import Frame, Written
from runner.models.tools import Document

_TAGGED = Tagged(
    Tags('<invoke name="', '">', "</invoke>", '<parameter name="', '">', "</parameter>")
)
_OPENING, _CLOSING = "<minimax:tool_call>", "</minimax:tool_call>"


def write(calls: Sequence[Call], text: str = "", documents: Sequence[Document] = ()) -> str:
    """Write calls inside of one wrapper."""
    each = [_TAGGED.call(call, documents) for call in calls]
    return before(text, "\n".join([_OPENING, *each, _CLOSING]) if each else "")


show = showing("several", write, in_tags)
answer = answering("<response>{result}</response>")
read = _TAGGED.read

INVOKE = Written("invoke", "text", True, show, write, answer, read)
INVOKE_RAW = INVOKE._replace(
    name="invoke-raw",
    kind="raw",
    answer=answering("<response>{result}</response>", RESULT),
    frame=Frame(
        blocks("]~b]{role}\n", "[e~[\n", "system", "user", "assistant=ai", f"{RESULT}=tool"),
        "]~b]ai\n",
        "]~!b[",
    ),
    stops=("[e~[",),
)
