"""Two nodes on this machine, one of which is lost in the middle of the work."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import json, os, subprocess, sys
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
from functools import partial
from ray.cluster_utils import Cluster as Nodes
from checkers.profile import STRICT
from extensions.ray.cluster import Cluster
from extensions.ray.ray_workers import RayWorkers
from runner.episodes.judging import evaluate
from runner.episodes.offline import run_oracle
from trajectories.dataset import load_embedded
from trajectories.schema import Category

data = load_embedded([Category.BASE])
work = data, [*data.trajectories.values()], STRICT, partial(run_oracle, profile=STRICT)
memory = {"num_cpus": 1, "object_store_memory": 100_000_000}
nodes = Nodes(initialize_head=True, head_node_args=memory)
lost = nodes.add_node(**memory)
nodes.wait_for_nodes()
command = [sys.executable, "-m", "runner.cli", "eval", "--model", "oracle", "--limit", "3"]
beside = subprocess.run([*command, "--engine", "ray", "--workers", "1"], stdout=subprocess.DEVNULL)
found = []
for record in RayWorkers(Cluster(nodes.address)).judge(*work):
    found.append(record)
    if len(found) == 40:
        nodes.remove_node(lost, allow_graceful=False)
here = [each.to_json() for each in evaluate(*work)]
there = [each.to_json() for each in found]
lost = len(here) - len(there)
print(json.dumps({"lost": lost, "equal": json.dumps(there) == json.dumps(here)}))
assert beside.returncode == 0, "a cluster of our own beside a running one"
nodes.shutdown()
"""


def test_a_node_that_is_killed_costs_no_episode():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=300
    )
    assert json.loads(done.stdout.splitlines()[-1]) == {"lost": 0, "equal": True}
