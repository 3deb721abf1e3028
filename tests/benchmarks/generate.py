"""Whole live runs beside a bare client and ``bfcl generate``, against a fake server on loopback.

``python -m tests.benchmarks.generate [--bfcl PATH]``: PATH is the command ``bfcl`` of an
environment that has ``bfcl-eval`` with all its dependencies. All ask about the base category by
function calling, one call a step; Turnwise and BFCL log everything. It takes two minutes on a quiet
machine.
"""

from __future__ import annotations

import argparse
import heapq
import json
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from runner.data import dataset_choice
from runner.data.cache import cache_folder
from runner.live.live_run import jobs_of
from runner.records.recorded_run import read_segments
from tests.whole_runs import Timed, bfcl_generate, timed, turnwise_eval
from trajectories.dataset import Dataset
from trajectories.schema import Category


class Setting(NamedTuple):
    """One way to run."""

    latency: int
    """Of the server, in milliseconds."""
    at_once: int
    pairs: int
    most: float | None = None
    """What our wall time may be at most, in those of the bare client; None for not looked at."""
    most_of_schedule: float | None = None
    """What our time of asking may be at most, in that of the longest-first schedule."""


SETTINGS = (
    Setting(50, 64, 5, most=1.2),
    Setting(50, 256, 5, most=1.6),
    Setting(200, 64, 2, most_of_schedule=1.03),
)
MOST_CPU = 0.5
"""Milliseconds a request."""
BFCL_AT_ONCE = 64


class Ours(NamedTuple):
    """A run of ours."""

    whole: Timed
    asking: float
    """Seconds of it from the first request to the last."""


def main() -> int:
    """Measure and print; return 1 where a figure is not what it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bfcl", help="the command bfcl of a full environment")
    options = parser.parse_args()
    data = dataset_choice.open_dataset("bfcl", [Category.BASE], lambda _: None)
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        measuring = Measuring(data, Path(folder))
        for setting in SETTINGS:
            missed += _measured(measuring, setting)
        if options.bfcl:
            _beside_bfcl(measuring, options.bfcl)
    for line in missed:
        print(f"MISSED {line}")
    return 1 if missed else 0


class Measuring:
    """Runs one command after the other.

    Args:
        data: What is asked about.
        folder: For what the commands write.
    """

    def __init__(self, data: Dataset, folder: Path) -> None:
        self.data = data
        self._folder = folder
        self._number = 0

    def ours(self, url: str, at_once: int, *more: str) -> Ours:
        """Run ``turnwise eval``."""
        place = self._new()
        whole = turnwise_eval(url, place, "base", at_once, "--no-preflight", *more)
        return Ours(whole, sum(life.seconds for life in read_segments(place)))

    def bare(self, url: str, at_once: int) -> Timed:
        """Run the bare client."""
        command = [sys.executable, "-m", "tests.benchmarks.bare_client", url]
        return timed([*command, str(cache_folder()), str(at_once)], {})

    def theirs(self, bfcl: str, url: str) -> Timed:
        """Run ``bfcl generate``."""
        return bfcl_generate(bfcl, url, self._new(), [Category.BASE], BFCL_AT_ONCE)

    def _new(self) -> Path:
        self._number += 1
        return self._folder / str(self._number)


def _measured(measuring: Measuring, setting: Setting) -> list[str]:
    """Print what a setting gives; return the figures that miss their targets."""
    latency, at_once = setting.latency, setting.at_once
    with serving(latency) as url:
        little = measuring.ours(url, at_once, "--limit", "1")
        before = asked(url)
        pairs = [
            (measuring.ours(url, at_once), measuring.bare(url, at_once))
            for _ in range(setting.pairs)
        ]
        requests = (asked(url) - before) // (2 * setting.pairs)
    steps = [job.expected_requests for job in jobs_of([*measuring.data.trajectories.values()], 1)]
    ideal = schedule(steps, at_once) * latency / 1000
    figures = [
        Figure(
            "wall, in the bare client's", [a.whole.wall / b.wall for a, b in pairs], setting.most
        ),
        Figure(
            "asking, in the schedule's",
            [a.asking / ideal for a, _ in pairs],
            setting.most_of_schedule,
        ),
        Figure(
            "CPU a request, ms",
            [1000 * (a.whole.cpu - little.whole.cpu) / requests for a, _ in pairs],
            MOST_CPU,
        ),
        Figure(
            "CPU a request of the bare client, with its start, ms",
            [1000 * b.cpu / requests for _, b in pairs],
            None,
        ),
    ]
    print(
        f"{latency} ms, {at_once} at once, {requests} requests, {setting.pairs} pairs\n"
        f"  turnwise eval {median(a.whole.wall for a, _ in pairs):.2f} s, of which "
        f"{median(a.asking for a, _ in pairs):.2f} s asking; "
        f"bare client {median(b.wall for _, b in pairs):.2f} s; "
        f"longest-first schedule {ideal:.2f} s"
    )
    for figure in figures:
        print(f"  {figure}")
    return [f"{latency} ms, {at_once} at once: {each}" for each in figures if each.is_missed]


class Figure(NamedTuple):
    """What was measured several times, and what it may be at most."""

    name: str
    values: Sequence[float]
    most: float | None

    @property
    def is_missed(self) -> bool:
        """Whether the median is more than it may be."""
        return self.most is not None and median(self.values) > self.most

    def __str__(self) -> str:
        """Return it as a line."""
        target = "" if self.most is None else f", at most {self.most:g}"
        span = f"{min(self.values):.2f} to {max(self.values):.2f}"
        return f"{self.name}: {median(self.values):.2f} ({span}){target}"


def _beside_bfcl(measuring: Measuring, bfcl: str) -> None:
    latency = SETTINGS[0].latency
    with serving(latency) as url:
        theirs, ours = measuring.theirs(bfcl, url), measuring.ours(url, BFCL_AT_ONCE).whole
    print(
        f"{latency} ms, {BFCL_AT_ONCE} at once: bfcl generate {theirs.wall:.2f} s, "
        f"{theirs.wall / ours.wall:.1f} times as long; {theirs.cpu:.2f} s of CPU, "
        f"{theirs.cpu / ours.cpu:.1f} times as much"
    )


def schedule(lengths: Sequence[int], at_once: int) -> int:
    """Return how long jobs take of which some are done at once, each taken as one is free."""
    free = [0] * at_once
    for length in lengths:
        heapq.heapreplace(free, free[0] + length)
    return max(free)


@contextmanager
def serving(latency: int) -> Iterator[str]:
    """Serve in a process of its own, and give the address."""
    command = [sys.executable, "-m", "tests.servers.openai_fake", "--truth", "bfcl"]
    command += ["--category", "base", "--calls-per-step", "1", "--latency", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().split()[-1]
        finally:
            server.terminate()


def asked(url: str) -> int:
    """Return how many requests a server got."""
    with urllib.request.urlopen(f"{url}/stats") as answer:
        return int(json.load(answer)["requests"])


if __name__ == "__main__":
    sys.exit(main())
