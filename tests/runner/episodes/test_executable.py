"""The embedded entries whose calls are executed: sound data, right answers pass, others fail."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import chain

import pytest

from checkers.profile import STRICT
from checkers.verdict import Verdict
from envs.calls import parse_call
from envs.registry import backend_class
from runner.episodes.script_playback import make_truth_script
from tests.judging import run_script
from trajectories.dataset import Dataset, load_embedded
from trajectories.prepared_trajectory import prepare
from trajectories.schema import EXECUTABLE, Category, ExpectedResults, Trajectory

each = pytest.mark.parametrize("category", EXECUTABLE)


@cache
def data() -> Dataset:
    return load_embedded(EXECUTABLE)


def entries() -> list[Trajectory]:
    return [*data().trajectories.values()]


def of(category: Category) -> list[Trajectory]:
    return [entry for entry in entries() if entry.category is category]


def calls_of(entry: Trajectory) -> tuple[str, ...]:
    """Return the ground truth of an entry's only turn."""
    [turn] = entry.turns
    return turn.ground_truth


def verdict(entry: Trajectory, *calls: str) -> Verdict:
    """Judge a model that makes certain calls."""
    [turn] = entry.turns
    model = replace(entry, turns=(replace(turn, ground_truth=calls),))
    return run_script(prepare(data(), entry, STRICT), make_truth_script(model), STRICT)


def test_there_are_enough_entries_and_functions() -> None:
    assert len(entries()) >= 60
    assert {entry.category for entry in entries()} == set(EXECUTABLE)
    called = {parse_call(text).name for text in chain(*map(calls_of, entries()))}
    assert len(called) >= 40


@each
def test_an_entry_is_sound(category: Category) -> None:
    for entry in of(category):
        expects = entry.expects
        assert isinstance(expects, ExpectedResults)
        there = {name for e in entry.environments for name in backend_class(e).TOOLS}
        assert set(expects.functions) <= there, entry.id
        called = {parse_call(text).name for text in calls_of(entry)}
        assert called <= set(expects.functions), entry.id
        assert len(expects.checks) == len(calls_of(entry)), entry.id


@each
def test_calls_and_functions_are_as_many_as_the_category_says(category: Category) -> None:
    for entry in of(category):
        calls = [parse_call(text) for text in calls_of(entry)]
        expects = entry.expects
        assert isinstance(expects, ExpectedResults)
        if entry.category is Category.NESTED:
            assert [call.nested for call in calls] == [True], entry.id
        elif entry.category is not Category.REST:
            assert (len(calls) > 1) is ("parallel" in entry.category), entry.id
            assert (len(expects.functions) > 1) is ("multiple" in entry.category), entry.id
        if entry.category is Category.EXEC_PARALLEL_MULTIPLE:
            assert len({call.name for call in calls}) > 1, entry.id


@each
def test_the_ground_truth_passes_in_any_order(category: Category) -> None:
    for entry in of(category):
        assert verdict(entry, *calls_of(entry)).valid, entry.id
        assert verdict(entry, *reversed(calls_of(entry))).valid, entry.id


@each
def test_a_call_less_or_a_call_more_fails(category: Category) -> None:
    for entry in of(category):
        calls = calls_of(entry)
        assert not verdict(entry, *calls[1:]).valid, entry.id
        assert not verdict(entry, *calls, calls[0]).valid, entry.id


@each
def test_other_functions_and_requests_fail(category: Category) -> None:
    for entry in of(category):
        calls = calls_of(entry)
        names = {parse_call(text).name for text in calls} - {"http_get"}
        others = [
            text
            for other in entries()
            if other.environments == entry.environments
            for text in calls_of(other)
            if text not in calls and parse_call(text).name not in names
        ]
        passed = [call for call in others if verdict(entry, call, *calls[1:]).valid]
        assert passed == [], entry.id


def test_a_refused_call_fails_with_its_reason() -> None:
    entry = data().trajectories["exec_simple_parabola"]
    failure = verdict(entry, "solve_quadratic(a=0, b=1, c=2)").failure
    assert failure is not None
    assert failure.reason == "executable_checker:execution_error"
    assert failure.calls is not None
    assert "the equation is not quadratic" in failure.calls.message


def test_functions_that_are_not_given_cannot_be_called() -> None:
    entry = data().trajectories["exec_simple_parabola"]
    failure = verdict(entry, "prime_factors(number=6)").failure
    assert failure is not None
    assert "no function 'prime_factors'" in failure.calls.message
