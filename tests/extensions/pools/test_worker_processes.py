from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache, partial
from multiprocessing import Pipe, active_children

import pytest

from checkers.evidence import StateEvidence
from checkers.profile import STRICT
from checkers.reasons import Reason
from checkers.verdict import Failure, Verdict
from envs.errors import DataError
from envs.state import Difference
from extensions.pools import parallel, worker_processes
from extensions.pools.worker_processes import MAX_TRIES, WorkerPool, evaluate_in_processes
from runner.cli import main
from runner.episodes.judging import TimeAndMemoryLimits, evaluate
from runner.episodes.offline import run_oracle
from runner.records.episode_record import EpisodeRecord
from tests.source import ROOT
from trajectories.dataset import load_embedded
from trajectories.schema import Category

ORACLE = partial(run_oracle, profile=STRICT)
AT_ONCE = TimeAndMemoryLimits(seconds=4.0)
LITTLE = TimeAndMemoryLimits(megabytes=200)


_PARENT = """
from tests.extensions.pools import test_worker_processes as those

if __name__ == "__main__":
    run = those.partial(those.run_but, those.tell, at={those.some()[1].id}, profile=those.STRICT)
    list(those.evaluate_in_processes(those.data(), those.some(), those.STRICT, run, workers=1))
"""


_STRANGER = """
import sys, types
from extensions.pools.worker_processes import SpawnedProcess

module = sys.modules["only_here"] = types.ModuleType("only_here")
exec("def work(*_): pass", vars(module))
process = SpawnedProcess(module.work, b"x" * 1_000_000)
try:
    process.pipe.recv()
except EOFError:
    print("dead")
"""

_KILLED = """
import os
from extensions.pools.worker_processes import Connection, SpawnedProcess

Connection.send_bytes = lambda *_: os._exit(3)
SpawnedProcess(print, b"x" * 1_000_000)
"""


@cache
def data():
    return load_embedded([Category.BASE])


@cache
def some():
    return [*data().trajectories.values()][:10]


def kill():
    """End this process as the system does that lacks memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def leave():
    """End this process."""
    os._exit(3)


def crash():
    """Read where there is nothing."""
    ctypes.string_at(0)


def stall():
    """Wait for a signal that nobody sends."""
    signal.pause()


def tell():
    """Say that this process has come so far, and stall."""
    print("here", flush=True)
    stall()


def devour():
    """Take more memory than there is to be had."""
    return bytearray(2**30)


def run_but(do, prepared, at, profile):
    """Judge the ground truth, but for some entries do something else."""
    if prepared.trajectory.id in at:
        do()
    return run_oracle(prepared, profile)


def die_once(prepared, marker):
    """End the first process that comes to a certain entry."""
    if prepared.trajectory.id == some()[1].id and not marker.exists():
        marker.touch()
        kill()
    return ORACLE(prepared)


def complain(prepared):
    """Complain of the user's data."""
    raise DataError("data.jsonl:7", "no good: mend it")


class Unreadable(Exception):
    """Exception that can be pickled, but not be read."""

    def __init__(self, one, two):
        super().__init__(one)


def differ(prepared, make):
    """Judge the ground truth, but find a value for one entry that no pipe can send."""
    if prepared.trajectory.id != some()[1].id:
        return ORACLE(prepared)
    evidence = StateEvidence(partial(list, [Difference("API.field", 0, make())]))
    return Verdict(False, Failure(Reason.STATE_MISMATCH, evidence), 0, 1, 0)


def unreadable():
    return Unreadable(1, 2)


def unwritable():
    return lambda: 0


def alone(left_out):
    """Return what one process finds, with errors for some entries."""
    found = evaluate(data(), some(), STRICT, ORACLE)
    return [
        EpisodeRecord.of(some()[n], None, left_out[n]) if n in left_out else each
        for n, each in enumerate(found)
    ]


def test_processes_judge_as_one_does_in_its_order():
    there = list(evaluate_in_processes(data(), some(), STRICT, ORACLE, workers=2))
    assert there == list(evaluate(data(), some(), STRICT, ORACLE))


