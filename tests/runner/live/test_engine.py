from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import threading
import weakref
from math import inf
from pathlib import Path
from random import Random

import pytest

from runner.live import engine as module
from runner.live.budget import Budget
from runner.live.engine import JobEngine, RequestLimits, RunStopped
from runner.models.model_types import (
    FatalError,
    ModelError,
    Reply,
    Request,
    RequestError,
    ToolList,
    TransientError,
    Usage,
)
from runner.records.episode_record import RunSpending
from tests.runner.live.clock import FakeClock

ROOT = Path(__file__).resolve().parents[2]
QUESTION = Request([{"role": "user", "content": "?"}], None)
POISON = Request([{"role": "user", "content": "!"}], None)
QUICK = RequestLimits(concurrency=4, attempts=3, first_wait=1e-6)
BUSY = TransientError("429: slow down", retry_after=0.0)
FOREVER = 10**9


def says(text="Yes.", prompt=10, completion=2, cost=None):
    """Return a reply."""
    return Reply(text, (), None, "stop", Usage(prompt, completion), 0.001, cost)


class Scripted:
    """Gives replies and errors in order, then the last one again and again."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes) or [says()]
        self.asked = 0
        self.busy = 0
        self.most_busy = 0

    async def ask(self, request):
        """Answer a request."""
        self.asked += 1
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        self.busy += 1
        self.most_busy = max(self.busy, self.most_busy)
        try:
            for _ in range(3):
                await asyncio.sleep(0)
        finally:
            self.busy -= 1
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def close(self):
        """Do nothing."""


class Hanging(Scripted):
    """Never answers."""

    async def ask(self, request):
        """Wait for ever."""
        self.asked += 1
        await asyncio.Event().wait()


class Recorder:
    """Runs an engine and keeps what became of the jobs."""

    def __init__(self, model, limits=QUICK, jitter=None, clock=None, **budget):
        self.model = model
        jitter = jitter or Random(0)
        self.engine = JobEngine(model, limits, jitter, Budget(**budget), clock=clock)
        self.done = []
        self.answers = []

    async def ask_once(self, job, ask):
        """Do a job that is one request."""
        answer = await ask(QUESTION)
        self.answers.append(answer)
        return job

    async def ask_thrice(self, job, ask):
        """Do a job that is three requests."""
        for _ in range(3):
            await ask(QUESTION)
        return job

    def run(self, jobs, do=None, on_done=None):
        """Run jobs to the end, whatever it is; a run that hangs is an error."""
        running = self.engine.run(jobs, do or self.ask_once, on_done or self.done.append)
        asyncio.run(asyncio.wait_for(running, 20))
        return self


async def recorded(job, ask):
    """Do a job as a run does: an error of the model's is what became of it."""
    return await recorded_of(QUESTION, ask)


async def recorded_of(request, ask):
    """Return what became of a request."""
    try:
        return (await ask(request)).reply.text
    except ModelError as error:
        return str(error)


@pytest.fixture
def clock():
    """Return a clock whose time passes when all wait for it."""
    return FakeClock()


def ask_alone(engine):
    """Put one request, without a run."""
    return asyncio.run(engine.ask(QUESTION))


# Many at once


def test_a_huge_concurrency_costs_no_more_than_the_jobs_need():
    assert Recorder(Scripted(says(), says()), RequestLimits(10**9)).run(range(2)).done == [0, 1]
    assert Recorder(Scripted(), RequestLimits(10**9)).run(range(0)).done == []


@pytest.mark.parametrize("concurrency", [1, 3, 16])
def test_as_many_jobs_as_allowed_are_under_way_and_no_more(concurrency):
    model = Scripted()
    run = Recorder(model, RequestLimits(concurrency)).run(range(50))
    assert sorted(run.done) == list(range(50))
    assert model.most_busy == concurrency
    assert run.engine.stop_reason is None
    assert run.engine.failed is False


def test_more_workers_than_jobs_are_no_harm():
    assert Recorder(Scripted(), RequestLimits(64)).run([1, 2]).done == [1, 2]
    assert Recorder(Scripted(), RequestLimits(64)).run([]).done == []


def test_a_finished_job_is_not_in_memory_during_the_next_job():
    class Record:
        pass

    known, alive = [], []

    async def do(job, ask):
        await ask(QUESTION)
        alive.append([each() is not None for each in known])
        record = Record()
        known.append(weakref.ref(record))
        return record

    Recorder(Scripted(), RequestLimits(1)).run(range(3), do, lambda record: None)
    assert alive == [[], [False], [False, False]]


