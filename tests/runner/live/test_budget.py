from __future__ import annotations

import asyncio
from collections import Counter
from math import inf
from random import Random

import pytest

from runner.live.budget import Budget, BudgetAllocator, BudgetShare, is_budget_stop
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


@pytest.mark.parametrize(
    ("max_requests", "max_cost", "spent", "left"),
    [
        (None, None, RunSpending(9, 9, 9.0), inf),
        (10, None, RunSpending(3), 7),
        (3, None, RunSpending(3), 0),
        (None, 10.0, RunSpending(4, 0, 2.0), 16.0),
        (5, 10.0, RunSpending(4, 0, 2.0), 1),
        (50, 10.0, RunSpending(4, 0, 2.0), 16.0),
        # Without a price, one more request is affordable; with little money left, too.
        (None, 10.0, RunSpending(4), 1.0),
        (None, 10.0, RunSpending(4, 0, 0.0), 1.0),
        (None, 0.5, None, 1.0),
        (None, 2.5, RunSpending(4, 0, 2.0), 1.0),
        (None, 3.0, RunSpending(4, 0, 2.0), 2.0),
        (None, 2.0, RunSpending(4, 0, 2.0), 0.0),
        (None, 1.0, RunSpending(4, 0, 2.0), 0.0),
    ],
)
def test_the_rest_of_a_budget_is_a_number_of_requests(max_requests, max_cost, spent, left):
    budget = Budget(max_requests, max_cost, spent)
    assert budget.left == left
    assert budget.limited is (max_requests is not None or max_cost is not None)
    admitted = budget.admit()
    assert is_budget_stop(admitted) is (left == 0)
    assert (admitted is None) is (left > 0)
    requests, tokens, cost = spent or RunSpending()
    assert budget.spent == (requests + (left > 0), tokens, cost)


def test_the_reason_for_a_refusal_names_the_budget_that_is_used_up():
    spent = RunSpending(7, 0, 2.0)
    assert Budget(7, 2.0, spent).admit() == "the budget of 7 requests is used up"
    assert Budget(8, 2.0, spent).admit() == "the budget of 2.0 US dollars is used up"
    assert Budget(8, 2.5, spent).admit() is None
    assert not is_budget_stop("interrupted")
    assert not is_budget_stop(None)


def test_the_price_of_a_request_is_the_mean_of_priced_requests():
    budget = Budget(max_cost=10.0)
    for usage, cost in (((5, 1), 1.0), ((None, 2), None), ((3, None), 0.0), ((4, 4), 2.0)):
        assert budget.admit() is None
        budget.count(Usage(*usage), cost)
    assert budget.spent == RunSpending(4, 19, 3.0)
    # Three priced requests cost 3 dollars.
    assert budget.left == 7.0


def begin(allocator, shares):
    """Let each job ask for a request; return the refusals of those that got an answer."""

    async def admit():
        tasks = [asyncio.ensure_future(allocator.admit(share)) for share in shares]
        for _ in range(3):
            await asyncio.sleep(0)
        answered = [index for index, task in enumerate(tasks) if task.done()]
        refusals = {tasks[index].result() for index in answered}
        for task in tasks:
            task.cancel()
        for share in shares:
            share.waiting = None
        return answered, refusals

    return asyncio.run(admit())


@pytest.mark.parametrize(
    ("requests", "begun"), [(2, 1), (99, 1), (100, 2), (149, 2), (150, 3), (200, 4), (900, 4)]
)
def test_a_job_begins_if_the_budget_suffices_for_five_times_the_expected_requests(requests, begun):
    allocator = BudgetAllocator(Budget(requests))
    shares = [allocator.open(10) for _ in range(4)]
    assert begin(allocator, shares) == ([*range(begun)], {None})
    assert [share.used for share in shares] == [1] * begun + [0] * (4 - begun)


def test_a_short_job_does_not_overtake_a_long_one():
    allocator = BudgetAllocator(Budget(100))
    shares = [allocator.open(expected) for expected in (10, 20, 1)]
    assert begin(allocator, shares) == ([0], {None})


@pytest.mark.parametrize(
    ("used", "requests", "begun"),
    # A job that sent no request tells nothing.
    [(10, 39, 1), (10, 40, 2), (20, 46, 1), (20, 47, 2), (0, 99, 1), (0, 100, 2)],
)
def test_finished_jobs_tell_how_many_requests_another_job_needs(used, requests, begun):
    allocator = BudgetAllocator(Budget(requests))
    running = allocator.open(10)
    assert begin(allocator, [running]) == ([0], {None})
    done = allocator.open(20)
    done.used = used
    allocator.close(done, finished=True)
    shares = [running, allocator.open(10), allocator.open(1000)]
    assert begin(allocator, shares) == ([*range(begun)], {None})


def test_the_last_requests_go_to_the_earliest_running_job():
    budget = Budget(3)
    allocator = BudgetAllocator(budget)
    shares = [allocator.open(10) for _ in range(4)]
    for share in shares[1:]:
        share.used = 5
    assert begin(allocator, shares) == ([1], {None})
    assert begin(allocator, shares[2:]) == ([], set())
    allocator.close(shares[1], finished=True)
    assert begin(allocator, shares[2:]) == ([0], {None})
    assert [share.used for share in shares] == [0, 6, 6, 5]
    budget.admit()
    refused = begin(allocator, [shares[0], *shares[2:]])
    assert refused == ([0, 1, 2], {"the budget of 3 requests is used up"})
    assert [share.used for share in shares] == [0, 6, 6, 5]


@pytest.mark.parametrize(
    ("used", "ratio", "needs"), [(0, 1.0, 10.0), (4, 1.5, 11.0), (9, 1.0, 1.0), (30, 1.0, 1.0)]
)
def test_a_running_job_needs_at_least_one_more_request(used, ratio, needs):
    assert BudgetShare(10, used).needs(ratio) == needs


def test_a_closed_budget_refuses_all_waiting_and_later_requests():
    async def main():
        allocator = BudgetAllocator(Budget(2))
        shares = [allocator.open(10) for _ in range(4)]
        waiting = [asyncio.ensure_future(allocator.admit(share)) for share in shares[:3]]
        await asyncio.sleep(0)
        waiting[1].cancel()
        await asyncio.sleep(0)
        allocator.close_all("enough")
        later = await allocator.admit(shares[3])
        return [*await asyncio.gather(*waiting, return_exceptions=True), later]

    first, cancelled, *others = asyncio.run(main())
    assert first is None
    assert isinstance(cancelled, asyncio.CancelledError)
    assert others == ["enough", "enough"]


def test_a_run_without_limits_waits_for_nobody():
    budget = Budget()
    assert asyncio.run(BudgetAllocator(budget).admit(BudgetShare(9))) is None
    assert budget.spent.requests == 1
