"""Functions and how to call them, as the first message of a conversation."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from envs.calls import Call
from envs.errors import MalformedCall
from runner.models.base import ChatMessage
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

Write = Callable[[Sequence[Call], str, Sequence[Document]], str]
Listing = Callable[[Sequence[Document]], str]


@cache
def texts() -> Mapping[str, str]:
    """Return the texts by name."""
    found = tomllib.loads(TEXTS.read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in found.items()}


@cache
def texts_sha256() -> str:
    """Return the hash of the file of texts, in hex."""
    return sha256(TEXTS.read_bytes()).hexdigest()


def lines(documents: Sequence[Document]) -> str:
    """Return documents as JSON, one a line."""
    return "\n".join(json.dumps(document, ensure_ascii=False) for document in documents)


def indented(documents: Sequence[Document]) -> str:
    """Return documents as one indented JSON list."""
    return json.dumps(list(documents), indent=2, ensure_ascii=False)


def in_tags(documents: Sequence[Document]) -> str:
    """Return documents as JSON lines between tags."""
    return f"<tools>\n{lines(documents)}\n</tools>"


def showing(
    how: str, write: Write, listing: Listing, thought: str = ""
) -> Callable[[Sequence[Document]], list[ChatMessage]]:
    """Return what makes the first message of documents."""

    def show(documents: Sequence[Document]) -> list[ChatMessage]:
        example = write(EXAMPLE[: 2 if how == "several" else 1], thought, _EXAMPLE_DOCUMENTS)
        told = texts()[how].replace("{example}", example)
        # The functions last: what stands in their words is nobody's placeholder.
        system, _, _ = texts()["system"].partition("{functions}")
        content = system.replace("{how}", told) + listing(documents)
        return [{"role": "system", "content": content}]

    return show


Answer = Callable[[Sequence[Call | MalformedCall], Sequence[str], str], list[ChatMessage]]


def answering(form: str, role: str = "user", *, together: bool = True) -> Answer:
    """Return what makes messages of results.

    Args:
        form: Of one result, with ``{name}`` of its function and ``{result}``.
        role: Who brings them.
        together: Whether one message brings all.
    """

    def answer(
        calls: Sequence[Call | MalformedCall], results: Sequence[str], _said: str
    ) -> list[ChatMessage]:
        shown = [
            form.replace("{name}", call.name if isinstance(call, Call) else "unreadable").replace(
                "{result}", result
            )
            for call, result in zip(calls, results, strict=True)
        ]
        if together:
            shown = ["\n".join(shown)]
        return [{"role": role, "content": text} for text in shown]

    return answer


def before(text: str, calls: str) -> str:
    """Return calls after what is said before them."""
    return f"{text}\n{calls}" if text and calls else text or calls