def test_jobs_are_taken_one_by_one_and_begun_in_order():
    taken = []
    run = Recorder(Scripted(), RequestLimits(2))

    class Jobs(list):
        def __iter__(self):
            for number in super().__iter__():
                taken.append(number)
                # No more than the two that are under way are ahead of those that are done.
                assert number <= len(run.done) + 1
                yield number

    run.run(Jobs(range(6)))
    assert taken == list(range(6))


def test_a_slow_job_blocks_no_other():
    others_done = asyncio.Event()

    async def do(job, ask):
        if job == 0:
            await others_done.wait()
        await ask(QUESTION)
        return job

    def on_done(job):
        run.done.append(job)
        if len(run.done) == 9:
            others_done.set()

    run = Recorder(Scripted(), RequestLimits(2))
    run.run(range(10), do, on_done)
    assert run.done == [*range(1, 10), 0]


def test_an_answer_comes_with_its_number_of_attempts():
    run = Recorder(Scripted(says("A."), BUSY, BUSY, says("B.")), RequestLimits(1, first_wait=1e-6))
    run.run(range(2))
    assert [(a.reply.text, a.attempts) for a in run.answers] == [("A.", 1), ("B.", 3)]


# Trying again


def test_a_request_is_tried_again_until_it_is_answered(clock):
    model = Scripted(BUSY, TransientError("500"), says())
    engine = JobEngine(model, QUICK, Random(0), clock=clock)
    assert clock.run(engine.ask(QUESTION)).attempts == 3
    assert model.asked == 3
    assert len(clock.waits) == 2


def test_attempts_are_exhausted_one_after_the_other_job_by_job():
    model = Scripted(BUSY, BUSY, BUSY, says("Yes."))
    run = Recorder(model, QUICK._replace(concurrency=1))
    run.run(range(2), recorded)
    assert run.done == ["429: slow down (3 requests)", "Yes."]
    assert run.engine.stop_reason is None


def test_a_request_that_will_never_work_is_tried_once():
    model = Scripted(RequestError("too long"), says("Yes."))
    run = Recorder(model, QUICK._replace(concurrency=1))
    run.run(range(2), recorded)
    assert run.done == ["too long", "Yes."]
    assert model.asked == 2


class Fixed(Random):
    """Always draws the same number."""

    def __init__(self, number):
        super().__init__()
        self.number = number

    def random(self):
        """Return the number."""
        return self.number


@pytest.mark.parametrize(("drawn", "factor"), [(0.0, 0.5), (0.5, 1.0), (0.75, 1.25)])
def test_waits_double_up_to_a_minute_and_are_spread(clock, drawn, factor):
    limits = RequestLimits(attempts=11, first_wait=0.5)
    engine = JobEngine(Scripted(TransientError("500")), limits, Fixed(drawn), clock=clock)
    with pytest.raises(ModelError, match="11 requests"):
        clock.run(engine.ask(QUESTION))
    assert clock.waits == [factor * wait for wait in (0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60)]


@pytest.mark.parametrize("asked_for", [0.0, 0.5, 7.0, 90.0, 600.0])
@pytest.mark.parametrize(("kind", "least"), [("rate_limit", 0.0), ("server", 1.0)])
def test_a_server_that_asks_to_wait_is_waited_for(clock, asked_for, kind, least):
    model = Scripted(TransientError("busy", retry_after=asked_for, kind=kind), says())
    engine = JobEngine(model, RequestLimits(first_wait=1.0), Fixed(0.5), clock=clock)
    clock.run(engine.ask(QUESTION))
    assert clock.now == max(asked_for, least)
    # One refusal for a rate limit may be no limit of ours: it holds up that request only.
    assert engine.pace.held_until == (asked_for if kind == "server" else -inf)


def test_a_server_that_asks_to_wait_for_longer_than_a_run_does_ends_it(clock):
    model = Scripted(TransientError("429: no more", retry_after=86400.0, kind="rate_limit"))
    run = Recorder(model, clock=clock)
    clock.run(run.engine.run(range(5), recorded, run.done.append))
    reason = "429: no more; the server asks for a wait of 1440 minutes"
    assert (run.done, run.engine.stop_reason, run.engine.failed) == ([], reason, True)
    assert clock.now == 0.0


