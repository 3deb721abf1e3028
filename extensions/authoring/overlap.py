"""What two collections of texts have in common word for word, as contamination would show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from checkers.told import literals
from trajectories.dataset import Dataset

WORDS = 8
"""Consecutive words that two texts must share to have something in common."""

_WORD = re.compile(r"\w+")

Texts = Iterable[tuple[str, Sequence[str]]]
"""Entries by id with their texts; no run of words reaches from one text into the next."""

_Gram = tuple[str, ...]


class InCommon(NamedTuple):
    """What an entry shares with others."""

    id: str
    shared: int
    """How many of its runs of words others have, each counted once."""
    runs: int
    """How many it has."""
    other: str
    """The entry with which it shares most."""
    text: str
    """The longest stretch of words that both have."""

    @property
    def share(self) -> float:
        """Share of its runs of words that others have."""
        return self.shared / self.runs


class Overlap(NamedTuple):
    """What the entries of one collection share with those of another."""

    entries: int
    """How many entries the first has."""
    others: int
    """How many the second has."""
    shared: Sequence[InCommon]
    """Those of the first that share something, by how much of them."""


def texts_of(dataset: Dataset) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the scenarios of a data set with what users say and what initial configs hold."""
    found: dict[str, dict[str, None]] = {}
    for trajectory in dataset.trajectories.values():
        texts = found.setdefault(trajectory.base, {})
        said = [message.content for turn in trajectory.turns for message in turn.messages]
        held = [text for text in literals(trajectory.config) if isinstance(text, str)]
        # What makes a trajectory harder repeats most of it.
        texts.update(dict.fromkeys([*said, *held]))
    return ((id, [*texts]) for id, texts in found.items())


def overlap(first: Texts, second: Texts, words: int = WORDS) -> Overlap:
    """Return what entries share, word for word, case and punctuation apart.

    The first is kept in memory, the second is read once; time is linear in both, but for what many
    entries have in common.

    Args:
        first: Whose entries are looked at.
        second: Where their words are looked for.
        words: How many consecutive ones make something shared.
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
) -> InCommon:
    other = min(by_other, key=lambda name: (-len(by_other[name]), name))
    stretches = (stretch for grams in texts for stretch in _stretches(grams, by_other[other]))
    all_runs = {gram for grams in texts for gram in grams}
    shared = set[_Gram]().union(*by_other.values())
    return InCommon(id, len(shared), len(all_runs), other, max(stretches, key=len, default=""))


def _stretches(grams: Sequence[_Gram], common: set[_Gram]) -> Iterator[str]:
    """Yield the words of consecutive runs that are common."""
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
