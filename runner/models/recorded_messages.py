"""Reader of recorded chat messages; it returns turns with answers and results.

The reader accepts OpenAI's chat messages (also with ``function_call``) and Responses items,
Anthropic's content blocks, and LangChain's messages. The reader converts these forms to
chat-completions messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from checkers.replies.decoding import Step
from runner.models.model_types import ChatMessage, Reply, Usage
from runner.models.reply_reader import read_completion
from runner.models.toolbox import Toolbox, write_object
from trajectories.schema import Trajectory

MAX_MESSAGES = 20_000
_MAX_SHOWN_CHARS = 60
_SYSTEM = ("system", "developer")
_ROLES = (*_SYSTEM, "user", "assistant", "tool", "function")
_LANGCHAIN_ROLES = {
    "human": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "tool": "tool",
    "system": "system",
    "function": "function",
}
_PART_KEYS = {"type", "text"}
_CALLS = ("function_call", "custom_tool_call")
_ITEMS = (*_CALLS, *(f"{name}_output" for name in _CALLS), "reasoning")
_SERVER_ITEM = re.compile(
    r"(?:code_interpreter|file_search|image_generation|tool_search|web_search)_call"
    r"|mcp_\w+|tool_search_output|item_reference|compaction"
)
"""Types of Responses items that the reader skips: the provider's tools, and items without text."""
_PROMPT = "is not a message; add a role or a known type"


class MalformedMessage(Exception):
    """A message that cannot be read; the error has the path of the wrong field."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path

    def below(self, part: str) -> MalformedMessage:
        """Return a copy of the error with ``part`` at the start of its path."""
        return MalformedMessage(self.message, part + self.path)


class RecordedAnswer(NamedTuple):
    """One answer of a model."""

    reply: Reply
    results: list[str | None]
    """Recorded result of each call; None if the conversation does not contain the result."""


class RecordedTurn(NamedTuple):
    """A user message, and the answers to it."""

    prompt: str
    answers: list[RecordedAnswer]

    def steps(self, toolbox: Toolbox) -> list[Step]:
        """Return the answers as steps with the real function names, such as ``math.gcd``."""
        return [step_of(answer.reply, toolbox) for answer in self.answers]


def step_of(reply: Reply, toolbox: Toolbox) -> Step:
    """Return an answer as a step: the calls, or the text if the answer has no calls."""
    made = [item for call in reply.tool_calls for item in toolbox.real_call(call).items()]
    calls: Step = [{name: write_object(arguments)} for name, arguments in made]
    return calls or reply.text


def read_turns(messages: object) -> list[RecordedTurn]:
    """Read a conversation; every user message begins a turn.

    System messages are left out. Assistant messages before the first user message are left out.

    Raises MalformedMessage if an item is not a message, or a result belongs to no call.
    """
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise MalformedMessage(f"must be a list of messages, but is {_shown(messages)}")
    if len(messages) > MAX_MESSAGES:
        raise MalformedMessage(f"has {len(messages)} messages; at most {MAX_MESSAGES} are read")
    turns = _TurnReader()
    for index, item in enumerate(messages):
        try:
            for chat in chat_messages(item):
                turns.put(chat)
        except MalformedMessage as error:
            raise error.below(f"[{index}]") from None
    return turns.done


def read_answer(message: object) -> Reply:
    """Read one assistant message. Raises MalformedMessage for another value."""
    chats = [*chat_messages(message)]
    if [chat["role"] for chat in chats] != ["assistant"]:
        raise MalformedMessage("must be one assistant message")
    return _reply_of(chats[0])


def match_entry(turns: Sequence[RecordedTurn], trajectory: Trajectory) -> list[RecordedTurn]:
    """Merge the user messages that belong to the same turn of the entry.

    Assistant messages that are part of the entry are left out.
    """
    found, rest = [], list(turns)
    for turn in trajectory.turns:
        roles = [message.role for message in turn.messages]
        some, rest = rest[: max(1, roles.count("user"))], rest[max(1, roles.count("user")) :]
        if some:
            kept = some[-1:] if "assistant" in roles else some
            prompt = "\n".join(each.prompt for each in some)
            found.append(RecordedTurn(prompt, [one for each in kept for one in each.answers]))
    return found + rest


def chat_messages(item: object) -> Iterator[ChatMessage]:
    """Yield a message or item as messages of chat completions.

    An assistant message may also have ``finish_reason``, ``usage`` and ``latency``. The field
    ``joins`` means that the message continues the previous answer.

    Raises MalformedMessage for other values.
    """
    if callable(dump := getattr(item, "model_dump", None)):
        item = dump()
    if not isinstance(item, Mapping):
        raise MalformedMessage(f"must be a message, but is {_shown(item)}")
    item = _unwrap(item)
    kind, role = item.get("type"), item.get("role")
    if role is None and kind in _ITEMS:
        yield _item_message(kind, item)
        return
    if role is None and _SERVER_ITEM.fullmatch(str(kind)):
        return
    if is_langchain(item):
        item = langchain_message(item)
        role = item["role"]
    if not isinstance(role, str) or role not in _ROLES:
        problem = _PROMPT if role is None else f"{_shown(role)} is not one of {', '.join(_ROLES)}"
        raise MalformedMessage(problem, "" if role is None else ".role")
    if role == "assistant":
        yield _assistant_message(item, joins=kind == "message" or item.get("joins") is True)
    elif role == "user":
        yield from _user_messages(item)
    else:
        named = {"tool_call_id": _id(item, "tool_call_id"), "name": item.get("name")}
        yield {"role": role, "content": _result_text(item.get("content")), **named}


def is_langchain(item: Mapping[str, Any]) -> bool:
    """Tell whether a message has one of LangChain's types in place of a role."""
    kind = item.get("type")
    return item.get("role") is None and isinstance(kind, str) and kind in _LANGCHAIN_ROLES