# A server that fails, and requests that do


@pytest.mark.parametrize("kind", ["server", "connection", "rate_limit"])
def test_a_server_that_never_answers_ends_the_run_with_its_last_words(clock, kind):
    model = Scripted(says(), TransientError("500: oh no", kind=kind))
    run = Recorder(model, RequestLimits(16, outage=300.0), clock=clock)
    clock.run(run.engine.run(range(50), recorded, run.done.append))
    assert re.fullmatch(r"no answer for \d minutes: 500: oh no", run.engine.stop_reason)
    assert run.engine.failed
    assert run.done == ["Yes."]
    assert 300.0 <= clock.now < 400.0


def test_an_outage_loses_no_request(clock):
    class Out(Scripted):
        async def ask(self, request):
            self.asked += 1
            await clock.sleep(0.1)
            if 5.0 < clock.now < 400.0:
                raise TransientError("502")
            return says()

    run = Recorder(Out(), RequestLimits(16), clock=clock)
    clock.run(run.engine.run(range(900), recorded, run.done.append))
    assert run.done == ["Yes."] * 900
    assert run.engine.stop_reason is None


@pytest.mark.parametrize(
    ("kind", "waits"),
    [
        ("server", [0.5, 1, 2, 4, 8, 16, 32]),
        ("rate_limit", [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, *[4] * 17]),
    ],
)
def test_a_request_that_fails_while_others_are_answered_is_given_up(clock, kind, waits):
    class Moody(Scripted):
        async def ask(self, request):
            self.asked += 1
            await clock.sleep(1.0)
            if request is POISON:
                raise TransientError("no", kind=kind)
            return says()

    async def do(job, ask):
        return await recorded_of(POISON if job == 3 else QUESTION, ask)

    run = Recorder(Moody(), RequestLimits(4), Fixed(0.5), clock)
    clock.run(run.engine.run(range(600), do, run.done.append))
    assert sorted(set(run.done)) == ["Yes.", f"no ({len(waits) + 1} requests)"]
    assert run.done.count("Yes.") == 599
    assert clock.waits == pytest.approx(waits)


def test_a_request_that_still_fails_after_an_outage_is_given_up(clock):
    class Moody(Scripted):
        async def ask(self, request):
            self.asked += 1
            await clock.sleep(0.1)
            if self.asked > 2_000:
                raise FatalError("asked for ever")
            if request is POISON or clock.now < 100.0:
                raise TransientError("500", kind="server")
            return says()

    async def do(job, ask):
        return await recorded_of(POISON if job == 3 else QUESTION, ask)

    run = Recorder(Moody(), RequestLimits(16), clock=clock)
    clock.run(run.engine.run(range(64), do, run.done.append))
    assert run.engine.stop_reason is None
    assert run.done.count("Yes.") == 63


@pytest.mark.parametrize(("jobs", "given_up"), [(7, True), (8, False)])
def test_eight_requests_without_an_answer_are_an_outage(clock, jobs, given_up):
    model = Scripted(TransientError("500", kind="server"))
    run = Recorder(model, RequestLimits(8, attempts=3, outage=300.0), clock=clock)
    clock.run(run.engine.run(range(jobs), recorded, run.done.append))
    assert (run.engine.stop_reason is None) is given_up
    assert run.done == ["500 (3 requests)"] * jobs * given_up


@pytest.mark.parametrize(("refusals", "place"), [(1, 0), (2, 0), (3, 9)])
def test_the_first_two_retries_of_a_request_overtake_others(clock, refusals, place):
    class Refusing(Scripted):
        async def ask(self, request):
            self.asked += request is POISON
            if request is POISON and self.asked <= refusals:
                raise TransientError("429", retry_after=0.0, kind="rate_limit")
            return says("poison" if request is POISON else "other")

    async def do(job, ask):
        return await recorded_of(POISON if job == 0 else QUESTION, ask)

    run = Recorder(Refusing(), RequestLimits(10, requests=60), clock=clock)
    clock.run(run.engine.run(range(10), do, run.done.append))
    assert run.done.index("poison") == place