def test_the_output_has_the_same_bytes(tmp_path, capsys):
    said = []
    for name, more in (("one", []), ("two", ["--workers", "2"])):
        output = tmp_path / f"{name}.jsonl"
        command = ["eval", "--model", "null", "--category", "base", "--limit", "20"]
        assert main([*command, "--output", str(output), *more]) == 0
        said.append((capsys.readouterr().out, output.read_bytes()))
    assert said[0] == said[1]


def slowly(*values):
    """Return a case of the slow part."""
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize("make", [unreadable, unwritable])
def test_states_that_cannot_be_sent_cost_their_entry_only(make):
    run = partial(differ, make=make)
    first, second, *rest = evaluate_in_processes(data(), some(), STRICT, run, workers=1)
    assert (second.verdict, second.error.count("\n")) == (None, 0)
    assert "cannot send the states; omit --workers: " in second.error
    expected = alone({})
    assert [first, *rest] == [expected[0], *expected[2:]]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("do", "how"),
    [
        (kill, f"the judging process failed {MAX_TRIES} times: it was killed by SIGKILL"),
        slowly(crash, f"the judging process failed {MAX_TRIES} times: it was killed by SIGSEGV"),
        slowly(leave, f"the judging process failed {MAX_TRIES} times: it ended with status 3"),
        slowly(stall, "judging took more than 4 seconds (--entry-timeout)"),
    ],
)
def test_a_process_that_dies_or_stalls_costs_its_entry_only(monkeypatch, do, how, workers):
    monkeypatch.setattr(parallel, "chunks", lambda all, _: [all[:4], all[4:5], all[5:]])
    run = partial(run_but, do, at={some()[1].id, some()[4].id}, profile=STRICT)
    there = evaluate_in_processes(data(), some(), STRICT, run, workers=workers, allowance=AT_ONCE)
    assert list(there) == alone({1: how, 4: how})


@pytest.mark.slow
def test_what_a_killed_process_had_is_judged_by_another(tmp_path):
    run = partial(die_once, marker=tmp_path / "killed")
    there = list(evaluate_in_processes(data(), some(), STRICT, run, workers=1))
    assert (tmp_path / "killed").exists()
    assert there == alone({})


def test_want_of_memory_costs_its_entry_only():
    run = partial(run_but, devour, at={some()[2].id}, profile=STRICT)
    there = evaluate_in_processes(data(), some(), STRICT, run, workers=1, allowance=LITTLE)
    assert list(there) == alone({2: "not enough memory to judge the entry"})


def test_a_complaint_ends_the_run():
    with pytest.raises(DataError, match=r"^data\.jsonl:7: no good: mend it$"):
        list(evaluate_in_processes(data(), some(), STRICT, complain, workers=2))


def test_a_process_that_cannot_begin_is_told(monkeypatch):
    monkeypatch.setattr("extensions.pools.worker_processes._START_SECONDS", 0.0)
    none = TimeAndMemoryLimits(seconds=1e-9)
    with pytest.raises(DataError, match="--workers: a process did not start: it stalled"):
        list(evaluate_in_processes(data(), some(), STRICT, ORACLE, workers=1, allowance=none))


def test_no_process_is_left_behind():
    there = evaluate_in_processes(data(), some(), STRICT, ORACLE, workers=2)
    next(there)
    assert active_children()
    there.close()
    assert not active_children()


def test_processes_end_with_the_one_that_started_them():
    command = [sys.executable, "-c", _PARENT]
    parent = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    with parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "here\n"
        parent.kill()
        # Output is at its end when the last process is gone that could write there.
        assert parent.communicate(timeout=60) == ("", None)


def run_script(script):
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_a_process_that_dies_before_it_has_read_its_arguments_is_noticed():
    assert run_script(_STRANGER).stdout == "dead\n"


def test_a_process_whose_parent_ends_during_its_start_says_nothing():
    ended = run_script(_KILLED)
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "", "")


def send_back(pipe, value):
    pipe.send(value)


