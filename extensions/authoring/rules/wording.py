"""Words as the rules compare them: roughly, so that a person has to look at what is found."""

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
"""Words that say nothing of what a function is about."""


def words_of(name: str) -> list[str]:
    """Return the words that the name of a function or a member is made of."""
    return [word.casefold() for word in _PART.findall(name)]


def cues(name: str) -> list[str]:
    """Return those of the words in a function's name that say what it does, the verb first."""
    return [word for word in words_of(name) if word not in _HOLLOW and len(word) > 2]


def words_in(text: str) -> list[str]:
    """Return the words of a text, in lower case and without numbers."""
    return _WORD.findall(text.casefold())


def stems(text: str) -> set[str]:
    """Return the stems of those words in a text that say what it is about."""
    return {stem(word) for word in words_in(text) if len(word) > 2 and word not in _HOLLOW}


def stem(word: str) -> str:
    """Return what inflections of a word have in common, roughly."""
    return _ENDING.sub("", word.casefold())[:_STEM]


def plain(text: str) -> str:
    """Return a text in lower case, with single blanks for all that is no letter and no digit."""
    return f" {' '.join(_PIECE.findall(text.casefold()))} "
