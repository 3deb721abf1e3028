"""Reader of exported LangSmith runs: a list of runs, or one run per line.

A conversation is one trace, or all traces of one thread. A run of the type ``llm`` contains the
messages of a request and the answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from extensions.traces.conversation import (
    Exchange,
    RecordedTrace,
    add_results,
    merge_exchanges,
    name_of,
    read_chats,
    trial_of,
    turns_of,
)
from extensions.traces.documents import Document, JsonNode, root
from runner.models.model_types import ChatMessage
from runner.models.recorded_messages import (
    MalformedMessage,
    chat_messages,
    langchain_usage,
    text_of,
)

THREADS = ("thread_id", "session_id", "conversation_id")
"""Metadata fields that can contain the thread id of a run."""
ENTRY_TAG = "entry:"
"""Prefix of the tag that contains the entry's name."""
_MAX_DEPTH = 100


def read_traces(documents: Sequence[Document]) -> Iterator[RecordedTrace]:
    """Yield the conversations. Raises DataError if a document contains no runs."""
    runs = [run for document in documents for run in _runs(root(document))]
    threads = {}
    for id, run in runs:
        named = [_metadata(run).get(name) for name in THREADS]
        if thread := next((each for each in named if each is not None), None):
            threads[id] = str(thread)
    groups: dict[str, list[JsonNode]] = {}
    for id, run in runs:
        groups.setdefault(threads.get(id, id), []).append(run)
    for group in groups.values():
        yield _trace(sorted(group, key=_order))


def _runs(
    node: JsonNode, depth: int = 0, parent: str | None = None
) -> Iterator[tuple[str, JsonNode]]:
    """Yield each run with the id of its trace; a child run belongs to the trace of its parent."""
    if depth > _MAX_DEPTH:
        node.refuse("is nested too deep")
    if isinstance(node.value, list):
        for item in node.items():
            yield from _runs(item, depth + 1)
    elif "runs" in node.require_object():
        yield from _runs(node.at("runs"), depth + 1)
    else:
        if node.text("run_type") is None:
            node.refuse("is not a run: it has no run_type")
        id = parent or node.text("trace_id") or node.text("id") or node.source
        yield id, node
        for child in node.items("child_runs"):
            yield from _runs(child, depth + 1, id)


def _metadata(run: JsonNode) -> dict[str, Any]:
    extra = run.get("extra")
    return extra.object("metadata") if extra else {}


def _order(run: JsonNode) -> str:
    return run.text("dotted_order") or run.text("start_time") or ""


def _trace(runs: Sequence[JsonNode]) -> RecordedTrace:
    first = runs[0]
    about: dict[str, Any] = {}
    for run in reversed(runs):
        about.update(_metadata(run))
    asked = [run for run in runs if run.text("run_type") == "llm"]
    asked = asked or [run for run in runs if _answer(run) is not None]
    if not asked:
        first.refuse("the trace has no run of the type `llm`")
    chats = add_results(merge_exchanges([_exchange(run) for run in asked]), _results(runs))
    entry = name_of(first, about, "entry", "turnwise_entry") or _tag(runs)
    model, last = name_of(first, about, "ls_model_name"), asked[-1]
    error = last.text("error") if _answer(last) is None else None
    turns = turns_of(first, chats)
    return RecordedTrace(first, entry, trial_of(first, about), model, turns, error)


def _tag(runs: Sequence[JsonNode]) -> str | None:
    tags = [tag.value for run in runs for tag in run.items("tags")]
    named = [tag for tag in tags if isinstance(tag, str) and tag.startswith(ENTRY_TAG)]
    return named[0].removeprefix(ENTRY_TAG) if named else None


def _exchange(run: JsonNode) -> Exchange:
    inputs, answer = run.get("inputs"), _answer(run)
    messages = inputs.get("messages") if inputs else None
    if messages is not None and len(messages.items()) == 1 and isinstance(messages.value[0], list):
        messages = messages.at(0)  # LangChain sends batches
    said = read_chats(messages) if messages else []
    return Exchange(run, said, [] if answer is None else _outputs(run, answer))


def _answer(run: JsonNode) -> JsonNode | None:
    outputs = run.get("outputs")
    if outputs is None:
        return None
    for name in ("choices", "generations"):
        choices = outputs.items(name)
        inner = choices[0].items() if choices and isinstance(choices[0].value, list) else choices
        if inner:
            return inner[0].get("message")
    found = outputs.get("message") or outputs.get("messages") or outputs.get("output")
    return outputs if found is None and "role" in outputs.require_object() else found


def _outputs(run: JsonNode, answer: JsonNode) -> list[ChatMessage]:
    """Return the messages of an answer; the last message contains usage and latency."""
    if isinstance(answer.value, list):
        chats = read_chats(answer)
    else:
        value = answer.value
        if isinstance(value, str):
            value = {"role": "assistant", "content": value}
        with answer.located():
            chats = [*chat_messages(value)]
    if not chats or chats[-1]["role"] != "assistant":
        answer.refuse("does not end with an assistant message")
    last = chats[-1]
    given = {
        "usage": last.get("usage") or _usage(run),
        "finish_reason": last.get("finish_reason") or _finish_reason(run),
        "latency": _seconds(run),
    }
    return [*chats[:-1], {**last, **given}]


def _usage(run: JsonNode) -> Mapping[str, Any]:
    outputs = run.object("outputs")
    details = outputs.get("llm_output")
    named = details.get("token_usage") if isinstance(details, Mapping) else None
    if isinstance(outputs.get("usage_metadata"), Mapping):
        return langchain_usage(outputs["usage_metadata"])
    found = outputs.get("usage") or named
    return found if isinstance(found, Mapping) else run.require_object()


def _finish_reason(run: JsonNode) -> object:
    outputs = run.get("outputs")
    choices = outputs.items("choices") if outputs else []
    return choices[0].require_object().get("finish_reason") if choices else None


def _seconds(run: JsonNode) -> float:
    """Return the duration of a run; 0 if it is unknown."""
    start, end = run.text("start_time"), run.text("end_time")
    if start is None or end is None:
        return 0.0
    try:
        return max(
            0.0, (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
        )
    except (ValueError, TypeError):
        run.refuse(f"is not a time: {start!r:.60}, {end!r:.60}", ".start_time")


def _results(runs: Sequence[JsonNode]) -> dict[str, str]:
    found = {}
    for run in runs:
        if run.text("run_type") == "tool":
            outputs = run.object("outputs")
            output = outputs.get("output", outputs)
            holder = output if isinstance(output, Mapping) else {}
            id = _metadata(run).get("tool_call_id") or holder.get("tool_call_id")
            content = holder.get("content", output)
            if isinstance(id, str):
                with suppress(MalformedMessage):
                    content = text_of(content, "")
                found[id] = content if isinstance(content, str) else json.dumps(content)
    return found
