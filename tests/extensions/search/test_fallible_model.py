from __future__ import annotations

import asyncio
from functools import cache, partial

import pytest

from checkers.profile import STRICT
from extensions.search.fallible_model import ErrorRates, FallibleModelRouter
from extensions.search.search import SearchLimits
from extensions.search.search_player import SearchPlayer
from runner.live.episode_player import EpisodeSetup, ModelAnswer, run_live
from runner.live.live_run import RunInputs
from runner.live.run_settings import Settings
from runner.models.model_name import LiveName
from runner.models.prompting import read_prompts
from trajectories.dataset import load_embedded
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category

SIZE = 30


@cache
def data():
    return load_embedded([Category.BASE])


async def one(trajectory, model, plan, children, finish, trial):
    """Search one entry."""

    async def ask(request):
        request = request._replace(entry=trajectory.id, trial=trial)
        return ModelAnswer(await model.ask(request), 1)

    prepared = prepare(data(), trajectory, STRICT)
    setup = EpisodeSetup(
        prepared=prepared,
        style=plan.style(trajectory),
        mode="fc",
        profile=STRICT,
        step_limit=20,
        ask=ask,
        put_tools=lambda *_: None,
    )
    return await run_live(setup, partial(SearchPlayer, SearchLimits(children, 100, 100), finish))


def searched(rate, children, seed=0, *, finish=False, trial=0, size=SIZE):
    """Return what becomes of some entries."""
    plan = RunInputs(LiveName("scripted"), data(), STRICT, 20, Settings(seed=seed), read_prompts())
    model = FallibleModelRouter(plan, ErrorRates(rate))
    some = [*data().trajectories.values()][:size]
    return [asyncio.run(one(t, model, plan, children, finish, trial)) for t in some]


def passed(records):
    """Return how many of them pass."""
    return sum(record.outcome == "passed" for record in records)


@pytest.mark.parametrize("finish", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("children", [1, 3])
def test_without_errors_everything_passes(children, finish):
    assert passed(searched(0.0, children, finish=finish)) == SIZE


@pytest.mark.parametrize("finish", [pytest.param(False, marks=pytest.mark.slow), True])
def test_errors_cost_and_undoing_them_pays(finish):
    react, dfsdt = (passed(searched(0.3, children, finish=finish)) for children in (1, 3))
    assert react < dfsdt < SIZE + 1
    assert react < SIZE


def test_the_same_seed_errs_alike_and_another_seed_or_attempt_does_not():
    ways = ((1, 0), (1, 0), (2, 0), (1, 1))
    first, again, other, later = (
        [r.result for r in searched(0.3, 3, seed, trial=trial, size=8)] for seed, trial in ways
    )
    assert first == again
    assert first not in (other, later)


def test_errors_have_their_defaults():
    assert ErrorRates(0.2) == ErrorRates(wrong_call=0.2, noticed=0.8)
