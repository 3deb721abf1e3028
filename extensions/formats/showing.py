"""What families share: the first message, calls and results as text, and a conversation as one.

Servers that complete texts (``/completions``) get the conversation as one text, by a frame.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from envs.calls import Call
from envs.errors import MalformedCall
from runner.models.base import ChatMessage
from runner.models.prompting import read_texts
from runner.models.protocols.base import Frame, Written
from runner.models.tools import Document

TEXTS = Path(__file__).parents[2] / "configs" / "prompts" / "protocols.toml"

EXAMPLE = (
    Call("first_function", (), {"name": "value", "count": 2}),
    Call("second_function", (), {"flag": True}),
)
"""Calls that show a form; the first where there is room for one."""

_STRING = {"type": "string"}
_EXAMPLE_DOCUMENTS: Sequence[Document] = (
    {
        "name": "first_function",
        "parameters": {"properties": {"name": _STRING, "count": {"type": "integer"}}},
    },
    {"name": "second_function", "parameters": {"properties": {"flag": {"type": "boolean"}}}},
)

RESULT = "tool_response"
"""Role of a result that has no id, as the role ``tool`` must have."""

Documents = Sequence[Document]
Made = Sequence[Call | MalformedCall]
"""Calls of a reply, and why one could not be read."""
Write = Callable[[Sequence[Call], str, Documents], str]
Read = Callable[[str, Documents], list[Call]]
Listing = Callable[[Documents], str]
Show = Callable[[Documents], list[ChatMessage]]
Answer = Callable[[Made, Sequence[str], str], list[ChatMessage]]


@cache
def texts() -> Mapping[str, str]:
    """Return the texts by name."""
    return {name: text.strip() for name, text in read_texts(TEXTS)[0].items()}


def as_json(value: object) -> str:
    """Return a value as JSON that keeps letters of all scripts."""
    return json.dumps(value, ensure_ascii=False)


def arguments_json(call: Call) -> str:
    """Return the arguments of a call as a JSON object."""
    return as_json(dict(call.kwargs))


def lines(documents: Documents) -> str:
    """Return documents as JSON, one a line."""
    return "\n".join(map(as_json, documents))


def indented(documents: Documents) -> str:
    """Return documents as one indented JSON list."""
    return json.dumps(list(documents), indent=2, ensure_ascii=False)


def in_tags(documents: Documents) -> str:
    """Return documents as JSON lines between tags."""
    return f"<tools>\n{lines(documents)}\n</tools>"


def showing(how: str, write: Write, listing: Listing, thought: str = "") -> Show:
    """Return what makes the first message of documents.

    ``how`` is the name of the text that says how to reply; the thought stands before its example.
    """

    def show(documents: Documents) -> list[ChatMessage]:
        example = write(EXAMPLE[: 2 if how == "several" else 1], thought, _EXAMPLE_DOCUMENTS)
        told = texts()[how].replace("{example}", example)
        # The functions last: what stands in their words is nobody's placeholder.
        system, _, _ = texts()["system"].partition("{functions}")
        content = system.replace("{how}", told) + listing(documents)
        return [{"role": "system", "content": content}]

    return show


def declaring(role: str) -> Show:
    """Return what shows documents as JSON of tools, in a message of a role."""

    def show(documents: Documents) -> list[ChatMessage]:
        tools = [{"type": "function", "function": document} for document in documents]
        return [{"role": role, "content": as_json(tools)}]

    return show


def writing(
    each: Callable[[Call, Documents], str],
    between: str = "\n",
    opening: str = "",
    closing: str = "",
) -> Write:
    """Return what writes calls one by one; the marks stand around all of them."""

    def write(calls: Sequence[Call], text: str, documents: Documents) -> str:
        shown = between.join([each(call, documents) for call in calls])
        return before(text, f"{opening}{shown}{closing}" if calls else "")

    return write


def before(text: str, calls: str) -> str:
    """Return calls after what is said before them."""
    return f"{text}\n{calls}" if text and calls else text or calls


def answering(form: str, role: str = "user", *, together: bool = True) -> Answer:
    """Return what makes messages of results.

    The form has ``{name}`` of the function and ``{result}``. One message brings all results
    together, else each has its own.
    """

    def answer(calls: Made, results: Sequence[str], _said: str) -> list[ChatMessage]:
        shown = [
            form.replace("{name}", name_of(call)).replace("{result}", result)
            for call, result in zip(calls, results, strict=True)
        ]
        if together:
            shown = ["\n".join(shown)]
        return [{"role": role, "content": text} for text in shown]

    return answer


def name_of(call: Call | MalformedCall) -> str:
    """Return the function that a result is shown for."""
    return call.name if isinstance(call, Call) else "unreadable"


def framed(form: str, after: str, *others: str, begin: str = "") -> Frame:
    """Return a frame with marks that differ only in the names of roles.

    ``{role}`` in the form is the name of a role. Other roles than system, user and assistant stand
    as ``a=b`` if the role ``a`` is named ``b``.
    """
    named = (role.partition("=")[::2] for role in ("system", "user", "assistant", *others))
    marks = {role: (form.replace("{role}", shown or role), after) for role, shown in named}
    return Frame(marks, marks["assistant"][0], begin)


def chatml(*others: str) -> Frame:
    """Return the frame of ChatML, with roles besides system, user and assistant."""
    return framed("<|im_start|>{role}\n", "<|im_end|>\n", *others)


LLAMA = framed(
    "<|start_header_id|>{role}<|end_header_id|>\n\n",
    "<|eot_id|>",
    "ipython",
    begin="<|begin_of_text|>",
)
LLAMA_STOPS = ("<|eot_id|>", "<|eom_id|>")


def as_text(
    name: str, how: str, write: Write, listing: Listing, read: Read, answer: str = "{result}"
) -> Written:
    """Return the protocol of a family in ordinary messages.

    ``how`` is the name of the text that says how to reply, "several" where a reply has several
    calls; ``answer`` is the form of one result.
    """
    show = showing(how, write, listing)
    return Written(
        name,
        "text",
        parallel=how == "several",
        show=show,
        write=write,
        answer=answering(answer),
        read=read,
    )


def as_raw(text: Written, frame: Frame, *stops: str, **others: Any) -> Written:
    """Return a text protocol with the family's control tokens; ``others`` are further fields."""
    name = f"{text.name}-raw"
    return text._replace(name=name, kind="raw", frame=frame, stops=stops, **others)
