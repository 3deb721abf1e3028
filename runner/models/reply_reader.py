"""Tolerant reader of server answers; it converts chat completions to a Reply.

Any other answer is an error. The reader raises only ModelError, and error messages contain no
secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlencode

from envs.calls import check_bounds
from envs.errors import MalformedCall
from envs.state import cut
from runner.models.model_types import (
    FatalError,
    ModelError,
    RedirectError,
    Reply,
    RequestError,
    ToolCall,
    TransientError,
    Usage,
    VerbatimParts,
)
from runner.models.rejections import OVER_QUOTA, find_model_error
from runner.models.retry_wait import retry_after


class Endpoint(NamedTuple):
    """Model and server, for error messages."""

    model: str = "the model"
    address: str = "the server"
    secrets: tuple[str, ...] = ()
    key_advice: str = "check the API key"


UNKNOWN = Endpoint()

_MAX_DETAIL_CHARS = 300
_MAX_TOKENS = 10**12
_MAX_DETAIL_DEPTH = 6
_MIN_SECRET_CHARS = 8
_UNQUOTED = "!$'()*,/:?@"  # characters that the HTTP client sends as they are in a query
_ADDRESS = re.compile("_API_BASE$|_BASE_URL$|_ENDPOINT$")
_KEY = re.compile(r"\b(?:sk-|gsk_|hf_|xai-|pplx-|AIza|Bearer )[\w.*-]{6,}")
_THOUGHT = re.compile(r"\s*<think>(.*?)(?:</think>\s*|\Z)", re.DOTALL)
_END_OF_THOUGHT = "</think>"
# Types of content parts, and the members with their text.
_TEXT_PARTS = {"text": ("text",), "output_text": ("text",)}
_THOUGHT_PARTS = {
    "thinking": ("thinking", "text"),
    "reasoning": ("reasoning", "text", "summary", "content"),
    "reasoning.text": ("text",),
    "reasoning.summary": ("summary",),
}

_ITEMS = "output_items"
# Members with reasoning; servers expect it back under the same name.
_THOUGHTS = (
    *("reasoning_content", "reasoning", "thinking", "reasoning_details", "thinking_blocks"),
    _ITEMS,
)
_THOUGHT_NAMES = re.compile(rf"\b(?:{'|'.join(_THOUGHTS)})\b")
_NOT_TAKEN = re.compile(
    r"\b(?:unsupported|unknown|unexpected|unrecognized|extra)\b"
    r"|\bnot (?:supported|permitted|allowed)\b",
    re.IGNORECASE,
)
_THOUGHT_WORDS = r"(?:reasoning_(?:content|details)|reasoning\W{1,3}item|thought_?signatures?)"
_WANTS_THOUGHTS = re.compile(
    rf"\b(?:missing|without|requires?|required|expected|include)\b.{{0,60}}\b{_THOUGHT_WORDS}\b"
    rf"|\b{_THOUGHT_WORDS}\b.{{0,80}}\b(?:missing|required|(?:passed|sent|included|provided) back"
    rf"|must be (?:passed|sent|included|provided|present))\b"
    r"|\bmust start with a thinking block\b",
    re.IGNORECASE,
)
# Members with signatures of a call.
_SIGNATURES = ("extra_content", "provider_specific_fields")

_HTTP_ERROR = re.compile(r"[45]\d\d")

# The words of an error refine its status. Servers may quote names and texts of the request, so a
# pattern must not match the name of a function or a user.
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

    Raises:
        TransientError: The body is not a chat completion, or it reports a temporary error.
        RequestError: The server reports an error that concerns only this request.
        FatalError: The server reports an error that concerns every request.
    """
    if not isinstance(body, Mapping):
        said = f"{endpoint.address} sent {_name_type(body)} instead of a chat completion"
        raise TransientError(f"{said}; check --base-url")
    choice = _find_object(body.get("choices"))
    message = _as_object(choice.get("message"))
    # A message beside an error is incomplete.
    if not message or _find_stated_error(body) or _find_stated_error(choice):
        raise _find_error(body, choice, endpoint)
    text, thoughts = _read_content(message.get("content"))
    calls = _read_tool_calls(message)
    finish_reason = _as_text(choice.get("finish_reason"))
    if not text and (refusal := _as_text(message.get("refusal"))):
        text, finish_reason = refusal, "refusal"
    if finish_reason == "error" and not text and not calls:
        raise TransientError(f"{endpoint.address} stopped its answer with an error")
    thoughts = _read_reasoning(message) or thoughts or None
    usage = _read_usage(_as_object(body.get("usage")))
    verbatim = _read_verbatim(message)
    return Reply(text, calls, thoughts, finish_reason, usage, latency, verbatim=verbatim)


