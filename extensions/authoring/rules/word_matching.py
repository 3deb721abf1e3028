"""Approximate comparison of words. A person must check the findings of rules that compare words."""

from __future__ import annotations

import re

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PIECE = re.compile(r"[^\W_]+")
_WORD = re.compile(r"[^\W\d_]+")
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s)$")
_STEM = 5
_HOLLOW = frozenset(
    _WORD.findall(
        """
        get set all the and for from with into based api that this list show display current name
        names user users status one what which whether where text number numbers value values result
        results true false other new first last time login info details returns return file files
        """
    )
)
"""Frequent words that do not distinguish one function from another."""


def split_name(name: str) -> list[str]:
    """Return the words in the name of a function or field."""
    return [word.casefold() for word in _PART.findall(name)]


def cues(name: str) -> list[str]:
    """Return the descriptive words in a function's name, in the order of the name."""
    return [word for word in split_name(name) if word not in _HOLLOW and len(word) > 2]


def split_words(text: str) -> list[str]:
    """Return the words of a text, in lower case and without numbers."""
    return _WORD.findall(text.casefold())


def stems(text: str) -> set[str]:
    """Return the stems of the descriptive words in a text."""
    return {stem(word) for word in split_words(text) if len(word) > 2 and word not in _HOLLOW}


def stem(word: str) -> str:
    """Return the rough stem of a word."""
    return _ENDING.sub("", word.casefold())[:_STEM]


def plain(text: str) -> str:
    """Return a text in lower case, with spaces in place of punctuation."""
    return f" {' '.join(_PIECE.findall(text.casefold()))} "
