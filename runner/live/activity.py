"""What a run is at right now: requests in flight, tries that failed, waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from runner.models.base import ModelError


class Wait(NamedTuple):
    """A wait before another try."""

    until: float
    """When it is over, by the clock of the activity."""
    asked_for: bool
    """Whether the server asked for it."""


class Activity:
    """Keeps count of what is going on.

    Args:
        clock: Gives the time in seconds, from any origin.

    Attributes:
        jobs: Jobs that are under way.
        in_flight: Requests that have no answer yet.
        retries: Tries that failed and were, or will be, made again.
        trouble: How many tries failed, by kind.
        words: What was said of the last of each kind.
        waits: The waits there are.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.jobs = 0
        self.in_flight = 0
        self.retries = 0
        self.trouble: Counter[str] = Counter()
        self.words: dict[str, str] = {}
        self.waits: list[Wait] = []
        self.clock = clock
        self._request = _InFlight(self)

    @contextmanager
    def job(self) -> Iterator[None]:
        """Count a job for as long as it is under way."""
        self.jobs += 1
        try:
            yield
        finally:
            self.jobs -= 1

    def request(self) -> _InFlight:
        """Count a request until there is an answer, or none."""
        return self._request

    @contextmanager
    def wait(self, seconds: float, *, asked_for: bool) -> Iterator[None]:
        """Count a wait before another try.

        Args:
            seconds: How long it takes.
            asked_for: Whether the server asked for it.
        """
        wait = Wait(self.clock() + seconds, asked_for)
        self.retries += 1
        self.waits.append(wait)
        try:
            yield
        finally:
            self.waits.remove(wait)

    def failed(self, error: ModelError) -> None:
        """Take note of a try that failed."""
        kind = (error.kind or "fault").replace("_", " ")
        self.trouble[kind] += 1
        # The last kind stands last.
        self.words.pop(kind, None)
        self.words[kind] = str(error)


class _InFlight:
    """Counts requests that are under way; one for all, for it keeps nothing of them itself."""

    def __init__(self, activity: Activity) -> None:
        self._activity = activity

    def __enter__(self) -> None:
        self._activity.in_flight += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        self._activity.in_flight -= 1
        if isinstance(error, ModelError):
            self._activity.failed(error)
