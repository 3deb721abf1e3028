from __future__ import annotations

import asyncio
from collections import Counter
from random import Random

import pytest

from runner.live.budget import Budget, BudgetAllocator
from runner.live.engine import JobEngine, RequestLimits
from runner.models.model_types import Reply, Request, Usage
from runner.records.episode_record import RunSpending

QUESTION = Request([{"role": "user", "content": "?"}], None)
BUDGET = 1000


class Answering:
    """Answers at once, each time for the same money."""

    async def ask(self, request):
        """Answer a request, after the others have had their turn."""
        await asyncio.sleep(0)
        return Reply("Yes.", (), None, "stop", Usage(8, 2), 0.001, 0.01)

    async def close(self):
        """Do nothing."""


def finished(concurrency, ratio, spread, budget):
    """Run jobs of many sizes, the longest first.

    Args:
        concurrency: Jobs at once.
        ratio: How many times as many requests as expected they take.
        spread: By what factor each of them may take more or less.
        budget: What limits them.

    Returns:
        How many requests finished jobs made, and all.
    """
    random = Random(7)
    sizes = sorted((random.randrange(4, 22) for _ in range(300)), reverse=True)
    needs = [max(1, round(n * ratio * random.uniform(1 - spread, 1 + spread))) for n in sizes]
    made = Counter()
    engine = JobEngine(Answering(), RequestLimits(concurrency), Random(0), budget)

    async def do(job, ask):
        for _ in range(needs[job]):
            await ask(QUESTION)
            made[job] += 1
        return job

    done = []
    run = engine.run(range(300), do, done.append, sizes.__getitem__)
    asyncio.run(asyncio.wait_for(run, 60))
    assert "is used up" in engine.stop_reason
    return sum(made[job] for job in done), made.total()


@pytest.mark.parametrize("concurrency", [1, 16, 64, 256])
@pytest.mark.parametrize(("ratio", "spread"), [(1, 0), (0.5, 0.5), (1.5, 0.5), (3, 0.5)])
def test_nine_tenths_of_a_budget_go_into_finished_jobs_at_any_concurrency(
    concurrency, ratio, spread
):
    kept, made = finished(concurrency, ratio, spread, Budget(BUDGET))
    assert made == BUDGET
    assert kept >= 0.9 * BUDGET


@pytest.mark.parametrize("concurrency", [1, 64, 256])
def test_nine_tenths_of_a_budget_of_money_go_into_finished_jobs(concurrency):
    kept, made = finished(concurrency, 1.2, 0.3, Budget(max_cost=10.0))
    # What is on its way when the last cent is spent is paid as well.
    assert BUDGET <= made <= BUDGET + 20
    assert kept >= 0.9 * BUDGET


def test_a_budget_counts_what_was_used_before():
    budget = Budget(BUDGET, None, RunSpending(700, 7000, None))
    kept, made = finished(64, 1, 0, budget)
    assert made == 300
    assert kept >= 0.9 * 300
    assert budget.spent._replace(cost=None) == RunSpending(1000, 10_000)


def test_a_budget_that_is_used_up_already_admits_nothing():
    assert finished(16, 1, 0, Budget(BUDGET, None, RunSpending(BUDGET))) == (0, 0)


def test_a_stop_lets_nobody_ask_who_waits_for_a_turn():
    begun = []
    engine = JobEngine(Answering(), RequestLimits(8), Random(0), Budget(16))

    async def do(job, ask):
        await ask(QUESTION)
        begun.append(job)
        engine.stop("enough")
        await ask(QUESTION)
        return job

    done = []
    asyncio.run(asyncio.wait_for(engine.run(range(20), do, done.append), 20))
    assert (begun, done) == ([0, 1, 2], [])
    assert engine.stop_reason == "enough"


@pytest.mark.parametrize(("finished", "begun"), [(True, 2), (False, 1)])
def test_only_a_finished_job_tells_how_many_requests_jobs_need(finished, begun):
    async def count_admitted():
        allocator = BudgetAllocator(Budget(40))
        first = allocator.open(100)
        await allocator.admit(first)
        allocator.close(first, finished=finished)
        waiting = [allocator.admit(allocator.open(20)) for _ in range(10)]
        tasks = [asyncio.ensure_future(each) for each in waiting]
        for _ in range(3):
            await asyncio.sleep(0)
        admitted = sum(task.done() for task in tasks)
        allocator.close_all("enough")
        await asyncio.gather(*tasks)
        return admitted

    assert asyncio.run(count_admitted()) == begun
