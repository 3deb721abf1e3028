"""What passes between a client and a web service: a request, an answer, and who gives answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

ASKING = ("RestClient", "PublicServices")
"""Which backends ask web services, by name, so that no client is loaded to find out."""


class WebRequest(NamedTuple):
    """One HTTP request."""

    url: str
    """The whole address, with its query."""
    headers: Mapping[str, str] = {}
    method: str = "GET"
    content: bytes = b""
    """The body."""


class WebAnswer(NamedTuple):
    """What a web service answered."""

    status: int
    """HTTP status."""
    body: Any
    """The parsed JSON, or the text where it is none."""
    headers: Mapping[str, str] = {}
    """By name in small letters."""
    fixture: bool = False
    """Whether a recorded answer of ours stands in for that of a public service."""


Sender = Callable[[WebRequest], WebAnswer]
"""Puts a request to a web service; raises ToolError where there is no answer."""
