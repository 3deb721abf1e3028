"""What a command does where the system does not give what it needs: one line, never a trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = '{"involved_classes": ["MathAPI"], "turns": [["mean(numbers=[1])"]]}'


def run(redirected: str, *words: str, flags: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in a shell with its streams as a shell redirects them."""
    command = f'exec "$0" {flags} -m runner.cli "$@" {redirected}'
    return subprocess.run(
        ["sh", "-c", command, sys.executable, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_may_be_closed(closed: str) -> None:
    done = run(closed, "exec")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("words", [["--help"], ["table", "--help"], ["env", "tools", "TicketAPI"]])
def test_a_reader_that_closes_the_pipe_is_no_failure(words: list[str]) -> None:
    # With a buffer, something is left to write at the exit.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", "runner.cli", *words]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(
            command, cwd=ROOT, env=buffered, stdout=pipe, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_terminal_is_missed_in_one_line() -> None:
    done = run("<&-", "debug", "x")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    "words",
    [
        ["exec"],
        ["table", "--help"],
        pytest.param(["dataset", "list"], marks=pytest.mark.slow),
        pytest.param(["env", "tools", "TicketAPI"], marks=pytest.mark.slow),
    ],
)
def test_a_full_disk_is_told_in_one_line(words: list[str]) -> None:
    done = run(f"> /dev/full <<'END'\n{SCRIPT}\nEND\n", *words)
    assert done.returncode == 2
    assert done.stderr == "turnwise: standard output: No space left on device\n"


def test_functions_without_docstrings_are_refused() -> None:
    done = run("", "env", "tools", flags="-OO")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "-OO" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["report", "x" * 5000, "-o", "/tmp/none.html"],
        pytest.param(
            ["eval", "--model", "oracle", "--dataset", "x" * 5000], marks=pytest.mark.slow
        ),
        pytest.param(["table", "/proc/self/mem"], marks=pytest.mark.slow),
    ],
)
def test_a_path_that_cannot_be_used_is_told_in_one_line(words: list[str]) -> None:
    done = run("", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_links_that_lead_round_are_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    done = run("", "dataset", "audit", str(tmp_path / "loop"))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    "trials",
    ["9" * 5000, *(pytest.param(n, marks=pytest.mark.slow) for n in ("10001", "9" * 30))],
)
def test_trials_without_end_are_refused(trials: str) -> None:
    done = run("", "eval", "--model", "oracle", "--trials", trials)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