def langchain_message(item: Mapping[str, Any]) -> ChatMessage:
    """Convert a message from LangChain's ``model_dump`` to OpenAI's form."""
    found = {name: item.get(name) for name in ("content", "tool_call_id", "name")}
    more = _object(item.get("additional_kwargs"))
    own = [item.get(name) or [] for name in ("tool_calls", "invalid_tool_calls")]
    calls = [call for each in own if isinstance(each, (list, tuple)) for call in each]
    found["tool_calls"] = calls or more.get("tool_calls")
    for name in ("function_call", "reasoning_content", "refusal"):
        found[name] = more.get(name)
    about, counts = _object(item.get("response_metadata")), item.get("usage_metadata")
    usage = langchain_usage(counts) if isinstance(counts, Mapping) else about.get("token_usage")
    reason = about.get("finish_reason") or about.get("stop_reason")
    given = {"finish_reason": reason, "usage": usage}
    present = {name: value for name, value in {**found, **given}.items() if value is not None}
    return {"role": _LANGCHAIN_ROLES[item["type"]], "content": None, **present}


def _result_text(content: object) -> str:
    parts = content if isinstance(content, list) else [content]
    if any(isinstance(part, Mapping) and not part.keys() & _PART_KEYS for part in parts):
        try:
            return json.dumps(content)
        except (TypeError, ValueError, RecursionError):
            raise MalformedMessage("is not JSON", ".content") from None
    return text_of(content, ".content")


def text_of(content: object, path: str) -> str:
    """Return the text of a message's content; parts without text are left out.

    Raises MalformedMessage if the content is neither text nor a list of parts.
    """
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise MalformedMessage(
            f"must be a string or a list of parts, but is {_shown(content)}", path
        )
    texts = []
    for index, part in enumerate(content):
        if not (isinstance(part, str) or (isinstance(part, Mapping) and part.keys() & _PART_KEYS)):
            raise MalformedMessage(f"is not a content part: {_shown(part)}", f"{path}[{index}]")
        text = part if isinstance(part, str) else part.get("text")
        texts.append(text if isinstance(text, str) else "")
    return "".join(texts)


