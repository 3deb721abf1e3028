"""Shared parts of calling formats: writers of first messages, calls, results and prompts.

A frame renders a conversation as one text for ``/completions`` servers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from envs.calls import Call
from envs.errors import MalformedCall
from runner.models.calling_formats.format_types import PromptFrame, TextFormat
from runner.models.model_types import ChatMessage
from runner.models.prompting import read_texts
from runner.models.toolbox import Document

TEXTS = Path(__file__).parents[2] / "configs" / "prompts" / "protocols.toml"

EXAMPLE = (
    Call("first_function", (), {"name": "value", "count": 2}),
    Call("second_function", (), {"flag": True}),
)
"""Example calls; formats with one call per reply show the first example."""

_STRING = {"type": "string"}
_EXAMPLE_DOCUMENTS: Sequence[Document] = (
    {
        "name": "first_function",
        "parameters": {"properties": {"name": _STRING, "count": {"type": "integer"}}},
    },
    {"name": "second_function", "parameters": {"properties": {"flag": {"type": "boolean"}}}},
)

RESULT = "tool_response"
"""Role of result messages in formats without call ids; the role ``tool`` needs an id."""

Documents = Sequence[Document]
Made = Sequence[Call | MalformedCall]
"""Calls of a reply. A call that cannot be parsed becomes a MalformedCall."""
Write = Callable[[Sequence[Call], str, Documents], str]
Read = Callable[[str, Documents], list[Call]]
Listing = Callable[[Documents], str]
Show = Callable[[Documents], list[ChatMessage]]
Answer = Callable[[Made, Sequence[str], str], list[ChatMessage]]


@cache
def texts() -> Mapping[str, str]:
    """Map names to prompt texts."""
    return {name: text.strip() for name, text in read_texts(TEXTS)[0].items()}


def as_json(value: object) -> str:
    """Serialize a value as JSON without escaping letters."""
    return json.dumps(value, ensure_ascii=False)


def arguments_json(call: Call) -> str:
    """Return the arguments of a call as a JSON object."""
    return as_json(dict(call.kwargs))


def lines(documents: Documents) -> str:
    """Return documents as JSON lines."""
    return "\n".join(map(as_json, documents))


def indented(documents: Documents) -> str:
    """Return documents as one indented JSON list."""
    return json.dumps(list(documents), indent=2, ensure_ascii=False)


def in_tags(documents: Documents) -> str:
    """Return documents as JSON lines between tags."""
    return f"<tools>\n{lines(documents)}\n</tools>"


@dataclass(frozen=True)
class SystemMessageWriter:
    """Writer of a system message with the functions."""

    listing: Listing
    text: Callable[[], str]
    """Returns the message text, with the placeholder ``{functions}`` for the functions."""

    def __call__(self, documents: Documents) -> list[ChatMessage]:
        """Return the message."""
        begin, _, end = self.text().partition("{functions}")
        return [{"role": "system", "content": f"{begin}{self.listing(documents)}{end}"}]


def showing(how: str, write: Write, listing: Listing, thought: str = "") -> SystemMessageWriter:
    """Return a function that writes the first message of a conversation.

    ``how`` is the key of the reply instructions in ``texts``. For example, the key ``several``
    means parallel calls. ``thought`` is the reasoning text before the example call.
    """

    def text() -> str:
        example = write(EXAMPLE[: 2 if how == "several" else 1], thought, _EXAMPLE_DOCUMENTS)
        return texts()["system"].replace("{how}", texts()[how].replace("{example}", example))

    return SystemMessageWriter(listing, text)


def declaring(role: str) -> Show:
    """Return a function that writes the tools as JSON into a message with the role ``role``."""

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
    """Return a writer that puts each call between an opening and a closing mark."""

    def write(calls: Sequence[Call], text: str, documents: Documents) -> str:
        shown = between.join([each(call, documents) for call in calls])
        return before(text, f"{opening}{shown}{closing}" if calls else "")

    return write


def before(text: str, calls: str) -> str:
    """Join a text and the calls after it."""
    return f"{text}\n{calls}" if text and calls else text or calls


def answering(form: str, role: str = "user", *, together: bool = True) -> Answer:
    """Return a function that writes results as messages.

    If ``together`` is true, one message contains all results of a step; else, each result has its
    own message. ``form`` has the placeholders ``{name}`` (function name) and ``{result}``.
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
    """Return the name of the called function, or ``unreadable`` for a malformed call."""
    return call.name if isinstance(call, Call) else "unreadable"


def framed(form: str, after: str, *others: str, begin: str = "") -> PromptFrame:
    """Return a prompt frame with ``form`` before each message and ``after`` behind it.

    The placeholder ``{role}`` in ``form`` stands for the message's role. The roles are system,
    user, assistant and ``others``. If ``others`` contains ``tool=ipython``, the prompt shows the
    role ``tool`` as ``ipython``.
    """
    named = (role.partition("=")[::2] for role in ("system", "user", "assistant", *others))
    marks = {role: (form.replace("{role}", shown or role), after) for role, shown in named}
    return PromptFrame(marks, marks["assistant"][0], begin)


def chatml(*others: str) -> PromptFrame:
    """Return ChatML's control tokens; ``others`` lists roles besides system, user and assistant."""
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
) -> TextFormat:
    """Return a calling format that uses ordinary chat messages.

    ``how`` is the key of the reply instructions in ``texts``. For example, the key ``several``
    means parallel calls. ``answer`` is the template of one result.
    """
    show = showing(how, write, listing)
    return TextFormat(
        name,
        "text",
        parallel=how == "several",
        show=show,
        write=write,
        answer=answering(answer),
        read=read,
    )


def as_raw(text: TextFormat, frame: PromptFrame, *stops: str, **others: Any) -> TextFormat:
    """Return a copy of a text format for ``/completions``."""
    name = f"{text.name}-raw"
    return text._replace(name=name, kind="raw", frame=frame, stops=stops, **others)
