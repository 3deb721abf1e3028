"""Calls in Python: ``[f(a=1), g()]``, after our own prompt or with a family's marks."""

from __future__ import annotations

from collections.abc import Sequence

from envs.calls import Call
from envs.errors import MalformedCall
from extensions.formats.python_texts import python_calls, with_names
from extensions.formats.reading import add
from extensions.formats.showing import before
from runner.models.base import ChatMessage
from runner.models.prompting import read_prompts, with_functions, with_results
from runner.models.protocols.base import Written
from runner.models.tools import Document


def show(documents: Sequence[Document]) -> list[ChatMessage]:
    """Show functions as a prompting model sees them."""
    return [{"role": "system", "content": with_functions(read_prompts().system, documents)}]


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls as a list."""
    return before(text, f"[{', '.join(map(str, calls))}]" if calls else "")


def answer(
    calls: Sequence[Call | MalformedCall], results: Sequence[str], _said: str
) -> list[ChatMessage]:
    """Show results as a prompting model sees them."""
    made = ["(unreadable)" if isinstance(call, MalformedCall) else str(call) for call in calls]
    return [{"role": "user", "content": with_results(read_prompts().observation, made, results)}]


def read(text: str, documents: Sequence[Document]) -> list[Call]:
    """Read calls as everywhere, and name their arguments.

    Raises:
        MalformedCall: They cannot be read, or one is inside of another.
    """
    calls: list[Call] = []
    for call in python_calls(text):
        add(calls, with_names(call, documents))
    return calls


PYTHON = Written("python", "text", True, show, write, answer, read, identifiers=True)
