"""What families share that write a call as a JSON object of name and arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from envs.calls import Call
from envs.errors import MalformedCall
from extensions.formats.reading import (
    add,
    after_blanks,
    call_of,
    check_length,
    json_at,
    listed_calls,
    meant,
)
from extensions.formats.showing import Write, before
from runner.models.tools import Document

Read = Callable[[str, Sequence[Document]], list[Call]]


def written(call: Call, arguments: str = "arguments") -> str:
    """Return a call as a JSON object."""
    return json.dumps({"name": call.name, arguments: dict(call.kwargs)}, ensure_ascii=False)


def written_list(calls: Sequence[Call]) -> str:
    """Return calls as a JSON list of objects."""
    return f"[{', '.join(map(written, calls))}]"


def writing_list(mark: str) -> Write:
    """Return what writes calls as one list behind a mark."""

    def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
        return before(text, f"{mark}{written_list(calls)}" if calls else "")

    return write


def reading_each(opening: str, closing: str) -> Read:
    """Return what reads a JSON object after every opening mark.

    The closing mark may be missing after the last. Words between the marks are prose.
    """

    def read(text: str, _documents: Sequence[Document]) -> list[Call]:
        check_length(text)
        calls: list[Call] = []
        position = text.find(opening)
        while position >= 0:
            begin = position + len(opening)
            end = begin
            if text.startswith("{", after_blanks(text, begin)):
                value, end = json_at(text, begin)
                add(calls, call_of(value))
            else:
                _refuse_calls(text, begin, opening, closing)
            position = text.find(opening, end)
        return calls

    return read


def _refuse_calls(text: str, begin: int, opening: str, closing: str) -> None:
    """Refuse what stands between marks if it is meant as a call.

    Raises:
        MalformedCall: It is.
    """
    following = text.find(opening, begin)
    end = text.find(closing, begin, len(text) if following < 0 else following)
    if end >= 0 and meant(text[begin:end]):
        raise MalformedCall(f"Between {opening} and {closing} must stand one JSON object.")


def reading_list(*openings: str) -> Read:
    """Return what reads a JSON list of objects after one of some marks; words are prose."""

    def read(text: str, _documents: Sequence[Document]) -> list[Call]:
        check_length(text)
        places = [(text.find(opening), len(opening)) for opening in openings if opening in text]
        begin = sum(min(places, default=(len(text), 0)))
        if text.startswith(("[", "{"), after_blanks(text, begin)):
            return listed_calls(json_at(text, begin)[0])
        return []

    return read
