"""World of a base scenario: generated items in addition to the handwritten items.

The builder puts the generated items into the initial config. Handwritten items keep their ids and
remain the newest items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from envs.errors import DataError
from envs.registry import check_config
from extensions.authoring.making.avoided_words import find_meant_words
from trajectories.long_context_generator import fill_config
from trajectories.schema import Trajectory
from trajectories.vocabulary import ItemSettings, load_phrases


def surround(base: Trajectory, seed: int, items: int, said: Sequence[str]) -> Trajectory:
    """Add generated items of each kind to the config of a base trajectory.

    Raises DataError if the config is invalid.
    """
    for error in check_config(base.environments, base.config):
        raise DataError(base.id, f"config: {error}")
    world, _ = load_phrases()
    bulk = ItemSettings(seed, items, find_meant_words(base, said, world), lengthens=False)
    return replace(base, config=fill_config(base.environments, base.config, bulk, world))


def sizes(config: Mapping[str, Any]) -> dict[str, int]:
    """Map the name of each list or object in a config to the number of its items (or files)."""
    found = {
        name: _count_items(member)
        for name, member in config.items()
        if isinstance(member, (list, Mapping))
    }
    if "root" in found:
        found["root"] = sum(map(_count_files, config["root"].values()))
    return found


def _count_items(member: Sequence[Any] | Mapping[str, Any]) -> int:
    if isinstance(member, Mapping) and all(isinstance(each, list) for each in member.values()):
        return sum(map(len, member.values()))
    return len(member)


def _count_files(node: Mapping[str, Any]) -> int:
    if node["type"] != "directory":
        return 1
    return sum(map(_count_files, node["contents"].values()))