def classify(
    status: int, body: object, headers: Mapping[str, str], endpoint: Endpoint = UNKNOWN
) -> ModelError:
    """Return the exception for a server's error answer.

    ``status`` is the HTTP status, or 200 if only the body has an error. ``body`` is a string if
    the answer is not JSON.
    """
    detail = one_line(_find_message(body), endpoint.secrets)
    quote = f" ({status}): {detail}" if detail else f" ({status})"
    known = f"{_find_codes(body)} {detail}"
    model, address = endpoint.model, endpoint.address
    refused = f"{address} refuses this request{quote}"
    if OVER_QUOTA.search(known):
        return RequestError(refused, "rate_limit")
    # First, because the message may quote the model.
    fault = find_model_error(status, known)
    if fault is not None:
        return RequestError(refused, fault)
    if status == 402 or _NO_MONEY.search(known):
        return FatalError(f"{address} requires payment; add credit to the account{quote}")
    if status in (408, 409, 424, 425, 429) or status >= 500:
        name = "server error" if status >= 500 else "temporary error"
        message = f"{'rate limit' if status == 429 else name} of {address}{quote}"
        wait = retry_after(headers, f"{_find_delay(body)} {detail}")
        return TransientError(message, wait, kind="rate_limit" if status == 429 else "server")
    if status == 407:
        return FatalError(f"a proxy before {address} requires a user name and a password{quote}")
    if status in (401, 403) or _BAD_KEY.search(known):
        return FatalError(f"{address} refuses the API key; {endpoint.key_advice}{quote}")
    if _NO_TOOLS.search(known):
        return FatalError(f"{model} does not support tools at {address}; use --mode prompt{quote}")
    if status in (404, 405, 410) or 300 <= status < 400 or _NO_MODEL.search(known):
        kind = RedirectError if 300 <= status < 400 else FatalError
        return kind(f"{address} has no {model}; check --model and --base-url{quote}")
    if _BAD_PARAMETER.search(known):
        return FatalError(f"{model} does not support a setting of this run{quote}")
    if _WANTS_THOUGHTS.search(known):
        return RequestError(
            f"{address} requires the reasoning of earlier turns; use --reasoning all{quote}"
        )
    return RequestError(refused)


def classify_words(error: object, endpoint: Endpoint = UNKNOWN) -> ModelError:
    """Return the exception for an error that a server reports without an HTTP status."""
    for code in (_as_object(error).get("code"), _as_object(error).get("status")):
        if isinstance(code, str) and _HTTP_ERROR.fullmatch(code):
            code = int(code)
        if isinstance(code, int) and 400 <= code < 600:
            return classify(code, error, {}, endpoint)
    detail = one_line(_find_message(error), endpoint.secrets)
    words = f"{_find_codes(error)} {detail}"
    if find_model_error(200, words):
        return classify(200, error, {}, endpoint)
    temporary = TransientError(f"{endpoint.address} sent an error: {detail}")
    if _MAY_PASS.search(words) and not _NO_MONEY.search(words):
        return temporary
    found = classify(200, error, {}, endpoint)
    is_permanent = isinstance(found, FatalError) or _REQUEST_IS_WRONG.search(words)
    return found if is_permanent else temporary


def refused_thoughts(error: ModelError) -> frozenset[str]:
    """Return the reasoning fields that a server refuses in later requests."""
    message = str(error) if isinstance(error, RequestError) else ""
    return frozenset(_THOUGHT_NAMES.findall(message) if _NOT_TAKEN.search(message) else ())


def secrets_in_address(url: str) -> list[str]:
    """Return the user, password and query values of an address, as given and as sent."""
    # The address may be invalid.
    user = url.partition("//")[2].partition("/")[0].rpartition("@")[0]
    asked = url.partition("?")[2].partition("#")[0]
    named = parse_qsl(asked, keep_blank_values=True)
    query, queries = [value for _, value in named], [asked, urlencode(named, safe=_UNQUOTED)]
    raw = [pair.partition("=")[2] or pair for pair in re.split("[&;]", "&".join(queries))]
    texts = [user, *user.split(":", 1), *queries, *raw, *query]
    return [*texts, *map(unquote, texts), *map(quote_plus, query), *map(quote, query)]


