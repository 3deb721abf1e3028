from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import pytest

from checkers.evidence import StateEvidence
from checkers.profile import STRICT
from checkers.reasons import Reason
from checkers.verdict import Failure, Verdict
from envs.errors import DataError
from envs.state import Difference
from runner.cli import main
from runner.episodes import forked_judging
from runner.episodes.forked_judging import count_processes, evaluate_in_forks
from runner.episodes.judging import evaluate
from runner.episodes.offline import run_null, run_oracle
from tests.source import ROOT
from trajectories.dataset import load_embedded
from trajectories.schema import Category

ORACLE = partial(run_oracle, profile=STRICT)

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux judges in forks"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),  # pytest may have threads
]


@cache
def data():
    return load_embedded([Category.BASE, Category.MISSING_FUNCTION])


@cache
def some():
    """Return entries of both categories, most of them variants of the same scenario."""
    every = data().trajectories
    variants = [each for each in every.values() if each.category is Category.MISSING_FUNCTION][:16]
    return [*(every[each.base] for each in variants), *variants]


def judged(run, processes=3):
    return list(evaluate_in_forks(data(), some(), STRICT, run, processes))


@pytest.fixture
def processes(monkeypatch):
    """Return the list of the processes that are started."""
    started, fork = [], os.fork

    def noted():
        started.append(fork())
        return started[-1]

    monkeypatch.setattr(os, "fork", noted)
    return started


@pytest.mark.parametrize("run", [ORACLE, partial(run_null, profile=STRICT)])
def test_forks_judge_as_one_process_does_in_its_order(run):
    assert judged(run) == list(evaluate(data(), some(), STRICT, run))


def test_one_process_judges_all_variants_of_a_scenario(tmp_path):
    def note(prepared):
        with open(tmp_path / str(os.getpid()), "a", encoding="utf-8") as file:
            file.write(f"{prepared.trajectory.base}\n")
        return ORACLE(prepared)

    judged(note)
    lists = [path.read_text(encoding="utf-8").split() for path in tmp_path.iterdir()]
    bases = [base for one in lists for base in {*one}]
    assert len(lists) == 3
    assert sorted(bases) == sorted({*bases})
    assert len(bases) < len(some())


@pytest.mark.parametrize(
    "end",
    [
        lambda: os.kill(os.getpid(), signal.SIGKILL),
        lambda: os._exit(3),
        sys.exit,
        lambda: (_ for _ in ()).throw(KeyboardInterrupt),
    ],
    ids=["killed", "left", "exits", "interrupted"],
)
def test_entries_of_a_dead_fork_are_judged_by_the_parent(end):
    parent = os.getpid()

    def run(prepared):
        if os.getpid() != parent and prepared.trajectory.id == some()[20].id:
            end()
        return ORACLE(prepared)

    assert judged(run, 2) == list(evaluate(data(), some(), STRICT, ORACLE))


class Unreadable(Exception):
    """Exception that can be pickled, but not be read."""

    def __init__(self, one, two):
        super().__init__(one)


@pytest.mark.parametrize("value", [Unreadable(1, 2), lambda: 0], ids=["unreadable", "unwritable"])
def test_states_that_cannot_be_sent_are_judged_by_the_parent(value):
    def run(prepared):
        evidence = StateEvidence(partial(list, [Difference("API.field", 0, value)]))
        return Verdict(False, Failure(Reason.STATE_MISMATCH, evidence), 0, 1, 0)

    assert judged(run) == list(evaluate(data(), some(), STRICT, run))


@pytest.mark.parametrize("missing", ["fork", "pipe"])
def test_without_a_further_process_or_file_one_process_judges(monkeypatch, missing):
    def refuse():
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, missing, refuse)
    assert judged(ORACLE) == list(evaluate(data(), some(), STRICT, ORACLE))


@pytest.mark.parametrize("places", [(4, 5), (5, 6), (3,)])
def test_the_first_wrong_entry_ends_the_judging_after_the_entries_before_it(places):
    wrong = [some()[place].id for place in places]

    def run(prepared):
        if prepared.trajectory.id in wrong:
            raise DataError(prepared.trajectory.id, "is wrong")
        return ORACLE(prepared)

    found = []
    with pytest.raises(DataError, match=f"{wrong[0]}: is wrong"):
        found.extend(evaluate_in_forks(data(), some(), STRICT, run, 2))
    assert found == list(evaluate(data(), some()[: places[0]], STRICT, ORACLE))


