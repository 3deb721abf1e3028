"""What a run may use, and who may go on when that will not suffice for all that is under way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from runner.models.base import Usage
from runner.records.record import Spent

_CAUTION = 5.0
"""How many times as many requests as expected a job is taken to need that is under way."""
_UNPRICED = 1.0
"""Requests that a budget of money has room for until one of them has a price."""


class Budget:
    """What a run may use; nothing by default limits it.

    Args:
        max_requests: None for no limit.
        max_cost: US dollars, or None.
        spent: What was used before.

    Attributes:
        spent: What has been used so far.
    """

    def __init__(
        self,
        max_requests: int | None = None,
        max_cost: float | None = None,
        spent: Spent | None = None,
    ) -> None:
        self.spent = spent or Spent()
        self._max_requests = max_requests
        self._max_cost = max_cost
        self._priced = self.spent.requests

    @property
    def left(self) -> float:
        """How many requests may still be made, as far as their cost can be foreseen."""
        spent, left = self.spent, inf
        if self._max_requests is not None:
            left = self._max_requests - spent.requests
        if self._max_cost is not None:
            money = self._max_cost - (spent.cost or 0.0)
            priced = money * self._priced / spent.cost if spent.cost else _UNPRICED
            left = min(left, max(1.0, priced) if money > 0 else 0.0)
        return left

    @property
    def limited(self) -> bool:
        """Whether anything limits it."""
        return self._max_requests is not None or self._max_cost is not None

    def admit(self) -> str | None:
        """Admit a request and count it, or return why there may be none."""
        spent = self.spent
        if self._max_requests is not None and spent.requests >= self._max_requests:
            return f"the budget of {self._max_requests} requests is used up"
        if self._max_cost is not None and (spent.cost or 0.0) >= self._max_cost:
            return f"the budget of {self._max_cost} US dollars is used up"
        self.spent = Spent(spent.requests + 1, spent.tokens, spent.cost)
        return None

    def count(self, usage: Usage, cost: float | None) -> None:
        """Take note of what an answer took."""
        requests, tokens, known = self.spent
        self._priced += cost is not None
        tokens += (usage.prompt or 0) + (usage.completion or 0)
        self.spent = Spent(requests, tokens, known if cost is None else (known or 0.0) + cost)


@dataclass(eq=False)
class Share:
    """What one job uses of a budget.

    Attributes:
        expected: How many requests it is expected to take.
        used: How many it has made.
        waiting: Gets None when it may make another, or why it may not.
    """

    expected: int
    used: int = 0
    waiting: asyncio.Future[str | None] | None = None

    def needs(self, ratio: float) -> float:
        """Return how many more it is likely to make."""
        return max(1.0, self.expected * ratio - self.used)

    def answer(self, refusal: str | None) -> None:
        """Let it go on, or not."""
        assert self.waiting is not None
        if not self.waiting.done():
            self.waiting.set_result(refusal)
            self.used += refusal is None
        self.waiting = None


class Quota:
    """Shares a budget out so that what is begun is finished with it.

    A job begins while the budget is likely to suffice for it and for all that are under way. Where
    these need more after all, those that need least go on first and the others wait. What is too
    little for another job is used for one all the same.

    Args:
        budget: What is shared.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._shares: list[Share] = []
        self._closed: str | None = None
        self._expected = 0
        self._needed = 0

    def open(self, expected: int) -> Share:
        """Return the share of a job that begins or waits to; it is to be closed."""
        share = Share(expected)
        self._shares.append(share)
        return share

    def close(self, share: Share, *, finished: bool) -> None:
        """Take note that a job is over; of a finished one is learnt how much jobs need."""
        self._shares.remove(share)
        if finished and share.used:
            self._expected += share.expected
            self._needed += share.used
        self._share_out()

    async def admit(self, share: Share) -> str | None:
        """Wait for the turn of a job, count its request, or return why there may be none."""
        if self._closed is not None:
            return self._closed
        if not self._budget.limited:
            return self._budget.admit()
        turn: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        share.waiting = turn
        self._share_out()
        return await turn

    def close_all(self, reason: str) -> None:
        """Let nobody make a request any more."""
        self._closed = reason
        for share in self._shares:
            if share.waiting:
                share.answer(reason)

    def _share_out(self) -> None:
        """Let all go on for whom the budget suffices beside those that come before them."""
        waiting = [share for share in self._shares if share.waiting]
        if not waiting:
            return
        left = self._budget.left
        if left < 1:
            for share in waiting:
                share.answer(self._budget.admit())
            return
        begun = [share for share in self._shares if share.used]
        ratio = self._ratio(begun)
        begun.sort(key=lambda share: share.needs(ratio))
        for share in begun:
            needs = share.needs(ratio)
            if share.waiting and left >= 1:
                share.answer(self._budget.admit())
            left -= needs
        for share in waiting:
            if share.used or share.waiting is None:
                continue
            needs = share.needs(ratio)
            if left >= needs or not begun:
                share.answer(self._budget.admit())
                begun.append(share)
                left -= needs

    def _ratio(self, begun: Iterable[Share]) -> float:
        """Return how many times as many requests as expected a job is likely to need.

        Those that finish first need less than others, so those under way count as needing much.
        """
        expected, needed = float(self._expected), float(self._needed)
        for share in begun:
            expected += share.expected
            needed += max(share.used, _CAUTION * share.expected)
        return needed / expected if expected else _CAUTION
