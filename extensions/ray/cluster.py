"""Connection to a Ray cluster: the user's cluster or a temporary local cluster."""

from __future__ import annotations

import os
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import ceil
from secrets import token_hex
from time import monotonic
from typing import Any, NamedTuple

from envs.errors import DataError
from extensions.pools.pool_workers import STARTING, TRIES

LOCAL_WORKERS = 2
_OBJECT_STORE = 100_000_000
"""Shared memory of a local cluster in bytes."""
_PATIENCE = 10.0
"""Timeout of the connection check in seconds."""
_PULSE = 5.0
"""Maximum seconds between two liveness checks of an actor."""
# Disable usage statistics and warnings about accelerators.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


class Cluster(NamedTuple):
    """Address and worker count of a cluster."""

    address: str | None = None
    """Address for ``ray.init``, or None for a temporary local cluster."""
    workers: int | None = None
    """Number of workers. None means one per processor of the user's cluster, or two on a local
    cluster."""


@contextmanager
def connected(cluster: Cluster) -> Iterator[int]:
    """Connect to a cluster, or reuse a connection, and yield the number of workers.

    Raises DataError if Ray is not installed, or the cluster does not answer or is too small.
    """
    ray = library(cluster.address)
    if ray.is_initialized():
        yield _size(ray, cluster)
        return
    _connect(ray, cluster)
    try:
        yield _size(ray, cluster)
    finally:
        ray.shutdown()


def library(address: str | None = "") -> Any:
    """Import the package ray. ``address`` is None for a local cluster.

    Raises DataError if Ray is not installed.
    """
    if address is None and "ray" not in sys.modules:
        # A local cluster listens on the network, so it requires a token. Ray reads these variables
        # on import; a program that has imported Ray keeps its own settings.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", token_hex(32))
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ModuleNotFoundError:
        message = "needs the package ray: pip install 'turnwise[ray]'"
        raise DataError("--engine ray", message) from None
    return ray


class NoResult(NamedTuple):
    """Placeholder for the result of an item whose actors died or stalled."""

    why: str


@dataclass
class _Item:
    """Item to process; ``losses`` is the number of lost actors."""

    number: int
    value: Any
    losses: int = 0


@dataclass(eq=False)
class _Actor:
    """An actor with its state."""

    handle: Any
    has: int = 0
    """Number of current items."""
    alone: bool = False
    """Whether the actor is reserved for lost items."""
    begun: bool = False
    stalled: bool = False
    asked: tuple[Any, float] | None = None
    """Liveness check that has no answer yet, and its start time."""


