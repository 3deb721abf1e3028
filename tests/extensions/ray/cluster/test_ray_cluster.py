from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest
import ray

from envs.errors import DataError
from extensions.ray.cluster import ActorPool, Cluster, connected

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")


class Adder:
    """Adds what all need to an item."""

    def do(self, needs, item):
        """Return the sum."""
        return item + sum(ray.get(needs))


@pytest.mark.parametrize("at_once", [None, 1, 5])
def test_all_items_are_done(cluster, at_once):
    fleet = ActorPool(Adder, 2, 10, 20, at_once=at_once)
    found = {number: ray.get(result) for number, result in fleet.results(range(20))}
    assert found == {number: number + 30 for number in range(20)}


def test_one_at_a_time_is_one_after_the_other_however_many_there_are(cluster):
    fleet = ActorPool(Adder, 2, at_once=1)
    taken = []
    for number, _ in fleet.results(item for item in range(10) if taken.append(item) is None):
        assert taken == list(range(number + 1))


def test_there_may_be_nothing_to_do(cluster):
    assert list(ActorPool(Adder, 1).results([])) == []


def test_more_workers_than_processors_would_wait_for_ever(cluster):
    with (
        pytest.raises(DataError, match="--workers: the cluster has 2 processors, but 3 are needed"),
        connected(Cluster(workers=3)),
    ):
        pass


def test_nobody_listens_at_the_address(cluster, monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{listening.getsockname()[1]}"
    with (
        pytest.raises(DataError, match=f"--address: cannot connect to '{address}'"),
        connected(Cluster(address)),
    ):
        pass


STRANGER = """
import ray, sys
ray.init(address=sys.argv[1], log_to_driver=False)
print("in")
"""
OWNER = """
import os, subprocess, sys
from extensions.ray.cluster import Cluster, connected

with connected(Cluster(workers=1)):
    import ray
    address = ray.get_runtime_context().gcs_address
    known = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    for environment in (known, dict(os.environ)):
        command = [sys.executable, "-c", sys.argv[1], address]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        print(done.stdout.strip() or "out")
"""


def test_a_cluster_of_ours_is_closed_to_who_has_not_its_token():
    names = {n: v for n, v in os.environ.items() if not n.startswith("RAY_AUTH")}
    command = [sys.executable, "-c", OWNER, STRANGER]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=names)
    assert done.stdout.split() == ["out", "in"]
