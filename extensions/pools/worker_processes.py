"""Judging in local worker processes, where a crash or timeout affects only one entry."""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from os import _exit
from threading import Thread
from typing import Any, NamedTuple, NoReturn

from checkers.profile import Profile
from envs.errors import DataError, describe_exception
from extensions.pools.parallel import Chunk, ChunkJudge, Found, evaluate_by
from runner.episodes.judging import ALLOWANCE, Run, TimeAndMemoryLimits, limited_memory
from runner.records.episode_record import EpisodeRecord
from trajectories.dataset import Dataset

MAX_TRIES = 2

_START_SECONDS = 120.0
_EXIT_SECONDS = 5.0
_UNSENT = "the judging process cannot send the states; omit --workers: "


@dataclass
class _ChunkProgress:
    number: int
    chunk: Chunk
    found: list[EpisodeRecord] = field(default_factory=list)
    deaths: int = 0
    """Number of processes that died at the current entry."""

    @property
    def rest(self) -> Chunk:
        return self.chunk[len(self.found) :]

    def give_up(self, why: str) -> None:
        self.found.append(EpisodeRecord.of(self.rest[0], None, why))
        self.deaths = 0


class SpawnedProcess:
    """New process that calls ``work`` with one end of a pipe; ``pipe`` is the other end.

    The new process ends when its parent ends. Raises DataError if a process cannot start.
    """

    def __init__(self, work: Callable[..., None], *arguments: Any) -> None:
        # If large arguments were part of the process, and it died before it had read them,
        # ``start`` would wait for ever.
        sent = ForkingPickler.dumps(arguments)
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_run, args=(work, theirs), daemon=True)
        try:
            with _hold_interrupts():
                self.process.start()
        except OSError as error:
            raise DataError("--workers", f"a process cannot be started: {error}") from None
        theirs.close()
        with suppress(OSError):  # reading the pipe reports a dead process
            self.pipe.send_bytes(sent)

    def end(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


@contextmanager
def _hold_interrupts() -> Iterator[None]:
    """Delay Ctrl-C to the end of the ``with`` block; new processes hold it back from their start.

    While a process imports modules, it would print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # The start of this process would end the delay.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run(work: Callable[..., None], pipe: Connection) -> None:
    # The parent process handles Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        sent = pipe.recv_bytes()
    except (EOFError, OSError):  # the parent has ended
        return
    work(pipe, *ForkingPickler.loads(sent))


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        _exit(1)


class _Worker(SpawnedProcess):
    def __init__(self, judge: ChunkJudge, allowance: TimeAndMemoryLimits) -> None:
        self._seconds = allowance.seconds
        self.task: _ChunkProgress | None = None
        self.deadline = 0.0
        self.begun = False
        super().__init__(_work, judge, allowance.megabytes)

    def take(self, task: _ChunkProgress) -> None:
        self.task = task
        self.extend()
        with suppress(OSError):  # `hear` reports a dead process
            self.pipe.send(task.rest)

    def extend(self) -> None:
        more = 0.0 if self.begun else _START_SECONDS
        self.deadline = time.monotonic() + self._seconds + more

    def hear(self) -> EpisodeRecord | str | None:
        """Return the next record or input error; None means that the process has started.

        Raises:
            TimeoutError: No message arrived before the deadline.
            EOFError, OSError: The process died.
        """
        if not self.pipe.poll():
            raise TimeoutError
        told: EpisodeRecord | str | None = self.pipe.recv()
        return told

    def ended(self) -> str:
        self.process.join(_EXIT_SECONDS)
        code = self.process.exitcode
        if code is None or code >= 0:
            return f"ended with status {code}"
        return f"was killed by {signal.Signals(-code).name}"


class IsolatedWorkers(NamedTuple):
    """Worker processes of this machine, for judging only."""

    number: int
    allowance: TimeAndMemoryLimits

    def judge(
        self, dataset: Dataset, trajectories: Chunk, profile: Profile, run: Run
    ) -> Iterator[EpisodeRecord]:
        """Judge entries. Raises DataError if the input is wrong, or a process cannot start."""
        return evaluate_in_processes(
            dataset, trajectories, profile, run, workers=self.number, allowance=self.allowance
        )

    def check(self, *run: object) -> NoReturn:
        """Refuse a live run, because several processes would not make it faster."""
        raise DataError("--workers", "live runs use one process; try --engine ray")

    def conduct(self, *run: object) -> NoReturn:
        """Refuse a live run, as ``check`` does."""
        self.check()


def evaluate_in_processes(
    dataset: Dataset,
    trajectories: Chunk,
    profile: Profile,
    run: Run,
    *,
    workers: int,
    allowance: TimeAndMemoryLimits = ALLOWANCE,
) -> Iterator[EpisodeRecord]:
    """Judge trajectories as ``evaluate`` does, in several local processes.

    Raises DataError if the user's input is wrong, or a process cannot start.
    """

    def judges(judge: ChunkJudge, parts: Sequence[Chunk]) -> Iterator[Found]:
        pool = WorkerPool(judge, workers, allowance)
        try:
            yield from pool.judge(parts)
        finally:
            pool.close()

    return evaluate_by(judges, workers, dataset, trajectories, profile, run)


class WorkerPool:
    """Pool of worker processes; it replaces dead processes."""

    def __init__(self, judge: ChunkJudge, size: int, allowance: TimeAndMemoryLimits) -> None:
        self._judge = judge
        self._size = size
        self._allowance = allowance
        self._workers: list[_Worker] = []

    def judge(self, parts: Sequence[Chunk]) -> Iterator[Found]:
        """Yield the results of chunks in order. Raises DataError if a process cannot start."""
        queue = deque(_ChunkProgress(number, part) for number, part in enumerate(parts))
        early: dict[int, Found] = {}
        for due in range(len(parts)):
            while due not in early:
                self._hand_out(queue)
                for worker in self._next():
                    early |= self._hear(worker, queue)
            yield early.pop(due)

    def close(self) -> None:
        """Kill all processes."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def _hand_out(self, queue: deque[_ChunkProgress]) -> None:
        busy = sum(worker.task is not None for worker in self._workers)
        while len(self._workers) < min(self._size, busy + len(queue)):
            self._workers.append(_Worker(self._judge, self._allowance))
        for worker in self._workers:
            if queue and worker.task is None:
                worker.take(queue.popleft())

    def _next(self) -> list[_Worker]:
        busy = [worker for worker in self._workers if worker.task is not None]
        first = min(worker.deadline for worker in busy)
        ready = wait([worker.pipe for worker in busy], max(0.0, first - time.monotonic()))
        now = time.monotonic()
        return [worker for worker in busy if worker.pipe in ready or worker.deadline <= now]

    def _hear(self, worker: _Worker, queue: deque[_ChunkProgress]) -> dict[int, Found]:
        task = worker.task
        assert task is not None
        try:
            told = worker.hear()
        except (EOFError, OSError) as loss:
            self._lose(worker, task, stalled=isinstance(loss, TimeoutError))
            if task.rest:
                queue.appendleft(task)
                return {}
        except Exception as error:
            # Objects in the state of an environment may raise any exception when they are read.
            task.give_up(_UNSENT + describe_exception(error))
            worker.extend()
            if task.rest:
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

    def _lose(self, worker: _Worker, task: _ChunkProgress, *, stalled: bool) -> None:
        how = "stalled" if stalled else worker.ended()
        worker.end()
        self._workers.remove(worker)
        if not worker.begun:
            raise DataError("--workers", f"a process did not start: it {how}; use fewer workers")
        task.deaths += 1
        if stalled:
            seconds = self._allowance.seconds
            task.give_up(f"judging took more than {seconds:g} seconds (--entry-timeout)")
        elif task.deaths == MAX_TRIES:
            task.give_up(f"the judging process failed {MAX_TRIES} times: it {how}")


def _work(pipe: Connection, judge: ChunkJudge, megabytes: int | None) -> None:
    with limited_memory(megabytes):
        pipe.send(None)
        while True:
            try:
                chunk = pipe.recv()
            except EOFError:
                return
            for entry, told in zip(chunk, judge.each(chunk), strict=False):
                try:
                    pipe.send(told)
                except OSError:
                    return
                except Exception as error:
                    pipe.send(EpisodeRecord.of(entry, None, _UNSENT + describe_exception(error)))
