"""Parser of functions' docstrings, without pydantic."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

_SECTION = re.compile(r"^(Args|Returns|Raises|Examples):\s*$", re.MULTILINE)
_ITEM = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


class Docstring(NamedTuple):
    """Parts of a function's docstring; a part that the docstring does not have is empty."""

    summary: str
    parameters: Mapping[str, str]
    returns: str
    examples: str


@cache
def parse_docstring(function: Callable[..., Any]) -> Docstring:
    """Parse a function's docstring."""
    summary, *rest = _SECTION.split(inspect.getdoc(function) or "")
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    items = _ITEM.findall(sections.get("Args", ""))
    return Docstring(
        join_lines(summary),
        {name: join_lines(text) for name, text in items},
        join_lines(sections.get("Returns", "")),
        sections.get("Examples", ""),
    )


def join_lines(text: str) -> str:
    """Join the lines of a string."""
    return " ".join(text.split())
