"""Judging in processes of this machine: one that dies or stalls costs one entry, no more."""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from os import _exit
from threading import Thread

from checkers.profile import Profile
from runner.episodes.allowance import ALLOWANCE, Allowance, limited_memory
from runner.episodes.spread import Chunk, Found, Judge, Run, evaluate_by
from runner.records.record import EpisodeRecord
from trajectories.dataset import Dataset
from trajectories.errors import DataError

TRIES = 2
"""How often an entry is judged whose process dies: the system may have killed the wrong one."""

_STARTING = 120.0
"""Seconds in which a process has to begin, besides."""
_GOING = 5.0
"""Seconds in which one that has closed its pipe is gone."""


@dataclass
class _Task:
    """A chunk, and what has become of its first entries."""

    number: int
    chunk: Chunk
    found: list[EpisodeRecord] = field(default_factory=list)
    deaths: int = 0
    """Of processes that were at its next entry."""

    @property
    def rest(self) -> Chunk:
        return self.chunk[len(self.found) :]

    def give_up(self, why: str) -> None:
        """Go on behind the next entry."""
        self.found.append(EpisodeRecord.of(self.rest[0], None, why))
        self.deaths = 0


class _Worker:
    """A process with a judge, and what it is at."""

    def __init__(self, judge: Judge, allowance: Allowance) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        how = theirs, judge, allowance.megabytes
        self._process = context.Process(target=_work, args=how, daemon=True)
        self._seconds = allowance.seconds
        self.task: _Task | None = None
        self.deadline = 0.0
        self.begun = False
        try:
            self._process.start()
        except OSError as error:
            raise DataError("--workers", f"a process cannot be started: {error}") from None
        theirs.close()

    def take(self, task: _Task) -> None:
        """Begin with a task."""
        self.task = task
        self.extend()
        with suppress(OSError):  # that it is gone is seen when it is listened to
            self.pipe.send(task.rest)

    def extend(self) -> None:
        """Give it the time for an entry."""
        more = 0.0 if self.begun else _STARTING
        self.deadline = time.monotonic() + self._seconds + more

    def hear(self) -> EpisodeRecord | str | None:
        """Return what it tells: of an entry, of the user's input, or that it has begun.

        Raises:
            TimeoutError: Nothing, in its time.
            EOFError, OSError: It is gone.
        """
        if not self.pipe.poll():
            raise TimeoutError
        told: EpisodeRecord | str | None = self.pipe.recv()
        return told

    def end(self) -> None:
        """End it, whatever it is at."""
        self._process.kill()
        self._process.join()
        self.pipe.close()

    def ended(self) -> str:
        """Return how it ended that is gone."""
        self._process.join(_GOING)
        code = self._process.exitcode
        if code is None or code >= 0:
            return f"ended with status {code}"
        return f"was killed by {signal.Signals(-code).name}"


def evaluate_in_processes(
    dataset: Dataset,
    trajectories: Chunk,
    profile: Profile,
    run: Run,
    *,
    workers: int,
    allowance: Allowance = ALLOWANCE,
) -> Iterator[EpisodeRecord]:
    """Do what ``evaluate`` does with several processes of this machine.

    Raises:
        DataError: The user's input is wrong, or a process cannot begin.
    """

    def judges(judge: Judge, parts: Sequence[Chunk]) -> Iterator[Found]:
        crew = Crew(judge, workers, allowance)
        try:
            yield from crew.judge(parts)
        finally:
            crew.close()

    return evaluate_by(judges, workers, dataset, trajectories, profile, run)


class Crew:
    """Processes that judge; one that is gone is replaced.

    Args:
        judge: What each of them has.
        size: How many.
        allowance: What an entry may take.
    """

    def __init__(self, judge: Judge, size: int, allowance: Allowance) -> None:
        self._judge = judge
        self._size = size
        self._allowance = allowance
        self._workers: list[_Worker] = []

    def judge(self, parts: Sequence[Chunk]) -> Iterator[Found]:
        """Yield what became of each chunk, in their order.

        Raises:
            DataError: A process cannot begin.
        """
        queue = deque(_Task(number, part) for number, part in enumerate(parts))
        early: dict[int, Found] = {}
        for due in range(len(parts)):
            while due not in early:
                self._hand_out(queue)
                for worker in self._next():
                    early |= self._hear(worker, queue)
            yield early.pop(due)

    def close(self) -> None:
        """End all processes, whatever they are at."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def _hand_out(self, queue: deque[_Task]) -> None:
        while len(self._workers) < min(self._size, self._busy() + len(queue)):
            self._workers.append(_Worker(self._judge, self._allowance))
        for worker in self._workers:
            if queue and worker.task is None:
                worker.take(queue.popleft())

    def _busy(self) -> int:
        return sum(worker.task is not None for worker in self._workers)

    def _next(self) -> list[_Worker]:
        """Wait until one has something to tell or has had its time; return those."""
        busy = [worker for worker in self._workers if worker.task is not None]
        first = min(worker.deadline for worker in busy)
        ready = wait([worker.pipe for worker in busy], max(0.0, first - time.monotonic()))
        now = time.monotonic()
        return [worker for worker in busy if worker.pipe in ready or worker.deadline <= now]

    def _hear(self, worker: _Worker, queue: deque[_Task]) -> dict[int, Found]:
        """Take what a process has to tell; return the chunk that is done with that, if one is."""
        task = worker.task
        assert task is not None
        try:
            told = worker.hear()
        except (EOFError, OSError) as loss:
            self._lose(worker, task, stalled=isinstance(loss, TimeoutError))
            if task.rest:
                queue.appendleft(task)
                return {}
        else:
            if isinstance(told, str):
                worker.task = None
                return {task.number: told}
            if told is None:
                worker.begun = True
            else:
                task.found.append(told)
                task.deaths = 0
            worker.extend()
            if task.rest:
                return {}
        worker.task = None
        return {task.number: task.found}

    def _lose(self, worker: _Worker, task: _Task, *, stalled: bool) -> None:
        """Do without a process that died or stalled; its task goes on elsewhere."""
        how = "stalled" if stalled else worker.ended()
        worker.end()
        self._workers.remove(worker)
        if not worker.begun:
            raise DataError("--workers", f"a process {how} before it began; try fewer")
        task.deaths += 1
        if stalled:
            seconds = self._allowance.seconds
            task.give_up(f"to judge it took more than {seconds:g} seconds (--entry-timeout)")
        elif task.deaths == TRIES:
            task.give_up(f"the process that judged it {how}, {TRIES} times")


def _work(pipe: Connection, judge: Judge, megabytes: int | None) -> None:
    """Judge what comes, in a process of its own; tell of each entry when it is done."""
    # Ctrl-C is for the process that started this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    with limited_memory(megabytes):
        pipe.send(None)
        while True:
            try:
                chunk = pipe.recv()
            except EOFError:
                return
            for told in judge.each(chunk):
                pipe.send(told)


def _end_with_parent() -> None:
    """Leave no process behind that works for nobody."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        _exit(1)
