"""ChatGLM3: the name alone on a line, then ``tool_call(a=1)`` in a fence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from envs.calls import Call, closing_bracket
from envs.errors import MalformedCall
from extensions.formats.python_texts import python_calls, with_names
from extensions.formats.raw import blocks
from extensions.formats.reading import add, check_length
from extensions.formats.showing import answering, before, indented, showing
from runner.models.protocols.base import Frame, Written
from runner.models.tools import Document

_CALL = "tool_call"
_HEAD = re.compile(r"(\w[\w.-]{0,199}+)[ \t]*+\n[ \t]*+```(?:python)?[ \t]*+\n\s*+(tool_call\()?+")
_TICKS = "```"
_FAR = 300
"""Characters before a fence in which the name stands."""


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls, each after its name."""
    each = [f"{c.name}\n```python\n{Call(_CALL, (), c.kwargs)}\n```" for c in calls]
    return before(text, "\n".join(each))


def read(text: str, documents: Sequence[Document]) -> list[Call]:
    """Read the fences after a name; others are prose.

    Raises:
        MalformedCall: What is in one is no call.
    """
    check_length(text)
    calls: list[Call] = []
    start = 0
    while (ticks := text.find(_TICKS, start)) >= 0:
        far = max(start, ticks - _FAR)
        above = text.rfind("\n", far, ticks)
        line = text.rfind("\n", far, max(above, far)) + 1 or far
        head = _HEAD.match(text, line) if above >= 0 else None
        start = ticks + len(_TICKS)
        if head is None:
            continue
        if not head[2]:
            # The prefix of a call is one, too.
            if _CALL.startswith(text[head.end() : head.end() + len(_CALL)].strip()):
                raise MalformedCall(f"The fence after {head[1]} must hold {_CALL}(...).")
            continue
        opening = head.end() - 1
        end = closing_bracket(text, opening)
        if end is None:
            raise MalformedCall(f"The call of {head[1]} is not closed.")
        call = with_names(
            python_calls(f"[{_CALL}{text[opening : end + 1]}]")[0]._replace(name=head[1]), documents
        )
        add(calls, call)
        # Past the fence that closes this one.
        start = text.find("```", end) + 3 if text.find("```", end) >= 0 else len(text)
    return calls


CHATGLM3 = Written(
    "chatglm3",
    "text",
    False,
    showing("one", write, indented),
    write,
    answering("{result}"),
    read,
)
CHATGLM3_RAW = CHATGLM3._replace(
    name="chatglm3-raw",
    kind="raw",
    answer=answering("{result}", "observation", together=False),
    frame=Frame(
        # What follows on the same line is the name of a function, or nothing.
        {
            **blocks("<|{role}|>\n ", "\n", "system", "user", "observation"),
            "assistant": ("<|assistant|>", ""),
        },
        "<|assistant|>",
        "[gMASK]sop",
    ),
    stops=("<|user|>", "<|observation|>"),
)
