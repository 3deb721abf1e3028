"""Whole live runs beside ``bfcl generate``, both against one fake server on loopback.

``python -m tests.benchmarks.generate --bfcl PATH``: PATH is the command ``bfcl`` of an environment
that has ``bfcl-eval`` with all its dependencies, and ``soundfile``. Both sides run the base
category by function calling, one call a step, and log everything.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

BFCL_MODEL = "openbmb/MiniCPM-SALA-FC"
"""One that BFCL reaches through its handler for OpenAI-compatible chat completions."""


class Timed(NamedTuple):
    """What one command took."""

    wall: float
    cpu: float
    said: str


def main() -> int:
    """Time both commands in turn and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bfcl", required=True, help="the command bfcl of a full environment")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--latency", type=int, default=50, help="of the server, in milliseconds")
    parser.add_argument("--concurrency", type=int, default=256)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server, url = _serve(options.latency)
        try:
            pairs = [
                (
                    _bfcl(options, url, Path(folder, f"b{n}")),
                    _ours(options, url, Path(folder, f"o{n}")),
                )
                for n in range(options.pairs)
            ]
        finally:
            server.terminate()
    print(f"base category, {options.latency} ms latency, {options.concurrency} at once")
    for name, side in (("bfcl generate", 0), ("turnwise eval", 1)):
        wall, cpu = (
            median(getattr(pair[side], what) for pair in pairs) for what in ("wall", "cpu")
        )
        print(f"  {name}  {wall:.2f} s, {cpu:.2f} s of CPU")
    ratios = [theirs.wall / ours.wall for theirs, ours in pairs]
    print(f"  ratio  {median(ratios):.1f} (from {min(ratios):.1f} to {max(ratios):.1f})")
    print(pairs[-1][1].said)
    return 0


def _serve(latency: int) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "tests.servers.openai_fake", "--truth", "bfcl"]
    command += ["--category", "base", "--calls-per-step", "1", "--latency", str(latency)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    return server, server.stdout.readline().split()[-1]


def _bfcl(options: argparse.Namespace, url: str, folder: Path) -> Timed:
    folder.mkdir()
    command = [options.bfcl, "generate", "--model", BFCL_MODEL, "--include-input-log"]
    command += ["--test-category", "multi_turn_base", "--num-threads", str(options.concurrency)]
    return _timed(command, {"OPENAI_BASE_URL": url, "BFCL_PROJECT_ROOT": str(folder)})


def _ours(options: argparse.Namespace, url: str, folder: Path) -> Timed:
    command = [sys.executable, "-m", "runner.cli", "eval", "--model", "fake", "--base-url", url]
    command += ["--dataset", "bfcl", "--category", "base", "--run-dir", str(folder)]
    command += ["--concurrency", str(options.concurrency)]
    return _timed(command, {})


def _timed(command: list[str], environment: dict[str, str]) -> Timed:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    done = subprocess.run(
        command,
        env={**os.environ, "OPENAI_API_KEY": "sk-none", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Timed(perf_counter() - start, cpu, done.stdout)


if __name__ == "__main__":
    sys.exit(main())
