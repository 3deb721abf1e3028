"""Our checker over the same recorded runs, timed in the same way."""

import json
import sys
import time
from pathlib import Path

import envs.schema  # noqa: F401 - loaded on demand otherwise, and start-up is not timed
from checkers.profile import BFCL
from runner.evaluate import run_recorded
from runner.prepare import prepare
from trajectories.dataset import load_bfcl
from trajectories.schema import Category


def main():
    """Check all entries, in one pass."""
    entries = [json.loads(line) for line in sys.stdin]
    dataset = load_bfcl(Path(sys.argv[1]), list(Category))
    for trajectory in dataset.trajectories.values():
        dataset.pack(trajectory)
    valid = 0
    start = time.perf_counter()
    for entry in entries:
        prepared = prepare(dataset, dataset.trajectories[entry["entry"]["id"]], BFCL)
        valid += run_recorded(prepared, entry["turns"], "fc", BFCL).valid
    print(json.dumps({"seconds": time.perf_counter() - start, "valid": valid}))


if __name__ == "__main__":
    main()
