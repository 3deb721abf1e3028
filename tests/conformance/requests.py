"""What models are sent: the requests of ``bfcl generate`` beside those of ``turnwise eval``.

Both commands ask one server, which errs in the same way whoever asks and keeps what it was asked.
A conversation only grows, so every message is compared once, in the request in which it is new; the
tools are compared in every request.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from envs.calls import Call
from runner.data import dataset_choice
from tests.conformance.known import Case, Step, explanation, failed
from tests.conformance.observations import P1
from tests.servers.answers import DONE
from tests.servers.erring import Erring
from tests.servers.serving import Answer, Asked, FakeServer
from tests.whole_runs import Timed, bfcl_generate, turnwise_eval
from trajectories.dataset import Dataset

SUITES = ("miss_func", "single_turn")
"""The first has functions handed over, values asked for and calls that fail; the other has
documents in three languages."""
RATE = 0.25
"""Share of calls that are wrong."""
FLOOR = 0.98
"""Least share of messages that are equal."""
FLOOR_REQUESTS = 0.85
"""Least share of requests that are equal as a whole; a difference stays in all that follow."""
AT_ONCE = 64

UNREAD = "unread"
REASONS = {
    UNREAD: "what is no JSON object is answered, and goes back as {}, since servers refuse a call "
    "that is unanswered or unreadable; BFCL leaves both as they are",
    "not done": "a call that only one side does, as random scripts know it: known.py has the rule",
    P1.id: P1.text,
}
"""Why messages may differ."""

Message = Mapping[str, Any]


class Sent(NamedTuple):
    """What a model reads of one request."""

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]]


Conversation = Sequence[Sent]
"""The requests of one episode, each of which begins with the messages of the one before."""


class Compared(NamedTuple):
    """How much of what was sent is equal."""

    requests: int
    equal_requests: int
    """All messages and tools of which are equal."""
    messages: int
    equal_messages: int
    known: Mapping[str, int]
    """Messages that differ, by reason."""
    news: Sequence[str]
    """Differences without a reason, a line each."""

    @property
    def is_below(self) -> bool:
        """Whether there is a difference without a reason, or less is equal than must be."""
        return (
            bool(self.news)
            or not self.messages
            or self.equal_messages < FLOOR * self.messages
            or self.equal_requests < FLOOR_REQUESTS * self.requests
        )


class Watched:
    """A server's answers, and all requests that it got."""

    def __init__(self, answer: Erring) -> None:
        self._answer = answer
        self._tools: dict[str, Sequence[Mapping[str, Any]]] = {}
        self.sent: list[Sent] = []

    def __call__(self, asked: Asked) -> Answer:
        """Return the answer to a request."""
        messages = [_cleaned(message) for message in asked.body["messages"]]
        tools = [tool["function"] for tool in asked.body.get("tools", ())]
        # Many requests have the same tools, which are most of them.
        self.sent.append(Sent(messages, self._tools.setdefault(json.dumps(tools), tools)))
        return self._answer(asked)


def _cleaned(message: Message) -> Message:
    """Return a message without members that say nothing."""
    return {name: value for name, value in message.items() if value not in (None, "", [])}


def conversations(sent: Iterable[Sent]) -> list[Conversation]:
    """Return requests by conversation, told by their beginnings."""
    found: list[list[Sent]] = []
    last: dict[str, list[list[Sent]]] = defaultdict(list)
    for request in sent:
        # What comes after a request is its answer.
        answers = [n for n, message in enumerate(request.messages) if _is_answer(message)]
        beginnings = (request.messages[:place] for place in reversed(answers))
        key = next((key for each in beginnings if last.get(key := json.dumps(each))), None)
        conversation = last[key].pop() if key else []
        if key is None:
            found.append(conversation)
        conversation.append(request)
        last[json.dumps(request.messages)].append(conversation)
    return [*found]


def _is_answer(message: Message) -> bool:
    return message["role"] == "assistant" and bool(
        message.get("tool_calls") or message.get("content") == DONE
    )


def _told_apart(conversation: Conversation) -> str:
    """Return what tells a conversation from most others: what it is about, and the tools."""
    roles = ("system", "user")
    said = [each["content"] for each in conversation[-1].messages if each["role"] in roles]
    tools = conversation[0].tools
    offered = [[tool["name"], [*tool["parameters"]["properties"]]] for tool in tools]
    return json.dumps([said, offered])


def paired(
    theirs: Iterable[Conversation], ours: Iterable[Conversation]
) -> Iterator[tuple[Conversation, Conversation]]:
    """Yield what belongs together, an empty one where a side has none."""
    sides: dict[str, tuple[list[Conversation], list[Conversation]]] = {}
    for side, conversations in enumerate((theirs, ours)):
        for each in sorted(conversations, key=lambda each: json.dumps(each[0].tools)):
            sides.setdefault(_told_apart(each), ([], []))[side].append(each)
    for one, other in sides.values():
        yield from zip_longest(one, other, fillvalue=())


