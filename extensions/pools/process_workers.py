"""Plain processes of this machine as workers of a rollout pool."""

from __future__ import annotations

import gc
import os
import pickle
from contextlib import suppress
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any

from envs.errors import DataError, describe_exception
from extensions.pools.environment_holder import EnvironmentHolder
from extensions.pools.pool_workers import STARTING, Method, WorkerLost
from extensions.pools.worker_processes import SpawnedProcess
from runner.data.api_parameters import require_number
from runner.rollouts.rollout_env import RolloutEnv
from trajectories.dataset import pause_collector

_MAX_PROCESSES = 1_000
_PROTOCOL = pickle.HIGHEST_PROTOCOL
_GC_THRESHOLD = 200_000
"""After this number of new objects, a worker starts a garbage collection."""
_READY = -1
"""Ticket of a worker's first message."""


class _Failure:
    """Message of an exception in a worker, in place of a result."""

    def __init__(self, message: str) -> None:
        self.message = message


class _Shared:
    """An environment as bytes that a worker unpickles."""

    def __init__(self, env: RolloutEnv) -> None:
        self._bytes = _pickle(env)

    def __reduce__(self) -> tuple[Any, ...]:
        return pickle.loads, (self._bytes,)


class _Process(SpawnedProcess):
    is_ready = False

    def __init__(self) -> None:
        super().__init__(_serve)


class ProcessWorkers:
    """Worker processes of this machine.

    Raises DataError if the number of workers is invalid, or if a process cannot start.

    Args:
        size: Number of processes; None for one per available processor.
    """

    def __init__(self, size: int | None = None) -> None:
        if size is not None:
            require_number("workers", size, most=_MAX_PROCESSES)
        self.size = size or _count_processors()
        self._tickets = 0
        self._processes = [_Process() for _ in range(self.size)]

    def share(self, env: RolloutEnv) -> Any:
        """Return the environment as bytes that the worker unpickles.

        Raises DataError if the environment cannot be pickled.
        """
        try:
            return _Shared(env)
        except ValueError as error:
            raise DataError("envs", f"{error}") from None

    def ask(self, number: int, method: Method, *arguments: Any) -> int:
        """Send a method and its arguments. Raises ValueError if an argument cannot be sent."""
        request = _pickle((method, arguments))
        self._tickets += 1
        with suppress(OSError):  # `answer` reports a dead process
            self._processes[number].pipe.send((self._tickets, request))
        return self._tickets

    def answer(self, number: int, ticket: int, seconds: float) -> Any:
        """Return the result of a request; older results are dropped."""
        process = self._processes[number]
        end = monotonic() + seconds + (0.0 if process.is_ready else STARTING)
        try:
            while process.pipe.poll(max(0.0, end - monotonic())):
                answered, data = process.pipe.recv()
                if answered == _READY:
                    process.is_ready, end = True, monotonic() + seconds
                elif answered == ticket:
                    return _read(data)
        except (EOFError, OSError):
            raise WorkerLost from None
        raise WorkerLost

    def replace(self, number: int) -> None:
        """Kill a process, and start another one."""
        self._processes[number].end()
        self._processes[number] = _Process()

    def close(self) -> None:
        """Kill all processes."""
        for process in self._processes:
            process.end()


def _count_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _pickle(value: object) -> bytes:
    try:
        return pickle.dumps(value, _PROTOCOL)
    except Exception as error:
        # Objects in the state of an environment may raise any exception when they are pickled.
        message = f"cannot be sent to a worker process: {describe_exception(error)}"
        raise ValueError(f"{message}; define it in a module") from None


def _read(data: bytes) -> Any:
    try:
        with pause_collector():
            result = pickle.loads(data)
    except Exception as error:
        # Objects in the state of an environment may raise any exception when they are read.
        result = _Failure(f"the result cannot be read: {describe_exception(error)}")
    if isinstance(result, _Failure):
        raise ValueError(result.message)
    return result


def _serve(pipe: Connection) -> None:
    # The objects of played episodes live until they are sent, so a collection would free none.
    gc.set_threshold(_GC_THRESHOLD)
    holder = EnvironmentHolder()
    with suppress(EOFError, OSError):
        pipe.send((_READY, b""))
        while True:
            ticket, request = pipe.recv()
            try:
                method, arguments = pickle.loads(request)
                result = pickle.dumps(method(holder, *arguments), _PROTOCOL)
            except Exception as error:
                result = pickle.dumps(_Failure(describe_exception(error)))
            pipe.send((ticket, result))
