"""DUPLICATE: no question is asked twice, not even in slightly other words.

Two texts are near duplicates when most of their words are the same (Jaccard index of the word
sets). Texts are compared only where they share one of their rarest words, which every pair above
the threshold does, so that a thousand entries take a second or two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil
from typing import NamedTuple

from trajectories.rules.entry import Entry
from trajectories.rules.problem import Problem, Severity
from trajectories.schema import Category

DUPLICATE = "DUPLICATE"

NEAR = 0.75
"""Share of words in common from which on two texts are near duplicates."""
FEWEST_WORDS = 8
"""Shorter texts, such as thanks, may well come twice."""

_WORD = re.compile(r"\w+")


class _Text(NamedTuple):
    entry: Entry
    turn: int
    words: frozenset[str]


def check(entries: Sequence[Entry]) -> Iterator[Problem]:
    """Yield questions that have been asked in the same category already."""
    for category in Category:
        texts = [
            _Text(entry, index, words)
            for entry in entries
            if entry.trajectory.category is category
            for index, turn in enumerate(entry.trajectory.turns)
            if len(words := _words(" ".join([m.content for m in turn.messages]))) >= FEWEST_WORDS
        ]
        for later, earlier, alike in near_duplicates([text.words for text in texts]):
            yield _problem(texts[later], texts[earlier], alike)


def near_duplicates(texts: Sequence[frozenset[str]]) -> Iterator[tuple[int, int, float]]:
    """Yield for each text that has one its likest earlier near duplicate, and how alike they are.

    Args:
        texts: The words of each text.
    """
    frequency = Counter([word for words in texts for word in words])
    holders: dict[str, list[int]] = {}
    for index, words in enumerate(texts):
        rarest = sorted(words, key=lambda word: (frequency[word], word))
        # Two sets of which so many words agree share one of these (prefix filtering).
        prefix = rarest[: len(words) - ceil(NEAR * len(words)) + 1]
        candidates = {other for word in prefix for other in holders.get(word, ())}
        found = [(jaccard(words, texts[other]), -other) for other in candidates]
        best = max(found, default=(0.0, 0))
        if best[0] >= NEAR:
            yield index, -best[1], best[0]
        for word in prefix:
            holders.setdefault(word, []).append(index)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of words that two texts have in common."""
    return len(one & other) / len(one | other)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _problem(later: _Text, earlier: _Text, alike: float) -> Problem:
    same = alike == 1
    place = f"turn {earlier.turn} of {earlier.entry.trajectory.id}"
    message = f"asks what {place} asks, in {'the same' if same else f'{alike:.0%} the same'} words"
    severity = Severity.ERROR if same else Severity.WARNING
    return later.entry.problem(DUPLICATE, severity, later.turn, "messages", message)