def compare(theirs: Sequence[Conversation], ours: Sequence[Conversation]) -> Compared:
    """Compare conversations request by request."""
    known: Counter[str] = Counter()
    news: list[str] = []
    requests = equal_requests = messages = equal = 0
    for one, other in paired(theirs, ours):
        before = (0, 0)
        for expected, actual in zip_longest(one, other):
            requests += 1
            if expected is None or actual is None:
                side, alone = ("BFCL", expected) if expected else ("Turnwise", actual)
                news.append(f"{side} alone sends {_shown(alone.messages[-2:])}")
                messages += 1
                continue
            equal_requests += expected == actual
            news += _tools_apart(expected, actual)
            new = expected.messages[before[0] :], actual.messages[before[1] :]
            before = len(expected.messages), len(actual.messages)
            alike = sum(a == b for a, b in zip(*new, strict=False))
            if new[0] == new[1]:
                messages, equal = messages + alike, equal + alike
                continue
            reasons = [*_reasons(*new)]
            news += [f"{_shown(new[0])}: got {_shown(new[1])}"] if None in reasons else []
            known.update(reason for reason in reasons if reason)
            messages += max(map(len, new))
            equal += max(map(len, new)) - len(reasons)
    return Compared(requests, equal_requests, messages, equal, known, news)


def _tools_apart(expected: Sent, actual: Sent) -> Iterator[str]:
    for theirs, ours in zip_longest(expected.tools, actual.tools):
        if theirs != ours or [*theirs] != [*ours]:
            yield f"tool {json.dumps(theirs)}: got {json.dumps(ours)}"


def _reasons(theirs: Sequence[Message], ours: Sequence[Message]) -> Iterator[str | None]:
    """Yield why each message differs, None where that is not known."""
    unread = [id for message in theirs for id, call in _calls(message) if call is None]
    kept = [each for each in ours if each.get("tool_call_id") not in unread]
    yield from [UNREAD] * (len(ours) - len(kept))
    calls = {id: call for message in theirs for id, call in _calls(message)}
    for expected, actual in zip_longest(theirs, kept, fillvalue={"role": "nobody"}):
        if expected == actual:
            continue
        if expected["role"] == actual["role"] == "tool":
            yield _reason(calls.get(expected["tool_call_id"]), expected, actual)
        elif unread and _as_objects(expected) == actual:
            yield UNREAD
        else:
            yield None


def _reason(call: Call | None, theirs: Message, ours: Message) -> str | None:
    """Return why the result of a call differs."""
    if call is None:
        return None
    expected, actual = theirs.get("content", ""), ours.get("content", "")
    if failed(expected) and failed(actual):
        return P1.id
    step = Step(str(call), call, expected, actual, {"GorillaFileSystem": {"root": {}}})
    return "not done" if explanation(Case([step])) else None


def _calls(message: Message) -> Iterator[tuple[str, Call | None]]:
    """Yield the calls of an answer by id, None for one that cannot be read."""
    for each in message.get("tool_calls", ()):
        arguments = _object(each["function"]["arguments"])
        call = None if arguments is None else Call(each["function"]["name"], (), arguments)
        yield each["id"], call


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _as_objects(message: Message) -> Message:
    """Return an answer with {} for arguments that are no object."""
    calls = [
        {**each, "function": {**each["function"], "arguments": "{}"}}
        if _object(each["function"]["arguments"]) is None
        else each
        for each in message.get("tool_calls", ())
    ]
    return {**message, "tool_calls": calls} if calls else message


def _shown(messages: Sequence[Message]) -> str:
    return json.dumps(messages)[:600]


def run(bfcl: str) -> int:
    """Compare and print; return in how many suites less is equal than must be.

    Args:
        bfcl: The command ``bfcl`` of a full installation.
    """
    return sum(_run(bfcl, suite) for suite in SUITES)


def _run(bfcl: str, suite: str) -> bool:
    data = dataset_choice.open_dataset(
        "bfcl", dataset_choice.parse_categories(suite, "bfcl"), lambda _: None
    )
    categories = dict.fromkeys(each.category for each in data.trajectories.values())
    with tempfile.TemporaryDirectory() as folder:

        def theirs(url: str) -> Timed:
            return bfcl_generate(bfcl, url, Path(folder, "theirs"), categories, AT_ONCE)

        def ours(url: str) -> Timed:
            place = Path(folder, "ours")
            return turnwise_eval(url, place, suite, AT_ONCE, "--no-preflight")

        compared = compare(_asked(theirs, data), _asked(ours, data))
    for each in compared.news:
        print(f"DIFFERENT {each}")
    print(
        f"requests {suite}: {compared.equal_requests} of {compared.requests} requests equal"
        f" (at least {FLOOR_REQUESTS:.0%}), {compared.equal_messages} of {compared.messages}"
        f" messages (at least {FLOOR:.0%})"
    )
    for reason, count in sorted(compared.known.items()):
        print(f"  known {reason}, {count} messages: {REASONS[reason]}")
    return compared.is_below


def _asked(ask: Callable[[str], Timed], data: Dataset) -> list[Conversation]:
    """Return what a command asks a server, whose address it is given."""
    watched = Watched(Erring(data, RATE))
    with FakeServer(watched) as server:
        ask(server.base_url)
    return conversations(watched.sent)