@pytest.mark.parametrize(
    ("attempts", "kinds", "requests"),
    [
        (8, ["timeout"], 2),
        (1, ["timeout"], 1),
        (1, ["server"], 1),
        (3, ["connection"], 3),
        (3, ["server", "connection", "server"], 3),
        # Errors of each kind count apart.
        (8, ["timeout", "server", "timeout"], 3),
        (2, ["rate_limit", "timeout", "server", "server"], 4),
    ],
)
def test_errors_of_one_kind_use_up_the_attempts(clock, attempts, kinds, requests):
    model = Scripted(*(TransientError("no", kind=kind) for kind in kinds))
    engine = JobEngine(model, RequestLimits(attempts=attempts), Fixed(0.5), clock=clock)
    with pytest.raises(ModelError) as caught:
        clock.run(engine.ask(QUESTION))
    assert str(caught.value) == f"no ({requests} requests)"
    assert caught.value.kind == kinds[-1]
    assert model.asked == requests
    refused = kinds.count("rate_limit")
    waits = [0.1] * refused + [0.5 * 2**n for n in range(requests - refused - 1)]
    assert clock.waits == pytest.approx(waits)


@pytest.mark.parametrize(
    ("seconds", "reason"),
    [
        (3.5, "no answer for 4 seconds: 500"),
        (3.75, "no answer for 8 seconds: 500"),
        (63.5, "no answer for 64 seconds: 500"),
        (123.5, "no answer for 2 minutes: 500"),
        (600.0, "no answer for 10 minutes: 500"),
    ],
)
def test_an_outage_ends_a_run_after_its_time_without_an_answer(clock, seconds, reason):
    limits = RequestLimits(1, attempts=FOREVER, outage=seconds)
    engine = JobEngine(Scripted(TransientError("500")), limits, Fixed(0.5), clock=clock)
    with pytest.raises(RunStopped):
        clock.run(engine.ask(QUESTION))
    assert (engine.stop_reason, engine.failed) == (reason, True)
    assert seconds <= clock.now < seconds + 60.0


@pytest.mark.parametrize(
    ("wait", "outage", "asked"),
    [(7.0, 7.0, None), (7.5, 7.0, "8 seconds"), (119.0, 7.0, "119 seconds"), (120, 7, "2 minutes")],
)
def test_a_wait_that_a_server_asks_for_is_compared_with_the_outage(clock, wait, outage, asked):
    model = Scripted(TransientError("busy", retry_after=wait), says())
    run = Recorder(model, RequestLimits(1, outage=outage), clock=clock)
    clock.run(run.engine.run([0], recorded, run.done.append))
    if asked is None:
        assert (run.done, run.engine.stop_reason, clock.now) == (["Yes."], None, wait)
    else:
        assert run.engine.stop_reason == f"busy; the server asks for a wait of {asked}"


def test_a_server_that_rejects_other_requests_answers(clock):
    class Rejecting(Scripted):
        async def ask(self, request):
            await clock.sleep(1.5 if request is POISON else 1.0)
            raise RequestError("bad") if request is POISON else TransientError("500")

    async def do(job, ask):
        return await recorded_of(POISON if job == 8 else QUESTION, ask)

    run = Recorder(Rejecting(), RequestLimits(9, attempts=3, outage=20.0), clock=clock)
    clock.run(run.engine.run(range(9), do, run.done.append))
    assert run.engine.stop_reason is None
    assert run.done == ["bad", *["500 (3 requests)"] * 8]


def test_a_wait_is_shown_with_its_end_and_whether_the_server_asked_for_it(clock):
    seen = []

    async def look():
        asking = asyncio.ensure_future(engine.ask(QUESTION))
        while not asking.done():
            seen.extend(w for w in engine.activity.waits if w not in seen)
            await asyncio.sleep(0)

    refused = TransientError("429", kind="rate_limit")
    asked = TransientError("503", retry_after=9.0)
    short = TransientError("503", retry_after=1.0)
    model = Scripted(TransientError("500"), refused, asked, short, says())
    engine = JobEngine(model, RequestLimits(), Fixed(0.5), clock=clock)
    clock.run(look())
    # The waits double with each error that is no refusal; the server asks for nine seconds.
    asked_for = [wait.asked_for for wait in seen]
    assert asked_for == [False, False, True, False]
    assert [wait.until for wait in seen] == pytest.approx([0.5, 0.6, 9.6, 11.6])
    assert engine.activity.waits == []
    assert engine.activity.retries == 4
    assert (engine.activity.answered, engine.activity.jobs) == (1, 0)