def test_a_process_holds_back_ctrl_c_from_its_start():
    process = worker_processes.SpawnedProcess(send_back, 7)
    os.kill(process.process.pid, signal.SIGINT)
    assert process.pipe.recv() == 7
    process.end()


class FakeWorker(worker_processes._Worker):
    """A worker in this process; ``fates`` says what entries do to it, each time they are judged."""

    started = 0
    left = 0

    def __init__(self, judge, allowance):
        self.pipe, self._theirs = Pipe()
        self._judge, self._seconds = judge, allowance.seconds
        self.task, self.begun = None, False
        self._theirs.send(None)
        FakeWorker.started += 1
        FakeWorker.left += 1

    def take(self, task):
        self.task = task
        self.extend()
        for trajectory in task.rest:
            fate = self._judge(trajectory)
            if fate == "die":
                self._theirs.close()
            if fate in ("die", "stall"):
                return
            with suppress(OSError):
                self._theirs.send(fate)

    def ended(self):
        return "was killed"

    def end(self):
        FakeWorker.left -= 1
        self.pipe.close()


DIED, STALLED = (
    "the judging process failed 2 times: it was killed",
    "judging took more than 0 seconds",
)


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize(
    ("fates", "errors", "deaths"),
    [
        ({}, {}, 0),
        ({1: ["die"]}, {}, 1),
        ({1: ["die", "die"]}, {1: DIED}, 2),
        ({1: ["die", "die"], 2: ["die", "die"]}, {1: DIED, 2: DIED}, 4),
        # A death counts only for the entry that was judged then.
        ({0: ["die"], 1: ["die"], 2: ["die"], 9: ["die"]}, {}, 4),
        ({0: ["die"], 1: ["die", "die"]}, {1: DIED}, 3),
        ({1: ["stall"]}, {1: STALLED}, 1),
        ({1: ["die", "stall"], 2: ["die"]}, {1: STALLED}, 3),
        ({9: ["die", "die"]}, {9: DIED}, 2),
    ],
)
def test_a_pool_replaces_dead_workers_and_gives_up_an_entry_after_two(
    monkeypatch, size, fates, errors, deaths
):
    def judge(trajectory):
        fate = left[trajectory.id].pop(0) if left.get(trajectory.id) else None
        return fate or EpisodeRecord.of(trajectory, None, "judged")

    monkeypatch.setattr(worker_processes, "_Worker", FakeWorker)
    monkeypatch.setattr(FakeWorker, "started", 0)
    monkeypatch.setattr(FakeWorker, "left", 0)
    left = {some()[number].id: [*fate] for number, fate in fates.items()}
    pool = WorkerPool(judge, size, TimeAndMemoryLimits(seconds=0.0))
    found = list(pool.judge([some()[:4], some()[4:8], some()[8:]]))
    assert [len(part) for part in found] == [4, 4, 2]
    records = [record for part in found for record in part]
    assert [record.id for record in records] == [each.id for each in some()]
    for number, record in enumerate(records):
        assert record.error.startswith(errors.get(number, "judged"))
    assert size <= FakeWorker.started <= size + deaths
    pool.close()
    assert FakeWorker.left == 0


def test_an_error_of_the_user_ends_its_chunk_and_a_worker_that_never_starts_the_run(monkeypatch):
    class Silent(FakeWorker):
        def __init__(self, judge, allowance):
            super().__init__(judge, allowance)
            self.pipe.recv()
            self._theirs.close()

    monkeypatch.setattr(worker_processes, "_Worker", FakeWorker)
    pool = WorkerPool(lambda _: "wrong", 1, TimeAndMemoryLimits(seconds=0.0))
    assert list(pool.judge([some()[:4], some()[4:]])) == ["wrong", "wrong"]
    monkeypatch.setattr(worker_processes, "_Worker", Silent)
    pool = WorkerPool(lambda _: "wrong", 1, TimeAndMemoryLimits(seconds=0.0))
    with pytest.raises(DataError) as caught:
        list(pool.judge([some()]))
    message = "--workers: a process did not start: it was killed; use fewer workers"
    assert str(caught.value) == message
