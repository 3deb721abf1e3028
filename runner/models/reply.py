"""What servers send, read with tolerance: a chat completion becomes a Reply, all else an error.

Servers agree on the form of a chat completion in the documentation only. Nothing a server can
send raises anything but a ModelError here, and no key of the user's gets into its message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from envs.calls import check_bounds
from envs.errors import MalformedCall
from runner.models.base import (
    ErrorKind,
    FatalError,
    ModelError,
    Reply,
    RequestError,
    ToolCall,
    TransientError,
    Usage,
    Verbatim,
)
from runner.models.faults import OVER_QUOTA, fault_in
from runner.models.waiting import retry_after


class Endpoint(NamedTuple):
    """Who was asked; for the wording of errors only."""

    model: str = "the model"
    address: str = "the server"
    secrets: tuple[str, ...] = ()
    """Texts that must not appear in a message, even if the server repeats them."""
    key_advice: str = "check the API key"
    """What to do about a key that is missing or wrong."""


UNKNOWN = Endpoint()

_LONGEST_DETAIL = 300
_DEEPEST_DETAIL = 6
_SHORTEST_SECRET = 8
"""What is shorter guards nothing, and may be a word of any message."""
_KEY = re.compile(r"\b(?:sk-|gsk_|hf_|xai-|pplx-|AIza|Bearer )[\w.*-]{6,}")
_THOUGHT = re.compile(r"\s*<think>(.*?)(?:</think>\s*|\Z)", re.DOTALL)
_END_OF_THOUGHT = "</think>"
# Kinds of content parts, and which member of each holds the text.
_TEXT_PARTS = {"text": ("text",), "output_text": ("text",)}
_THOUGHT_PARTS = {
    "thinking": ("thinking", "text"),
    "reasoning": ("reasoning", "text", "summary", "content"),
    "reasoning.text": ("text",),
    "reasoning.summary": ("summary",),
}

_ITEMS = "output_items"
# Where servers put thoughts; they want them back under the very name.
_THOUGHTS = (
    "reasoning_content",
    "reasoning",
    "thinking",
    "reasoning_details",
    "thinking_blocks",
    _ITEMS,
)
_THOUGHT_NAMES = re.compile(rf"\b(?:{'|'.join(_THOUGHTS)})\b")
_NOT_TAKEN = re.compile(
    r"\b(?:unsupported|unknown|unexpected|unrecognized|extra)\b"
    r"|\bnot (?:supported|permitted|allowed)\b",
    re.IGNORECASE,
)
_THOUGHT_WORDS = (
    r"(?:reasoning_content|reasoning_details|reasoning\W{1,3}item|thought_?signatures?)"
)
_WANTS_THOUGHTS = re.compile(
    rf"\b(?:missing|without|requires?|required|expected|include)\b.{{0,60}}\b{_THOUGHT_WORDS}\b"
    rf"|\b{_THOUGHT_WORDS}\b.{{0,80}}\b(?:missing|required|(?:passed|sent|included|provided) back"
    rf"|must be (?:passed|sent|included|provided|present))\b"
    r"|\bmust start with a thinking block\b",
    re.IGNORECASE,
)
# Where they put signatures of a call.
_SIGNATURES = ("extra_content", "provider_specific_fields")

_RETRIED = (408, 409, 425, 429)
_KINDS: Mapping[int, ErrorKind] = {408: "timeout", 429: "rate_limit"}
_UNAUTHORISED = (401, 403, 407)
_HTTP_ERROR = re.compile(r"[45]\d\d")

# Errors are told apart by words where the status does not say it all. A server may repeat names and
# texts of the request, so a pattern must not match what a function or a user may be called.
_TOOLS = r"(?:tools?\b|function[ _-]?call)"
_NO_TOOLS = re.compile(
    rf"(?:not|n['\u2019]t) support\W+(?:\w+\W+){{0,3}}{_TOOLS}"
    rf"|{_TOOLS}[\w`'\" -]{{0,30}} (?:is|are) (?:not |un)(?:supported|enabled|available)"
    rf"|\bno \w+ found that support\w* {_TOOLS}"
    rf"|{_TOOLS}.{{0,40}} requires? --",
    re.IGNORECASE,
)
_NO_MONEY = re.compile(
    r"insufficient.{0,3}(?:quota|balance|credit|funds)|credit balance is too low", re.IGNORECASE
)
_BAD_KEY = re.compile(
    r"authentication_?error|\bunauthori[sz]ed|\bpermission_denied"
    r"|\b(?:invalid|incorrect|missing|no|bad|wrong)\W.{0,12}api.?key"
    r"|api.?key.{0,10}(?:invalid|incorrect|missing|not (?:valid|set|provided))",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"\bmodel.{0,3}not.{0,3}(?:found|exist)|\bmodel\W{1,9}\S{1,99} (?:does not exist|not found)"
    r"|is not a valid model|\b(?:unknown|invalid|no such) model\b",
    re.IGNORECASE,
)
_BAD_PARAMETER = re.compile(r"\bunsupported.?(?:parameter|value)\b", re.IGNORECASE)
_MAY_PASS = re.compile(
    r"rate.?limit|too.many.requests|overloaded|server.?error|internal.?error|unavailable"
    r"|time.?out|timed.out|try.again|exhausted|bad.gateway|capacity",
    re.IGNORECASE,
)
_REQUEST_IS_WRONG = re.compile(
    r"context.{0,3}(?:length|window|size)|too.(?:long|large|many.tokens)|invalid|bad.request"
    r"|unprocessable|content.(?:filter|policy)|moderation|flagged|maximum",
    re.IGNORECASE,
)


def read_completion(body: object, latency: float, endpoint: Endpoint = UNKNOWN) -> Reply:
    """Read the JSON body of a successful answer.

    Args:
        body: The parsed body.
        latency: Seconds that the request took.
        endpoint: Who was asked.

    Raises:
        TransientError: The body is no chat completion, or an error that may pass.
        RequestError: It is an error about this request.
        FatalError: It is an error that every request would meet.
    """
    if not isinstance(body, Mapping):
        raise TransientError(f"{endpoint.address} sent {_kind(body)} instead of a chat completion")
    choice = _first_object(body.get("choices"))
    message = _object(choice.get("message"))
    # Next to an error, a message is at best the beginning of one.
    if not message or _stated_error(body) or _stated_error(choice):
        raise _error_in(body, choice, endpoint)
    text, thoughts = _content(message.get("content"))
    if text is None:
        text = _text(message.get("refusal"))
    calls = _tool_calls(message)
    finish_reason = _text(choice.get("finish_reason"))
    if finish_reason == "error" and not text and not calls:
        raise TransientError(f"{endpoint.address} gave up on the answer")
    thoughts = _reasoning(message) or thoughts or None
    usage = _usage(_object(body.get("usage")))
    verbatim = _verbatim(message)
    return Reply(text, calls, thoughts, finish_reason, usage, latency, verbatim=verbatim)


def classify(
    status: int, body: object, headers: Mapping[str, str], endpoint: Endpoint = UNKNOWN
) -> ModelError:
    """Return the error that an HTTP status stands for.

    Args:
        status: The HTTP status; 200 where only the body speaks of an error.
        body: The parsed body, or its text where it is not JSON.
        headers: Headers of the answer.
        endpoint: Who was asked.
    """
    detail = one_line(_detail(body), endpoint.secrets)
    said = f" ({status}): {detail}" if detail else f" ({status})"
    known = f"{_codes(body)} {detail}"
    model, address = endpoint.model, endpoint.address
    refused = f"{address} refuses this request{said}"
    if OVER_QUOTA.search(known):
        return RequestError(refused, "rate_limit")
    # First, since what a model wrote may be quoted in it.
    fault = fault_in(status, known)
    if fault is not None:
        return RequestError(refused, fault)
    if status == 402 or _NO_MONEY.search(known):
        return FatalError(f"{address} wants to be paid first{said}")
    if status in _RETRIED or status >= 500:
        passes = f"{_what_passes(status)} of {address}{said}"
        wait = retry_after(headers, f"{_delay(body)} {detail}")
        return TransientError(passes, wait, kind=_KINDS.get(status, "server"))
    if status in _UNAUTHORISED or _BAD_KEY.search(known):
        return FatalError(f"{address} refuses the API key; {endpoint.key_advice}{said}")
    if _NO_TOOLS.search(known):
        return FatalError(f"{model} takes no tools at {address}; try --mode prompt{said}")
    if status in (404, 405, 410) or 300 <= status < 400 or _NO_MODEL.search(known):
        return FatalError(
            f"{address} has no {model}; check the model's name and the base URL{said}"
        )
    if _BAD_PARAMETER.search(known):
        return FatalError(f"{model} refuses a parameter of this run{said}")
    if _WANTS_THOUGHTS.search(known):
        return RequestError(
            f"{address} refuses this request for lack of thoughts: --reasoning all{said}"
        )
    return RequestError(refused)


def classify_words(error: object, endpoint: Endpoint = UNKNOWN) -> ModelError:
    """Return what an error is that has no HTTP status of its own, so that its words must do.

    Args:
        error: An error object or its text.
        endpoint: Who was asked.
    """
    for code in (_object(error).get("code"), _object(error).get("status")):
        if isinstance(code, str) and _HTTP_ERROR.fullmatch(code):
            code = int(code)
        if isinstance(code, int) and 400 <= code < 600:
            return classify(code, error, {}, endpoint)
    detail = one_line(_detail(error), endpoint.secrets)
    words = f"{_codes(error)} {detail}"
    if fault_in(200, words):
        return classify(200, error, {}, endpoint)
    passes = TransientError(f"{endpoint.address} sent an error: {detail}")
    if _MAY_PASS.search(words) and not _NO_MONEY.search(words):
        return passes
    found = classify(200, error, {}, endpoint)
    if isinstance(found, FatalError) or _REQUEST_IS_WRONG.search(words):
        return found
    return passes


def refused_thoughts(error: RequestError) -> frozenset[str]:
    """Return the members with thoughts that a server says it does not take back."""
    said = str(error)
    return frozenset(_THOUGHT_NAMES.findall(said) if _NOT_TAKEN.search(said) else ())


def one_line(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text for the user: on one line, not too long, without secrets."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "***")
    text = " ".join(_KEY.sub("***", text).split())
    return text if len(text) <= _LONGEST_DETAIL else f"{text[: _LONGEST_DETAIL - 3]}..."


def _error_in(body: Mapping[Any, Any], choice: Mapping[Any, Any], endpoint: Endpoint) -> ModelError:
    """Return the error that came with a successful status, wherever it is."""
    error = _stated_error(body) or _stated_error(choice)
    if error is None and "choices" not in body and _detail(body):
        error = body
    if error is not None:
        return classify_words(error, endpoint)
    missing = "a message" if choice else "any choice"
    return TransientError(f"{endpoint.address} sent a chat completion without {missing}")


def _stated_error(holder: Mapping[Any, Any]) -> object | None:
    error = holder.get("error")
    if isinstance(error, Mapping):
        return error if any(error.values()) else None
    return error if isinstance(error, str) and error else None


def _what_passes(status: int) -> str:
    if status == 429:
        return "rate limit"
    return "server error" if status >= 500 else "passing trouble"


def _detail(body: object, depth: int = 0) -> str:
    """Return what an error body says, wherever it says it."""
    if depth > _DEEPEST_DETAIL:
        return ""
    if isinstance(body, str):
        looks_like_page = body.lstrip()[:1] == "<"
        return "a web page, not an answer of the API" if looks_like_page else body
    if isinstance(body, Mapping):
        names = ("error", "message", "msg", "detail", "errors")
        said = (_detail(body.get(name), depth + 1) for name in names)
        # A gateway's own message says less than the provider's that it passes on.
        passed_on = _text(_object(body.get("metadata")).get("raw"))
        generated = _text(body.get("failed_generation"))
        return ": ".join(filter(None, (next(filter(None, said), ""), passed_on, generated)))
    if isinstance(body, list):
        return "; ".join(filter(None, [_detail(member, depth + 1) for member in body[:3]]))
    return ""


def _delay(body: object) -> str:
    """Return the delay that an error body of Google's states, in words."""
    error = _object((_first_object(body) if isinstance(body, list) else _object(body)).get("error"))
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        delay = _text(_object(detail).get("retryDelay"))
        if delay is not None:
            return f"retry after {delay}."
    return ""


