"""Overlap of two data sets: word sequences that occur in both and indicate contamination."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from checkers.known_values import list_literals
from trajectories.dataset import Dataset

WORDS = 8
"""Number of consecutive words in a shared sequence."""

_WORD = re.compile(r"\w+")

Texts = Iterable[tuple[str, Sequence[str]]]
"""Id and texts of each entry. A word sequence never spans two texts."""

_Gram = tuple[str, ...]


class SharedText(NamedTuple):
    """Word sequences that an entry shares with the other data set."""

    id: str
    shared: int
    """Number of distinct word sequences that the entry and the other data set have in common."""
    runs: int
    """Number of distinct word sequences in the entry."""
    other: str
    """Most similar entry of the other data set."""
    text: str
    """Longest shared sequence of words."""

    @property
    def share(self) -> float:
        """Share of the entry's word sequences that occur in the other data set."""
        return self.shared / self.runs


class Overlap(NamedTuple):
    """Word sequences that entries of one data set share with another data set."""

    entries: int
    others: int
    shared: Sequence[SharedText]
    """Entries of the first data set that share word sequences with the second one."""


def collect_texts(dataset: Dataset) -> Iterator[tuple[str, Sequence[str]]]:
    """Return the id, the user messages and the config texts of each scenario."""
    found: dict[str, dict[str, None]] = {}
    for trajectory in dataset.trajectories.values():
        texts = found.setdefault(trajectory.base, {})
        said = [message.content for turn in trajectory.turns for message in turn.messages]
        held = [text for text in list_literals(trajectory.config) if isinstance(text, str)]
        # Variants repeat most texts of their base.
        texts.update(dict.fromkeys([*said, *held]))
    return ((id, [*texts]) for id, texts in found.items())


def overlap(first: Texts, second: Texts, words: int = WORDS) -> Overlap:
    """Find the word sequences that occur in both data sets, regardless of case and punctuation.

    Only the first data set is kept in memory.
    """
    mine = {id: [_grams(text, words) for text in texts] for id, texts in first}
    holders: dict[_Gram, list[str]] = {}
    for id, texts in mine.items():
        for gram in dict.fromkeys(gram for grams in texts for gram in grams):
            holders.setdefault(gram, []).append(id)
    common: dict[str, dict[str, set[_Gram]]] = {}
    others = 0
    for other, theirs in second:
        others += 1
        for gram in {gram for text in theirs for gram in _grams(text, words)}:
            for id in holders.get(gram, ()):
                common.setdefault(id, {}).setdefault(other, set()).add(gram)
    found = [_shared(id, mine[id], by_other) for id, by_other in common.items()]
    return Overlap(len(mine), others, sorted(found, key=lambda each: (-each.share, each.id)))


def _shared(
    id: str, texts: Sequence[Sequence[_Gram]], by_other: Mapping[str, set[_Gram]]
) -> SharedText:
    other = min(by_other, key=lambda name: (-len(by_other[name]), name))
    stretches = (stretch for grams in texts for stretch in _stretches(grams, by_other[other]))
    all_runs = {gram for grams in texts for gram in grams}
    shared = set[_Gram]().union(*by_other.values())
    return SharedText(id, len(shared), len(all_runs), other, max(stretches, key=len, default=""))


def _stretches(grams: Sequence[_Gram], common: set[_Gram]) -> Iterator[str]:
    stretch: list[str] = []
    for gram in grams:
        if gram in common:
            stretch = [*stretch, gram[-1]] if stretch else [*gram]
        elif stretch:
            yield " ".join(stretch)
            stretch = []
    yield " ".join(stretch)


def _grams(text: str, words: int) -> list[_Gram]:
    found = _WORD.findall(text.casefold())
    return [tuple(found[at : at + words]) for at in range(len(found) - words + 1)]
