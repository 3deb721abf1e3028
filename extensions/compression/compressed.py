"""What making long results short would save, and what of them a later call would miss."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from envs.calls import Call
from extensions.compression.compression import Compression, kept_members
from trajectories.dataset import Dataset
from trajectories.prepare import load_session
from trajectories.scene import truth_calls
from trajectories.schema import Trajectory

_SHORTEST = 3
"""Characters of a value; a shorter one stands in most texts by chance."""


class Saving(NamedTuple):
    """What became of the results of the ground truth's calls."""

    results: int = 0
    over: int = 0
    """Those that are longer than the limit."""
    tokens: int = 0
    kept: int = 0
    """Tokens that are still shown."""
    values: int = 0
    """Values that a later call of the ground truth takes from a result, and nobody has said."""
    lost: int = 0
    """Those that are shown in no result any more."""
    entries: int = 0
    losing: int = 0
    """Entries that lose one."""

    def __add__(self, other: tuple[Any, ...]) -> Saving:
        """Return both together."""
        return Saving(*[one + more for one, more in zip(self, other, strict=True)])


def saving(dataset: Dataset, entries: Iterable[Trajectory], compression: Compression) -> Saving:
    """Return what compression does to the results of the ground truth of some entries."""
    total = Saving()
    for entry in entries:
        total += _of_entry(dataset, entry, compression)
    return total


def _of_entry(dataset: Dataset, entry: Trajectory, compression: Compression) -> Saving:
    session = load_session(dataset, entry)
    found, said = Saving(entries=1), ""
    whole: list[str] = []
    shown: list[str] = []
    taken: set[str] = set()
    for turn in entry.turns:
        said = f"{said}\n{turn.words}"
        for call in truth_calls(turn):
            values = {v for v in _values(call) if v not in taken and not _is_in(v, [said])}
            needed = [v for v in sorted(values) if _is_in(v, whole)]
            lost = sum(not _is_in(v, shown) for v in needed)
            taken.update(needed)
            found += Saving(values=len(needed), lost=lost)
            text = session.call(call).text
            tool = session.tools.get(call.name) if isinstance(call, Call) else None
            keep = kept_members(tool.backend).get(tool.name) if tool else None
            short = compression.shown(text, keep)
            size, left = compression.tokens(text), compression.tokens(short)
            found += Saving(1, int(size > compression.limit), size, left)
            whole.append(text)
            shown.append(short)
    return found._replace(losing=int(found.lost > 0))


def _is_in(value: str, texts: Iterable[str]) -> bool:
    """Tell whether a value stands in a text, and not as a part of another."""
    pattern = re.compile(rf"(?<![\w.]){re.escape(value)}(?!\w|\.\d)")
    return any(pattern.search(text) for text in texts)


def _values(call: object) -> Iterator[str]:
    """Yield the values of a call's arguments that are told apart from others in a text."""
    if isinstance(call, Call):
        for value in (*call.args, *call.kwargs.values()):
            yield from _leaves(value)


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, Call):
        return
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
    elif not isinstance(value, bool) and value is not None and len(str(value)) >= _SHORTEST:
        yield str(value)