def secrets_in_addresses(url: str | None, environment: Mapping[str, str]) -> list[str]:
    """Return the secrets of a server's address, and of addresses in environment variables."""
    found = [value for name, value in environment.items() if _ADDRESS.search(name.upper())]
    return [text for address in (url or "", *found) for text in secrets_in_address(address)]


def one_line(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a string in one line, shortened and without secrets."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _MIN_SECRET_CHARS:
            text = text.replace(secret, "***")
    text = " ".join(_KEY.sub("***", text).split())
    return cut(text, _MAX_DETAIL_CHARS)


def _find_error(
    body: Mapping[Any, Any], choice: Mapping[Any, Any], endpoint: Endpoint
) -> ModelError:
    error = _find_stated_error(body) or _find_stated_error(choice)
    if error is None and "choices" not in body and _find_message(body):
        error = body
    if error is not None:
        return classify_words(error, endpoint)
    missing = f"{'a message' if choice else 'any choice'}; check the server's log"
    return TransientError(f"{endpoint.address} sent a chat completion without {missing}")


def _find_stated_error(holder: Mapping[Any, Any]) -> object | None:
    error = holder.get("error")
    is_stated = any(error.values()) if isinstance(error, Mapping) else isinstance(error, str)
    return error if error and is_stated else None


def _find_message(body: object, depth: int = 0) -> str:
    if depth > _MAX_DETAIL_DEPTH:
        return ""
    if isinstance(body, str):
        looks_like_page = re.match(r"\s*<\D", body)
        return "a web page, not an answer of the API" if looks_like_page else body
    if isinstance(body, Mapping):
        # A validator states the member that it refuses apart from the reason.
        place = body.get("loc")
        where = ".".join(map(str, place)) if isinstance(place, list) else ""
        names = ("error", "message", "msg", "detail", "errors")
        messages = (_find_message(body.get(name), depth + 1) for name in names)
        # A gateway passes on the provider's message, which says more than its own.
        passed_on = _as_text(_as_object(body.get("metadata")).get("raw"))
        generated = _as_text(body.get("failed_generation"))
        found = (where, next(filter(None, messages), ""), passed_on, generated)
        return ": ".join(filter(None, found))
    if isinstance(body, list):
        return "; ".join(filter(None, [_find_message(member, depth + 1) for member in body[:3]]))
    return ""


def _find_delay(body: object) -> str:
    outer = _find_object(body) if isinstance(body, list) else _as_object(body)
    error = _as_object(outer.get("error"))
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        delay = _as_text(_as_object(detail).get("retryDelay"))
        if delay is not None:
            return f"retry after {delay}."
    return ""


def _find_codes(body: object) -> str:
    outer = _find_object(body) if isinstance(body, list) else _as_object(body)
    holders = (outer, _as_object(outer.get("error")))
    codes = [holder.get(name) for holder in holders for name in ("type", "code", "status")]
    return " ".join(code for code in codes if isinstance(code, str))


def _read_content(content: object) -> tuple[str | None, str | None]:
    if isinstance(content, str):
        return _split_reasoning(content)
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        return None, None
    texts = [part if isinstance(part, str) else _read_part(part, _TEXT_PARTS) for part in content]
    thoughts = "".join(_read_part(part, _THOUGHT_PARTS) for part in content)
    if not any(texts):
        return None, thoughts or None
    text, more = _split_reasoning("".join(texts))
    return text, thoughts or more


def _read_part(part: object, kinds: Mapping[str, tuple[str, ...]]) -> str:
    about = _as_object(part)
    kind = about.get("type", "text")
    for name in kinds.get(kind, ()) if isinstance(kind, str) else ():
        value = about.get(name)
        if isinstance(value, list):
            value = "".join([_as_text(_as_object(inner).get("text")) or "" for inner in value])
        if isinstance(value, str) and value:
            return value
    return ""


def _split_reasoning(text: str) -> tuple[str, str | None]:
    """Split a string into answer and reasoning; one of the reasoning tags may be missing."""
    opened = _THOUGHT.match(text)
    if opened:
        return text[opened.end() :], opened[1].strip()
    thoughts, end, rest = text.partition(_END_OF_THOUGHT)
    return (rest.lstrip(), thoughts.strip()) if end else (text, None)


def _read_reasoning(message: Mapping[Any, Any]) -> str | None:
    for name in _THOUGHTS:
        value = message.get(name)
        if value is None:
            continue
        if isinstance(value, Mapping):
            value = [value]
        if isinstance(value, list):
            # The items of an answer also contain its text.
            kinds = _THOUGHT_PARTS if name == _ITEMS else {**_TEXT_PARTS, **_THOUGHT_PARTS}
            value = "".join(
                part if isinstance(part, str) else _read_part(part, kinds) for part in value
            )
        if isinstance(value, str) and value:
            return value
    return None


def _read_verbatim(message: Mapping[Any, Any]) -> VerbatimParts | None:
    members = _take_members(message, (*_THOUGHTS, "extra_content"))
    content = message.get("content")
    kinds = content if isinstance(content, list) else ()
    if any(_as_text(_as_object(part).get("type")) in _THOUGHT_PARTS for part in kinds):
        members |= _take_members(message, ["content"])
    entries = _list_call_entries(message)
    signed = [_take_members(_as_object(entry), _SIGNATURES) for entry in entries]
    return VerbatimParts(members, tuple(signed)) if members or any(signed) else None


def _take_members(holder: Mapping[Any, Any], names: Iterable[str]) -> dict[str, Any]:
    found = {}
    for name in names:
        value = holder.get(name)
        if value is not None:
            with suppress(MalformedCall):
                check_bounds(value)
                found[name] = value
    return found


def _list_call_entries(message: Mapping[Any, Any]) -> list[Any]:
    entries = message.get("tool_calls")
    if isinstance(entries, Mapping):
        entries = [entries]
    return [entry for entry in entries if entry is not None] if isinstance(entries, list) else []


def _read_tool_calls(message: Mapping[Any, Any]) -> tuple[ToolCall, ...]:
    calls = tuple([_read_tool_call(entry) for entry in _list_call_entries(message)])
    if calls:
        return calls
    legacy = _as_object(message.get("function_call"))
    return (_read_tool_call({"function": legacy}),) if legacy else ()


def _read_tool_call(entry: object) -> ToolCall:
    if not isinstance(entry, Mapping):
        return ToolCall(None, "", entry)
    id, function = entry.get("id"), entry.get("function")
    if isinstance(id, int) and not isinstance(id, bool):
        id = str(id)
    holder = function if isinstance(function, Mapping) else entry
    name = function if isinstance(function, str) else holder.get("name")
    return ToolCall(_as_text(id) or None, _as_text(name) or "", holder.get("arguments"))


def _read_usage(usage: Mapping[Any, Any]) -> Usage:
    prompt = _as_object(usage.get("prompt_tokens_details"))
    completion = _as_object(usage.get("completion_tokens_details"))
    return Usage(
        _read_first_count(usage.get("prompt_tokens"), usage.get("input_tokens")),
        _read_first_count(usage.get("completion_tokens"), usage.get("output_tokens")),
        _read_first_count(
            prompt.get("cached_tokens"),
            usage.get("prompt_cache_hit_tokens"),
            usage.get("cache_read_input_tokens"),
        ),
        _read_first_count(completion.get("reasoning_tokens"), usage.get("reasoning_tokens")),
        _read_first_count(
            usage.get("cache_creation_input_tokens"),
            prompt.get("cache_creation_tokens"),
            prompt.get("cache_write_tokens"),
        ),
    )


def _read_first_count(*values: object) -> int | None:
    for value in values:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and type(value) is not bool and 0 <= value <= _MAX_TOKENS:
            return value
    return None


def _find_object(value: object) -> Mapping[Any, Any]:
    members = value if isinstance(value, list) else []
    if members and type(members[0]) is dict:
        return members[0]
    return next((member for member in members if isinstance(member, Mapping)), {})


def _as_object(value: object) -> Mapping[Any, Any]:
    # The check of the exact type is ten times as fast as isinstance with an abstract class.
    return value if type(value) is dict or isinstance(value, Mapping) else {}


def _as_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _name_type(value: object) -> str:
    names = {list: "a list", str: "a string", type(None): "null", bool: "a boolean"}
    return names.get(type(value), "a number")
