from __future__ import annotations

import asyncio

import pytest

from checkers.profile import STRICT
from runner.rollouts.search_runs import Errors, Search, run_searches
from trajectories.dataset import load_embedded
from trajectories.schema import Category

DATA = load_embedded([Category.BASE])
SOME = list(DATA.trajectories.values())[:30]


def searched(rate, children, seed=0):
    """Return what becomes of some entries."""
    what = Search(f"scripted:{rate}", rate, seed, "fc", DATA, STRICT, 20, 100, 100, None, 1)
    return asyncio.run(run_searches(what, SOME, children))


def passed(rate, children, seed=0):
    """Return how many of them pass."""
    return sum(one.record.outcome == "passed" for one in searched(rate, children, seed))


@pytest.mark.parametrize("children", [1, 3])
def test_without_errors_everything_passes(children):
    assert passed(0.0, children) == len(SOME)


def test_errors_cost_and_undoing_them_pays():
    react, dfsdt = passed(0.3, 1), passed(0.3, 3)
    assert react < dfsdt < len(SOME) + 1
    assert react < len(SOME)


def test_the_same_seed_errs_alike_and_another_one_does_not():
    first, again, other = (
        [one.to_json() for one in searched(0.3, 3, seed)] for seed in (1, 1, 2)
    )  # fmt: skip
    assert first == again != other


def test_errors_have_their_defaults():
    assert Errors(0.2) == Errors(wrong_call=0.2, noticed=0.8)
