from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from envs.errors import DataError
from trajectories.schema import (
    EXECUTABLE,
    FACTS,
    MULTI_TURN,
    SINGLE_TURN,
    AlternativeRead,
    Category,
    JudgingMethod,
    LongContextSettings,
    Message,
    Trajectory,
    Turn,
)

FUNCTIONS = ("a", "b", "c", "d")


def with_turns(*offers, excluded=()):
    """Return a trajectory whose turns hand functions over."""
    turns = tuple([Turn((), (), tuple(names)) for names in offers])
    return Trajectory("t", Category.BASE, ("World",), {}, turns, tuple(excluded))


def test_categories_are_named_as_in_the_reference():
    assert list(MULTI_TURN) == ["base", "miss_param", "miss_func", "long_context", "composite"]
    judged_here = [each for each in Category if FACTS[each].judged_by is not JudgingMethod.CRITERIA]
    assert [*MULTI_TURN, *SINGLE_TURN, *EXECUTABLE] == judged_here


@pytest.mark.parametrize("turn", [0, 1])
def test_all_functions_are_offered_where_none_is_held_out(turn):
    assert with_turns("", "").offered(FUNCTIONS, turn) == set("abcd")


@pytest.mark.parametrize(("turn", "offered"), [(0, "cd"), (1, "acd"), (2, "acd"), (3, "abcd")])
def test_held_out_functions_are_offered_from_their_turn_on(turn, offered):
    trajectory = with_turns("", "a", "", "b")
    assert trajectory.held_out == ("a", "b")
    assert trajectory.offered(FUNCTIONS, turn) == set(offered)


@pytest.mark.parametrize("turn", [0, 1])
def test_excluded_functions_are_never_offered(turn):
    assert with_turns("", "", excluded="ad").offered(FUNCTIONS, turn) == set("bc")


def test_turns_that_offer_the_same_functions_share_a_set():
    trajectory = with_turns("", "")
    first, second = (trajectory.offered(FUNCTIONS, turn) for turn in range(2))
    assert first is second


def test_only_functions_that_there_are_are_offered():
    assert with_turns("xa").offered(FUNCTIONS, 0) == set("abcd")


def test_what_a_trajectory_was_made_from_is_itself_unless_told(help_desk):
    assert help_desk.base == "help_desk_0"
    assert replace(help_desk, provenance={"base": "other"}).base == "other"


def test_a_trajectory_does_not_change(help_desk):
    with pytest.raises(FrozenInstanceError):
        help_desk.id = "other"
    with pytest.raises(FrozenInstanceError):
        help_desk.turns[0].offers = ()


def test_equal_trajectories_are_equal(help_desk):
    assert replace(help_desk) == help_desk
    assert replace(help_desk, id="other") != help_desk


def test_there_is_one_line_on_every_category_in_their_order():
    assert list(FACTS) == list(Category)


@pytest.mark.parametrize("category", Category)
def test_how_calls_are_compared_is_known_where_they_are(category):
    facts = FACTS[category]
    compared = (JudgingMethod.CALLS, JudgingMethod.STATEMENTS)
    assert (facts.calls is not None) == (facts.judged_by in compared)


def test_no_two_categories_have_the_same_file():
    assert len({facts.file for facts in FACTS.values()}) == len(FACTS)


def test_records_of_a_class_with_equal_fields_are_equal():
    message = Message("user", "hello")
    assert message == Message("user", "hello")
    assert message != Message("user", "bye")
    assert message != ("user", "hello")
    assert hash(message) == hash(Message("user", "hello"))
    assert repr(message) == "Message(role='user', content='hello')"
    assert LongContextSettings("bfcl") != AlternativeRead("bfcl", ())


@pytest.mark.parametrize("turn", [None, "0", 0.5, True, [0]])
def test_only_numbers_of_turns_have_functions(turn):
    for ask in (with_turns("").withheld, lambda turn: with_turns("").offered(FUNCTIONS, turn)):
        with pytest.raises(DataError, match=r"^turn: must be the number of a turn, but is "):
            ask(turn)


@pytest.mark.parametrize("functions", [None, 5, object()])
def test_only_names_of_functions_are_offered(functions):
    with pytest.raises(DataError, match=r"^functions: must be names of functions, but is "):
        with_turns("").offered(functions, 0)
