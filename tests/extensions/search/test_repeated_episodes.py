from __future__ import annotations

from functools import cache

import pytest

from extensions.search.repeated_episodes import RepeatedEpisode, next_round
from trajectories.dataset import load_embedded
from trajectories.schema import Category


@cache
def entries():
    return [*load_embedded([Category.BASE]).trajectories.values()][:6]


def ids():
    return [entry.id for entry in entries()]


def after(*outcomes, requests=10):
    """Return the attempts of rounds, each one letter an entry: passed, failed, error or none."""
    words = {"p": "passed", "f": "failed", "e": "error"}
    return {
        (id, trial): RepeatedEpisode(words[letter], requests)
        for trial, letters in enumerate(outcomes)
        for id, letter in zip(ids(), letters, strict=True)
        if letter != "-"
    }


def chosen(done, number, budget):
    """Return the entries of a round."""
    return {entry.id for entry in next_round(done, entries(), number, budget)}


def test_what_has_not_passed_is_attempted_again_while_requests_are_left():
    done = after("pfpfpe")
    assert chosen(done, 1, 1000) == {ids()[1], ids()[3], ids()[5]}
    assert chosen(done, 1, 60) == set()


@pytest.mark.parametrize(("left", "number"), [(4, 0), (5, 1), (14, 1), (15, 2), (26, 3), (90, 3)])
def test_as_many_attempts_as_come_nearest_to_what_is_left(left, number):
    assert len(chosen(after("pfpfpf"), 1, 60 + left)) == number


def test_an_entry_that_was_left_out_once_is_out():
    done = after("ffffff", "f-----")
    assert chosen(done, 2, 1000) == {ids()[0]}


def test_later_rounds_are_not_looked_at_so_that_a_run_goes_on_alike():
    before, during = after("ffffff"), after("ffffff", "pf-p--")
    for budget in range(60, 140, 7):
        assert next_round(before, entries(), 1, budget) == next_round(during, entries(), 1, budget)


def test_rounds_are_drawn_each_in_its_own_order():
    done = after("ffffff", "ffffff", "ffffff")
    orders = {tuple(e.id for e in next_round(done, entries(), n, 10_000)) for n in (1, 2, 3)}
    assert len(orders) == 3