@pytest.mark.parametrize(
    ("messages", "tools", "tokens"),
    [
        ([], None, 0),
        ([{"a": "bc"}], None, 11 / 4),
        ([{"a": "bc"}, {}], None, 13 / 4),
        ([{}], ToolList([{"name": "f"}]), (2 + 14) / 4),
    ],
)
def test_tokens_are_a_quarter_of_the_characters_of_messages_and_tools(messages, tools, tokens):
    assert module.likely_tokens(Request(messages, tools)) == tokens


def test_a_request_that_takes_too_long_is_made_twice_at_most(clock):
    model = Scripted(TransientError("no answer within 600 seconds", kind="timeout"))
    engine = JobEngine(model, RequestLimits(), Random(0), clock=clock)
    with pytest.raises(ModelError, match="2 requests") as caught:
        clock.run(engine.ask(QUESTION))
    assert (model.asked, caught.value.kind) == (2, "timeout")


# Errors that end the run


@pytest.mark.parametrize("before", [0, 5])
def test_a_fatal_error_ends_the_run_at_once(before):
    model = Scripted(*[says()] * before, FatalError("401: wrong key"))
    run = Recorder(model, QUICK._replace(concurrency=1)).run(range(20), recorded)
    assert run.done == ["Yes."] * before
    assert model.asked == before + 1
    assert (run.engine.stop_reason, run.engine.failed) == ("401: wrong key", True)


def test_a_fatal_error_gives_up_what_is_under_way():
    async def do(job, ask):
        if job == 0:
            await asyncio.sleep(0)
            return await ask(QUESTION)
        await asyncio.Event().wait()
        return job

    run = Recorder(Scripted(FatalError("404: no such model"))).run(range(20), do)
    assert run.done == []
    assert (run.engine.stop_reason, run.engine.failed) == ("404: no such model", True)


def test_a_server_that_cannot_be_reached_ends_the_run_after_all_attempts():
    model = Scripted(TransientError("connection refused", unreachable=True))
    run = Recorder(model, QUICK._replace(concurrency=1)).run(range(20), recorded)
    assert run.done == []
    assert model.asked == 3
    assert (run.engine.stop_reason, run.engine.failed) == ("connection refused", True)


def test_a_server_that_nobody_has_tested_is_not_waited_for():
    gone = TransientError("connection refused", unreachable=True)
    at_once = QUICK._replace(waits_for_server=False, concurrency=1)
    run = Recorder(Scripted(gone, says()), at_once).run(range(20), recorded)
    assert (run.done, run.engine.stop_reason, run.engine.failed) == ([], str(gone), True)
    run = Recorder(Scripted(says(), gone, says()), at_once).run(range(2), recorded)
    assert (run.done, run.engine.failed) == (["Yes.", "Yes."], False)


@pytest.mark.parametrize("error", [TransientError("500"), BUSY], ids=["server", "rate limit"])
def test_a_server_that_fails_from_the_start_is_asked_three_times(error):
    limits = QUICK._replace(waits_for_server=False, concurrency=4, attempts=8)
    model = Scripted(error)
    run = Recorder(model, limits).run(range(20), recorded)
    assert (run.done, run.engine.stop_reason, run.engine.failed) == ([], str(error), True)
    assert model.asked <= 3 * limits.concurrency
    run = Recorder(Scripted(error, error, says()), limits._replace(concurrency=1))
    assert run.run(range(2), recorded).done == ["Yes.", "Yes."]
    after = Scripted(says(), *[error] * 6, says())
    run = Recorder(after, limits._replace(concurrency=1)).run(range(2), recorded)
    assert (run.done, run.engine.failed) == (["Yes.", "Yes."], False)


def test_a_server_that_comes_back_is_asked_again():
    gone = TransientError("connection refused", unreachable=True)
    run = Recorder(Scripted(gone, gone, says()), QUICK._replace(concurrency=1))
    run.run(range(2), recorded)
    assert run.done == ["Yes.", "Yes."]
    assert run.engine.failed is False


# What is spent, and budgets


def test_what_is_spent_is_counted():
    replies = [says(cost=0.25), BUSY, says(cost=0.5), says(prompt=None, completion=None)]
    run = Recorder(Scripted(*replies), QUICK._replace(concurrency=1)).run(range(3))
    assert run.engine.budget.spent == RunSpending(requests=4, tokens=24, cost=0.75)


