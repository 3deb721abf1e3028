"""Trajectories as environments and tasks of other libraries, each in a module of its own.

What they share is here: data and profile by name, and a trajectory of them as an environment.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from checkers.profile import Mode, Profile
from runner.data.choose import load_dataset, profile_for
from runner.rollouts.env import RewardName, RolloutEnv
from trajectories.dataset import Dataset
from trajectories.errors import DataError


@contextmanager
def extra() -> Iterator[None]:
    """Import the other library.

    Raises:
        DataError: It is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        message = "is not installed: pip install 'turnwise[adapters]'"
        raise DataError(error.name or "an adapter", message) from None


class Suite(NamedTuple):
    """Trajectories and how they are executed and judged."""

    dataset: Dataset
    profile: Profile

    def env(self, id: str, reward: RewardName = "verdict", mode: Mode = "fc") -> RolloutEnv:
        """Return a trajectory as an environment, at its beginning."""
        trajectory = self.dataset.trajectories[id]
        return RolloutEnv(trajectory, self.profile, dataset=self.dataset, reward=reward, mode=mode)


@cache
def suite(
    dataset: str | None = None, category: str | None = None, profile: str | None = None
) -> Suite:
    """Load a suite, by the names that the options of ``turnwise eval`` take.

    Args:
        dataset: ``bfcl``, ``bfcl:FOLDER`` or a file; by default the data set that comes along.
        category: Categories separated by commas; by default the multi-turn ones.
        profile: By default that of BFCL for its data, else the strict one.

    Raises:
        DataError: There is nothing of such a name.
    """
    loaded = load_dataset(dataset, categories=category)
    return Suite(loaded, profile_for(loaded, profile))
