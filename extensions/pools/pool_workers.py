"""Interface between a rollout pool and its workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from runner.rollouts.rollout_env import RolloutEnv

TRIES = 4
"""Maximum number of starts of a job. A job starts again if its worker is killed."""
STARTING = 120.0
"""Additional seconds for a worker to start."""

Method = Callable[..., Any]
"""Method of ``EnvironmentHolder``."""


class WorkerLost(Exception):
    """Error: a worker died, or did not answer in time."""


@runtime_checkable
class PoolWorkers(Protocol):
    """Numbered workers; each holds one ``EnvironmentHolder``."""

    @property
    def size(self) -> int:
        """Number of workers."""
        ...

    def share(self, env: RolloutEnv) -> Any:
        """Return a snapshot of the environment. The snapshot can be sent with ``ask``."""

    def ask(self, number: int, method: Method, *arguments: Any) -> Any:
        """Start a method in a worker, and return a ticket for ``answer``.

        Raises ValueError if an argument cannot be sent.
        """

    def answer(self, number: int, ticket: Any, seconds: float) -> Any:
        """Return the method's result.

        Raises:
            WorkerLost: The worker died, or did not answer in time.
            ValueError: The method failed, or its arguments or result could not be sent.
        """

    def replace(self, number: int) -> None:
        """Kill a worker, and start an empty one with the same number."""

    def close(self) -> None:
        """Kill all workers."""