def _codes(body: object) -> str:
    """Return the types and codes of an error body."""
    outer = _first_object(body) if isinstance(body, list) else _object(body)
    holders = (outer, _object(outer.get("error")))
    codes = [holder.get(name) for holder in holders for name in ("type", "code", "status")]
    return " ".join(code for code in codes if isinstance(code, str))


def _content(content: object) -> tuple[str | None, str | None]:
    """Return the text and the thoughts in a message's content."""
    if isinstance(content, str):
        return _without_thoughts(content)
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        return None, None
    texts = [part if isinstance(part, str) else _part(part, _TEXT_PARTS) for part in content]
    thoughts = "".join(_part(part, _THOUGHT_PARTS) for part in content)
    if not any(texts):
        return None, thoughts or None
    text, more = _without_thoughts("".join(texts))
    return text, thoughts or more


def _part(part: object, kinds: Mapping[str, tuple[str, ...]]) -> str:
    """Return the text of a content part if it is of one of some kinds, else nothing."""
    about = _object(part)
    kind = about.get("type", "text")
    for name in kinds.get(kind, ()) if isinstance(kind, str) else ():
        value = about.get(name)
        if isinstance(value, list):
            value = "".join([_text(_object(inner).get("text")) or "" for inner in value])
        if isinstance(value, str) and value:
            return value
    return ""


