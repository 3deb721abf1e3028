"""What of a function document is searched: a text, and the words in it.

Names count twice: what a function is called is what it does. A sentence that stands in the
documents of many functions says whose they are, and nothing of any one of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

import snowballstemmer
from bm25s.stopwords import STOPWORDS_EN_PLUS

from extensions.retrieval.corpus import Described, parameters_of

SHARED_BY = 5
"""A sentence that functions of so many names have is left out."""

_STOP = frozenset(STOPWORDS_EN_PLUS)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
_END = re.compile(r"(?<=[.!?])\s+")
_STEMMER = snowballstemmer.stemmer("english")


def texts_of(functions: Sequence[Described]) -> list[str]:
    """Return what is searched of functions, in their order."""
    return [_text(each, frozenset()) for each in functions]


def own_texts_of(functions: Sequence[Described]) -> list[str]:
    """Return the same without the sentences that many share."""
    having: dict[str, set[str]] = defaultdict(set)
    for each in functions:
        for sentence in _sentences(each):
            having[sentence].add(each.name)
    shared = frozenset(text for text, names in having.items() if len(names) >= SHARED_BY)
    return [_text(each, shared) for each in functions]


def _sentences(function: Described) -> list[str]:
    return _END.split(str(function.document.get("description", "")).strip())


def _text(function: Described, shared: frozenset[str]) -> str:
    parameters = list(parameters_of(function.document))
    told = [sentence for sentence in _sentences(function) if sentence not in shared]
    parts = (
        [function.name, function.name, function.backend, *told],
        [each["name"] for each in parameters],
        [each.get("description", "") for each in parameters],
        [value for each in parameters for value in _choices(each.get("enum"))],
    )
    return " ".join(str(text) for part in parts for text in part if text != "")


def _choices(values: object) -> Iterable[object]:
    return values if isinstance(values, list | tuple) else ()


def parted(text: str) -> str:
    """Return a text whose names are in parts: ``bookFlight`` and ``book_flight`` as two words."""
    return _HUMP.sub(" ", text).replace("_", " ")


def words(text: str) -> list[str]:
    """Return the stems of the words of a text, without those that say nothing."""
    found = _WORD.findall(parted(text).lower())
    return [stem for word in found if word not in _STOP and (stem := _stem(word))]


@cache
def _stem(word: str) -> str:
    # What is no word of a language, such as a whole file in one piece, is not looked into.
    return str(_STEMMER.stemWord(word)) if len(word) <= 40 else word[:40]
