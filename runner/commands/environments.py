"""From what the user typed to environments."""

from __future__ import annotations

from collections.abc import Sequence

from envs import registry
from envs.backend import Backend
from envs.errors import ConfigError
from trajectories.errors import DataError


def environments(names: Sequence[str]) -> list[type[Backend]]:
    """Return the backends of some names, or all there are if no name is given.

    Raises:
        DataError: There is none of a name, or it cannot be used.
    """
    try:
        return [registry.backend_class(name) for name in names or registry.names()]
    except ConfigError as error:
        problem = error.problems[0]
        raise DataError(problem.path.removeprefix("$."), problem.message) from None
