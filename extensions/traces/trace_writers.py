"""Writers of episodes as OpenAI's messages, OTLP spans, LangSmith runs and inspect_ai logs.

The times are artificial: each conversation starts at time 0 (1970-01-01), and its duration is the
sum of its latencies.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, NamedTuple

from envs.errors import DataError
from extensions.export.commands.export import TranscriptsOfRun
from extensions.export.transcripts import StoredTranscript
from extensions.traces.langsmith import ENTRY_TAG
from extensions.traces.otel import ENTRY, INPUT, OUTPUT, TRIAL, USAGE
from runner.models.model_types import Usage
from runner.records.episode_record import EpisodeRecord, StepRecord

Json = dict[str, Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Request(NamedTuple):
    """One request with its messages, its answer and its time."""

    number: int
    step: StepRecord
    inputs: Sequence[Json]
    answer: Json
    start: float
    """Seconds since the conversation began."""


def openai_conversations(found: Sequence[TranscriptsOfRun]) -> Iterator[Json]:
    """Yield the episodes of runs as OpenAI's messages."""
    for run, transcripts in found:
        for record in (_load(each) for each in transcripts):
            messages = [_chat(record, place) for place in range(len(record.messages))]
            named = {"entry": record.id, "trial": record.trial, "model": run.name}
            yield {"messages": messages, "metadata": named}


def otel_document(found: Sequence[TranscriptsOfRun]) -> Iterator[str]:
    """Yield the text of one OTLP document with the episodes of runs."""
    named = {"attributes": _attributes({"service.name": "turnwise"})}
    scope = {"scope": {"name": "turnwise"}, "spans": []}
    for place, (run, transcripts) in enumerate(found):
        yield ", " if place else '{"resourceSpans": ['
        spans = (span for each in transcripts for span in _spans(_load(each), run.name))
        yield from _filled({"resource": named, "scopeSpans": [scope]}, "spans", spans)
    yield "]}\n"


def langsmith_runs(found: Sequence[TranscriptsOfRun]) -> Iterator[Json]:
    """Yield each episode as LangSmith runs: a chain with one run per request."""
    for run, transcripts in found:
        for each in transcripts:
            yield from _runs(_load(each), run.name)


def inspect_logs(found: Sequence[TranscriptsOfRun]) -> Iterator[str]:
    """Yield the text of one log of inspect_ai with the episodes of runs."""
    about = {"task": "turnwise", "model": found[0][0].name}
    log = {"version": 2, "status": "success", "eval": about, "samples": []}
    samples = (_sample(_load(each)) for _, transcripts in found for each in transcripts)
    yield from _filled(log, "samples", samples)
    yield "\n"


def _filled(document: Json, name: str, items: Iterable[Json]) -> Iterator[str]:
    """Yield the JSON text of a document whose empty list ``name`` receives the items."""
    begin, end = json.dumps(document).split(f'"{name}": []')
    yield f'{begin}"{name}": ['
    for place, item in enumerate(items):
        yield (", " if place else "") + json.dumps(item, allow_nan=False)
    yield f"]{end}"


def _load(transcript: StoredTranscript) -> EpisodeRecord:
    record = transcript.load().record
    for step in record.steps:
        messages = record.messages[step.request_messages : step.request_messages + 1]
        sent = [call for message in messages for call in message.get("tool_calls") or ()]
        if not messages or len(sent) != len(step.reply.tool_calls or ()):
            where = f"{transcript.run.path}: {record.id}, trial {record.trial}"
            raise DataError(where, f"the messages lack a call of turn {step.turn + 1}")
    return record


def _requests(record: EpisodeRecord) -> Iterator[_Request]:
    start = 0.0
    chats = [_chat(record, place) for place in range(len(record.messages))]
    for number, step in enumerate(record.steps):
        inputs, answer = chats[: step.request_messages], chats[step.request_messages]
        yield _Request(number, step, inputs, answer, start)
        start += step.latency