class ActorPool:
    """Pool of actors that process items; a new actor replaces an actor that dies or stalls.

    The pool retries the items of a lost actor. If an item is lost twice, the item then runs alone
    in an actor.

    Args:
        kind: Class of the actors; its method ``do`` takes references to the shared values and an
            item. With ``patience``, its method ``alive`` answers unless the actor is stalled.
        needs: Shared values, sent once.
        at_once: Total number of concurrent items (default: one per actor).
        patience: Timeout of the liveness check in seconds; None disables it.
    """

    def __init__(
        self,
        kind: Callable[..., Any],
        size: int,
        *needs: Any,
        at_once: int | None = None,
        patience: float | None = None,
    ) -> None:
        self._ray = library()
        # Not constructor arguments: Ray may have dropped these before an actor is replaced.
        self._needs = [self._ray.put(value) for value in needs]
        self._places = at_once or size
        self._patience = patience
        # One slot more than items, for the liveness check.
        most = ceil(self._places / size) + (patience is not None)
        self._kind = partial(
            self._ray.remote(kind).options, max_concurrency=most, scheduling_strategy="SPREAD"
        )
        self._actors = [self._actor(processors=1) for _ in range(size)]
        self._at: dict[Any, tuple[_Item, _Actor]] = {}
        """Maps each result reference to the item and to the actor that processes the item."""
        self._again: deque[_Item] = deque()
        self._alone: deque[_Item] = deque()

    def results(self, items: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the number of each completed item, and the reference of its result.

        If the pool gave up on an item, yield ``NoResult`` in place of the reference. The pool takes
        the next item from ``items`` only when an actor is free.
        """
        queue = (_Item(number, value) for number, value in enumerate(items))
        while True:
            self._hand_out(queue)
            if not self._at:
                return
            pulse = self._patience and min(self._patience / 4, _PULSE)
            ready, _ = self._ray.wait([*self._at], num_returns=1, timeout=pulse)
            for result in ready:
                item, actor = self._at.pop(result)
                actor.has -= 1
                if not self._is_lost(result):
                    yield item.number, result
                elif (lost := self._lose(item, actor)) is not None:
                    yield item.number, lost
            if self._patience is not None:
                self._end_stalled(self._patience)

    def _hand_out(self, queue: Iterator[_Item]) -> None:
        while (free := self._free()) and (item := self._next(queue)):
            self._give(item, free)
        if self._alone and not any(actor.alone and actor.has for actor in self._actors):
            kept = [actor for actor in self._actors if actor.alone]
            if not kept:
                kept = [self._actor(alone=True)]
                self._actors += kept
            self._give(self._alone.popleft(), kept[0])

    def _next(self, queue: Iterator[_Item]) -> _Item | None:
        return self._again.popleft() if self._again else next(queue, None)

    def _free(self) -> _Actor | None:
        """Return the actor with the fewest items, or None if no actor can take another item."""
        shared = [actor for actor in self._actors if not actor.alone]
        if sum(actor.has for actor in shared) >= self._places:
            return None
        return min(shared, key=lambda actor: actor.has)

    def _give(self, item: _Item, actor: _Actor) -> None:
        actor.has += 1
        self._at[actor.handle.do.remote(self._needs, item.value)] = item, actor

    def _actor(self, *, alone: bool = False, processors: int = 0) -> _Actor:
        # A later actor starts even if all processors are in use, or lost with their node.
        actor = _Actor(self._kind(num_cpus=processors).remote(), alone=alone)
        if self._patience is not None:
            # The first liveness check is answered once the actor has started.
            actor.asked = actor.handle.alive.remote(), monotonic()
        return actor

    def _is_lost(self, result: Any) -> bool:
        try:
            self._ray.get(result)
        except self._ray.exceptions.RayActorError:
            return True
        except Exception:  # handled by the consumer of the result
            return False
        return False

    def _lose(self, item: _Item, actor: _Actor) -> NoResult | None:
        """Replace a lost actor and retry the item; after too many losses, return an error."""
        if actor in self._actors:
            self._ray.kill(actor.handle)
            self._actors.remove(actor)
            self._actors += [] if actor.alone else [self._actor()]
        item.losses += 1
        if actor.alone and actor.stalled:
            return NoResult(f"did not respond for {self._patience:g} seconds (--entry-timeout)")
        if item.losses == TRIES:
            return NoResult(f"was killed {TRIES} times")
        is_first = item.losses == 1 and not actor.stalled
        (self._again if is_first else self._alone).append(item)
        return None

    def _end_stalled(self, patience: float) -> None:
        now = monotonic()
        for actor in [actor for actor in self._actors if actor.has and not actor.stalled]:
            if actor.asked is None:
                actor.asked = actor.handle.alive.remote(), now
            elif self._ray.wait([actor.asked[0]], timeout=0)[0]:
                actor.asked, actor.begun = None, True
            elif now - actor.asked[1] > (patience if actor.begun else patience + STARTING):
                actor.stalled = True
                self._ray.kill(actor.handle)


def _connect(ray: Any, cluster: Cluster) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if cluster.address is None:
        own = {"num_cpus": cluster.workers or LOCAL_WORKERS, "object_store_memory": _OBJECT_STORE}
        # Not a cluster that happens to run on this machine.
        ray.init("local", include_dashboard=False, **own, **quiet)
        return
    _knock(cluster.address)
    try:
        ray.init(address=cluster.address, **quiet)
    except (ConnectionError, RuntimeError, ValueError):
        raise DataError("--address", f"no Ray cluster found at {cluster.address!r}") from None


def _knock(address: str) -> None:
    """Check that the port is open, because Ray itself would retry for many minutes.

    Raises DataError if the port is not reachable.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and port.isdecimal()):
        return
    try:
        socket.create_connection((host, int(port)), _PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise DataError("--address", f"cannot connect to {address!r}: {error}") from None


def _size(ray: Any, cluster: Cluster) -> int:
    """Return the number of workers.

    Raises DataError if the cluster has too few processors, because workers would wait forever.
    """
    there = int(ray.cluster_resources().get("CPU", 0))
    wanted = cluster.workers or there
    if not 0 < wanted <= there:
        raise DataError(
            "--workers", f"the cluster has {there} processors, but {max(wanted, 1)} are needed"
        )
    return wanted
