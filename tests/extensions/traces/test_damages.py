"""Damages that every reader of traces must refuse, in one line and before a folder is made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.cli import main
from runner.records.recorded_run import read_records
from tests.extensions.traces.conversations import ENTRY, attribute, call, chat

Messages = list[Any]
About = dict[str, Any]
"""The entry and the trial of a trace."""


def _openai(messages: Any, about: About) -> Any:
    return {"messages": messages, "metadata": about}


def _otel(messages: Any, about: About) -> Any:
    head, last = _split(messages)
    texts = {"gen_ai.input.messages": json.dumps(head), "gen_ai.output.messages": json.dumps(last)}
    named = {f"turnwise.{name}": value for name, value in about.items()}
    attributes = [attribute(name, value) for name, value in {**named, **texts}.items()]
    span = {"traceId": "t", "startTimeUnixNano": "1", "attributes": attributes}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def _langsmith(messages: Any, about: About) -> Any:
    head, last = _split(messages)
    run = {"id": "r", "run_type": "llm", "extra": {"metadata": about}, "inputs": {"messages": head}}
    return [{**run, "outputs": {"choices": [{"message": each} for each in last]}}]


def _inspect(messages: Any, about: About) -> Any:
    epoch = {"epoch": about["trial"] + 1} if about.get("trial") else {}
    return {"samples": [{"metadata": about, "messages": messages, **epoch}]}


def _split(messages: Any) -> tuple[Any, Any]:
    return (messages[:-1], messages[-1:]) if isinstance(messages, list) else (messages, [])


WRITERS: dict[str, Callable[[Any, About], Any]] = {
    "openai": _openai,
    "jsonl": _openai,
    "otel": _otel,
    "langsmith": _langsmith,
    "inspect": _inspect,
}


def _put(place: int, value: Any, *path: Any) -> Callable[[Messages, About], Any]:
    """Return a damage that replaces a message, or a value inside it."""

    def damage(messages: Messages, about: About) -> None:
        holder: Any = messages
        way = [place, *path]
        for each in way[:-1]:
            holder = holder[each]
        holder[way[-1]] = value

    return damage


def _drop(place: int, *path: Any) -> Callable[[Messages, About], Any]:
    """Return a damage that removes a value inside a message."""

    def damage(messages: Messages, about: About) -> None:
        holder: Any = messages[place]
        for each in path[:-1]:
            holder = holder[each]
        del holder[path[-1]]

    return damage


CALL = ("tool_calls", 0)
FUNCTION = (*CALL, "function")
# Message 2 of the conversation is a call with the id a, message 3 is its result.
IN_MESSAGES: dict[str, Callable[[Messages, About], Any]] = {
    "null for a message": _put(2, None),
    "list for a message": _put(2, []),
    "string for a message": _put(2, "Done."),
    "no role": _drop(1, "role"),
    "unknown role": _put(1, "robot", "role"),
    "number for a role": _put(1, 5, "role"),
    "number for a text": _put(1, 5, "content"),
    "object for a text": _put(1, {"a": 1}, "content"),
    "number for a part": _put(1, [5], "content"),
    "part without a type": _put(1, [{}], "content"),
    "object for the calls": _put(2, {"a": 1}, "tool_calls"),
    "null for a call": _put(2, [None], "tool_calls"),
    "call without a function": _drop(2, *FUNCTION),
    "call without a name": _drop(2, *FUNCTION, "name"),
    "number for a name": _put(2, 5, *FUNCTION, "name"),
    "empty name": _put(2, "", *FUNCTION, "name"),
    "list for the arguments": _put(2, [1], *FUNCTION, "arguments"),
    "number for the arguments": _put(2, 5, *FUNCTION, "arguments"),
    "number for a call's id": _put(2, 5, *CALL, "id"),
    "result of an unknown call": _put(3, "z", "tool_call_id"),
    "result without a call": lambda messages, about: messages.pop(2),
    "two results of one call": lambda messages, about: messages.insert(4, dict(messages[3])),
    "one id for two calls": lambda messages, about: messages[2]["tool_calls"].append(
        call("a", "get_ticket", ticket_id=1)
    ),
    "list for a result's id": _put(3, ["a"], "tool_call_id"),
    "number for a result": _put(3, 5, "content"),
    "no user": lambda messages, about: messages.__setitem__(slice(None), messages[2:5]),
    "call before the user": lambda messages, about: messages.pop(1),
    "no entry": lambda messages, about: about.clear(),
    "number for the entry": lambda messages, about: about.update(entry=5),
    "unknown entry": lambda messages, about: about.update(entry="desk_1"),
}
IN_BYTES: dict[str, Callable[[bytes], bytes]] = {
    "empty file": lambda text: b"",
    "blank file": lambda text: b" \n\n",
    "half of the file": lambda text: text[: len(text) // 2],
    "file without its last bracket": lambda text: text.rstrip()[:-1],
    "text after the end": lambda text: text.rstrip() + b"}",
    "file in UTF-16": lambda text: text.decode().encode("utf-16"),
    "byte that is not UTF-8": lambda text: text.replace(b"Done.", b"D\xffne.", 1),
    "NUL in a string": lambda text: text.replace(b"Done.", b"D\0ne.", 1),
    "archive": lambda text: b"PK\x03\x04" + text,
    "NaN": lambda text: text.replace(b"{", b'{"x": NaN, ', 1),
    "number beyond all floats": lambda text: text.replace(b"{", b'{"x": 1e999, ', 1),
    "number of 5,000 digits": lambda text: text.replace(b"{", b'{"x": ' + b"9" * 5000 + b",", 1),
    "100,000 brackets": lambda text: text.replace(b"{", b'{"x": ' + b"[" * 100_000, 1),
    "single quotes": lambda text: text.replace(b'"', b"'"),
    "comma at the end": lambda text: text.rstrip()[:-1] + b",}",
    "null for the file": lambda text: b"null",
    "number for the file": lambda text: b"7",
    "string for the file": lambda text: b'"x"',
    "list for the file": lambda text: b"[]",
    "list of numbers for the file": lambda text: b"[1, 2]",
    "other object for the file": lambda text: b'{"x": 1}',
    "the trace twice": lambda text: text.rstrip() + b"\n" + text,
}


def _written(form: str, messages: Any, about: About) -> bytes:
    return json.dumps(WRITERS[form](messages, about)).encode() + b"\n"


def _about() -> About:
    return {"entry": "desk_0", "trial": 0}


def _import(
    text: bytes, form: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, list[str], list[str]]:
    """Import a trace; return status, output, lines of errors, and the files that exist then."""
    desk, trace = folder / "desk.jsonl", folder / "trace.json"
    desk.write_text(json.dumps(ENTRY), encoding="utf-8")
    trace.write_bytes(text)
    command = ["import", trace, "--format", form, "-o", folder / "run", "--dataset", desk]
    status = main([*map(str, command)])
    out, error = capsys.readouterr()
    return status, out, error.splitlines(), sorted(path.name for path in folder.rglob("*"))


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("name", ["whole trace", "call without a result", "lone surrogate"])
def test_every_reader_judges_what_is_no_damage(
    name: str, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages = chat()
    if name == "call without a result":
        del messages[3]
    if name == "lone surrogate":
        messages[4]["content"] = "\ud800"
    status, _, error, _ = _import(_written(form, messages, _about()), form, tmp_path, capsys)
    assert (status, error) == (0, [])
    [record] = read_records(tmp_path / "run")
    assert record.outcome == "passed"


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("name", [*IN_MESSAGES, *IN_BYTES])
def test_every_reader_refuses_a_damage(
    name: str, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages, about = chat(), _about()
    if name in IN_MESSAGES:
        IN_MESSAGES[name](messages, about)
        text = _written(form, messages, about)
    else:
        text = IN_BYTES[name](_written(form, messages, about))
    status, out, error, files = _import(text, form, tmp_path, capsys)
    assert (status, out, files) == (2, "", ["desk.jsonl", "trace.json"])
    [line] = error
    assert str(tmp_path / "trace.json") in line
    assert "Traceback" not in line
