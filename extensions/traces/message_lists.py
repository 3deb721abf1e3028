"""Reader of message lists: OpenAI, Responses items, Anthropic, LangChain, Gemini and Bedrock.

A document is a list of messages, an object with ``messages``, or a list of such objects. The
lines of a file can also be the messages of one conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from extensions.traces.conversation import RecordedTrace, name_of, trial_of
from extensions.traces.documents import Document, JsonNode, root
from extensions.traces.provider_messages import convert_messages
from extensions.traces.request_logs import LoggedRequest, find_request, last_requests
from runner.models.recorded_messages import MalformedMessage, RecordedTurn, read_turns

_NO_MESSAGES = (
    'has no "messages"; a trace is a list of messages, or an object with "messages" '
    '("input" of the Responses API, "contents" of Gemini)'
)


def read_traces(documents: Sequence[Document]) -> Iterator[RecordedTrace]:
    """Yield the traces. Raises DataError if a document is malformed."""
    for _, some in groupby(documents, lambda document: document.path):
        nodes = [root(document) for document in some]
        if all(map(_is_message, nodes)):
            yield RecordedTrace(nodes[0], None, None, None, _turns_of_lines(nodes))
            continue
        requests: dict[str, list[LoggedRequest]] = {}
        for node in nodes:
            is_list = isinstance(node.value, list)
            items = node.items() if is_list else []
            if is_list and not (items and all(map(_holds_messages, items))):
                yield RecordedTrace(node, None, None, None, _turns(node, node.value))
                continue
            for item in items or [node]:
                request = _require_request(item)
                # The id of a logged request differs from request to request.
                named = item.value.get("entry") or item.object("metadata").get("entry")
                requests.setdefault(str(named), []).append(request)
        for group in requests.values():
            yield from map(_trace, last_requests(group))


def _is_message(node: JsonNode) -> bool:
    value = node.value
    return (
        isinstance(value, dict)
        and bool(value.keys() & {"role", "type"})
        and not (find_request(node))
    )


def _holds_messages(node: JsonNode) -> bool:
    return isinstance(node.value, dict) and "role" not in node.value and bool(find_request(node))


def _require_request(node: JsonNode) -> LoggedRequest:
    node.require_object()
    found = find_request(node)
    if found is None:
        node.refuse(_NO_MESSAGES)
    return found


def _entry(node: JsonNode) -> str | None:
    value, about = node.value, node.object("metadata")
    entry = name_of(node, value, "entry") or name_of(node, about, "entry", "id")
    return entry or name_of(node, value, "id")


def _trace(request: LoggedRequest) -> RecordedTrace:
    node = request.node
    about = node.object("metadata")
    model = node.text("model") or name_of(node, about, "model")
    turns = _turns(request.place, [*request.messages, *request.answer])
    return RecordedTrace(node, _entry(node), trial_of(node, about), model, turns)


def _turns(node: JsonNode, messages: Sequence[object]) -> list[RecordedTurn]:
    with node.located():
        turns = read_turns(convert_messages(messages))
    if not turns:
        node.refuse("has no user message")
    return turns


def _turns_of_lines(nodes: Sequence[JsonNode]) -> list[RecordedTurn]:
    try:
        turns = read_turns(convert_messages([node.value for node in nodes]))
    except MalformedMessage as error:
        number, _, below = error.path.removeprefix("[").partition("]")
        nodes[int(number or 0)].refuse(error.message, below)
    if not turns:
        nodes[0].refuse("has no user message")
    return turns
