"""Taking a part of a data set: by id, the first few, or a stratified sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from random import Random

from trajectories.errors import DataError
from trajectories.schema import Category, Trajectory

Stratum = tuple[Category, tuple[str, ...]]
"""What trajectories of a sample have in common: category and backends."""


def by_ids(trajectories: Sequence[Trajectory], ids: Iterable[str]) -> list[Trajectory]:
    """Return the trajectories of some ids, in the order of the data set.

    Raises:
        DataError: There is none of an id.
    """
    wanted = set(ids)
    known = [trajectory.id for trajectory in trajectories]
    for id in sorted(wanted.difference(known)):
        close = get_close_matches(id, known, n=1)
        raise DataError(
            "--ids", f"no {id!r} here" + (f"; did you mean {close[0]}?" if close else "")
        )
    return [trajectory for trajectory in trajectories if trajectory.id in wanted]


def sample(trajectories: Sequence[Trajectory], size: int, seed: int) -> list[Trajectory]:
    """Return a sample in which every category and backend has its share.

    Args:
        trajectories: What to sample from.
        size: How many to take; all, if there are not more.
        seed: The same seed gives the same sample.
    """
    if size >= len(trajectories):
        return list(trajectories)
    strata: dict[Stratum, list[int]] = {}
    for index, trajectory in enumerate(trajectories):
        strata.setdefault((trajectory.category, trajectory.environments), []).append(index)
    source = Random(seed)
    order = [index for members in strata.values() for index in source.sample(members, len(members))]
    # Entries at even distances in strata's order, from a random start: each has the same chance,
    # and no stratum is a whole entry off its share, however small it is.
    start = source.randrange(len(order))
    taken = {order[(start + turn * len(order)) // size % len(order)] for turn in range(size)}
    return [trajectories[index] for index in sorted(taken)]
