"""The two commands that ask a model about BFCL's data: ``bfcl generate`` and ``turnwise eval``."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from trajectories.schema import MULTI_TURN, Category

BFCL_MODEL = "openbmb/MiniCPM-SALA-FC"
"""One that BFCL reaches through its handler for OpenAI-compatible chat completions."""


class Timed(NamedTuple):
    """What one command took."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds."""
    said: str


def bfcl_generate(
    bfcl: str, url: str, folder: Path, categories: Iterable[Category], at_once: int
) -> Timed:
    """Let BFCL ask a server about its data.

    Args:
        bfcl: The command ``bfcl`` of an environment that has ``bfcl-eval`` with all it needs.
        url: The server.
        folder: A new folder for what it writes.
        categories: Of the data.
        at_once: How many entries.

    Raises:
        RuntimeError: It ends with an error.
    """
    folder.mkdir()
    command = [bfcl, "generate", "--model", BFCL_MODEL, "--include-input-log"]
    names = [f"multi_turn_{each}" if each in MULTI_TURN else str(each) for each in categories]
    command += ["--test-category", ",".join(names), "--num-threads", str(at_once)]
    return timed(command, {"OPENAI_BASE_URL": url, "BFCL_PROJECT_ROOT": str(folder)})


def turnwise_eval(url: str, folder: Path, category: str, at_once: int, *more: str) -> Timed:
    """Let Turnwise do the same; ``more`` are further options.

    Raises:
        RuntimeError: It ends with an error.
    """
    command = [sys.executable, "-m", "runner.cli", "eval", "--model", "fake", "--base-url", url]
    command += ["--dataset", "bfcl", "--category", category, "--run-dir", str(folder)]
    return timed([*command, "--concurrency", str(at_once), *more], {})


def timed(command: list[str], environment: dict[str, str]) -> Timed:
    """Run a command to its end.

    Raises:
        RuntimeError: It ends with an error.
    """
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    done = subprocess.run(
        command,
        env={**os.environ, "OPENAI_API_KEY": "sk-none", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    wall, after = perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-500:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Timed(wall, cpu, done.stdout)
