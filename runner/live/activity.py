"""Current state of a run: requests in flight, failed requests and waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from runner.models.model_types import ModelError


class RetryWait(NamedTuple):
    """A wait before a retry."""

    until: float
    asked_for: bool


class RunActivity:
    """Counts of the current work, such as open requests and retries."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.jobs = 0
        """Jobs under way."""
        self.in_flight = 0
        """Requests without an answer yet."""
        self.answered = 0
        """Answered requests."""
        self.retries = 0
        """Retries so far, including scheduled retries."""
        self.trouble: Counter[str] = Counter()
        """Failed requests, by kind."""
        self.words: dict[str, str] = {}
        """Message of the last error of each kind."""
        self.waits: list[RetryWait] = []
        """Current waits."""
        self.clock = clock
        self._request = _InFlight(self)

    @contextmanager
    def job(self) -> Iterator[None]:
        """Return a context manager that counts a job as running."""
        self.jobs += 1
        try:
            yield
        finally:
            self.jobs -= 1

    def request(self) -> _InFlight:
        """Return a context manager that counts an open request."""
        return self._request

    @contextmanager
    def wait(self, seconds: float, *, asked_for: bool) -> Iterator[None]:
        """Return a context manager that counts a wait before a retry."""
        wait = RetryWait(self.clock() + seconds, asked_for)
        self.retries += 1
        self.waits.append(wait)
        try:
            yield
        finally:
            self.waits.remove(wait)

    def failed(self, error: ModelError) -> None:
        """Count a failed request."""
        kind = (error.kind or "bug").replace("_", " ")
        self.trouble[kind] += 1
        # The last kind moves to the end.
        self.words.pop(kind, None)
        self.words[kind] = str(error)


class _InFlight:
    def __init__(self, activity: RunActivity) -> None:
        self._activity = activity

    def __enter__(self) -> None:
        self._activity.in_flight += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        self._activity.in_flight -= 1
        self._activity.answered += error is None
        if isinstance(error, ModelError):
            self._activity.failed(error)