def _chat(record: EpisodeRecord, place: int) -> Json:
    message = dict(record.messages[place])
    step = next((each for each in record.steps if each.request_messages == place), None)
    if step is None:
        return message
    chat: Json = {"role": "assistant", "content": step.reply.text}
    if step.reply.tool_calls:
        chat["tool_calls"] = [
            {
                "id": sent["id"],
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for sent, call in zip(message["tool_calls"], step.reply.tool_calls, strict=True)
        ]
    if step.reply.reasoning:
        chat["reasoning_content"] = step.reply.reasoning
    return chat


def _digest(record: EpisodeRecord, *more: object, size: int = 32) -> str:
    return sha256(json.dumps([record.id, record.trial, *more]).encode()).hexdigest()[:size]


def _spans(record: EpisodeRecord, model: str) -> Iterator[Json]:
    trace, top = _digest(record), _digest(record, "agent", size=16)
    total = sum(step.latency for step in record.steps)
    named = {ENTRY: record.id, TRIAL: record.trial, "gen_ai.operation.name": "invoke_agent"}
    yield _span(trace, top, "", "invoke_agent turnwise", (0.0, total), named)
    for request in _requests(record):
        step, id = request.step, _digest(record, request.number, size=16)
        parts = [[_parts(chat) for chat in some] for some in (request.inputs, [request.answer])]
        usage = dict(zip(USAGE, _counts(step.usage), strict=True))
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": model,
            INPUT: json.dumps(parts[0]),
            OUTPUT: json.dumps(parts[1]),
            "gen_ai.response.finish_reasons": [step.reply.finish_reason],
            **usage,
        }
        times = request.start, request.start + step.latency
        yield _span(trace, id, top, f"chat {model}", times, attributes)
        yield from _tool_spans(record, request, trace, top)


def _tool_spans(record: EpisodeRecord, request: _Request, trace: str, top: str) -> Iterator[Json]:
    end = request.start + request.step.latency
    for call, message in _results(record, request):
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call["function"]["name"],
            "gen_ai.tool.call.id": call["id"],
            "gen_ai.tool.call.result": message["content"],
        }
        id = _digest(record, request.number, call["id"], size=16)
        name = f"execute_tool {call['function']['name']}"
        yield _span(trace, id, top, name, (end, end), attributes)


def _results(record: EpisodeRecord, request: _Request) -> Iterator[tuple[Json, Mapping[str, Any]]]:
    calls = {call["id"]: call for call in request.answer.get("tool_calls", ())}
    for message in record.messages[request.step.request_messages + 1 :]:
        if message["role"] != "tool":
            return
        yield calls[message["tool_call_id"]], message


def _span(
    trace: str, id: str, parent: str, name: str, times: tuple[float, float], attributes: Json
) -> Json:
    start, end = (str(round(seconds * 1e9)) for seconds in times)
    return {
        "traceId": trace,
        "spanId": id,
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": start,
        "endTimeUnixNano": end,
        "attributes": _attributes(attributes),
    }


def _attributes(values: Mapping[str, Any]) -> list[Json]:
    """Return attributes in OTLP's form, without null attributes."""
    present = {name: value for name, value in values.items() if value not in (None, [None])}
    return [{"key": name, "value": _value(value)} for name, value in present.items()]


def _value(value: Any) -> Json:
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(each) for each in value]}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": str(value)}


def _parts(chat: Mapping[str, Any]) -> Json:
    role, content = chat["role"], chat.get("content")
    if role == "tool":
        part = {"type": "tool_call_response", "id": chat["tool_call_id"], "response": content}
        return {"role": role, "parts": [part]}
    parts: list[Json] = []
    if chat.get("reasoning_content"):
        parts.append({"type": "reasoning", "content": chat["reasoning_content"]})
    if content is not None:
        parts.append({"type": "text", "content": content})
    for call in chat.get("tool_calls", ()):
        parts.append({"type": "tool_call", "id": call["id"], **call["function"]})
    return {"role": role, "parts": parts}


def _counts(usage: Usage) -> tuple[int | None, ...]:
    return usage.prompt, usage.completion, usage.cached, usage.written, usage.reasoning