class _TurnReader:
    def __init__(self) -> None:
        self.done: list[RecordedTurn] = []
        self._open: list[tuple[str | None, str, list[str | None], int]] = []

    def put(self, chat: ChatMessage) -> None:
        role = chat["role"]
        if role == "user":
            self.done.append(RecordedTurn(chat["content"], []))
            self._open = []
        elif role == "assistant":
            self._answer(chat)
        elif role not in _SYSTEM:
            self._result(chat)

    def _answer(self, chat: ChatMessage) -> None:
        reply = _reply_of(chat)
        if not self.done:
            if reply.tool_calls:
                raise MalformedMessage("calls functions before the first user message")
            return
        answers = self.done[-1].answers
        earlier = answers[-1] if answers else None
        # A text without calls would end the turn.
        is_part = earlier and (chat.get("joins") or not earlier.reply.tool_calls)
        if earlier and is_part and all(result is None for result in earlier.results):
            reply = _joined(answers.pop().reply, reply)
        ids = [call.id for call in reply.tool_calls if call.id]
        if len({*ids}) < len(ids):
            raise MalformedMessage("several calls have the same id")
        results: list[str | None] = [None] * len(reply.tool_calls)
        answers.append(RecordedAnswer(reply, results))
        self._open = [
            (call.id, call.name, results, place) for place, call in enumerate(reply.tool_calls)
        ]

    def _result(self, chat: ChatMessage) -> None:
        id = chat.get("tool_call_id")
        for place, (known, name, results, position) in enumerate(self._open):
            if (known == id) if id is not None else (chat.get("name") in (None, name)):
                results[position] = chat["content"]
                del self._open[place]
                return
        if id is None:
            raise MalformedMessage("is a result without a call")
        raise MalformedMessage(f"no open call has the id {_shown(id)}", ".tool_call_id")


def _joined(one: Reply, other: Reply) -> Reply:
    texts = [part.text for part in (one, other) if part.text]
    thoughts = [part.reasoning for part in (one, other) if part.reasoning]
    counts = [
        a if b is None else b if a is None else a + b
        for a, b in zip(one.usage, other.usage, strict=True)
    ]
    return other._replace(
        text="\n".join(texts) or other.text,
        tool_calls=(*one.tool_calls, *other.tool_calls),
        reasoning="\n".join(thoughts) or None,
        usage=Usage(*counts),
        latency=one.latency + other.latency,
        finish_reason=other.finish_reason or one.finish_reason,
    )


def _reply_of(chat: ChatMessage) -> Reply:
    latency = chat.get("latency", 0.0)
    reply = read_completion({"choices": [{"message": chat}], "usage": chat.get("usage")}, latency)
    reason = chat.get("finish_reason")
    return reply._replace(
        finish_reason=reason if isinstance(reason, str) else reply.finish_reason, verbatim=None
    )


def _unwrap(item: Mapping[str, Any]) -> Mapping[str, Any]:
    if item.get("type") == "constructor" and isinstance(item.get("kwargs"), Mapping):
        path = item.get("id")
        name = str(path[-1]) if isinstance(path, list) and path else ""
        kind = name.removesuffix("Chunk").removesuffix("Message").lower()
        given = item["kwargs"].get("type")
        return {**item["kwargs"], "type": kind if kind in _LANGCHAIN_ROLES else given}
    if isinstance(item.get("data"), Mapping) and "role" not in item:
        return {**item["data"], "type": item.get("type")}
    return item


def _item_message(kind: object, item: Mapping[str, Any]) -> ChatMessage:
    if kind not in (*_CALLS, "reasoning"):
        text = text_of(item.get("output"), ".output")
        return {"role": "tool", "tool_call_id": _id(item, "call_id"), "content": text}
    answer: ChatMessage = {"role": "assistant", "content": None, "joins": True}
    if kind in _CALLS:
        named = _named(item, "", ("arguments",)) if kind == "function_call" else _custom(item, "")
        call = {"id": _id(item, "call_id") or _id(item, "id"), **named}
        return {**answer, "tool_calls": [call]}
    texts = [text_of(item.get(name), f".{name}") for name in ("summary", "content")]
    return {**answer, "reasoning": "".join(texts) or None}


def _user_messages(item: Mapping[str, Any]) -> Iterator[ChatMessage]:
    content = item.get("content")
    parts = content if isinstance(content, list) else []
    results = [
        (place, part)
        for place, part in enumerate(parts)
        if isinstance(part, Mapping) and part.get("type") == "tool_result"
    ]
    for place, part in results:
        text = text_of(part.get("content"), f".content[{place}].content")
        id = _id(part, "tool_use_id", f".content[{place}]")
        yield {"role": "tool", "tool_call_id": id, "content": text}
    said = text_of(content, ".content")
    if said or not results:
        yield {"role": "user", "content": said}


