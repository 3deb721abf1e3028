"""The one account of a run whose requests are made by many processes."""

from __future__ import annotations

from typing import Protocol

from runner.live.engine import Spent


class Spending(Protocol):
    """What knows how much a run has used so far."""

    spent: Spent


class Budget:
    """Admits requests while the budget lasts and nobody has stopped the run.

    Args:
        max_requests: None for no limit.
        max_cost: US dollars, or None.

    Attributes:
        spent: What was used so far.
        stop_reason: Why no further request is admitted, or None.
        failed: Whether that is an error and not a wish.
    """

    def __init__(self, max_requests: int | None, max_cost: float | None) -> None:
        self.spent = Spent()
        self.stop_reason: str | None = None
        self.failed = False
        self._max_requests = max_requests
        self._max_cost = max_cost

    def admit(self) -> str | None:
        """Admit a request and count it, or return why it must not be made."""
        spent = self.spent
        if self._max_requests is not None and spent.requests >= self._max_requests:
            self.stop(f"the budget of {self._max_requests} requests is used up")
        if self._max_cost is not None and (spent.cost or 0.0) >= self._max_cost:
            self.stop(f"the budget of {self._max_cost} US dollars is used up")
        if self.stop_reason is None:
            self.spent = spent._replace(requests=spent.requests + 1)
        return self.stop_reason

    def count(self, tokens: int, cost: float | None) -> None:
        """Take note of an answer."""
        known = self.spent.cost
        if cost is not None:
            known = (known or 0.0) + cost
        self.spent = self.spent._replace(tokens=self.spent.tokens + tokens, cost=known)

    def stop(self, reason: str, *, failed: bool = False) -> None:
        """Admit no further request; the first reason stands."""
        if self.stop_reason is None:
            self.stop_reason, self.failed = reason, failed

    def state(self) -> tuple[Spent, str | None, bool]:
        """Return the attributes, for those who are in another process."""
        return self.spent, self.stop_reason, self.failed
