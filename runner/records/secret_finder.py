"""Finder of secrets in addresses, headers, request bodies and command lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

MASK = "***"

_SECRET_PARTS = re.compile(r"^([^/?#]*//)?[^/?#]*@|[?#].*", re.DOTALL)
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
# Members of a body such as stop_token or prompt_cache_key are not secret.
_SECRET_MEMBER = re.compile(
    r"(^|api|access|auth|secret|session|private|bearer)[-_]?(key|token)$"
    r"|password|passwd|secret|authori[sz]ation|credential|cookie",
    re.IGNORECASE,
)
_LONG_VALUE = 16
"""A header value of at least this length could be a key, whatever the header's name."""


def is_secret_header(name: str, value: str) -> bool:
    """Tell whether a header could contain an API key."""
    return bool(_SECRET_HEADER.search(name)) or len(value) >= _LONG_VALUE


def secrets_in_body(body: object) -> Iterator[str]:
    """Yield each string in a field with the name of a secret, such as ``api_key``."""
    if isinstance(body, Mapping):
        for name, value in body.items():
            if isinstance(value, str) and _SECRET_MEMBER.search(str(name)):
                yield value
            else:
                yield from secrets_in_body(value)
    elif isinstance(body, list | tuple):
        for value in body:
            yield from secrets_in_body(value)


def redact_address(url: str) -> str:
    """Return an address, even an invalid one, without user, password, query and fragment."""
    return _SECRET_PARTS.sub(r"\1", url)


def redact_body(body: Any) -> Any:
    """Mask secrets of any length in a body."""
    if isinstance(body, Mapping):
        return {
            name: MASK
            if isinstance(value, str) and _SECRET_MEMBER.search(str(name))
            else redact_body(value)
            for name, value in body.items()
        }
    return [*map(redact_body, body)] if isinstance(body, list | tuple) else body


def redact_command(command: Sequence[str]) -> list[str]:
    """Return a command line without the secrets in its options."""
    kept: list[str] = []
    for before, word in pairwise(("", *command)):
        name, equals, value = word.partition("=")
        given, told = _OPTION.fullmatch(name), _OPTION.fullmatch(before)
        if given and equals:
            kept.append(f"{name}={_OPTIONS[given[1]](value)}")
        else:
            kept.append(_OPTIONS[told[1]](word) if told else word)
    return kept


def _header_without(header: str) -> str:
    name, equals, value = header.partition("=")
    return f"{name}={MASK}" if equals and is_secret_header(name, value) else header


def _body_text_without(text: str) -> str:
    try:
        body = json.loads(text)
    except ValueError:
        return text
    return json.dumps(redact_body(body)) if [*secrets_in_body(body)] else text


# Extensions have options such as --user-base-url.
_OPTION = re.compile(r"--(?:\w+-)*(base-url|header|body|retrieve-by)")
_OPTIONS = {"base-url": redact_address, "header": _header_without, "body": _body_text_without}
_OPTIONS["retrieve-by"] = lambda text: re.sub(r"^(embed:[^?]*\?).*(?=#)", rf"\1{MASK}", text)
