"""A pool of environments on a real cluster steps like the environments themselves."""

from __future__ import annotations

import pytest

from extensions.pools.rollout_pool import RolloutPool
from extensions.ray.rollout_workers import ClusterWorkers
from tests.extensions.pools.pool_behaviour import PoolBehaviour

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")


@pytest.fixture
def new_pool(cluster):
    """Return a function that makes a pool."""
    return lambda **how: RolloutPool(ClusterWorkers(cluster), **how)


@pytest.fixture
def pool(new_pool):
    """Return a pool with nothing in it."""
    with new_pool() as pool:
        yield pool


@pytest.fixture
def kill(pool):
    """Return a function that kills one of a pool's processes."""
    workers = pool._workers
    return lambda number: workers._ray.kill(workers._actors[number], no_restart=True)


class TestPoolOnACluster(PoolBehaviour):
    """The tests of all pools, with actors."""
