"""Reader of inspect_ai's logs in JSON; ``inspect log dump FILE`` converts other logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from extensions.traces.conversation import RecordedTrace, name_of
from extensions.traces.documents import Document, JsonNode, root
from runner.models.model_types import ChatMessage
from runner.models.recorded_messages import chat_messages, read_turns

STOPS = {"max_tokens": "length", "model_length": "length"}
"""Maps inspect_ai's stop reasons to Turnwise's. Other stop reasons keep their names."""


def read_traces(documents: Sequence[Document]) -> Iterator[RecordedTrace]:
    """Yield one conversation per sample. Raises DataError if a document is not a log."""
    for document in documents:
        node = root(document)
        if "samples" not in node.require_object():
            node.refuse('has no "samples"; write the log without the option --no-log-samples')
        model = node.object("eval").get("model")
        for sample in node.items("samples"):
            yield _trace(sample, model if isinstance(model, str) else None)


def _trace(sample: JsonNode, model: str | None) -> RecordedTrace:
    value = sample.require_object()
    entry = name_of(sample, sample.object("metadata"), "entry")
    if entry is None and isinstance(value.get("id"), (str, int)):
        entry = str(value["id"])
    epoch = value.get("epoch", 1)
    if type(epoch) is not int or epoch < 1:
        sample.refuse(f"must be a number of at least 1, but is {epoch!r:.60}", ".epoch")
    messages = sample.get("messages")
    if messages is None:
        sample.refuse('has no "messages"')
    answers = _model_answers(sample)
    places = [
        item for item in messages.items() if item.object_or_empty().get("role") == "assistant"
    ]
    by_position = len(places) == len(answers)
    chats: list[ChatMessage] = []
    number = 0
    for item in messages.items():
        message = item.object_or_empty()
        about: Mapping[str, Any] = {}
        if message.get("role") == "assistant":
            known = [each for each in answers if each["id"] and each["id"] == message.get("id")]
            about = (known[:1] or (answers[number : number + 1] if by_position else [{}]))[0]
            number += 1
        with item.located():
            chats += chat_messages(_plain(item.value, about))
    with messages.located():
        turns = read_turns(chats)
    if not turns:
        messages.refuse("has no user message")
    said = sample.object("error").get("message")
    error = None if said is None else str(said)
    return RecordedTrace(sample, entry, epoch - 1, model, turns, error)


def _plain(message: object, about: Mapping[str, Any]) -> object:
    if not isinstance(message, Mapping):
        return message
    error = message.get("error")
    if message.get("role") == "tool" and isinstance(error, Mapping) and not message.get("content"):
        return {**message, "content": str(error.get("message") or "")}
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        # Arguments that inspect_ai could not parse are recorded in this member.
        calls = [
            {**call, "arguments": call["parse_error"]}
            if isinstance(call, Mapping) and isinstance(call.get("parse_error"), str)
            else call
            for call in calls
        ]
        message = {**message, "tool_calls": calls}
    return {**message, **{name: each for name, each in about.items() if name != "id"}}


def _model_answers(sample: JsonNode) -> list[dict[str, Any]]:
    found = []
    for event in sample.items("events"):
        if event.require_object().get("event") != "model":
            continue
        output = event.get("output")
        choices = output.items("choices") if output else []
        if output is None or not choices:
            continue
        reason, message = choices[0].text("stop_reason"), choices[0].object("message")
        seconds = output.value.get("time")
        found.append(
            {
                "id": message.get("id"),
                "finish_reason": STOPS.get(reason or "", reason),
                "usage": _usage(output.object("usage")),
                "latency": float(seconds) if isinstance(seconds, (int, float)) else 0.0,
            }
        )
    return found


def _usage(counts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "input_tokens": counts.get("input_tokens"),
        "output_tokens": counts.get("output_tokens"),
        "cache_read_input_tokens": counts.get("input_tokens_cache_read"),
        "cache_creation_input_tokens": counts.get("input_tokens_cache_write"),
        "reasoning_tokens": counts.get("reasoning_tokens"),
    }
