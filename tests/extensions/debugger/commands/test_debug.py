from __future__ import annotations

import os
import pty
import signal
import sys
from types import SimpleNamespace

import pytest

from extensions.debugger.app import Debugger
from extensions.debugger.commands import debug as command
from extensions.debugger.timeline import CallOrigin
from runner.cli import main

ID = "multi_turn_base_0"


class Terminal:
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.fixture
def started(monkeypatch):
    """Stand for a terminal, and return the debuggers that were started in it."""
    debuggers = []
    streams = SimpleNamespace(stdin=Terminal(), stdout=Terminal())
    monkeypatch.setattr("extensions.debugger.commands.debug.sys", streams)
    monkeypatch.setattr(Debugger, "run", lambda app: debuggers.append(app))
    return debuggers


@pytest.fixture
def run(write_lines):
    """Write a result file."""

    def write(result=(("[create_ticket(title='B')]",),)):
        line = {"id": ID, "result": result}
        return write_lines("BFCL_v4_multi_turn_base_result.json", line)

    return write


def debug(folder, *arguments) -> int:
    """Run the command."""
    return main(["debug", *map(str, arguments), "--dataset", f"bfcl:{folder}"])


def test_the_ground_truth_is_stepped_through(started, bfcl_folder):
    assert debug(bfcl_folder, ID) == 0
    (app,) = started
    assert [timeline.source for timeline in app.stepper.timelines] == [CallOrigin.TRUTH]


def test_a_recorded_run_is_stepped_through(started, bfcl_folder, run):
    assert debug(bfcl_folder, ID, "--run", run()) == 0
    (app,) = started
    assert app.stepper.timeline.source is CallOrigin.RECORDING
    assert app.stepper.examined.recorded.id == ID


def test_without_a_terminal_it_says_what_prints_the_same(bfcl_folder, capsys):
    assert debug(bfcl_folder, ID) == 2
    assert capsys.readouterr().err == (
        "turnwise: debug: needs a terminal; without a terminal, use turnwise replay\n"
    )


def test_without_textual_it_says_what_to_install(started, bfcl_folder, monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "extensions.debugger.app")
    monkeypatch.setitem(sys.modules, "textual.app", None)
    monkeypatch.delitem(vars(command.app), "Debugger", raising=False)
    assert debug(bfcl_folder, ID) == 2
    assert "pip install 'turnwise[debug]'\n" in capsys.readouterr().err
    assert started == []


@pytest.mark.parametrize("arguments", [("nothing",), (ID, "--trial", "1")])
def test_an_episode_that_is_not_there_is_refused(started, bfcl_folder, run, capsys, arguments):
    assert debug(bfcl_folder, *arguments, "--run", run()) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert started == []


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ([], "no turn"),
        ("Error during inference", "the result file contains an error in place of steps"),
    ],
)
def test_an_episode_without_steps_is_refused(started, bfcl_folder, run, capsys, result, why):
    path = run(result)
    assert debug(bfcl_folder, ID, "--run", path) == 2
    assert capsys.readouterr().err == f"turnwise: {path}: {ID} has no recorded steps: {why}\n"
    assert started == []


def in_terminal(folder, end) -> tuple[int, str]:
    """Start the command in a terminal and end it; return the status and the last output."""
    arguments = ["-m", "runner.cli", "debug", ID, "--dataset", f"bfcl:{folder}"]
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS="80", LINES="24")
        os.execv(sys.executable, [sys.executable, *arguments])
    seen = b""
    while b"turn 1" not in seen:
        seen += os.read(terminal, 65_536)
    end(process, terminal)
    last = b""
    while more := _more(terminal):
        last += more
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), last.decode(errors="replace")


def test_it_comes_up_in_a_real_terminal_and_quits(bfcl_folder):
    assert in_terminal(bfcl_folder, lambda _, terminal: os.write(terminal, b"q"))[0] == 0


@pytest.mark.parametrize("typed", [b"\xff\xfe", b"\x1b[999999999999A"])
def test_input_that_cannot_be_read_ends_it_in_one_line(bfcl_folder, typed):
    status, said = in_terminal(bfcl_folder, lambda _, terminal: os.write(terminal, typed))
    assert status == 2
    assert "turnwise: debug: the terminal sent unreadable input; use UTF-8" in said
    assert "Traceback" not in said


def test_a_terminated_debugger_restores_the_terminal(bfcl_folder):
    status, said = in_terminal(bfcl_folder, lambda process, _: os.kill(process, signal.SIGTERM))
    assert status == 128 + signal.SIGTERM
    assert "\x1b[?1049l" in said


def _more(terminal: int) -> bytes:
    """Return what a terminal has, nothing when its program has ended."""
    try:
        return os.read(terminal, 65_536)
    except OSError:
        return b""