def test_forks_end_with_the_judging(processes):
    found = evaluate_in_forks(data(), some(), STRICT, ORACLE, 3)
    next(found)
    found.close()
    assert len(processes) == 2
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_an_environment_may_ignore_the_end_of_child_processes():
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert len(judged(ORACLE)) == len(some())
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_a_fork_ends_within_an_entry_if_its_parent_is_killed(tmp_path):
    begun = tmp_path / "begun"

    def run(prepared):
        begun.touch()
        time.sleep(60)

    parent = os.fork()
    if parent == 0:
        try:
            next(evaluate_in_forks(data(), some()[:2], STRICT, run, 2))
        finally:
            os._exit(0)
    children = Path(f"/proc/{parent}/task/{parent}/children")
    wait_until(lambda: begun.exists() and children.read_text(encoding="ascii"))
    fork = int(children.read_text(encoding="ascii"))
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    wait_until(lambda: not is_running(fork))


def wait_until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_running(process):
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text.rpartition(") ")[2][0] != "Z"  # a zombie has ended


def test_the_parent_learns_which_ground_truths_fail():
    dataset = replace(data(), truths={})
    list(evaluate_in_forks(dataset, some(), STRICT, ORACLE, 3))
    assert dataset.truths == dict.fromkeys([each.id for each in some()], True)


def test_a_process_without_standard_output_may_judge(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert judged(ORACLE) == list(evaluate(data(), some(), STRICT, ORACLE))


def test_what_entries_print_appears_once(capfd):
    def run(prepared):
        print(f"{prepared.trajectory.id}\n", end="")  # in one piece
        return ORACLE(prepared)

    print("before")
    judged(run, 2)
    lines = capfd.readouterr().out.split()
    assert sorted(lines) == sorted(["before", *(each.id for each in some())])


@pytest.fixture
def calm(monkeypatch):
    """Hide the threads and the measurement of coverage that these tests may run under."""
    monkeypatch.setattr(forked_judging, "_count_threads", lambda: 1)
    monkeypatch.setattr(forked_judging, "_is_traced", lambda: False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    return monkeypatch


def test_few_entries_or_cpus_mean_one_process(calm):
    assert [count_processes(n) for n in (1, 199, 200, 450, 10**6)] == [1, 1, 2, 4, 8]
    calm.setattr(os, "sched_getaffinity", lambda _: {3})
    assert count_processes(10**6) == 1
    calm.setattr(os, "sched_getaffinity", lambda _: {3, 4})
    assert count_processes(10**6) == 2


def test_threads_mean_one_process(calm):
    calm.undo()
    calm.setattr(forked_judging, "_is_traced", lambda: False)
    calm.setattr(os, "sched_getaffinity", lambda _: {3, 4})
    libc, thread = ctypes.CDLL(None), ctypes.c_ulong()
    known, threads = threading.active_count(), forked_judging._count_threads()
    assert libc.pthread_create(ctypes.byref(thread), None, libc.pause, None) == 0
    try:
        assert threading.active_count() == known  # Python does not know the new thread
        assert forked_judging._count_threads() == threads + 1
        assert count_processes(10**6) == 1
    finally:
        libc.pthread_cancel(thread)
        libc.pthread_join(thread, None)
    calm.setattr(os, "listdir", lambda _: (_ for _ in ()).throw(FileNotFoundError))
    assert count_processes(10**6) == 1


@pytest.mark.parametrize("name", ["gettrace", "getprofile"])
def test_debuggers_and_profilers_mean_one_process(calm, name):
    calm.undo()
    calm.setattr(forked_judging, "_count_threads", lambda: 1)
    calm.setattr(os, "sched_getaffinity", lambda _: {3, 4})
    calm.setattr(sys, name, lambda: print)
    assert count_processes(10**6) == 1


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring")
def test_tools_of_sys_monitoring_mean_one_process(calm):
    calm.undo()
    calm.setattr(forked_judging, "_count_threads", lambda: 1)
    calm.setattr(os, "sched_getaffinity", lambda _: {3, 4})
    sys.monitoring.use_tool_id(4, "test")
    try:
        assert count_processes(10**6) == 1
    finally:
        sys.monitoring.free_tool_id(4)


def test_a_command_that_forks_writes_the_same_bytes(tmp_path):
    words = ["eval", "--model", "null", "--category", "base", "--output"]
    command = [sys.executable, "-m", "runner.cli", *words, "forked.jsonl"]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert main([*words, str(tmp_path / "workers.jsonl"), "--workers", "1"]) == 0
    assert (tmp_path / "forked.jsonl").read_bytes() == (tmp_path / "workers.jsonl").read_bytes()