def _assistant_message(item: Mapping[str, Any], *, joins: bool) -> ChatMessage:
    content = item.get("content")
    text_of(content, ".content")  # checks the parts
    entries: list[tuple[str, object]] = [
        (f".content[{place}]", part)
        for place, part in enumerate(content if isinstance(content, list) else ())
        if isinstance(part, Mapping) and part.get("type") == "tool_use"
    ]
    own = item.get("tool_calls")
    if own is not None and not isinstance(own, (list, tuple)):
        raise MalformedMessage(f"must be a list, but is {_shown(own)}", ".tool_calls")
    # LangChain keeps Anthropic's blocks beside its own calls.
    entries = [(f".tool_calls[{place}]", each) for place, each in enumerate(own or ())] or entries
    legacy = item.get("function_call")
    if legacy and not entries:
        entries = [(".function_call", legacy)]
    found = {
        name: item[name]
        for name in ("finish_reason", "usage", "latency", "refusal", "reasoning_content",
                     "reasoning", "reasoning_details", "thinking_blocks")
        if item.get(name) is not None
    }  # fmt: skip
    found.setdefault("finish_reason", item.get("stop_reason"))
    calls = [call_entry(entry, path) for path, entry in entries]
    return {"role": "assistant", "content": content, "tool_calls": calls, "joins": joins, **found}


def call_entry(entry: object, path: str) -> dict[str, Any]:
    """Return a call in the form of chat completions.

    Raises MalformedMessage if the function's name is missing, or the arguments are neither an
    object nor its JSON text.
    """
    if not isinstance(entry, Mapping):
        raise MalformedMessage(f"must be a call, but is {_shown(entry)}", path)
    function = entry.get("function")
    if isinstance(function, Mapping):
        named = _named(function, f"{path}.function", ("arguments",))
    elif isinstance(entry.get("custom"), Mapping):
        named = _custom(entry["custom"], f"{path}.custom")
    elif isinstance(function, str):
        named = _named({**entry, "name": function}, path, ("arguments",))
    else:
        named = _named(entry, path, ("arguments", "args", "input"))
    return {"id": _id(entry, "id", path), **named}


def _id(holder: Mapping[str, Any], name: str, path: str = "") -> str | None:
    id = holder.get(name)
    if id is not None and not isinstance(id, (str, int)):
        raise MalformedMessage(f"must be a string, but is {_shown(id)}", f"{path}.{name}")
    return None if id in (None, "") else str(id)


def _custom(holder: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return the call of a custom tool; the tool's input becomes the argument ``input``."""
    return _named({**holder, "arguments": {"input": holder.get("input")}}, path, ("arguments",))


def _named(holder: Mapping[str, Any], path: str, members: Sequence[str]) -> dict[str, Any]:
    name = holder.get("name")
    if not isinstance(name, str) or not name:
        problem = (
            "is missing" if name is None else f"must be a function's name, but is {_shown(name)}"
        )
        raise MalformedMessage(problem, f"{path}.name")
    member = next((each for each in members if each in holder), members[0])
    given = holder.get(member)
    if not isinstance(given, str | Mapping | None):
        problem = f"must be an object or its JSON string, but is {_shown(given)}"
        raise MalformedMessage(problem, f"{path}.{member}")
    return {"type": "function", "function": {"name": name, "arguments": given}}


def langchain_usage(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Return LangChain's token counts under OpenAI's names."""
    inner, outer = (_object(counts.get(f"{way}_token_details")) for way in ("input", "output"))
    return {
        "prompt_tokens": counts.get("input_tokens"),
        "completion_tokens": counts.get("output_tokens"),
        "prompt_tokens_details": {
            "cached_tokens": inner.get("cache_read"),
            "cache_write_tokens": inner.get("cache_creation"),
        },
        "completion_tokens_details": {"reasoning_tokens": outer.get("reasoning")},
    }


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _shown(value: object) -> str:
    try:
        return f"{json.dumps(value, default=repr):.{_MAX_SHOWN_CHARS}}"
    except (RecursionError, ValueError, TypeError):
        return f"a {type(value).__name__}"
