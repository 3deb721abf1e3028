"""Judging in this process and in forks of it, which share the loaded data."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import BinaryIO

from checkers.profile import Profile
from runner.episodes.judging import Run, evaluate
from runner.records.episode_record import EpisodeRecord
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory

_ENTRIES_PER_PROCESS = 100
_MAX_PROCESSES = 8
_BATCH = 8
_BATCH_SECONDS = 0.02

_Share = Sequence[Trajectory]
_Judge = Callable[[_Share], Iterator[EpisodeRecord]]


def count_processes(entries: int) -> int:
    """Return how many processes should judge ``entries``; 1 if a fork is not safe."""
    # A fork copies the locks of other threads, and debuggers do not follow it.
    if sys.platform != "linux" or threading.active_count() > 1 or sys.gettrace() is not None:
        return 1
    useful = min(entries // _ENTRIES_PER_PROCESS, _MAX_PROCESSES)
    return max(1, min(useful, len(os.sched_getaffinity(0))))


def evaluate_in_forks(
    dataset: Dataset, trajectories: _Share, profile: Profile, run: Run, processes: int
) -> Iterator[EpisodeRecord]:
    """Run ``evaluate`` in several processes, with the same records in the same order."""

    def judge(share: _Share) -> Iterator[EpisodeRecord]:
        return evaluate(dataset, share, profile, run)

    # One process judges all variants of a scenario, because they share a ground truth.
    scenarios: dict[str, int] = {}
    owners = [scenarios.setdefault(t.base, len(scenarios)) % processes for t in trajectories]
    shares: list[list[Trajectory]] = [[] for _ in range(processes)]
    for owner, trajectory in zip(owners, trajectories, strict=True):
        shares[owner].append(trajectory)
    with ExitStack() as forks:
        found = [forks.enter_context(_judged_by_fork(judge, share)) for share in shares[1:]]
        found.insert(0, judge(shares[0]))
        for owner in owners:
            yield next(found[owner])


@contextmanager
def _judged_by_fork(judge: _Judge, share: _Share) -> Iterator[Iterator[EpisodeRecord]]:
    ours, theirs = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        process = os.fork()
    except OSError:  # too many processes
        os.close(ours)
        os.close(theirs)
        yield judge(share)
        return
    if process == 0:
        try:
            os.close(ours)
            _send(judge(share), theirs)
        finally:
            os._exit(0)  # without closing the files of the parent
    os.close(theirs)
    with open(ours, "rb") as pipe:
        try:
            yield _receive(pipe, judge, share)
        finally:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def _send(records: Iterator[EpisodeRecord], pipe: int) -> None:
    batch: list[EpisodeRecord] = []
    begun = time.monotonic()
    with open(pipe, "wb") as file:
        for record in records:
            batch.append(record)
            if len(batch) == _BATCH or time.monotonic() - begun > _BATCH_SECONDS:
                _send_batch(batch, file)
                batch, begun = [], time.monotonic()
        _send_batch(batch, file)


def _send_batch(batch: list[EpisodeRecord], file: BinaryIO) -> None:
    # The parent ends this process when it has all records.
    sys.stdout.flush()
    pickle.dump(batch, file)
    file.flush()


def _receive(pipe: BinaryIO, judge: _Judge, share: _Share) -> Iterator[EpisodeRecord]:
    """Yield the records of a share. If the fork has died, this process judges the rest."""
    judged = 0
    with suppress(EOFError, pickle.UnpicklingError):
        while judged < len(share):
            batch = pickle.load(pipe)
            judged += len(batch)
            yield from batch
    yield from judge(share[judged:])
