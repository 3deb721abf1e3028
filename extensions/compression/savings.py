"""Counts of the tokens that compression saves, and of the needed values that it removes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from envs.calls import Call
from extensions.compression.compression import Compression, load_kept_members
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import load_session
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import Trajectory

_MIN_CHARS = 3
"""Minimum length of a value; shorter values occur in most texts by chance."""


class TokenSavings(NamedTuple):
    """Counts of tokens and of needed values in the results of ground-truth calls."""

    results: int = 0
    over: int = 0
    """Number of results above the limit."""
    tokens: int = 0
    kept: int = 0
    """Number of tokens after compression."""
    values: int = 0
    """Number of needed values, which later calls copy from results."""
    lost: int = 0
    """Number of needed values that no compressed result contains."""
    entries: int = 0
    losing: int = 0
    """Number of entries that lose at least one value."""
    tenths: tuple[int, ...] = ()
    """Positions of needed values in long results, from 0 (start) to 9 (end). Only values that
    occur exactly once in all results are counted."""

    def __add__(self, other: tuple[Any, ...]) -> TokenSavings:
        """Return the sum of two counts."""
        return TokenSavings(*[one + more for one, more in zip(self, other, strict=True)])


def measure_saving(
    dataset: Dataset, entries: Iterable[Trajectory], compression: Compression
) -> TokenSavings:
    """Compress ground-truth results; count the saved tokens and the lost values."""
    return sum((_measure_entry(dataset, entry, compression) for entry in entries), TokenSavings())


def _measure_entry(dataset: Dataset, entry: Trajectory, compression: Compression) -> TokenSavings:
    session = load_session(dataset, entry)
    found, user_text = TokenSavings(entries=1), ""
    whole: list[str] = []
    shown: list[str] = []
    taken: set[str] = set()
    for turn in entry.turns:
        user_text = f"{user_text}\n{turn.words}"
        for call in read_truth_calls(turn):
            values = {v for v in _values(call) if v not in taken and not _is_in(v, [user_text])}
            needed = [v for v in sorted(values) if _is_in(v, whole)]
            lost = sum(not _is_in(v, shown) for v in needed)
            taken.update(needed)
            tenths = tuple(_find_tenths(needed, whole, compression))
            found += TokenSavings(values=len(needed), lost=lost, tenths=tenths)
            text = session.call(call).text
            tool = session.tools.get(call.name) if isinstance(call, Call) else None
            keep = load_kept_members(tool.backend).get(tool.name) if tool else None
            short = compression.shown(text, keep)
            size, left = compression.tokens(text), compression.tokens(short)
            found += TokenSavings(1, int(size > compression.limit), size, left)
            whole.append(text)
            shown.append(short)
    return found._replace(losing=int(found.lost > 0))


def _find_tenths(
    values: Iterable[str], texts: Iterable[str], compression: Compression
) -> Iterator[int]:
    for value in values:
        places = [(text, start) for text in texts for start in _find(value, text)]
        if len(places) == 1 and compression.tokens(places[0][0]) > compression.limit:
            [(text, start)] = places
            yield 10 * start // len(text)


def _is_in(value: str, texts: Iterable[str]) -> bool:
    return any(True for text in texts for _ in _find(value, text))


def _find(value: str, text: str) -> Iterator[int]:
    pattern = rf"(?<![\w.]){re.escape(value)}(?!\w|\.\d)"
    return (match.start() for match in re.finditer(pattern, text))


def _values(call: object) -> Iterator[str]:
    if isinstance(call, Call):
        for value in (*call.args, *call.kwargs.values()):
            yield from _leaves(value)


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, list | tuple) and not isinstance(value, Call):
        for inner in value:
            yield from _leaves(inner)
    elif not isinstance(value, bool | Call | None) and len(str(value)) >= _MIN_CHARS:
        yield str(value)
