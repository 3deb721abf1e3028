"""Suite for the adapters: a data set, and the profile that judges its entries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from checkers.profile import Mode, Profile
from envs.errors import DataError, require_type
from runner.data import dataset_choice
from runner.data.dataset_choice import choose_profile, load_dataset
from runner.rollouts.rollout_env import RewardName, RolloutEnv
from trajectories.dataset import Dataset


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Return a context manager for importing an optional library.

    Raises DataError if the library is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        message = f"is not installed: pip install 'turnwise[{name}]'"
        raise DataError(error.name or "an adapter", message) from None


class Suite(NamedTuple):
    """A data set with the profile that judges its entries."""

    dataset: Dataset
    profile: Profile

    def env(self, id: str, reward: RewardName = "verdict", mode: Mode = "fc") -> RolloutEnv:
        """Return an environment of an entry. Raises DataError if the entry does not exist."""
        trajectory = dataset_choice.get_entry(self.dataset, str(id))
        return RolloutEnv(trajectory, self.profile, dataset=self.dataset, reward=reward, mode=mode)


def suite(
    dataset: str | None = None, category: str | None = None, profile: str | None = None
) -> Suite:
    """Load a suite; the parameters take the same values as the options of ``turnwise eval``.

    Calls with equal arguments return the same suite object. Raises DataError if a name is unknown.

    Args:
        dataset: ``bfcl``, ``bfcl:FOLDER`` or a file (default: built-in data set).
        category: Comma-separated categories (default: multi-turn).
        profile: Profile (default: BFCL's for its data, else strict).
    """
    for name, value in {"dataset": dataset, "category": category, "profile": profile}.items():
        require_type(name, value, str, None, described="a string or None")
    return _load(dataset, category, profile)


@cache
def _load(dataset: str | None, category: str | None, profile: str | None) -> Suite:
    loaded = load_dataset(dataset, categories=category)
    return Suite(loaded, choose_profile(loaded, profile))
