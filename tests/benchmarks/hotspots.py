"""Where the time goes: ``python -m tests.benchmarks.hotspots [--run FOLDER]``.

First what ``turnwise score`` loads before it does anything, then what executing and judging a
recorded run takes, by module and by function; without a run, the ground truth of BFCL's base
category. A profiler slows calls down, so shares say more than seconds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from cProfile import Profile
from pathlib import Path
from pstats import Stats
from time import perf_counter
from typing import Any

from checkers.profile import BFCL
from runner.data import dataset_choice
from runner.episodes.script_playback import make_truth_script
from runner.records import bfcl_result_file
from runner.records.recorded_run import open_run
from runner.show.terminal import table
from tests.benchmarks.measuring import HERE
from tests.judging import run_recorded, run_script
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.schema import Category

ROOT = HERE.parent.parent


def main() -> int:
    """Profile start-up and work, and print three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, help="folder of one recorded run")
    parser.add_argument("--rows", type=int, default=20, help="of every table")
    options = parser.parse_args()
    print(f"loading runner.commands.score, {options.rows} slowest modules")
    print(table([["module", "ms by itself", "with what it loads"], *_imports(options.rows)]))
    profile = Profile()
    start = perf_counter()
    entries = _profiled(profile, options.run)
    seconds = perf_counter() - start
    functions = _functions(profile)
    total = sum(functions.values())
    print(f"\nreading, executing and judging {entries} entries, {seconds:.2f} s under the profiler")
    modules: Counter[str] = Counter()
    for (file, _), taken in functions.items():
        modules[file] += taken
    print(table([["module", "share"], *_shares(modules, total, options.rows)]))
    print()
    named = Counter({f"{file} {name}": taken for (file, name), taken in functions.items()})
    print(table([["function", "share"], *_shares(named, total, options.rows)]))
    return 0


def _imports(rows: int) -> list[list[str]]:
    """Return the modules that take longest to load, in milliseconds."""
    command = [sys.executable, "-X", "importtime", "-c", "import runner.commands.score"]
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(2):  # the first time writes byte code
        done = subprocess.run(
            command, cwd=ROOT, env=kept, capture_output=True, text=True, check=True
        )
    lines = [line.removeprefix("import time:").split("|") for line in done.stderr.splitlines()]
    taken = [
        (int(own), int(all_), name.strip()) for own, all_, name in lines if own.strip().isdigit()
    ]
    slowest = sorted(taken, reverse=True)[:rows]
    return [[name, f"{own / 1000:.1f}", f"{all_ / 1000:.1f}"] for own, all_, name in slowest]


def _profiled(profile: Profile, run: Path | None) -> int:
    """Execute and judge under a profiler; return how many entries that were."""
    if run is None:
        dataset = dataset_choice.open_dataset("bfcl", [Category.BASE], print)
        trajectories = list(dataset.trajectories.values())

        def judged(prepared: PreparedTrajectory) -> object:
            return run_script(prepared, make_truth_script(prepared.trajectory), BFCL)

    else:
        with profile:
            recorded = open_run(*sorted(run.glob("*multi_turn_*_result.json")))
            dataset = dataset_choice.open_dataset(
                "bfcl", bfcl_result_file.categories_of(recorded.ids), print
            )
            trajectories = dataset_choice.list_entries(dataset, recorded)
            entries = recorded.entries()

        def judged(prepared: PreparedTrajectory) -> object:
            entry = entries[prepared.trajectory.id]
            return run_recorded(prepared, entry.turns, entry.mode, BFCL)

    with profile:
        for trajectory in trajectories:
            judged(prepare(dataset, trajectory, BFCL))
    return len(trajectories)


def _functions(profile: Profile) -> dict[tuple[str, str], float]:
    """Return the seconds that every function takes by itself, by file and name."""
    statistics: dict[tuple[str, int, str], Any] = Stats(profile).stats  # type: ignore[attr-defined]
    found: Counter[tuple[str, str]] = Counter()
    for (file, _, name), (_, _, own, *_) in statistics.items():
        found[_short(file), name] += own
    return found


def _short(file: str) -> str:
    if file == "~":
        return "built-in"
    path = Path(file)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else f"Python's {path.name}"


def _shares(taken: Counter[str], total: float, rows: int) -> Iterator[list[str]]:
    for name, seconds in taken.most_common(rows):
        yield [name, f"{100 * seconds / total:.1f}%"]


if __name__ == "__main__":
    sys.exit(main())
