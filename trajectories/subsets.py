"""Named subsets: the difficulty tiers, and ``mini``, which almost keeps the ranking of models."""

from __future__ import annotations

import json
from collections.abc import Sequence

from envs.errors import DataError
from trajectories.dataset import DATA
from trajectories.jsonl import read_text
from trajectories.schema import Subset, Tier, Trajectory

MINI_FILE = DATA / "mini.json"


def entries_of_subset(trajectories: Sequence[Trajectory], subset: Subset) -> list[Trajectory]:
    """Return the trajectories of a subset, in the order of the data set.

    Raises DataError if the subset is empty.
    """
    if subset is Subset.MINI:
        ids = frozenset(json.loads(read_text(MINI_FILE)))
        found = [trajectory for trajectory in trajectories if trajectory.id in ids]
    else:
        tier = Tier(subset.value)
        found = [trajectory for trajectory in trajectories if trajectory.tier is tier]
    if not found:
        raise DataError("--subset", f"no selected entry is in the subset {subset}")
    return found
