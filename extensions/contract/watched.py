"""A session that ends a call which runs on for ever, and says on which line it was."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, TypeVar

from envs.calls import Call
from envs.errors import BackendFault, MalformedCall
from envs.results import Result
from envs.session import Session
from extensions.contract.lines import line_in

CALL_SECONDS = 5.0
"""Time that a call, or the loading of a config, may take."""

Value = TypeVar("Value")


class TooLong(BaseException):
    """What was run has not come back; no environment's ``except Exception`` holds it up.

    Attributes:
        line: Where the environment was then, or None where it was not in its source.
        what: What was run.
    """

    def __init__(self, line: str | None, what: object) -> None:
        super().__init__(f"{what} runs for more than {CALL_SECONDS:g} seconds")
        self.line = line
        self.what = what


class Watched(Session):
    """A session of one environment under test."""

    __slots__ = ("config", "source")
    source: str
    config: Mapping[str, Any]
    """What it was loaded from."""

    def call(self, call: Call | MalformedCall) -> Result:
        """Make one call.

        Raises:
            BackendFault: A backend broke on well-formed arguments, or would end the process.
            TooLong: It did not come back.
        """
        try:
            return in_time(self.source, call, lambda: Session.call(self, call))
        except SystemExit as error:
            raise BackendFault(str(call), error) from error

    def fork(self, *, checks_arguments: bool | None = None) -> Watched:
        """Return an independent copy."""
        copy = super().fork(checks_arguments=checks_arguments)
        copy.source, copy.config = self.source, self.config
        return copy


def in_time(source: str, what: object, run: Callable[[], Value]) -> Value:
    """Run something, at most for ``CALL_SECONDS``; in other threads than the first, without end.

    Raises:
        TooLong: It did not come back.
    """
    if threading.current_thread() is not threading.main_thread() or not _TIMED:
        return run()

    def stop(_: int, frame: FrameType | None) -> Any:
        raise TooLong(line_in(source, frame), what)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, CALL_SECONDS)
    try:
        return run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


_TIMED = hasattr(signal, "setitimer")
"""Windows has no such timer."""