def test_an_unknown_price_is_not_free():
    assert Recorder(Scripted(says(cost=None))).run(range(3)).engine.budget.spent.cost is None
    assert Recorder(Scripted(says(cost=0.0))).run(range(3)).engine.budget.spent.cost == 0.0


def test_requests_that_fail_are_counted():
    run = Recorder(Scripted(BUSY), QUICK._replace(concurrency=1)).run(range(2), recorded)
    assert run.engine.budget.spent == RunSpending(requests=6, tokens=0, cost=None)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_budget_of_requests_stops_the_run(concurrency):
    model = Scripted()
    run = Recorder(model, RequestLimits(concurrency), max_requests=7)
    run.run(range(10), run.ask_thrice)
    assert model.asked == run.engine.budget.spent.requests == 7
    assert len(run.done) == 2
    assert run.engine.stop_reason == "the budget of 7 requests is used up"
    assert run.engine.failed is False


def test_a_budget_that_suffices_stops_nothing():
    run = Recorder(Scripted(says(cost=0.5)), RequestLimits(2), max_requests=6, max_cost=3.5)
    run.run(range(2), run.ask_thrice)
    assert sorted(run.done) == [0, 1]
    assert run.engine.stop_reason is None


def test_retries_use_up_the_budget_of_requests():
    model = Scripted(BUSY)
    limits = RequestLimits(1, attempts=FOREVER, first_wait=1e-6)
    run = Recorder(model, limits, max_requests=5).run(range(10), recorded)
    assert (model.asked, run.done) == (5, [])
    assert run.engine.failed is False


def test_a_budget_of_money_stops_the_run():
    model = Scripted(says(cost=0.1))
    run = Recorder(model, RequestLimits(1), max_cost=0.25).run(range(10))
    assert run.done == [0, 1, 2]
    assert model.asked == 3
    assert run.engine.stop_reason == "the budget of 0.25 US dollars is used up"
    assert run.engine.failed is False


def test_answers_on_their_way_when_a_budget_is_used_up_still_count():
    """A job whose last request has been sent when another one finds the budget used up."""
    released = asyncio.Event()

    class Slow(Scripted):
        async def ask(self, request):
            self.asked += 1
            if self.asked == 1:
                await released.wait()
            return says()

    async def do(job, ask):
        await ask(QUESTION)
        if job == 1:
            asyncio.get_running_loop().call_later(0.001, released.set)
            while True:
                await ask(QUESTION)
        return job

    run = Recorder(Slow(), RequestLimits(2), max_requests=20).run(range(5), do)
    assert run.done == [0]
    assert run.engine.stop_reason == "the budget of 20 requests is used up"


def test_finished_jobs_let_more_jobs_share_the_budget():
    run = Recorder(Scripted(), RequestLimits(4), max_requests=14)

    def expect(job):
        return 10

    asyncio.run(run.engine.run(range(8), run.ask_once, run.done.append, expect))
    assert run.done == [*range(8)]
    assert run.model.most_busy > 1


# Interrupts


class Interrupting(Scripted):
    """Has the run interrupted while it answers some of the requests."""

    def __init__(self, *numbers):
        super().__init__()
        self.numbers = numbers
        self.interrupt = None

    async def ask(self, request):
        """Answer a request."""
        if self.asked + 1 in self.numbers:
            self.interrupt()
        return await super().ask(request)


def interrupted(model, limits=QUICK):
    """Return a run that a model can interrupt."""
    run = Recorder(model, limits)
    model.interrupt = run.engine._interrupt
    return run


def test_the_first_interrupt_lets_what_is_in_flight_be_answered_and_asks_no_more():
    model, answered = Interrupting(5), []

    async def do(job, ask):
        for _ in range(3):
            await ask(QUESTION)
            answered.append(job)
        return job

    run = interrupted(model)
    run.run(range(20), do)
    assert run.done == []
    # Each of the four had one answer; the fifth request was in flight, and is answered.
    assert model.asked == len(answered) == run.engine.budget.spent.requests == 5
    assert (run.engine.stop_reason, run.engine.failed) == ("interrupted", False)


def test_the_first_interrupt_says_what_the_second_does():
    said = []
    model = Interrupting(5, 6)
    run = interrupted(model)
    run.engine._say = said.append
    run.run(range(20), run.ask_thrice)
    assert said == ["stopping after the requests in flight; press Ctrl-C again to stop at once"]


