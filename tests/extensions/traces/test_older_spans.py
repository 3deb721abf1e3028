"""Spans with messages in older conventions: events, and attributes of other libraries."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.cli import main
from runner.records.recorded_run import open_run
from tests.extensions.traces.conversations import attribute, chat, span

CHAT = chat()
REQUESTS = [place for place, each in enumerate(CHAT) if each["role"] == "assistant"]


def event(name: str, **fields: Any) -> dict[str, Any]:
    """Return an event of a span."""
    return {"name": name, "attributes": [attribute(key, value) for key, value in fields.items()]}


def with_fields(place: int) -> dict[str, Any]:
    """Return a span whose events have a field per attribute."""
    events = []
    for each in CHAT[:place]:
        fields = {"content": each.get("content") or ""}
        if each["role"] == "tool":
            fields["id"] = each["tool_call_id"]
        if "tool_calls" in each:
            fields["tool_calls"] = json.dumps(each["tool_calls"])
        events.append(event(f"gen_ai.{each['role']}.message", **fields))
    answer = CHAT[place]
    said = {"role": "assistant", **answer}
    events.append(event("gen_ai.choice", index=0, finish_reason="stop", message=json.dumps(said)))
    return {**span(place, turnwise__entry="desk_0"), "events": events}


def with_content(place: int) -> dict[str, Any]:
    """Return a span whose events have the message as JSON."""
    events = []
    for each in CHAT[:place]:
        body = {"id": each["tool_call_id"], **each} if each["role"] == "tool" else each
        content = {"gen_ai.event.content": json.dumps(body)}
        events.append(event(f"gen_ai.{each['role']}.message", **content))
    content = {"gen_ai.event.content": json.dumps({"index": 0, "message": CHAT[place]})}
    events.append(event("gen_ai.choice", **content))
    return {**span(place, turnwise__entry="desk_0"), "events": events}


def whole(place: int) -> dict[str, Any]:
    """Return a span with one event for the prompt and one for the completion."""
    prompt = event("gen_ai.content.prompt", **{"gen_ai.prompt": json.dumps(CHAT[:place])})
    said = [{"role": "assistant", **CHAT[place]}]
    completion = event("gen_ai.content.completion", **{"gen_ai.completion": json.dumps(said)})
    return {**span(place, turnwise__entry="desk_0"), "events": [prompt, completion]}


def openllmetry(place: int) -> dict[str, Any]:
    """Return a span with an attribute per field of a message."""
    found: dict[str, Any] = {"gen_ai.usage.prompt_tokens": 7}
    sides = [("gen_ai.prompt", CHAT[:place]), ("gen_ai.completion", CHAT[place : place + 1])]
    for side, messages in sides:
        for number, each in enumerate(messages):
            start = f"{side}.{number}"
            found[f"{start}.role"] = each["role"]
            if each.get("content"):
                found[f"{start}.content"] = each["content"]
            if each["role"] == "tool":
                found[f"{start}.tool_call_id"] = each["tool_call_id"]
            for index, call in enumerate(each.get("tool_calls", ())):
                found[f"{start}.tool_calls.{index}.id"] = call["id"]
                for name, value in call["function"].items():
                    found[f"{start}.tool_calls.{index}.{name}"] = value
    return span(place, turnwise__entry="desk_0", **found)


def openinference(place: int) -> dict[str, Any]:
    """Return a span with attributes of OpenInference."""
    found: dict[str, Any] = {"llm.model_name": "some-model", "llm.token_count.prompt": 7}
    sides = [("llm.input_messages", CHAT[:place]), ("llm.output_messages", CHAT[place : place + 1])]
    for side, messages in sides:
        for number, each in enumerate(messages):
            start = f"{side}.{number}.message"
            found[f"{start}.role"] = each["role"]
            if each["role"] == "user":
                found[f"{start}.contents.0.message_content.type"] = "text"
                found[f"{start}.contents.0.message_content.text"] = each["content"]
            elif each.get("content"):
                found[f"{start}.content"] = each["content"]
            if each["role"] == "tool":
                found[f"{start}.tool_call_id"] = each["tool_call_id"]
            for index, call in enumerate(each.get("tool_calls", ())):
                made = f"{start}.tool_calls.{index}.tool_call"
                found[f"{made}.id"] = call["id"]
                for name, value in call["function"].items():
                    found[f"{made}.function.{name}"] = value
    return span(place, turnwise__entry="desk_0", **found)


@pytest.mark.parametrize("form", [with_fields, with_content, whole, openllmetry, openinference])
def test_an_older_convention_is_understood(
    form: Callable[[int], dict[str, Any]], desk: Path, tmp_path: Path
) -> None:
    spans = [{**form(place), "traceId": "t"} for place in REQUESTS]
    path, folder = tmp_path / "spans.json", tmp_path / "run"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    command = ["import", str(path), "--format", "otel", "--dataset", str(desk), "-o", str(folder)]
    assert main(command) == 0
    [record] = open_run(folder).records
    assert record.outcome == "passed"
    assert [len(step.calls) for step in record.steps] == [1, 0, 1, 0]
    assert record.extensions["traces"].differences == []
    if form is openinference:
        assert open_run(folder).definition.model == "some-model"
    if form in (openllmetry, openinference):
        assert [step.usage.prompt for step in record.steps] == [7] * 4


@pytest.mark.parametrize("form", [openllmetry, openinference])
@pytest.mark.parametrize("missing", [("prompt.0.", "input_messages.0."), ("completion.", "output")])
def test_a_span_that_lost_messages_is_refused(
    form: Callable[[int], dict[str, Any]],
    missing: tuple[str, ...],
    desk: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    spans = [{**form(place), "traceId": "t"} for place in REQUESTS]
    path, folder = tmp_path / "spans.json", tmp_path / "run"
    command = ["import", str(path), "--format", "otel", "--dataset", str(desk), "-o", str(folder)]
    last = spans[-1]
    last["droppedAttributesCount"] = 9
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    assert main([*command, "--model", "m"]) == 0  # others were dropped
    kept = [each for each in last["attributes"] if not any(m in each["key"] for m in missing)]
    last["attributes"] = kept
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    assert main([*command[:-1], str(tmp_path / "never")]) == 2
    assert "spans[3]: 9 attributes, including messages, were dropped" in capsys.readouterr().err
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gen_ai.prompt.0.role", "bot"),
        ("gen_ai.prompt.0.tool_calls.0.id", 5),
        ("gen_ai.completion.0", "x"),
        ("llm.input_messages.0.message.tool_calls", "[5]"),
        ("llm.input_messages.99999.message." + "a." * 50, "x"),
    ],
)
def test_damaged_attributes_give_one_line(
    name: str, value: Any, desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"gen_ai.prompt.0.content": "Hello.", name: value}
    spans = [span(0, turnwise__entry="desk_0", **given)]
    path, folder = tmp_path / "spans.json", tmp_path / "run"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    command = ["import", str(path), "--format", "otel", "--dataset", str(desk), "-o", str(folder)]
    assert main(command) in (0, 2)
    assert "Traceback" not in (shown := capsys.readouterr().err)
    assert shown.count("\n") <= 2
