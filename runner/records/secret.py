"""What is secret in how a model is reached: in its address, headers, body; in a command line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

MASK = "***"
"""What stands where a secret was."""

_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
# A body also has members such as stop_token or prompt_cache_key, which guard nothing.
_SECRET_MEMBER = re.compile(
    r"(^|api|access|auth|secret|session|private|bearer)[-_]?(key|token)$"
    r"|password|passwd|secret|authori[sz]ation|credential|cookie",
    re.IGNORECASE,
)
_LONG_VALUE = 16
"""A header's value of so many characters may be a key, whatever the header's name is."""


def is_secret_header(name: str, value: str) -> bool:
    """Tell whether a header may hold a key."""
    return bool(_SECRET_HEADER.search(name)) or len(value) >= _LONG_VALUE


def in_address(url: str) -> list[str]:
    """Return what is secret in an address: user, password, and the values of its query."""
    parts = urlsplit(url)
    user = parts.netloc.rpartition("@")[0]
    query = [value for _, value in parse_qsl(parts.query)]
    texts = [user, *user.split(":", 1), parts.query, *query]
    return [*texts, *map(unquote, texts)]


def in_body(body: object) -> Iterator[str]:
    """Yield the texts below members of a body whose names say that they are secret."""
    if isinstance(body, Mapping):
        for name, value in body.items():
            if isinstance(value, str) and _SECRET_MEMBER.search(str(name)):
                yield value
            else:
                yield from in_body(value)
    elif isinstance(body, list | tuple):
        for value in body:
            yield from in_body(value)


def address_without(url: str) -> str:
    """Return an address without user, password and query."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


def body_without(body: Any) -> Any:
    """Return a body with its secret texts masked, however short they are."""
    if isinstance(body, Mapping):
        return {
            name: MASK
            if isinstance(value, str) and _SECRET_MEMBER.search(str(name))
            else body_without(value)
            for name, value in body.items()
        }
    return [*map(body_without, body)] if isinstance(body, list | tuple) else body


def command_without(command: Sequence[str]) -> list[str]:
    """Return a command line as it may be kept: without what its options hold of secrets."""
    kept: list[str] = []
    option = ""
    for word in command:
        name, equals, value = word.partition("=")
        if name in _OPTIONS and equals:
            kept.append(f"{name}={_OPTIONS[name](value)}")
        else:
            kept.append(_OPTIONS[option](word) if option in _OPTIONS else word)
        option = word
    return kept


def _header_without(header: str) -> str:
    name, equals, value = header.partition("=")
    return f"{name}={MASK}" if equals and is_secret_header(name, value) else header


def _body_text_without(text: str) -> str:
    try:
        body = json.loads(text)
    except ValueError:
        return text
    return json.dumps(body_without(body)) if [*in_body(body)] else text


_OPTIONS = {
    "--base-url": address_without,
    "--header": _header_without,
    "--body": _body_text_without,
}
