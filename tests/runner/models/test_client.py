"""Who may go on when: in order, answers first, and never not at all."""

from __future__ import annotations

import asyncio
from time import perf_counter

from runner.models.client import RequestPacer


def burn(seconds: float) -> None:
    """Take CPU time without letting go."""
    end = perf_counter() + seconds
    while perf_counter() < end:
        pass


def test_tasks_go_in_the_order_in_which_they_came() -> None:
    order: list[int] = []

    async def one(pacer: RequestPacer, number: int) -> None:
        await pacer.turn()
        order.append(number)

    async def main() -> None:
        pacer = RequestPacer()
        await asyncio.gather(*[one(pacer, number) for number in range(20)])

    asyncio.run(main())
    assert order == list(range(20))


def test_what_has_arrived_goes_first() -> None:
    order: list[str] = []

    async def starts(pacer: RequestPacer) -> None:
        await pacer.turn()
        order.append("start")

    async def arrives() -> None:
        for _ in range(5):
            burn(0.001)
            order.append("answer")
            await asyncio.sleep(0)

    async def main() -> None:
        await asyncio.gather(arrives(), starts(RequestPacer()))

    asyncio.run(main())
    assert order == ["answer"] * 5 + ["start"]


def test_a_loop_that_is_never_idle_lets_everybody_through() -> None:
    async def busy() -> None:
        while True:
            burn(0.001)
            await asyncio.sleep(0)

    async def main() -> None:
        other = asyncio.create_task(busy())
        pacer = RequestPacer()
        async with asyncio.timeout(2):
            await asyncio.gather(*[pacer.turn() for _ in range(3)])
        other.cancel()

    asyncio.run(main())


def test_who_gives_up_waiting_holds_nobody_up() -> None:
    async def main() -> None:
        pacer = RequestPacer()
        waiting = [asyncio.create_task(pacer.turn()) for _ in range(5)]
        await asyncio.sleep(0)
        for task in waiting[::2]:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert [task.cancelled() for task in waiting] == [True, False, True, False, True]
        async with asyncio.timeout(1):
            await pacer.turn()

    asyncio.run(main())


def test_whose_turn_it_was_goes_on_once() -> None:
    async def main() -> None:
        pacer = RequestPacer()
        await pacer.turn()
        going_on = pacer.turn()
        try:
            going_on.send(None)
        except StopIteration:
            pass
        else:
            raise AssertionError("it waited")
        async with asyncio.timeout(1):
            await pacer.turn()

    asyncio.run(main())