def _without_thoughts(text: str) -> tuple[str, str | None]:
    """Split thoughts off that a server left in front of the text.

    Where the prompt's template opens the thought, only its end is in the text; where the answer
    was cut off, only its beginning.
    """
    opened = _THOUGHT.match(text)
    if opened:
        return text[opened.end() :], opened[1].strip()
    thoughts, end, rest = text.partition(_END_OF_THOUGHT)
    return (rest.lstrip(), thoughts.strip()) if end else (text, None)


def _reasoning(message: Mapping[Any, Any]) -> str | None:
    for name in _THOUGHTS:
        value = message.get(name)
        if value is None:
            continue
        if isinstance(value, Mapping):
            value = [value]
        if isinstance(value, list):
            # The items of an answer hold its text, too.
            kinds = _THOUGHT_PARTS if name == _ITEMS else {**_TEXT_PARTS, **_THOUGHT_PARTS}
            value = "".join(part if isinstance(part, str) else _part(part, kinds) for part in value)
        if isinstance(value, str) and value:
            return value
    return None


def _verbatim(message: Mapping[Any, Any]) -> Verbatim | None:
    """Return what a server wants back, which is not for us to read; null is nothing."""
    members = _given(message, (*_THOUGHTS, "extra_content"))
    content = message.get("content")
    kinds = content if isinstance(content, list) else ()
    if any(_text(_object(part).get("type")) in _THOUGHT_PARTS for part in kinds):
        members |= _given(message, ["content"])
    signed = [_given(_object(entry), _SIGNATURES) for entry in _call_entries(message)]
    return Verbatim(members, tuple(signed)) if members or any(signed) else None


