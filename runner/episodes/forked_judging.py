"""Judging in this process and in forks of it, which share the loaded data."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from typing import Any, BinaryIO

from checkers.profile import Profile
from envs.errors import DataError
from envs.lazy_modules import lazy_module
from envs.registry import BACKENDS, backend_class
from runner.episodes.judging import Run, evaluate
from runner.records.episode_record import EpisodeRecord
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory

# Windows lacks it.
fcntl: Any = lazy_module("fcntl")

_ENTRIES_PER_PROCESS = 100
_MAX_PROCESSES = 8
_BATCH = 8
_BATCH_SECONDS = 0.02

_Share = Sequence[Trajectory]
_Judged = tuple[EpisodeRecord, bool | None]
"""Record of an entry, and whether all calls of its ground truth succeed; None if not known."""
_Judge = Callable[[_Share], Iterator[_Judged]]


def count_processes(entries: int) -> int:
    """Return how many processes should judge ``entries``; 1 if a fork is not safe."""
    # A fork copies the locks of other threads, and debuggers do not follow it.
    if sys.platform != "linux" or _count_threads() != 1 or _is_traced():
        return 1
    useful = min(entries // _ENTRIES_PER_PROCESS, _MAX_PROCESSES)
    return max(1, min(useful, len(os.sched_getaffinity(0))))


def _count_threads() -> int:
    """Count the threads of this process, also those that libraries have started without Python."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 0


def _is_traced() -> bool:
    """Tell whether a debugger, a profiler or a measurement of coverage watches this process."""
    if sys.gettrace() is not None or sys.getprofile() is not None:
        return True
    return sys.version_info >= (3, 12) and any(map(sys.monitoring.get_tool, range(6)))


def evaluate_in_forks(
    dataset: Dataset, trajectories: _Share, profile: Profile, run: Run, processes: int
) -> Iterator[EpisodeRecord]:
    """Run ``evaluate`` in several processes, with the same records in the same order."""

    def judge(share: _Share) -> Iterator[_Judged]:
        for record in evaluate(dataset, share, profile, run):
            yield record, dataset.truths.get(record.id)

    # Imported once, not once in each process.
    for name in BACKENDS.keys() & {name for each in trajectories for name in each.environments}:
        backend_class(name)
    # One process judges all variants of a scenario, because they share a ground truth.
    scenarios: dict[str, int] = {}
    numbers = [scenarios.setdefault(t.base, len(scenarios)) for t in trajectories]
    # This process judges 7 scenarios while others judge 8, because it also receives the records.
    order = [*range(processes)] * 8
    del order[-processes]
    owners = [order[number % len(order)] for number in numbers]
    shares: list[list[Trajectory]] = [[] for _ in range(processes)]
    for owner, trajectory in zip(owners, trajectories, strict=True):
        shares[owner].append(trajectory)
    with ExitStack() as forks:
        found = [forks.enter_context(_judged_by_fork(judge, share)) for share in shares[1:]]
        # If this process judged one record at a time, it would wait for each batch of the forks.
        found.insert(0, chain.from_iterable(_batches(judge(shares[0]))))
        for owner in owners:
            record, truth = next(found[owner])
            if truth is not None:
                dataset.truths[record.id] = truth
            yield record


@contextmanager
def _judged_by_fork(judge: _Judge, share: _Share) -> Iterator[Iterator[_Judged]]:
    parent = os.getpid()
    ends: list[int] = []
    try:
        ends += os.pipe()
        ends += os.pipe()
        _flush()
        process = os.fork()
    except OSError:  # too many files or processes, or nobody reads the output
        for end in ends:
            os.close(end)
        yield judge(share)
        return
    ours, theirs, watched, held = ends
    if process == 0:
        try:
            os.close(held)
            _end_with(parent, watched)
            os.close(ours)
            _send(judge(share), theirs)
        finally:
            os._exit(0)  # without closing the files of the parent
    os.close(theirs)
    os.close(watched)
    with open(ours, "rb") as pipe, open(held, "wb"):
        try:
            yield _receive(pipe, judge, share)
        finally:
            # If SIGCHLD is ignored or handled, the process may be gone.
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _end_with(parent: int, watched: int) -> None:
    """Make the system kill this process when the parent ends and so closes the pipe ``watched``."""
    # With ctypes and prctl, this takes twenty times as long.
    with suppress(ImportError, OSError, AttributeError):
        fcntl.fcntl(watched, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(watched, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(watched, fcntl.F_SETFL, os.O_ASYNC)
    if os.getppid() != parent:
        os._exit(0)


def _send(records: Iterator[_Judged], pipe: int) -> None:
    with open(pipe, "wb") as file:
        for batch in _batches(records):
            # The parent ends this process when it has all records.
            _flush()
            pickle.dump(batch, file)
            file.flush()


def _batches(records: Iterator[_Judged]) -> Iterator[list[_Judged]]:
    batch: list[_Judged] = []
    begun = time.monotonic()
    try:
        for record in records:
            batch.append(record)
            if len(batch) == _BATCH or time.monotonic() - begun > _BATCH_SECONDS:
                yield batch
                batch, begun = [], time.monotonic()
    except DataError:
        yield batch  # the records before the wrong entry
        raise
    yield batch


def _receive(pipe: BinaryIO, judge: _Judge, share: _Share) -> Iterator[_Judged]:
    """Yield the records of a share. If the fork has died, this process judges the rest."""
    judged = 0
    # Objects in the state of an environment may raise any exception when they are read.
    with suppress(Exception):
        while judged < len(share):
            batch = pickle.load(pipe)
            judged += len(batch)
            yield from batch
    yield from judge(share[judged:])
