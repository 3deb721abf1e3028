"""Readings of replies and of values in code, compared with recorded ones.

``python -m tests.checkers.replies.test_recorded_readings`` reads the recorded arguments anew and
writes the readings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from checkers.calls.call_entry import (
    TYPES,
    ExpectedType,
    Language,
    UnjudgeableEntry,
    UnreadableOutput,
)
from checkers.profile import BFCL, STRICT
from checkers.replies import decoding
from checkers.replies.as_bfcl import decoding as bfcl_decoding
from checkers.replies.as_bfcl import single_turn as bfcl_single_turn
from checkers.replies.code import read_code
from checkers.replies.formats import ReplyFormat
from checkers.replies.single_turn import convert, read_calls, read_text
from envs.calls import Call
from envs.errors import MalformedCall
from tests.recorded_tables import read_rows, write_rows

RECORDED = Path(__file__).parents[2] / "golden" / "readings.jsonl"
"""One reading a line: the reader's name, its arguments, and what it returns or raises."""

MAX_CHARS = 160
_OF_PYTHON = re.compile(r"(not valid (?:Python|JSON)|cannot be evaluated):.*", re.DOTALL)


def find_type(language: Language, word: str, items: str | None) -> ExpectedType:
    """Return a documented type of a language."""
    types = TYPES[language]
    return ExpectedType(word, types[word], find_type(language, items, None) if items else None)


def read_value(name: str, text: str, word: str, items: str | None) -> list[object]:
    """Return a value by the right rules and by BFCL's."""
    language = Language(name)
    expected = find_type(language, word, items)
    rules = (STRICT.calls, BFCL.calls)
    return [attempt(partial(convert, text, expected, language, each)) for each in rules]


def read_source(name: str, text: str) -> list[object]:
    """Return the calls in code by the right rules and by BFCL's."""
    readers: tuple[Callable[..., object], ...] = (read_code, bfcl_single_turn.read_text)
    return [attempt(partial(reader, text, Language(name))) for reader in readers]


def read_step(step: Any) -> list[object]:
    """Return the calls in a step as each decoder reads them."""
    readers: list[Callable[[], object]] = [
        partial(each, step)
        for module in (decoding, bfcl_decoding)
        for each in (module.decode_text, module.decode_tool_calls)
    ]
    for mode in ("fc", "prompt"):
        for profile in (STRICT, BFCL):
            readers.append(partial(read_calls, step, Language.PYTHON, mode, profile.calls))
    return [attempt(reader) for reader in readers]


def read_format(name: str, text: str) -> object:
    """Return the calls in a reply of a calling format."""
    form = ReplyFormat.named(name)
    return form and attempt(partial(form(read_text), text, Language.PYTHON))


READERS: Mapping[str, Callable[..., object]] = {
    "value": read_value,
    "source": read_source,
    "step": read_step,
    "format": read_format,
}


def attempt(reader: Callable[[], object]) -> str:
    """Return what a reader returns or raises, as a short string."""
    try:
        found = reader()
    except (MalformedCall, UnreadableOutput, UnjudgeableEntry) as error:
        details = [str(getattr(error, name, "")) for name in ("reason", "attempted")]
        shown = " ".join((type(error).__name__, *details, str(error)))
        # Messages of Python differ between its versions.
        return _OF_PYTHON.sub(r"\1", shown)[:MAX_CHARS]
    if isinstance(found, list) and all(isinstance(each, (Call, MalformedCall)) for each in found):
        nested = [getattr(each, "nested", None) for each in found]
        found = [
            f"{each}{' (nested)' * bool(inner)}" for each, inner in zip(found, nested, strict=True)
        ]
        return _OF_PYTHON.sub(r"\1", "; ".join(found))[:MAX_CHARS]
    return repr(found)[:MAX_CHARS]


@pytest.mark.parametrize("reader", READERS)
def test_every_reading_is_the_recorded_one(reader: str) -> None:
    rows = read_rows(RECORDED)
    calls = [(arguments, found) for name, arguments, found in rows if name == reader]
    assert calls
    for arguments, found in calls:
        assert READERS[reader](*arguments) == found, arguments


if __name__ == "__main__":
    rows = [
        [name, arguments, READERS[name](*arguments)] for name, arguments, _ in read_rows(RECORDED)
    ]
    write_rows(RECORDED, rows)