def test_what_is_going_on_is_counted(clock):
    seen = []

    class Looking(Scripted):
        async def ask(self, request):
            activity = engine.activity
            seen.append((activity.in_flight, activity.retries, len(activity.waits)))
            return await super().ask(request)

    model = Looking(BUSY, TransientError("500"), says())
    engine = JobEngine(model, QUICK, Random(0), clock=clock)
    clock.run(engine.ask(QUESTION))
    assert seen == [(1, 0, 0), (1, 1, 0), (1, 2, 0)]
    assert (engine.activity.in_flight, engine.activity.trouble) == (0, {"server": 2})
    assert engine.activity.words == {"server": "500"}


def test_the_second_interrupt_stops_at_once():
    model = Interrupting(5, 6)
    run = interrupted(model)
    run.run(range(20), run.ask_thrice)
    assert run.done == []
    # Those that were begun when the second interrupt came get no answer and ask no more.
    assert model.asked <= 8
    assert (run.engine.stop_reason, run.engine.failed) == ("interrupted", False)


def test_a_model_that_hangs_is_given_up_soon_after_an_interrupt(monkeypatch):
    monkeypatch.setattr(module, "_STOP_SECONDS", 0.01)

    async def do(job, ask):
        if job == 1:
            asyncio.get_running_loop().call_soon(run.engine._interrupt)
        return await ask(QUESTION)

    run = Recorder(Hanging())
    run.run(range(20), do)
    assert (run.done, run.model.asked) == ([], 4)
    assert run.engine.stop_reason == "interrupted"


def test_what_was_finished_before_a_model_hangs_is_kept(monkeypatch):
    monkeypatch.setattr(module, "_STOP_SECONDS", 0.01)

    class HangsLater(Scripted):
        async def ask(self, request):
            if self.asked == 6:
                run.engine._interrupt()
                await asyncio.Event().wait()
            return await super().ask(request)

    run = Recorder(HangsLater(), QUICK._replace(concurrency=1))
    assert run.run(range(20)).done == list(range(6))


def test_a_model_that_is_slow_as_ever_is_waited_for_after_an_interrupt(monkeypatch):
    monkeypatch.setattr(module, "_STOP_SECONDS", 0.0)

    class Slow(Scripted):
        async def ask(self, request):
            self.asked += 1
            if self.asked == 2:
                run.engine._interrupt()
                await asyncio.sleep(0.005)
            return says()._replace(latency=100.0)

    run = Recorder(Slow(), QUICK._replace(concurrency=1))
    assert run.run(range(20)).done == [0, 1]


def test_a_model_that_hangs_is_given_up_at_the_second_interrupt_without_any_grace(monkeypatch):
    monkeypatch.setattr(module, "_STOP_SECONDS", 1e9)

    late = []

    async def do(job, ask):
        # A run that waits on is cancelled after 20 seconds.
        asyncio.get_running_loop().call_later(10, late.append, job)
        if job < 2:
            asyncio.get_running_loop().call_soon(run.engine._interrupt)
        return await ask(QUESTION)

    run = Recorder(Hanging())
    assert run.run(range(20), do).done == late == []
    assert run.engine.stop_reason == "interrupted"


@pytest.mark.parametrize("error", [BUSY, TransientError("429", retry_after=500.0)])
def test_an_interrupt_ends_tries_that_would_go_on_for_ever(error):
    async def do(job, ask):
        if job == 3:
            loop = asyncio.get_running_loop()
            loop.call_later(0.005, run.engine._interrupt)
        return await recorded(job, ask)

    limits = RequestLimits(4, attempts=FOREVER, first_wait=1e-6)
    run = Recorder(Scripted(error), limits)
    assert run.run(range(20), do).done == []
    assert (run.engine.stop_reason, run.engine.failed) == ("interrupted", False)


def test_a_request_that_fails_after_an_interrupt_is_not_tried_again():
    model = Interrupting(1)
    model.outcomes = [BUSY, says()]
    run = interrupted(model, QUICK._replace(concurrency=1)).run(range(5), recorded)
    assert (run.done, model.asked) == ([], 1)


def test_the_first_reason_to_stop_is_the_one_that_is_told():
    def on_done(job):
        run.engine.stop("enough")
        run.engine.stop("too much")

    run = Recorder(Scripted(), RequestLimits(1))
    run.run(range(9), on_done=on_done)
    assert run.engine.stop_reason == "enough"


