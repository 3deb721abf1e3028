"""Logs of requests: answers beside the messages, and requests that repeat earlier messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.cli import main
from runner.records.recorded_run import read_records
from tests.extensions.traces.conversations import FIRST, ITEMS, MADE, call, chat

MESSAGES = chat()[1:]
ANSWERS = [place for place, each in enumerate(MESSAGES) if each["role"] == "assistant"]


def outcomes(desk: Path, path: Path, *more: str) -> list[str]:
    """Import a file; return the outcomes of its episodes."""
    folder = path.parent / "imported"
    command = ["import", str(path), "--format", "openai", "--dataset", str(desk), "-o", str(folder)]
    assert main([*command, *more]) == 0
    return [record.outcome for record in read_records(folder)]


def lines(path: Path, values: list[Any]) -> Path:
    """Write a value into each line."""
    path.write_text("\n".join(map(json.dumps, values)))
    return path


def chat_log(said: list[Any], answer: Any) -> dict[str, Any]:
    """Return a request and its answer as chat completions."""
    return {"messages": said, "choices": [{"index": 0, "message": answer}]}


def wrapped_log(said: list[Any], answer: Any) -> dict[str, Any]:
    """Return a request and its response as two objects."""
    response = {"choices": [{"message": {**answer, "refusal": None}}]}
    return {"request": {"model": "m", "messages": said}, "response": response}


def observation(said: list[Any], answer: Any) -> dict[str, Any]:
    """Return a request and its answer as the input and the output of an observation."""
    return {"type": "GENERATION", "input": {"messages": said, "tools": []}, "output": answer}


def anthropic_log(said: list[Any], answer: Any) -> dict[str, Any]:
    """Return a request, and an answer that is a message itself."""
    return {"request": {"messages": said}, "response": {"type": "message", **answer}}


FORMS = [chat_log, wrapped_log, observation, anthropic_log]


@pytest.mark.parametrize("form", FORMS)
def test_the_answer_beside_the_messages_belongs_to_them(
    desk: Path, tmp_path: Path, form: Any
) -> None:
    said, answer = MESSAGES[:5], MESSAGES[5]
    path = lines(tmp_path / "log.jsonl", [{**form(said, answer), "id": "desk_0"}])
    assert outcomes(desk, path) == ["passed"]
    [record] = read_records(tmp_path / "imported")
    assert [len(step.calls) for step in record.steps] == [1, 0, 1]


@pytest.mark.parametrize("form", FORMS)
def test_requests_that_continue_each_other_are_one_conversation(
    desk: Path, tmp_path: Path, form: Any
) -> None:
    about = {"metadata": {"entry": "desk_0"}}
    log = [
        {**form(MESSAGES[:place], MESSAGES[place]), **about, "id": f"chatcmpl-{place}"}
        for place in ANSWERS
    ]
    assert outcomes(desk, lines(tmp_path / "log.jsonl", log)) == ["passed"]


def test_the_entry_may_be_named_on_the_command_line(desk: Path, tmp_path: Path) -> None:
    log = [
        {**chat_log(MESSAGES[:place], MESSAGES[place]), "id": f"chatcmpl-{place}"}
        for place in ANSWERS
    ]
    path = lines(tmp_path / "log.jsonl", log)
    assert outcomes(desk, path, "--entry", "desk_0") == ["passed"]


def test_two_conversations_in_turns_stay_two(desk: Path, tmp_path: Path) -> None:
    other = [dict(each) for each in MESSAGES]
    other[1] = {"role": "assistant", "tool_calls": [call("z", "create_ticket", title="Wrong")]}
    other[2] = {"role": "tool", "tool_call_id": "z", "content": json.dumps(MADE)}
    about = {"metadata": {"entry": "desk_0"}}
    log = [
        {**chat_log(said[:place], said[place]), **about}
        for place in ANSWERS
        for said in (MESSAGES, other)
    ]
    assert outcomes(desk, lines(tmp_path / "log.jsonl", log)) == ["passed", "failed"]


def test_an_answer_that_the_messages_contain_counts_once(desk: Path, tmp_path: Path) -> None:
    log = {"id": "desk_0", **chat_log(MESSAGES[:6], MESSAGES[5])}
    assert outcomes(desk, lines(tmp_path / "log.jsonl", [log])) == ["passed"]


def test_a_response_has_its_items_in_input_and_output(desk: Path, tmp_path: Path) -> None:
    about = {"object": "response", "metadata": {"entry": "desk_0"}, "model": "m"}
    log = {**about, "input": ITEMS[:7], "output": ITEMS[7:8]}
    assert outcomes(desk, lines(tmp_path / "log.jsonl", [log])) == ["passed"]


def test_the_input_of_a_response_may_be_a_text(
    desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = {"metadata": {"entry": "desk_0"}, "input": FIRST, "output": ITEMS[1:3]}
    assert outcomes(desk, lines(tmp_path / "log.jsonl", [log])) == ["failed"]
    assert "different user messages" not in capsys.readouterr().err


def test_the_lines_of_a_file_may_be_messages(desk: Path, tmp_path: Path) -> None:
    path = lines(tmp_path / "session.jsonl", MESSAGES)
    assert outcomes(desk, path, "--entry", "desk_0") == ["passed"]


def test_a_wrong_line_is_named(
    desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {"role": "tool", "tool_call_id": "z", "content": ""}
    path = lines(tmp_path / "session.jsonl", [*MESSAGES[:2], wrong])
    command = ["import", str(path), "--format", "jsonl", "--dataset", str(desk)]
    assert main([*command, "--entry", "desk_0", "-o", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert error == f'turnwise: {path}:3: $.tool_call_id: no open call has the id "z"\n'


def test_an_object_without_messages_is_refused_with_the_fields_that_are_read(
    desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = lines(tmp_path / "log.jsonl", [{"id": "desk_0", "conversations": []}])
    command = ["import", str(path), "--format", "openai", "--dataset", str(desk)]
    assert main([*command, "-o", str(tmp_path / "run")]) == 2
    assert '"input" of the Responses API, "contents" of Gemini' in capsys.readouterr().err
