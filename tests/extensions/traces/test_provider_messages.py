"""Gemini's contents and Amazon Bedrock's messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from extensions.traces.provider_messages import convert_messages
from runner.cli import main
from runner.models.recorded_messages import MalformedMessage, read_turns
from runner.records.recorded_run import read_records
from tests.extensions.traces.conversations import FIRST, MADE, OPEN, SECOND

GEMINI = [
    {"role": "user", "parts": [{"text": FIRST}]},
    {
        "role": "model",
        "parts": [
            {"text": "A ticket.", "thought": True},
            {"functionCall": {"name": "create_ticket", "args": OPEN}, "thoughtSignature": "x"},
        ],
    },
    {
        "role": "user",
        "parts": [{"functionResponse": {"name": "create_ticket", "response": MADE}}],
    },
    {"role": "model", "parts": [{"text": "Done."}]},
    {"parts": [{"text": SECOND}, {"inlineData": {"mimeType": "image/png", "data": "AA"}}]},
    {
        "role": "model",
        "parts": [{"functionCall": {"name": "get_ticket", "args": {"ticket_id": 1}}}],
    },
    {
        "role": "function",
        "parts": [{"functionResponse": {"name": "get_ticket", "response": {"result": MADE}}}],
    },
    {"role": "model", "parts": [{"text": "Here it is."}]},
]
SNAKE = json.loads(
    json.dumps(GEMINI)
    .replace("functionCall", "function_call")
    .replace("functionResponse", "function_response")
)
BEDROCK = [
    {"role": "user", "content": [{"text": FIRST}]},
    {
        "role": "assistant",
        "content": [
            {"reasoningContent": {"reasoningText": {"text": "A ticket."}}},
            {"text": "One moment."},
            {"toolUse": {"toolUseId": "a", "name": "create_ticket", "input": OPEN}},
        ],
    },
    {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": "a", "content": [{"json": MADE}]}}],
    },
    {"role": "assistant", "content": [{"text": "Done."}]},
    {"role": "user", "content": [{"text": SECOND}]},
    {
        "role": "assistant",
        "content": [
            {"toolUse": {"toolUseId": "b", "name": "get_ticket", "input": {"ticket_id": 1}}}
        ],
    },
    {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": "b", "content": [{"text": json.dumps(MADE)}]}}],
    },
    {"role": "assistant", "content": [{"text": "Here it is."}]},
]


@pytest.mark.parametrize("field", ["messages", "contents"])
@pytest.mark.parametrize("messages", [GEMINI, SNAKE, BEDROCK])
def test_messages_of_other_providers_are_judged(
    desk: Path, tmp_path: Path, messages: list[Any], field: str
) -> None:
    path, folder = tmp_path / "trace.json", tmp_path / "run"
    path.write_text(json.dumps({"id": "desk_0", field: messages}))
    command = ["import", str(path), "--format", "openai", "--dataset", str(desk), "-o", str(folder)]
    assert main(command) == 0
    [record] = read_records(folder)
    assert record.outcome == "passed"
    assert [len(step.calls) for step in record.steps] == [1, 0, 1, 0]
    assert record.extensions["traces"].differences == []


def test_results_of_the_same_function_belong_to_its_calls_in_order() -> None:
    calls = [{"functionCall": {"name": "f", "args": {"a": each}}} for each in (1, 2)]
    results = [
        {"functionResponse": {"name": "f", "response": {"output": each}}} for each in ("x", "y")
    ]
    contents = [
        {"role": "user", "parts": [{"text": "Go."}]},
        {"role": "model", "parts": calls},
        {"role": "user", "parts": results},
    ]
    [turn] = read_turns(convert_messages(contents))
    assert [answer.results for answer in turn.answers] == [["x", "y"]]


@pytest.mark.parametrize(
    ("part", "path", "message"),
    [
        (5, "[1].parts[0]", "must be an object"),
        ({"functionCall": {}}, "[1].parts[0].functionCall.name", "must be a function's name"),
    ],
)
def test_a_wrong_part_is_named(part: Any, path: str, message: str) -> None:
    contents = [{"role": "user", "parts": []}, {"role": "model", "parts": [part]}]
    with pytest.raises(MalformedMessage) as caught:
        convert_messages(contents)
    assert (caught.value.path, caught.value.message) == (path, message)


def test_a_result_of_another_function_belongs_to_no_call() -> None:
    contents = [
        GEMINI[0],
        GEMINI[1],
        {"role": "user", "parts": [{"functionResponse": {"name": "other", "response": {}}}]},
    ]
    with pytest.raises(MalformedMessage, match="no open call has the id"):
        read_turns(convert_messages(contents))
