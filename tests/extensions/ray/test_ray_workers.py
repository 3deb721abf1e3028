from __future__ import annotations

import asyncio

from extensions.ray.ray_workers import SharedBudget
from runner.live.budget import Budget
from runner.models.model_types import Usage
from runner.records.episode_record import RunSpending

REFUSAL = "the budget of 2 requests is used up"


def test_requests_are_admitted_until_the_budget_is_used_up():
    for budget in (Budget(2), SharedBudget(2)):
        assert [budget.admit() for _ in range(3)] == [None, None, REFUSAL]
        assert budget.spent == RunSpending(2, 0, None)
    assert budget.state() == (RunSpending(2, 0, None), REFUSAL, False)


def test_an_episode_waits_until_the_budget_is_likely_to_suffice_for_it():
    first, second = ("a", 0), ("b", 0)

    async def main():
        budget = SharedBudget(7)
        assert await budget.admit_for(first, 1) is None
        waiting = asyncio.create_task(budget.admit_for(second, 1))
        await asyncio.sleep(0)
        assert not waiting.done()
        assert await budget.admit_for(first, 1) is None
        budget.close(first, finished=True)
        assert await waiting is None
        assert budget.spent.requests == 3
        budget.stop("a wrong key", failed=True)
        assert await budget.admit_for(second, 1) == "a wrong key"
        budget.close(second, finished=False)
        budget.close(second, finished=False)

    asyncio.run(asyncio.wait_for(main(), 20))


def test_who_waits_for_a_budget_that_is_stopped_is_let_go():
    async def main():
        budget = SharedBudget(7)
        assert await budget.admit_for(("a", 0), 1) is None
        waiting = asyncio.create_task(budget.admit_for(("b", 0), 1))
        await asyncio.sleep(0)
        budget.stop("a wrong key", failed=True)
        assert await waiting == "a wrong key"

    asyncio.run(asyncio.wait_for(main(), 20))


def test_a_limit_of_requests_a_minute_is_one_for_all_workers():
    async def main():
        budget = SharedBudget(requests=60)
        keys = [(name, 0) for name in "abc"]
        waiting = [asyncio.create_task(budget.admit_for(key, 1)) for key in keys]
        while not waiting[0].done():
            await asyncio.sleep(0)
        # The others have a second each to wait.
        assert [task.done() for task in waiting] == [True, False, False]
        budget.stop("interrupted")
        assert await asyncio.gather(*waiting) == [None, "interrupted", "interrupted"]
        assert budget.state() == (RunSpending(1), "interrupted", False)

    asyncio.run(asyncio.wait_for(main(), 20))


def test_a_limit_of_tokens_goes_by_what_answers_took():
    async def main():
        budget = SharedBudget(tokens=60)
        key = ("a", 0)
        assert await budget.admit_for(key, 2, 50.0) is None
        # Nothing of what was feared: the next may start at once.
        budget.count_for(key, Usage(0, 0), None)
        assert await budget.admit_for(key, 2, 1.0) is None
        assert budget.spent.requests == 2

    asyncio.run(asyncio.wait_for(main(), 5))


def test_answers_cost():
    budget = SharedBudget(None, 0.5)
    assert budget.admit() is None
    budget.count(Usage(8, 2), 0.25)
    assert budget.admit() is None
    budget.count(Usage(None, 5), 0.25)
    assert budget.admit() == "the budget of 0.5 US dollars is used up"
    assert budget.spent == RunSpending(2, 15, 0.5)


def test_no_price_is_no_cost():
    budget = Budget()
    budget.count(Usage(10), None)
    assert budget.spent.cost is None


def test_a_stopped_run_makes_no_request_and_the_first_reason_stands():
    budget = SharedBudget()
    budget.stop("a wrong key", failed=True)
    budget.stop("another")
    assert budget.admit() == "a wrong key"
    assert budget.state() == (RunSpending(), "a wrong key", True)
