"""Reader of OpenTelemetry's GenAI spans in the JSON form of OTLP.

The messages are in the attributes ``gen_ai.input.messages`` and ``gen_ai.output.messages``. The
module ``older_spans`` reads older conventions. A conversation consists of the spans with the same
``gen_ai.conversation.id``, or of the spans of one trace.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from extensions.traces import older_spans
from extensions.traces.conversation import (
    Exchange,
    RecordedTrace,
    add_results,
    merge_exchanges,
    name_of,
    trial_of,
    turns_of,
)
from extensions.traces.documents import Document, JsonNode, root
from runner.models.model_types import ChatMessage
from runner.models.recorded_messages import MalformedMessage, chat_messages

ENTRY, TRIAL = "turnwise.entry", "turnwise.trial"
"""Attributes of a span or its resource that contain the entry's id and the trial number."""
INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
USAGE = {
    "gen_ai.usage.input_tokens": "prompt_tokens",
    "gen_ai.usage.output_tokens": "completion_tokens",
    "gen_ai.usage.cache_read.input_tokens": "cache_read_input_tokens",
    "gen_ai.usage.cache_creation.input_tokens": "cache_creation_input_tokens",
    "gen_ai.usage.reasoning.output_tokens": "reasoning_tokens",
}
"""Maps attributes with token counts to the fields of a usage object."""
_OTHER_OPERATIONS = ("execute_tool", "invoke_agent", "create_agent", "embeddings")
_ERRORS = (2, "STATUS_CODE_ERROR")
_MODEL = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
"""Attributes that contain the model's name."""
_MAX_DEPTH = 20
_MAX_DIGITS = 30


class Span(NamedTuple):
    """One span with its attributes as plain values."""

    node: JsonNode
    trace_id: str
    start: int
    """Nanoseconds."""
    end: int
    attributes: Mapping[str, Any]
    places: Mapping[str, JsonNode]
    """JSON nodes of the attributes."""

    @property
    def error(self) -> str | None:
        """Message of a failed span, or None."""
        status = self.node.object("status")
        failed = status.get("code") in _ERRORS
        return str(status.get("message") or "the span failed") if failed else None


def read_traces(documents: Sequence[Document]) -> Iterator[RecordedTrace]:
    """Yield the conversations. Raises DataError if a document is not OTLP."""
    spans = [span for document in documents for span in _spans(root(document))]
    conversations = {
        span.trace_id: str(id)
        for span in spans
        if (id := span.attributes.get("gen_ai.conversation.id")) is not None
    }
    groups: dict[str, list[Span]] = {}
    for span in spans:
        groups.setdefault(conversations.get(span.trace_id, span.trace_id), []).append(span)
    for group in groups.values():
        found = _trace(sorted(group, key=lambda span: span.start))
        if found is not None:
            yield found
    if not spans:
        root(documents[0]).refuse("has no spans")


def _spans(node: JsonNode) -> Iterator[Span]:
    if "resourceSpans" not in node.object_or_empty():
        node.refuse('has no "resourceSpans"; export spans as OTLP JSON, not as logs or for Jaeger')
    for resource in node.items("resourceSpans"):
        resource.require_object()
        about = resource.get("resource")
        shared = _attributes(about) if about else {}
        for scope in resource.items("scopeSpans"):
            for span in scope.items("spans"):
                yield _span(span, shared)


def _span(node: JsonNode, shared: Mapping[str, JsonNode]) -> Span:
    node.require_object()
    places = {**shared, **_attributes(node)}
    events = []
    for event in node.items("events"):
        held = _attributes(event)
        events.append((event.text("name") or "", {n: _plain(each) for n, each in held.items()}))
        places.update(held)
    attributes = {name: _plain(place) for name, place in places.items()}
    if INPUT not in attributes and OUTPUT not in attributes:
        older = older_spans.find_messages(attributes, events)
        dropped = node.value.get("droppedAttributesCount")
        if dropped and any(older) and not events and older_spans.is_cut(attributes, older):
            node.refuse(
                f"{dropped} attributes, including messages, were dropped before the export; "
                "raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT in the agent"
            )
        for name, messages in zip((INPUT, OUTPUT), older, strict=True):
            if messages:
                attributes[name], places[name] = messages, node
    start, end = (_nanoseconds(node, f"{side}TimeUnixNano") for side in ("start", "end"))
    return Span(node, node.text("traceId") or "", start, end, attributes, places)


def _attributes(node: JsonNode) -> dict[str, JsonNode]:
    found = {}
    for each in node.items("attributes"):
        key, value = each.text("key"), each.get("value")
        if key is None:
            each.refuse("is missing", ".key")
        if value is not None:
            value.require_object()
            found[key] = value
    return found


