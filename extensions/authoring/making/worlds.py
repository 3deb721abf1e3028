"""The world of a base scenario: generated items around those that are written by hand.

They are put into the initial config when the data is built, so that everybody can see them. What is
written by hand stays as it is, keeps its ids and its place as the latest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from envs.registry import check_config
from extensions.authoring.making.meant import meant
from extensions.authoring.making.phrases import WORLD
from trajectories.errors import DataError
from trajectories.filling.bulk import Bulk
from trajectories.packs import filled
from trajectories.schema import Trajectory


def surrounded(base: Trajectory, seed: int, items: int, said: Sequence[str]) -> Trajectory:
    """Return a base trajectory with so many items of each kind around those of its config.

    Raises:
        DataError: The config has a defect.
    """
    for defect in check_config(base.environments, base.config):
        raise DataError(base.id, f"config: {defect}")
    bulk = Bulk(seed, items, meant(base, said, WORLD), lengthens=False)
    return replace(base, config=filled(base.environments, base.config, bulk, WORLD))


def sizes(config: Mapping[str, Any]) -> dict[str, int]:
    """Return how many items each member of a backend's config holds; of folders, files."""
    found = {
        name: _items(member)
        for name, member in config.items()
        if isinstance(member, (list, Mapping))
    }
    if "root" in found:
        found["root"] = sum([_files(node) for node in config["root"].values()])
    return found


def _items(member: Sequence[Any] | Mapping[str, Any]) -> int:
    """Return how many items a list or mapping has, or all lists in a mapping."""
    if isinstance(member, Mapping) and all(isinstance(each, list) for each in member.values()):
        return sum(map(len, member.values()))
    return len(member)


def _files(node: Mapping[str, Any]) -> int:
    """Return how many files a node of a file system is, or has below it."""
    if node["type"] != "directory":
        return 1
    return sum([_files(each) for each in node["contents"].values()])
