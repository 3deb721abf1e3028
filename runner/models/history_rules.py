"""Rules that rewrite a conversation so that strict servers accept it.

Some servers refuse a history that others accept. The user selects rules, or Turnwise infers rules
from the refusals of the server. The rules change the sent messages, but not the record.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Literal, get_args

from runner.models.model_types import ChatMessage

HistoryRule = Literal["text", "answer", "alternate", "no-system", "single-call", "tool-name"]
"""Rules of servers for the messages; for example, ``single-call`` allows one call per message."""
HISTORY_RULES: tuple[HistoryRule, ...] = get_args(HistoryRule)

_NO_TEXT = "(no answer)"
_DEMANDS: Mapping[str, re.Pattern[str]] = {
    demand: re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for demand, pattern in {
        "text": r"\bcontent or tool_calls\b|\bat least one content element\b|\bempty content\b"
        r"|\b(?:contents?|text)\b(?:(?!\.name\b).){0,60}\b(?:empty|blank|required|non-whitespace"
        r"|at least 1)\b|\b(?:empty|have a) text parameter\b"
        r"|\bassistant\W{1,3}(?:message )?must not be empty\b",
        "no-null": r"\bcontent\b.{0,60}\b(?:null|nil|(?:be|not) (?:a |of type )?\W?string)\b"
        r"|\bvalid string\b.{0,60}\bcontent\b|\bnull\b.{0,60}\bcontent\b",
        "answer": r"\b(?:user|assistant)\b.{0,30}\b(?:after|follow)\b.{0,20}\btool\b"
        r"|\bafter (?:an? )?tool\b.{0,60}\bassistant\b",
        "alternate": r"\b(?:must|should|requests) (?:be )?alternat|\bconsecutive\b.{0,40}same role",
        "no-system": r"\b(?:system|developer)\W{1,3}(?:\w+\W){0,3}(?:not |un)"
        r"(?:supported|allowed|permitted|enabled)\b"
        r"|(?:not|n['\u2019]t) support (?:an? |the )?\W?system\b|\bsystem\W{1,3}is not one of\b"
        r"|\b(?:unknown|invalid|unsupported|unexpected) role\W{1,3}system\b",
        "single-call": r"\b(?:only|supports?|at most) (?:only |supports? )?(?:an? )?"
        r"(?:single|one|1) tool.?calls?\b"
        r"|\b(?:multiple|parallel) tool calls (?:is|are) (?:not |un)(?:supported|allowed)\b",
        "tool-name": r"\bfunction_?response\.name\b|\bmessages\W{0,3}\d+\W{1,3}(?:tool\W)?name\b"
        r"|\b(?:tool\W{1,3}messages?|role\W{1,3}tool)\b.{0,60}\bname\b"
        r"|\bname\b.{0,60}\b(?:tool\W{1,3}messages?|role\W{1,3}tool)\b"
        r"|\bname\W{1,3}is a required property\b.{0,9}\bmessages\b",
        "no-response": r"(?:[^\w\s]|property )response\b.{0,60}\b(?:unsupported|unexpected"
        r"|not (?:supported|permitted|allowed|a valid))\b"
        r"|\b(?:unsupported|unknown|unexpected|unrecognized|extra)\b.{0,60}[^\w\s]response\b",
        "stream": r"\bstreaming(?: responses?)? only\b|\bonly (?:supports? |available in )?stream"
        r"|\bstream\W{1,4}(?:must be )?(?:set )?(?:to )?\W?true\b|\bstreaming is required\b"
        r"|\bnot support non-?stream|\bnon-?streaming\b.{0,30}\bnot supported\b"
        r"|\bstream\W{1,3}(?:does not support false|false is not)\b",
    }.items()
}  # fmt: skip


def find_demands(words: str) -> frozenset[str]:
    """Return the changes that a server's refusal demands, such as ``single-call`` or ``stream``."""
    return frozenset(demand for demand, pattern in _DEMANDS.items() if pattern.search(words))


def arrange(messages: Sequence[ChatMessage], rules: Collection[str]) -> Sequence[ChatMessage]:
    """Rewrite the messages of a request by the rules, such as "no-system" or "single-call"."""
    if "no-system" in rules:
        messages = _without_system(messages)
    if "single-call" in rules:
        messages = list(_with_single_calls(messages))
    if "tool-name" in rules:
        messages = list(_with_names(messages))
    if "text" in rules or "answer" in rules:
        messages = [_with_text(message) for message in messages]
    if "answer" in rules:
        messages = list(_with_answers(messages))
    if "no-null" in rules:
        messages = [{**message, "content": message["content"] or ""} for message in messages]
    if "alternate" in rules:
        messages = list(_merged(messages))
    return messages


def _without_system(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    system = [message for message in messages if message["role"] == "system"]
    others = [message for message in messages if message["role"] != "system"]
    first = next((n for n, message in enumerate(others) if message["role"] == "user"), None)
    if first is None:
        others, first = [*others, {"role": "user", "content": ""}], len(others)
    text = "\n\n".join(filter(None, [each["content"] for each in (*system, others[first])]))
    return [*others[:first], {**others[first], "content": text}, *others[first + 1 :]]


def _with_single_calls(messages: Sequence[ChatMessage]) -> Iterator[ChatMessage]:
    results = {each["tool_call_id"]: [each] for each in messages if each["role"] == "tool"}
    for message in messages:
        calls = message.get("tool_calls") or ()
        if not calls and message["role"] != "tool":
            yield message
        for number, call in enumerate(calls):
            own = message if number == 0 else {"role": "assistant", "content": None}
            yield {**own, "tool_calls": [call]}
            yield from results.get(call["id"], ())


def _with_names(messages: Sequence[ChatMessage]) -> Iterator[ChatMessage]:
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    names = {call["id"]: call["function"]["name"] for call in calls}
    for message in messages:
        named = {"name": names.get(message.get("tool_call_id"), "")}
        yield {**named, **message} if message["role"] == "tool" else message


def _with_text(message: ChatMessage) -> ChatMessage:
    is_empty = not str(message["content"] or "").strip()
    if message["role"] != "assistant" or message.get("tool_calls") or not is_empty:
        return message
    return {**message, "content": _NO_TEXT}


def _with_answers(messages: Sequence[ChatMessage]) -> Iterator[ChatMessage]:
    """Insert an assistant message between tool results and a user message."""
    for before, message in pairwise(({"role": None}, *messages)):
        if before["role"] == "tool" and message["role"] == "user":
            yield {"role": "assistant", "content": _NO_TEXT}
        yield message


def _merged(messages: Sequence[ChatMessage]) -> Iterator[ChatMessage]:
    for role, group in groupby(messages, _role_of_text):
        said = list(group)
        if role is not None:
            said = [{**said[0], "content": "\n\n".join([each["content"] for each in said])}]
        yield from said


def _role_of_text(message: ChatMessage) -> str | None:
    is_said = message["role"] in ("user", "assistant") and not message.get("tool_calls")
    return message["role"] if is_said and isinstance(message["content"], str) else None
