"""Reader of message lists: OpenAI, Responses items, Anthropic and LangChain.

A document is a list of messages, an object with ``messages``, or a list of such objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from extensions.traces.conversation import RecordedTrace, name_of, trial_of
from extensions.traces.documents import Document, JsonNode, root
from runner.models.recorded_messages import RecordedTurn, read_turns


def read_traces(documents: Sequence[Document]) -> Iterator[RecordedTrace]:
    """Yield the traces. Raises DataError if a document is malformed."""
    for document in documents:
        node = root(document)
        is_list = isinstance(node.value, list)
        items = node.items() if is_list else []
        if items and all(_holds_messages(each) for each in items):
            yield from map(_trace, items)
        elif is_list:
            yield RecordedTrace(node, None, None, None, _turns(node))
        else:
            yield _trace(node)


def _holds_messages(node: JsonNode) -> bool:
    return isinstance(node.value, dict) and "messages" in node.value


def _trace(node: JsonNode) -> RecordedTrace:
    value = node.require_object()
    messages = node.get("messages")
    if messages is None:
        node.refuse('has no "messages"')
    about = node.object("metadata")
    entry = name_of(node, value, "entry") or name_of(node, about, "entry", "id")
    entry = entry or name_of(node, value, "id")
    model = node.text("model") or name_of(node, about, "model")
    return RecordedTrace(node, entry, trial_of(node, about), model, _turns(messages))


def _turns(node: JsonNode) -> list[RecordedTurn]:
    with node.located():
        turns = read_turns(node.value)
    if not turns:
        node.refuse("has no user message")
    return turns
