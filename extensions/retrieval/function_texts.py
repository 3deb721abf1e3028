"""Searchable text and words of function documents.

The name of a function has double weight. Sentences that many functions share are omitted, because
such sentences describe the backend.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any

import snowballstemmer
from bm25s.stopwords import STOPWORDS_EN_PLUS

from extensions.retrieval.corpus import DescribedFunction, list_parameters

SHARED_BY = 5
"""A sentence is omitted if at least this number of functions share it."""

_STOP = frozenset(STOPWORDS_EN_PLUS)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
_END = re.compile(r"(?<=[.!?])\s+")
_STEMMER = snowballstemmer.stemmer("english")


def make_texts(functions: Sequence[DescribedFunction]) -> list[str]:
    """Return the searchable text of each function."""
    return [_text(each, frozenset()) for each in functions]


def make_own_texts(functions: Sequence[DescribedFunction]) -> list[str]:
    """Return the searchable texts, without the sentences that many functions share."""
    having: dict[str, set[str]] = defaultdict(set)
    for each in functions:
        for sentence in _sentences(each):
            having[sentence].add(each.name)
    shared = frozenset(text for text, names in having.items() if len(names) >= SHARED_BY)
    return [_text(each, shared) for each in functions]


def _sentences(function: DescribedFunction) -> list[str]:
    return _END.split(str(function.document.get("description", "")).strip())


def _text(function: DescribedFunction, shared: frozenset[str]) -> str:
    parameters = list(list_parameters(function.document))
    own = [sentence for sentence in _sentences(function) if sentence not in shared]
    enums = [each["enum"] for each in parameters if isinstance(each.get("enum"), list | tuple)]
    parts: tuple[list[Any], ...] = (
        [function.name, function.name, function.backend, *own],
        [each["name"] for each in parameters],
        [each.get("description", "") for each in parameters],
        [value for enum in enums for value in enum],
    )
    return " ".join(str(text) for part in parts for text in part if text != "")


def split_names(text: str) -> str:
    """Split the names in a text, such as ``bookFlight`` and ``book_flight``, into words."""
    return _HUMP.sub(" ", text).replace("_", " ")


def words(text: str) -> list[str]:
    """Return the stems of a text's words, without stop words."""
    found = _WORD.findall(split_names(text).lower())
    return [stem for word in found if word not in _STOP and (stem := _stem(word))]


@cache
def _stem(word: str) -> str:
    # A longer string is not a word, but perhaps a whole file; stemming it would be slow.
    return str(_STEMMER.stemWord(word)) if len(word) <= 40 else word[:40]
