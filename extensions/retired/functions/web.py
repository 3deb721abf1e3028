"""Types of a web exchange: request, answer and sender."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

ASKING = ("RestClient", "PublicServices")
"""Names of the backends that send web requests. Importing this module loads no client."""


class WebRequest(NamedTuple):
    """One HTTP request."""

    url: str
    """Full address with query."""
    headers: Mapping[str, str] = {}
    method: str = "GET"
    content: bytes = b""


class WebAnswer(NamedTuple):
    """Answer of a web service."""

    status: int
    """HTTP status."""
    body: Any
    """Parsed JSON, else text."""
    headers: Mapping[str, str] = {}
    """Headers by lower-case name."""
    fixture: bool = False
    """Whether the fixture answered in place of a public service."""


Sender = Callable[[WebRequest], WebAnswer]
"""Function that sends a request to a web service. Without an answer, it raises ToolError."""
