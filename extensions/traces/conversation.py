"""Traces: recorded conversations, each with the id of its entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from extensions.traces.documents import JsonNode
from runner.models.model_types import ChatMessage
from runner.models.recorded_messages import (
    MalformedMessage,
    RecordedTurn,
    chat_messages,
    read_turns,
)

MAX_TRACES = 100_000
_SYSTEM = ("system", "developer")
_MAX_TRIALS = 1_000_000
Json = Mapping[str, Any]


class RecordedTrace(NamedTuple):
    """One recorded conversation."""

    node: JsonNode
    """JSON value of the conversation, and its path in the file."""
    entry: str | None
    """Id of the entry; None if the trace does not contain it."""
    trial: int | None
    model: str | None
    turns: Sequence[RecordedTurn]
    error: str | None = None
    """External error that ended the conversation."""


class Exchange(NamedTuple):
    """One request to a model, with all of its messages and the answer."""

    node: JsonNode
    inputs: Sequence[ChatMessage]
    outputs: Sequence[ChatMessage]


def name_of(node: JsonNode, metadata: Json, *names: str) -> str | None:
    """Return the value of the first field that exists.

    Raises DataError if the field is not a string.
    """
    for name in names:
        value = metadata.get(name)
        if value is not None:
            if not isinstance(value, str):
                node.refuse(f"the entry's name must be a string, but is {value!r:.60}")
            return value
    return None


def trial_of(node: JsonNode, metadata: Json, name: str = "trial") -> int | None:
    """Return the number of the trial.

    Raises DataError if the number is not an integer from 0 to 999,999.
    """
    value = metadata.get(name)
    if value is None:
        return None
    if type(value) is not int or not 0 <= value < _MAX_TRIALS:
        node.refuse(f"the trial must be a number from 0 to 999999, but is {value!r:.60}")
    return value


def read_chats(node: JsonNode) -> list[ChatMessage]:
    """Return the messages in a list. Raises DataError if an item is not a message."""
    found: list[ChatMessage] = []
    for item in node.items():
        with item.located():
            found += chat_messages(item.value)
    return found


def turns_of(node: JsonNode, chats: Sequence[ChatMessage]) -> list[RecordedTurn]:
    """Return the turns of a conversation.

    Raises DataError if the conversation has no user message, or a result belongs to no call.
    """
    try:
        turns = read_turns(chats)
    except MalformedMessage as error:
        # The messages are those of several spans, so only the start can be named.
        node.refuse(f"message {error.path}: {error.message}")
    if not turns:
        node.refuse("has no user message")
    return turns


def merge_exchanges(exchanges: Sequence[Exchange]) -> list[ChatMessage]:
    """Merge the messages of all requests of a conversation. Requests may repeat earlier messages.

    Raises DataError if a request does not continue the conversation.
    """
    known: list[ChatMessage] = []
    for node, inputs, outputs in exchanges:
        said = [chat for chat in inputs if chat["role"] not in _SYSTEM]
        before, now = _groups(known), _groups(said)
        if [shape for shape, _ in now[: len(before)]] == [shape for shape, _ in before]:
            said = [chat for _, chats in now[len(before) :] for chat in chats]
        elif any(chat["role"] == "assistant" for chat in said):
            node.refuse("the messages do not continue the messages of the previous request")
        known += said
        told = [chat for chat in outputs if chat["role"] not in _SYSTEM]
        before, now = _groups(known), _groups(told)
        # The answer of a graph contains the whole conversation.
        repeats = bool(told) and told[0]["role"] == "user"
        if repeats and [shape for shape, _ in now[: len(before)]] == [shape for shape, _ in before]:
            told = [chat for _, chats in now[len(before) :] for chat in chats]
        known += told
    return known


def add_results(chats: list[ChatMessage], results: Mapping[str, str]) -> list[ChatMessage]:
    """Insert the results of calls into a conversation."""
    answered = {chat.get("tool_call_id") for chat in chats}
    found = []
    for chat in chats:
        found.append(chat)
        for call in chat.get("tool_calls") or ():
            if call["id"] in results and call["id"] not in answered:
                text = results[call["id"]]
                found.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return found


def _groups(chats: Sequence[ChatMessage]) -> list[tuple[object, list[ChatMessage]]]:
    found: list[tuple[Any, list[ChatMessage]]] = []
    for chat in chats:
        names = [call["function"]["name"] for call in chat.get("tool_calls") or ()]
        role = "tool" if chat["role"] == "function" else chat["role"]
        if role == "assistant" and found and found[-1][0][0] == role:
            (_, earlier), some = found[-1]
            found[-1] = (role, (*earlier, *names)), [*some, chat]
        else:
            found.append(((role, tuple(names)), [chat]))
    return found


def limited(traces: Iterator[RecordedTrace]) -> list[RecordedTrace]:
    """Return the traces. Raises DataError for too many traces."""
    found: list[RecordedTrace] = []
    for trace in traces:
        if len(found) == MAX_TRACES:
            trace.node.refuse(f"exceeds the limit of {MAX_TRACES} traces")
        found.append(trace)
    return found
