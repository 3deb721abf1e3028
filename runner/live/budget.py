"""Budget of a run, and its distribution among episodes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from runner.models.model_types import Usage
from runner.records.episode_record import RunSpending

_CAUTION = 5.0
_UNPRICED = 1.0
"""Before the first price is known, the budget allows one request."""

_USED_UP = "the budget of"


def is_budget_stop(reason: str | None) -> bool:
    """Tell whether a run stopped because its budget was used up."""
    return reason is not None and reason.startswith(_USED_UP)


class Budget:
    """Limits on requests and US dollars, and the amounts spent so far."""

    def __init__(
        self,
        max_requests: int | None = None,
        max_cost: float | None = None,
        spent: RunSpending | None = None,
    ) -> None:
        self.spent = spent or RunSpending()
        self._max_requests = max_requests
        self._max_cost = max_cost
        self._priced = self.spent.requests

    @property
    def left(self) -> float:
        """Estimated number of requests that the rest of the budget allows."""
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
        """Whether there is a limit."""
        return self._max_requests is not None or self._max_cost is not None

    def admit(self) -> str | None:
        """Admit a request and count it, or return the reason for a refusal."""
        spent = self.spent
        if self._max_requests is not None and spent.requests >= self._max_requests:
            return f"{_USED_UP} {self._max_requests} requests is used up"
        if self._max_cost is not None and (spent.cost or 0.0) >= self._max_cost:
            return f"{_USED_UP} {self._max_cost} US dollars is used up"
        self.spent = RunSpending(spent.requests + 1, spent.tokens, spent.cost)
        return None

    def count(self, usage: Usage, cost: float | None) -> None:
        """Count the tokens and the cost of an answer."""
        requests, tokens, known = self.spent
        self._priced += cost is not None
        tokens += (usage.prompt or 0) + (usage.completion or 0)
        self.spent = RunSpending(requests, tokens, known if cost is None else (known or 0.0) + cost)


@dataclass(eq=False)
class BudgetShare:
    """Share of the budget for one job."""

    expected: int
    """Expected number of requests of the job."""
    used: int = 0
    """Requests so far."""
    waiting: asyncio.Future[str | None] | None = None
    """Reply to a waiting request: ``None``, or the reason for a refusal."""

    def needs(self, ratio: float) -> float:
        """Estimate the number of further requests that the job needs."""
        return max(1.0, self.expected * ratio - self.used)

    def answer(self, refusal: str | None) -> None:
        """Admit or refuse the waiting request."""
        assert self.waiting is not None
        if not self.waiting.done():
            self.waiting.set_result(refusal)
            self.used += refusal is None
        self.waiting = None


class BudgetAllocator:
    """Distribution of a budget among jobs; it leaves enough for the running jobs to finish.

    Jobs start in order. A job starts only if the budget probably suffices for this job and all
    running jobs. If the budget is too small for all running jobs, earlier jobs take precedence
    over later jobs. Short jobs get no preference, because a preference for easy entries would bias
    the score. If no job is running, the next job always begins.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._shares: list[BudgetShare] = []
        self._closed: str | None = None
        self._expected = 0
        self._needed = 0

    def open(self, expected: int) -> BudgetShare:
        """Reserve a share of the budget for a new job."""
        share = BudgetShare(expected)
        self._shares.append(share)
        return share

    def close(self, share: BudgetShare, *, finished: bool) -> None:
        """Release a job's share of the budget."""
        self._shares.remove(share)
        if finished and share.used:
            self._expected += share.expected
            self._needed += share.used
        self._share_out()

    async def admit(self, share: BudgetShare) -> str | None:
        """Wait until the job's request may start; return None, or the reason for a refusal."""
        if self._closed is not None:
            return self._closed
        if not self._budget.limited:
            return self._budget.admit()
        turn: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        share.waiting = turn
        self._share_out()
        return await turn

    def close_all(self, reason: str) -> None:
        """Refuse all further requests."""
        self._closed = reason
        for share in self._shares:
            if share.waiting:
                share.answer(reason)

    def _share_out(self) -> None:
        waiting = [share for share in self._shares if share.waiting]
        if not waiting:
            return
        left = self._budget.left
        if left < 1:
            for share in waiting:
                share.answer(self._budget.admit())
            return
        begun = [share for share in self._shares if share.used]
        ratio = self._estimate_ratio(begun)
        for share in begun:
            needs = share.needs(ratio)
            if share.waiting and left >= 1:
                share.answer(self._budget.admit())
            left -= needs
        for share in waiting:
            if share.used or share.waiting is None:
                continue
            needs = share.needs(ratio)
            if left < needs and begun:
                break
            share.answer(self._budget.admit())
            begun.append(share)
            left -= needs

    def _estimate_ratio(self, begun: Iterable[BudgetShare]) -> float:
        """Estimate the ratio of needed requests to expected requests.

        Short jobs finish first. Therefore, the estimate assumes a high ratio for each running job.
        """
        expected, needed = float(self._expected), float(self._needed)
        for share in begun:
            expected += share.expected
            needed += max(share.used, _CAUTION * share.expected)
        return needed / expected if expected else _CAUTION