def _given(holder: Mapping[Any, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the members of some names that are not null and can be written as JSON again."""
    found = {}
    for name in names:
        value = holder.get(name)
        if value is not None:
            with suppress(MalformedCall):
                check_bounds(value)
                found[name] = value
    return found


def _call_entries(message: Mapping[Any, Any]) -> list[Any]:
    entries = message.get("tool_calls")
    if isinstance(entries, Mapping):
        entries = [entries]
    return [entry for entry in entries if entry is not None] if isinstance(entries, list) else []


def _tool_calls(message: Mapping[Any, Any]) -> tuple[ToolCall, ...]:
    """Return the calls; the finish reason is not asked, since it lies."""
    calls = tuple([_tool_call(entry) for entry in _call_entries(message)])
    if calls:
        return calls
    legacy = message.get("function_call")
    return (_tool_call({"function": legacy}),) if isinstance(legacy, Mapping) and legacy else ()


def _tool_call(entry: object) -> ToolCall:
    """Return a call; one without a name is kept, so that the model hears of it."""
    if not isinstance(entry, Mapping):
        return ToolCall(None, "", entry)
    id, function = entry.get("id"), entry.get("function")
    if isinstance(id, int) and not isinstance(id, bool):
        id = str(id)
    holder = function if isinstance(function, Mapping) else entry
    name = function if isinstance(function, str) else holder.get("name")
    return ToolCall(_text(id) or None, _text(name) or "", holder.get("arguments"))


_MOST_TOKENS = 10**12
"""No request has more; what says so counts something else, or nothing."""


def _usage(usage: Mapping[Any, Any]) -> Usage:
    prompt, completion = (
        _object(usage.get(f"{name}_tokens_details")) for name in ("prompt", "completion")
    )
    return Usage(
        _first_count(usage.get("prompt_tokens"), usage.get("input_tokens")),
        _first_count(usage.get("completion_tokens"), usage.get("output_tokens")),
        _first_count(
            prompt.get("cached_tokens"),
            usage.get("prompt_cache_hit_tokens"),
            usage.get("cache_read_input_tokens"),
        ),
        _first_count(completion.get("reasoning_tokens"), usage.get("reasoning_tokens")),
        _first_count(
            usage.get("cache_creation_input_tokens"),
            prompt.get("cache_creation_tokens"),
            prompt.get("cache_write_tokens"),
        ),
    )


def _first_count(*values: object) -> int | None:
    for value in values:
        if value is not None and (count := _count(value)) is not None:
            return count
    return None


def _count(value: object) -> int | None:
    """Return a number of tokens, None for what is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None


def _first_object(value: object) -> Mapping[Any, Any]:
    members = value if isinstance(value, list) else []
    if members and type(members[0]) is dict:
        return members[0]
    return next((member for member in members if isinstance(member, Mapping)), {})


def _object(value: object) -> Mapping[Any, Any]:
    # To ask an abstract class takes ten times as long.
    return value if type(value) is dict or isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _kind(value: object) -> str:
    names: Mapping[type, str] = {list: "a list", str: "text", type(None): "null", bool: "a boolean"}
    return names.get(type(value), "a number")
