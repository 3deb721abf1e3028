"""The world of a base scenario: generated items around those that are written by hand.

They are put into the initial config when the data is built, so that everybody can see them. What is
written by hand stays as it is, keeps its ids and its place as the latest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from envs.errors import MalformedCall
from envs.initial_configs import check_config
from trajectories.errors import DataError
from trajectories.filling.bulk import Bulk
from trajectories.making.meant import meant
from trajectories.making.phrases import WORLD
from trajectories.packs import filled
from trajectories.scene import truth_calls
from trajectories.schema import Trajectory


def surrounded(base: Trajectory, seed: int, items: int, said: Sequence[str]) -> Trajectory:
    """Return a base trajectory with so many items of each kind around those of its config.

    Args:
        base: With what is written by hand alone.
        seed: The same seed, size and words give the same items.
        items: How many of each kind.
        said: What else the user says in variants of it.

    Raises:
        DataError: The config has a defect, or a ground-truth call cannot be read.
    """
    for defect in check_config(base.environments, base.config):
        raise DataError(base.id, f"config: {defect}")
    for index, turn in enumerate(base.turns):
        for call in truth_calls(turn):
            if isinstance(call, MalformedCall):
                raise DataError(base.id, f"turns[{index}].ground_truth: {call}")
    bulk = Bulk(seed, items, meant(base, said, WORLD), lengthens=False)
    return replace(base, config=filled(base.environments, base.config, bulk, WORLD))


def sizes(value: Mapping[str, Any]) -> dict[str, int]:
    """Return how many members each list and mapping of a backend's state has."""
    return {name: len(member) for name, member in value.items() if isinstance(member, (list, dict))}
