"""Values that occur word for word in user messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

_QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"")
_WORD = re.compile(r"[\w@#./:&!~+-]+")
_WORD_MARKS = "@#./:&~+-"
"""Characters that are removed from the end of a word. Inside a word, for example in an address,
these characters are kept."""


def list_spoken_values(texts: Sequence[str]) -> list[str | int | float]:
    """Return the values in texts: quotations, single words, pairs of words, and numbers."""
    found: dict[str | int | float, None] = {}
    for text in texts:
        for quoted in _QUOTED.findall(text):
            found[quoted[0] or quoted[1]] = None
        said = [word for run in _WORD.findall(text) if (word := run.rstrip(_WORD_MARKS))]
        for word in said:
            found[parse_number(word)] = None
        for first, second in pairwise(said):
            if first[0].isupper() and second[0].isupper():
                found[f"{first} {second}"] = None
    return list(found)


def parse_number(word: str) -> str | int | float:
    """Convert a word to a number, if possible."""
    try:
        return int(word) if word.isdecimal() else float(word)
    except ValueError:
        return word