def _runs(record: EpisodeRecord, model: str) -> Iterator[Json]:
    top = _digest(record)
    total = sum(step.latency for step in record.steps)
    metadata = {"entry": record.id, "trial": record.trial}
    tags = [f"{ENTRY_TAG}{record.id}"]
    chain = {"run_type": "chain", "name": "turnwise", "inputs": {}, "outputs": {}, "tags": tags}
    yield {**_run(top, top, None, (0.0, total), ""), **chain, "extra": {"metadata": metadata}}
    for request in _requests(record):
        step, id = request.step, _digest(record, request.number)
        choice = {"message": request.answer, "finish_reason": step.reply.finish_reason}
        outputs = {"choices": [choice], "usage": _openai_usage(step.usage)}
        times = request.start, request.start + step.latency
        yield {
            **_run(id, top, top, times, f"{request.number:06}"),
            "run_type": "llm",
            "name": model,
            "inputs": {"messages": request.inputs, "model": model},
            "outputs": outputs,
            "extra": {"metadata": {**metadata, "ls_model_name": model}},
        }
        for call, message in _results(record, request):
            yield {
                **_run(_digest(record, call["id"]), top, top, (times[1], times[1]), "z"),
                "run_type": "tool",
                "name": call["function"]["name"],
                "inputs": {"input": call["function"]["arguments"]},
                "outputs": {"output": message},
                "extra": {"metadata": metadata},
            }


def _run(id: str, trace: str, parent: str | None, times: tuple[float, float], order: str) -> Json:
    start, end = ((_EPOCH + timedelta(seconds=each)).isoformat() for each in times)
    first = f"{trace}.{order}{id}" if order else trace
    run = {"id": id, "trace_id": trace, "parent_run_id": parent, "dotted_order": first}
    return {**run, "start_time": start, "end_time": end, "error": None}


def _openai_usage(usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "prompt_tokens_details": {
            "cached_tokens": usage.cached,
            "cache_write_tokens": usage.written,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def _sample(record: EpisodeRecord) -> Json:
    requests = list(_requests(record))
    messages = [_inspect_message(_chat(record, n), f"m{n}") for n in range(len(record.messages))]
    return {
        "id": record.id,
        "epoch": record.trial + 1,
        "input": next((m["content"] for m in record.messages if m["role"] == "user"), ""),
        "target": "",
        "metadata": {"entry": record.id},
        "messages": messages,
        "events": [_model_event(each, messages) for each in requests],
    }


def _inspect_message(chat: Json, id: str) -> Json:
    message = {name: each for name, each in chat.items() if name != "reasoning_content"}
    if "tool_calls" in message:
        message["tool_calls"] = [_inspect_call(call) for call in message["tool_calls"]]
    if chat.get("reasoning_content"):
        thought = {"type": "reasoning", "reasoning": chat["reasoning_content"]}
        text = [{"type": "text", "text": chat["content"]}] if chat["content"] is not None else []
        message["content"] = [thought, *text]
    return {"id": id, **message}


def _inspect_call(call: Json) -> Json:
    """Return a call with parsed arguments; if they are not a JSON object, they stay a string."""
    function, given = call["function"], call["function"]["arguments"]
    try:
        arguments = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        arguments = None
    made = {"id": call["id"], "type": "function", "function": function["name"]}
    if isinstance(arguments, dict):
        return {**made, "arguments": arguments}
    return {**made, "arguments": {}, "parse_error": str(given)}


def _model_event(request: _Request, messages: Sequence[Json]) -> Json:
    step = request.step
    choice = {"message": messages[step.request_messages], "stop_reason": step.reply.finish_reason}
    usage = step.usage
    counts = {
        "input_tokens": usage.prompt,
        "output_tokens": usage.completion,
        "input_tokens_cache_read": usage.cached,
        "input_tokens_cache_write": usage.written,
        "reasoning_tokens": usage.reasoning,
    }
    output = {"choices": [choice], "usage": counts, "time": step.latency}
    return {"event": "model", "input": [], "output": output}
