"""Axis ``context``: number of tokens in the function results of an entry.

Each entry is generated again from its scenario's base entry, with another number of items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from math import ceil

from envs.errors import DataError
from extensions.authoring.making.long_context import count_read, place_in_world
from runner.models.model_types import CHARACTERS_PER_TOKEN
from trajectories.dataset import Dataset, load_embedded
from trajectories.schema import Category, Trajectory

LEVEL = re.compile(r"[1-9]\d{0,3}k")
"""Pattern of a level: a number of thousands of tokens, such as ``16k``."""
_MAX_ITEMS = 60_000
_TOLERANCE = 0.1
"""Maximum relative difference between requested and actual length."""
_ROUNDS = 8
_resized: dict[tuple[str, str, int], Trajectory | None] = {}
"""Resized entries; the key consists of data set, id and length."""


class ContextEntries(Mapping[str, Trajectory]):
    """Data set with long-context entries of a requested length, generated on first use.

    Entries of other categories do not change.
    """

    def __init__(self, dataset: Dataset, level: str) -> None:
        self._dataset = dataset
        self._chars = 1_000 * int(level.removesuffix("k")) * CHARACTERS_PER_TOKEN
        self._made: dict[str, Trajectory] = {}

    def __getitem__(self, id: str) -> Trajectory:
        """Return the entry, with the requested length if possible."""
        if id not in self._made:
            entry = self._dataset.trajectories[id]
            self._made[id] = self.resized(id) or entry
        return self._made[id]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the ids."""
        return iter(self._dataset.trajectories)

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._dataset.trajectories)

    def resized(self, id: str) -> Trajectory | None:
        """Return an entry with the requested length; None if this is impossible."""
        key = self._dataset.sha256, id, self._chars
        if key not in _resized:
            _resized[key] = self._resize(self._dataset.trajectories[id])
        return _resized[key]

    def _resize(self, entry: Trajectory) -> Trajectory | None:
        base = self._base(entry)
        bulk = entry.long_context
        if base is None or bulk is None or bulk.source != "generated":
            return None
        bare = replace(base, config=entry.config)
        for _ in range(_ROUNDS):
            ratio = self._chars / max(1, count_read(bare, bulk))
            if abs(ratio - 1) <= _TOLERANCE:
                break
            items = min(_MAX_ITEMS, max(1, ceil(bulk.items * ratio)))
            if items == bulk.items:
                return None
            bulk = replace(bulk, items=items)
        else:
            return None
        try:
            made = place_in_world(base, bulk, bare)
        except DataError:
            return None
        return replace(entry, turns=made.turns, long_context=bulk)

    def _base(self, entry: Trajectory) -> Trajectory | None:
        if entry.category is not Category.LONG_CONTEXT:
            return None
        return self._dataset.trajectories.get(entry.base) or _load_bases().get(entry.base)


@cache
def _load_bases() -> Mapping[str, Trajectory]:
    return load_embedded([Category.BASE]).trajectories
