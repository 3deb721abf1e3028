"""Session with a call timeout that reports the line of the interrupted call."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, TypeVar

from envs.calls import Call
from envs.errors import BackendFault, MalformedCall
from envs.results import Result
from envs.worlds import WorldSession
from extensions.contract.source_lines import line_in

CALL_SECONDS = 5.0
"""Maximum seconds of a call, or of loading a config."""
_MAX_EXTENSIONS = 3
"""Maximum number of times that this limit is extended for a call that used little CPU time."""

Value = TypeVar("Value")


class CallTimeout(BaseException):
    """A function did not end in time; ``except Exception`` cannot catch this exception.

    Attributes:
        line: The environment's line at the timeout, or None if other code was running.
        what: Interrupted action.
    """

    def __init__(self, line: str | None, what: object) -> None:
        super().__init__(f"{what} runs for more than {CALL_SECONDS:g} seconds")
        self.line = line
        self.what = what


class TimedSession(WorldSession):
    """A session of one environment under test."""

    __slots__ = ("configs", "source")
    source: str
    configs: Mapping[str, Any]
    """Configs from which the session was loaded, by name."""

    def call(self, call: Call | MalformedCall) -> Result:
        """Make one call.

        Raises:
            BackendFault: A backend has a bug, or a backend tried to end the process.
            CallTimeout: The call did not end in time.
        """
        try:
            return in_time(self.source, call, lambda: WorldSession.call(self, call))
        except (Exception, CallTimeout, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise BackendFault(str(call), error) from error

    def fork(self, *, checks_arguments: bool | None = None) -> TimedSession:
        """Return an independent copy."""
        copy = super().fork(checks_arguments=checks_arguments)
        copy.source, copy.configs = self.source, self.configs
        return copy


def in_time(source: str, what: object, run: Callable[[], Value]) -> Value:
    """Run a function for at most ``CALL_SECONDS``; the limit holds only in the main thread.

    Raises CallTimeout if the function did not end in time.
    """
    if threading.current_thread() is not threading.main_thread() or not _TIMED:
        return run()

    began, left = time.thread_time(), _MAX_EXTENSIONS

    def stop(_: int, frame: FrameType | None) -> Any:
        nonlocal left
        # A busy machine may give the process little time.
        if left and time.thread_time() - began < CALL_SECONDS / 2:
            left -= 1
            signal.setitimer(signal.ITIMER_REAL, CALL_SECONDS)
            return
        raise CallTimeout(line_in(source, frame), what)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, CALL_SECONDS)
    try:
        return run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


_TIMED = hasattr(signal, "setitimer")
"""Whether the system has the needed timer; Windows has none."""
