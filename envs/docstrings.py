"""What the docstrings of functions say, which pydantic is not needed for."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

_SECTION = re.compile(r"^(Args|Returns|Raises|Examples):\s*$", re.MULTILINE)
_ITEM = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


class Docstring(NamedTuple):
    """What a function's docstring says; nothing of a section that it has not."""

    summary: str
    parameters: Mapping[str, str]
    """What is said of each, in the order of the docstring."""
    returns: str
    examples: str
    """As it is written."""


@cache
def docstring(function: Callable[..., Any]) -> Docstring:
    """Return what a function's docstring says."""
    summary, *rest = _SECTION.split(inspect.getdoc(function) or "")
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    items = _ITEM.findall(sections.get("Args", ""))
    return Docstring(
        joined(summary),
        {name: joined(text) for name, text in items},
        joined(sections.get("Returns", "")),
        sections.get("Examples", ""),
    )


def joined(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())
