"""Session with a time limit for calls; its error names the interrupted source line."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType, MappingProxyType
from typing import Any, TypeVar

from envs.bounds import BOUNDS, measure_size
from envs.calls import Call
from envs.errors import BackendFault, MalformedCall
from envs.results import Result
from envs.worlds import WorldSession
from extensions.contract.source_lines import line_in

CALL_SECONDS = 5.0
"""Maximum seconds of a call, or of loading a config."""
_MAX_EXTENSIONS = 3
"""Maximum number of extensions of a time limit."""
_TICKS = 10
"""Number of ticks of the timer during ``CALL_SECONDS``."""

Value = TypeVar("Value")


class CallTimeout(KeyboardInterrupt):
    """A function did not end in time; ``except Exception`` cannot catch this exception."""

    configs: Mapping[str, Any] = MappingProxyType({})
    """Configs of the interrupted session, by name."""

    def __init__(self, line: str | None, what: object) -> None:
        super().__init__(f"{what} runs for more than {CALL_SECONDS:g} seconds")
        self.line = line
        """Line of the environment's code at the timeout, or None."""
        self.what = what
        """Interrupted action."""


class TimedSession(WorldSession):
    """A session of one environment under test."""

    __slots__ = ("configs", "source")
    source: str
    configs: Mapping[str, Any]
    """Configs from which the session was loaded, by name."""

    def call(self, call: Call | MalformedCall) -> Result:
        """Make one call.

        Raises:
            BackendFault: A backend has a bug.
            CallTimeout: The call did not end in time.
        """
        before = self.snapshot()
        try:
            result = in_time(self.source, call, lambda: WorldSession.call(self, call))
        except CallTimeout as error:
            error.configs = self.configs
            raise
        states = self.snapshot().states.values() if result.changed else ()
        for name, value in (("result", result.held), *(("state", state) for state in states)):
            if _is_endless(value):
                self._put_back(before)
                raise BackendFault(str(call), RecursionError(f"the {name} {_ENDLESS}"))
        return result

    def fork(self, *, checks_arguments: bool | None = None) -> TimedSession:
        """Return an independent copy."""
        copy = super().fork(checks_arguments=checks_arguments)
        copy.source, copy.configs = self.source, self.configs
        return copy


_ENDLESS = f"contains itself, or has more than {BOUNDS.depth} levels of nesting"


def _is_endless(value: Any) -> bool:
    return measure_size(value, sys.maxsize) > sys.maxsize


class _TimedRun:
    """Execution of a function with a time limit. ``what`` names the execution in the error."""

    __slots__ = ("_began", "_cpu_began", "_extensions", "source", "what")

    def __init__(self, source: str, what: object) -> None:
        self.source, self.what = source, what
        self._began = time.monotonic()
        self._cpu_began: float | None = None
        self._extensions = _MAX_EXTENSIONS

    def is_over(self) -> bool:
        """Tell whether the run exceeds the time limit; each tick of the timer calls this method."""
        # A system call for each run would take longer than most runs.
        if self._cpu_began is None:
            self._cpu_began = time.thread_time()
        if time.monotonic() - self._began < CALL_SECONDS:
            return False
        # A busy machine may give the process little time.
        if self._extensions and time.thread_time() - self._cpu_began < CALL_SECONDS / 2:
            self._extensions -= 1
            self._began, self._cpu_began = time.monotonic(), time.thread_time()
            return False
        return True


_runs: list[_TimedRun] = []
"""Active runs. The newest run is last."""


def _tick(_: int, frame: FrameType | None) -> None:
    if _runs and _runs[-1].is_over():
        raise CallTimeout(line_in(_runs[-1].source, frame), _runs[-1].what)


@contextmanager
def ticking() -> Iterator[None]:
    """Start one timer that many calls of ``in_time`` share."""
    if not _TIMED or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _tick)
    period = CALL_SECONDS / _TICKS
    signal.setitimer(signal.ITIMER_REAL, period, period)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def in_time(source: str, what: object, run: Callable[[], Value]) -> Value:
    """Run a function for at most ``CALL_SECONDS``. Outside the main thread, no limit applies.

    Raises CallTimeout if the function did not end in time.
    """
    if not _TIMED or threading.current_thread() is not threading.main_thread():
        return run()
    if signal.getsignal(signal.SIGALRM) is not _tick:
        with ticking():
            return in_time(source, what, run)
    _runs.append(_TimedRun(source, what))
    try:
        return run()
    finally:
        _runs.pop()


_TIMED = hasattr(signal, "setitimer")
"""Whether the system has ``signal.setitimer``; Windows does not have it."""