def test_who_asks_after_a_stop_at_once_gets_no_answer():
    run = Recorder(Scripted(FatalError("wrong key"), says())).run([1])
    with pytest.raises(RunStopped):
        ask_alone(run.engine)
    assert run.model.asked == run.engine.budget.spent.requests == 1


PROGRAM = """
import asyncio
from random import Random
from runner.live import engine
from runner.models.model_types import Request

engine._STOP_SECONDS = {grace}

class Hanging:
    async def ask(self, request):
        print("asked", flush=True)
        await asyncio.Event().wait()

async def do(job, ask):
    await ask(Request([], None))

run = engine.JobEngine(Hanging(), engine.RequestLimits(1), Random(0))
asyncio.run(run.run(range(5), do, print))
print(run.stop_reason, run.failed)
"""


@pytest.mark.parametrize(
    ("grace", "signals"),
    [(0.01, [signal.SIGINT]), (0.01, [signal.SIGTERM]), (1e9, [signal.SIGINT, signal.SIGTERM])],
    ids=["Ctrl-C", "a polite kill", "two of them"],
)
def test_a_signal_is_an_interrupt(grace, signals):
    command = [sys.executable, "-W", "error", "-c", PROGRAM.format(grace=grace)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "asked\n"
            for number in signals:
                process.send_signal(number)
            assert process.communicate(timeout=20)[0] == "interrupted False\n"
        finally:
            process.kill()
    assert process.returncode == 0


def test_signals_are_left_to_others_after_a_run():
    run = Recorder(Scripted())

    async def main():
        await run.engine.run(range(3), run.ask_once, run.done.append)
        loop = asyncio.get_running_loop()
        return [loop.remove_signal_handler(n) for n in (signal.SIGINT, signal.SIGTERM)]

    assert asyncio.run(main()) == [False, False]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_run_in_a_thread_of_its_own_goes_without_signals():
    run = Recorder(Scripted())
    thread = threading.Thread(target=run.run, args=(range(5),))
    thread.start()
    thread.join(20)
    assert sorted(run.done) == list(range(5))


# Errors of the program's


def test_what_a_job_raises_ends_the_run_and_the_other_jobs():
    ended = []

    async def do(job, ask):
        try:
            for _ in range(job):
                await ask(QUESTION)
            if job == 2:
                raise ZeroDivisionError("a bug")
            await asyncio.Event().wait()
        finally:
            ended.append(job)

    run = Recorder(Scripted())
    with pytest.raises(ZeroDivisionError, match="a bug"):
        run.run(range(10), do)
    assert sorted(ended) == [0, 1, 2, 3]
    assert run.done == []


def test_whatever_a_client_raises_is_the_error_of_one_request():
    model = Scripted(OverflowError("too\nlarge"), says())
    run = Recorder(model).run(range(2), recorded)
    broken, answered = sorted(run.done, reverse=True)
    assert re.fullmatch(
        r"the client raised OverflowError: too large \(.*test_engine\.py:\d+\)", broken
    )
    assert answered == "Yes."
    assert run.engine.stop_reason is None


def test_a_model_error_that_a_job_lets_through_ends_the_run():
    with pytest.raises(RequestError, match="too long"):
        Recorder(Scripted(RequestError("too long"))).run(range(3))


def test_what_the_receiver_raises_ends_the_run():
    def full(job):
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        Recorder(Scripted()).run(range(10), on_done=full)


def test_an_error_after_an_interrupt_is_not_lost():
    async def do(job, ask):
        await ask(QUESTION)
        run.engine._interrupt()
        raise ZeroDivisionError("a bug")

    run = Recorder(Scripted())
    with pytest.raises(ZeroDivisionError, match="a bug"):
        run.run(range(10), do)


def test_a_run_can_be_cancelled_from_outside():
    run = Recorder(Hanging())

    async def main():
        task = asyncio.create_task(run.engine.run(range(5), run.ask_once, run.done.append))
        while run.model.asked < 4:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # Nothing is left behind.
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert run.done == []


def test_nothing_is_left_behind_by_a_run_that_was_stopped(monkeypatch):
    monkeypatch.setattr(module, "_STOP_SECONDS", 0.01)
    run = Recorder(Hanging())

    async def main():
        asyncio.get_running_loop().call_later(0.001, run.engine._interrupt)
        await run.engine.run(range(5), run.ask_once, run.done.append)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
