"""The Ray cluster: the user's, or one on this machine that is gone afterwards."""

from __future__ import annotations

import os
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from math import ceil
from secrets import token_hex
from typing import Any, NamedTuple

from trajectories.errors import DataError

LOCAL_WORKERS = 2
TRIES = 4
"""How often a job is done when the processes that do it are killed."""

_OBJECT_STORE = 100_000_000
"""Bytes of shared memory of a local cluster; what goes through it is small."""
_PATIENCE = 10.0
"""Seconds."""
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


class Fleet:
    """Actors that do items; one that is killed is started anew, and what it had is done again.

    Args:
        kind: Class of the actors; its method ``do`` takes references to what they need, and an
            item.
        size: How many there are.
        needs: What they need for any item; it is sent once.
        at_once: How many items they have at a time, all together; by default one each.
    """

    def __init__(
        self, kind: Callable[..., Any], size: int, *needs: Any, at_once: int | None = None
    ) -> None:
        places = at_once or size
        self._ray = library()
        # Kept here, and no arguments of the actors, which Ray might not have for one started anew.
        self._needs = [self._ray.put(value) for value in needs]
        remote = self._ray.remote(kind).options(
            max_restarts=-1,
            max_task_retries=TRIES - 1,
            max_concurrency=ceil(places / size),
            num_cpus=1,
            scheduling_strategy="SPREAD",
        )
        actors = [remote.remote() for _ in range(size)]
        self._free = deque(islice(cycle(actors), places))

    def results(self, items: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the numbers of items with references to their results, as these come.

        Args:
            items: Taken one by one, when an actor is free.
        """
        queue = enumerate(items)
        waiting: dict[Any, tuple[int, Any]] = {}
        while True:
            for number, item in islice(queue, len(self._free)):
                actor = self._free.popleft()
                waiting[actor.do.remote(self._needs, item)] = (number, actor)
            if not waiting:
                return
            (ready,), _ = self._ray.wait([*waiting], num_returns=1)
            number, actor = waiting.pop(ready)
            self._free.append(actor)
            yield number, ready


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
