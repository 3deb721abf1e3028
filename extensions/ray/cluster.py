"""The Ray cluster: the user's, or one on this machine that is gone afterwards."""

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

from trajectories.errors import DataError

LOCAL_WORKERS = 2
TRIES = 4
"""How often a job is done when the processes that do it are killed."""

_OBJECT_STORE = 100_000_000
"""Bytes of shared memory of a local cluster; what goes through it is small."""
_PATIENCE = 10.0
"""Seconds."""
_PULSE = 5.0
"""Seconds after which is looked whether an actor answers."""
STARTING = 120.0
"""Seconds in which an actor has to begin, besides."""
# No usage statistics leave the machine; and no remark on accelerators that nobody asked for.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


class Cluster(NamedTuple):
    """Where to work, and with how many processes."""

    address: str | None = None
    """As ``ray.init`` takes it; None for a cluster on this machine, for the time being."""
    workers: int | None = None
    """None for one per processor of the user's cluster, and for two on this machine."""


@contextmanager
def connected(cluster: Cluster) -> Iterator[int]:
    """Connect to a cluster; a program that is connected already stays so.

    Yields:
        The number of workers.

    Raises:
        DataError: Ray is not installed, the cluster does not answer, or is too small.
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
    """Return the package ray.

    Args:
        address: Of the cluster that is to be connected; None for one that is to be started here.

    Raises:
        DataError: It is not installed.
    """
    if address is None and "ray" not in sys.modules:
        # Ours listens to all the network, and without the word does nothing for anybody. Ray reads
        # this when it is loaded; a program that has loaded it before has decided for itself.
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
    """Stands for the result of an item that no actor has lived to give."""

    why: str


@dataclass
class _Item:
    """An item, and how many actors were lost that had it."""

    number: int
    value: Any
    losses: int = 0


@dataclass(eq=False)
class _Actor:
    """An actor, and what is known of it."""

    handle: Any
    has: int = 0
    """Items."""
    alone: bool = False
    """Whether it is for items that others were lost with, one at a time."""
    begun: bool = False
    stalled: bool = False
    asked: tuple[Any, float] | None = None
    """The question whether it is alive, and since when it is open."""


class Fleet:
    """Actors that do items; in the place of one that dies or stalls comes another.

    What one had that is lost is done again; the second time by an actor that has nothing else. So
    an item that kills or stalls whoever does it costs no other item its result.

    Args:
        kind: Class of the actors; its method ``do`` takes references to what they need, and an
            item. With ``patience``, its method ``alive`` answers unless it is stalled.
        size: How many there are.
        needs: What they need for any item; it is sent once.
        at_once: How many items they have at a time, all together; by default one each.
        patience: Seconds within which one has to answer; None where they see to it themselves.
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
        # Kept here, and no arguments of the actors, which Ray might not have for another one.
        self._needs = [self._ray.put(value) for value in needs]
        self._places = at_once or size
        self._patience = patience
        # One more than items, for the question whether it is alive.
        most = ceil(self._places / size) + (patience is not None)
        self._kind = partial(
            self._ray.remote(kind).options, max_concurrency=most, scheduling_strategy="SPREAD"
        )
        self._actors = [self._actor() for _ in range(size)]
        self._at: dict[Any, tuple[_Item, _Actor]] = {}
        """Items by the references to their results, and who has them."""
        self._again: deque[_Item] = deque()
        self._alone: deque[_Item] = deque()

    def results(self, items: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the numbers of items with references to results, or ``NoResult``, as these come.

        Items are taken one by one, when an actor is free.
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
        """Return the actor that has the fewest items, if it may have one more."""
        shared = [actor for actor in self._actors if not actor.alone]
        if sum(actor.has for actor in shared) >= self._places:
            return None
        return min(shared, key=lambda actor: actor.has)

    def _give(self, item: _Item, actor: _Actor) -> None:
        actor.has += 1
        self._at[actor.handle.do.remote(self._needs, item.value)] = item, actor

    def _actor(self, *, alone: bool = False) -> _Actor:
        # The one more comes when all processors may be taken.
        actor = _Actor(self._kind(num_cpus=0 if alone else 1).remote(), alone=alone)
        if self._patience is not None:
            # What it is asked before it has items it answers when it has begun.
            actor.asked = actor.handle.alive.remote(), monotonic()
        return actor

    def _is_lost(self, result: Any) -> bool:
        try:
            self._ray.get(result)
        except self._ray.exceptions.RayActorError:
            return True
        except Exception:  # is for who looks at the result
            return False
        return False

    def _lose(self, item: _Item, actor: _Actor) -> NoResult | None:
        """Do without an actor; have its item done again, or return why it is given up."""
        if actor in self._actors:
            self._ray.kill(actor.handle)
            self._actors.remove(actor)
            self._actors += [] if actor.alone else [self._actor()]
        item.losses += 1
        if actor.alone and actor.stalled:
            return NoResult(f"gave no sign for {self._patience:g} seconds (--entry-timeout)")
        if item.losses == TRIES:
            return NoResult(f"was killed {TRIES} times")
        is_first = item.losses == 1 and not actor.stalled
        (self._again if is_first else self._alone).append(item)
        return None

    def _end_stalled(self, patience: float) -> None:
        """Ask those who have items whether they are alive; end who does not answer."""
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
        ray.init(include_dashboard=False, **own, **quiet)
        return
    _knock(cluster.address)
    try:
        ray.init(address=cluster.address, **quiet)
    except (ConnectionError, RuntimeError, ValueError):
        raise DataError("--address", f"there is no Ray cluster at {cluster.address!r}") from None


def _knock(address: str) -> None:
    """See that somebody listens; Ray itself would try for many minutes.

    Raises:
        DataError: Nobody does.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and port.isdecimal()):
        return
    try:
        socket.create_connection((host, int(port)), _PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise DataError("--address", f"nobody answers at {address!r}: {error}") from None


def _size(ray: Any, cluster: Cluster) -> int:
    """Return how many workers there are to be.

    Raises:
        DataError: The cluster is smaller; the rest would wait for ever.
    """
    there = int(ray.cluster_resources().get("CPU", 0))
    wanted = cluster.workers or there
    if not 0 < wanted <= there:
        raise DataError("--workers", f"the cluster has {there} processors, not {max(wanted, 1)}")
    return wanted
