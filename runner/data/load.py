"""Data and profiles by the names that the command line has for them, for those who import us."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from checkers.profile import BFCL, PROFILES, STRICT, Profile
from envs.lazy import lazily
from runner.data import choose
from trajectories.dataset import Dataset
from trajectories.errors import DataError

if TYPE_CHECKING:
    import logging
else:
    logging = lazily("logging")


def load_dataset(
    name: str | Path | Dataset | None = None, *, categories: str | Sequence[str] | None = None
) -> Dataset:
    """Load a data set.

    >>> import turnwise
    >>> turnwise.load_dataset(categories="base")
    Dataset(turnwise 2: 108 trajectories, ...)

    Args:
        name: A file or folder of trajectories, ``bfcl``, ``bfcl:FOLDER``, or None for the data set
            that comes with turnwise. One that is loaded is taken as it is.
        categories: Names of categories or suites, such as ``base`` or ``single_turn``; by default
            all that a file holds, and the multi-turn ones of a data set.

    Raises:
        DataError: There is nothing of such a name.
    """
    if isinstance(name, Dataset):
        return name
    if categories is not None and not isinstance(categories, str):
        categories = ",".join(categories)
    named = None if name is None else str(name)
    return choose.dataset(named, choose.categories(categories, named), _warn)


def _warn(line: str) -> None:
    logging.getLogger(__name__).warning(line)


def profile_for(data: Dataset, name: str | None = None) -> Profile:
    """Return the profile of a name, or the one that suits the data: BFCL's its own, else strict.

    Raises:
        DataError: There is none of that name.
    """
    if name is not None and name not in PROFILES:
        raise DataError("profile", f"{name!r} is none of {', '.join(PROFILES)}")
    return PROFILES[name] if name else BFCL if data.folder else STRICT
