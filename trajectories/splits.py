"""Parts of a data set that have a name: its tiers, and one that ranks models like the whole."""

from __future__ import annotations

import json
from collections.abc import Sequence

from trajectories.dataset import DATA
from trajectories.errors import DataError
from trajectories.jsonl import read_text
from trajectories.schema import Split, Tier, Trajectory

MINI = DATA / "mini.json"
"""A list of ids of the data that comes along; ``tools.strength`` chooses them."""


def of_split(trajectories: Sequence[Trajectory], split: Split) -> list[Trajectory]:
    """Return the trajectories of a part, in the order of the data set.

    Raises:
        DataError: There is none.
    """
    if split is Split.MINI:
        ids = frozenset(json.loads(read_text(MINI)))
        found = [trajectory for trajectory in trajectories if trajectory.id in ids]
    else:
        tier = Tier(split.value)
        found = [trajectory for trajectory in trajectories if trajectory.tier is tier]
    if not found:
        raise DataError("--split", f"of these trajectories none is {split}")
    return found
