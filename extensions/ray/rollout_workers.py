"""Actors of a Ray cluster as workers of a rollout pool."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from extensions.pools.environment_holder import EnvironmentHolder
from extensions.pools.pool_workers import Method, WorkerLost
from extensions.ray.cluster import Cluster, connected, library
from runner.rollouts.rollout_env import RolloutEnv


class ClusterWorkers:
    """Workers of a cluster, for ``RolloutPool(ClusterWorkers(cluster))``.

    Raises DataError if the cluster cannot be used.

    Args:
        cluster: Cluster to connect to, unless the program is already connected.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._opened = ExitStack()
        self.size = self._opened.enter_context(connected(cluster))
        self._ray = library()
        self._actors = [self._new_actor() for _ in range(self.size)]

    def share(self, env: RolloutEnv) -> Any:
        """Put an environment into the cluster's object store."""
        return self._ray.put(env)

    def ask(self, number: int, method: Method, *arguments: Any) -> Any:
        """Start a method of an actor."""
        return getattr(self._actors[number], method.__name__).remote(*arguments)

    def answer(self, number: int, ticket: Any, seconds: float) -> Any:
        """Return the result of an actor's method. Raises WorkerLost."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(ticket, timeout=seconds)
        except (errors.RayActorError, errors.GetTimeoutError):
            raise WorkerLost from None

    def replace(self, number: int) -> None:
        """Kill an actor, and start another one."""
        self._ray.kill(self._actors[number])
        self._actors[number] = self._new_actor()

    def close(self) -> None:
        """Kill all actors, and leave the cluster."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._opened.close()

    def _new_actor(self) -> Any:
        return self._ray.remote(EnvironmentHolder).options(scheduling_strategy="SPREAD").remote()