def _plain(node: JsonNode, depth: int = 0) -> Any:
    if depth > _MAX_DEPTH:
        node.refuse("is nested too deep")
    for kind, value in node.require_object().items():
        if kind == "intValue":
            with suppress(TypeError, ValueError):
                return int(value)
        elif kind == "arrayValue":
            return [_plain(each, depth + 1) for each in node.at(kind).items("values")]
        elif kind == "kvlistValue":
            members = _kv_members(node.at(kind))
            return {name: _plain(each, depth + 1) for name, each in members}
        else:
            return value
    return None


def _kv_members(node: JsonNode) -> Iterator[tuple[str, JsonNode]]:
    for each in node.items("values"):
        value = each.get("value")
        if value is not None:
            yield str(each.text("key")), value


def _nanoseconds(node: JsonNode, name: str) -> int:
    value = node.require_object().get(name, 0)
    is_number = isinstance(value, str) and value.isascii() and value.isdecimal()
    if not (isinstance(value, int) or (is_number and len(value) < _MAX_DIGITS)):
        node.refuse(f"must be nanoseconds, but is {value!r:.60}", f".{name}")
    return int(value)


def _trace(spans: Sequence[Span]) -> RecordedTrace | None:
    """Convert ordered spans to a conversation; return None if no span has messages."""
    chats = [each for each in spans if OUTPUT in each.attributes or INPUT in each.attributes]
    calls = [
        each
        for each in chats
        if each.attributes.get("gen_ai.operation.name") not in _OTHER_OPERATIONS
    ]
    chats = calls or chats
    if not chats:
        return None
    about: dict[str, Any] = {}
    for span in spans:
        about.update(span.attributes)
    first, last = chats[0].node, chats[-1]
    merged = merge_exchanges([_exchange(each) for each in chats])
    turns = turns_of(first, add_results(merged, _results(spans)))
    model = name_of(first, about, *_MODEL)
    error = last.error if OUTPUT not in last.attributes else None
    entry = name_of(first, about, ENTRY)
    return RecordedTrace(first, entry, trial_of(first, about, TRIAL), model, turns, error)


def _exchange(span: Span) -> Exchange:
    outputs = _messages(span, OUTPUT)
    if outputs:
        names = {**older_spans.USAGE, **USAGE}.items()
        given = {member: span.attributes[name] for name, member in names if name in span.attributes}
        usage = {**dict.fromkeys(USAGE.values()), **given}
        reasons = span.attributes.get("gen_ai.response.finish_reasons")
        reason = reasons[0] if isinstance(reasons, list) and reasons else None
        latency = max(0, span.end - span.start) / 1e9
        last = outputs[-1]
        finish = reason or last.get("finish_reason")
        outputs[-1] = {**last, "usage": usage, "finish_reason": finish, "latency": latency}
    return Exchange(span.node, _messages(span, INPUT), outputs)


def _messages(span: Span, name: str) -> list[ChatMessage]:
    value = span.attributes.get(name)
    if value is None:
        return []
    place = span.places[name]
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            place.refuse(f"{name} is not valid JSON")
    if not isinstance(value, list):
        place.refuse(f"{name} must be a list of messages, but has the type {type(value).__name__}")
    found: list[ChatMessage] = []
    for index, message in enumerate(value):
        try:
            found += [chat for each in _from_parts(message) for chat in chat_messages(each)]
        except MalformedMessage as error:
            place.refuse(f"{name}[{index}]{error.path}: {error.message}")
    return found


def _from_parts(message: object) -> Iterator[object]:
    if not isinstance(message, dict) or "parts" not in message:
        yield message
        return
    parts = message["parts"]
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise MalformedMessage("must be a list of objects", ".parts")
    texts: list[str] = []
    thoughts: list[str] = []
    calls = []
    for part in parts:
        kind = part.get("type")
        if kind == "tool_call":
            calls.append({name: part.get(name) for name in ("id", "name", "arguments")})
        elif kind == "tool_call_response":
            result = part.get("response", part.get("result"))
            text = result if isinstance(result, str) else json.dumps(result)
            yield {"role": "tool", "tool_call_id": part.get("id"), "content": text}
        elif isinstance(part.get("content"), str):
            (thoughts if kind == "reasoning" else texts).append(part["content"])
    has_results = any(part.get("type") == "tool_call_response" for part in parts)
    if message.get("role") == "tool" or (has_results and not (texts or calls)):
        # Some SDKs put results into messages of the user.
        return
    said = {"role": message.get("role"), "content": "".join(texts) if texts else None}
    more = {"tool_calls": calls, "reasoning": "\n".join(thoughts) or None}
    yield {**said, **more, "finish_reason": message.get("finish_reason")}


def _results(spans: Sequence[Span]) -> dict[str, str]:
    found = {}
    for span in spans:
        id, result = (span.attributes.get(f"gen_ai.tool.call.{n}") for n in ("id", "result"))
        if isinstance(id, str) and result is not None:
            found[id] = result if isinstance(result, str) else json.dumps(result)
    return found
