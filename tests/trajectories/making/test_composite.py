from __future__ import annotations

import pytest

from trajectories.errors import DataError
from trajectories.making.composite import compose
from trajectories.making.notes import MissingFunction, MissingParameter, Notes
from trajectories.schema import Category, Message, Trajectory, Turn

BASE = Trajectory(
    "base_x",
    Category.BASE,
    ("MessageAPI",),
    {"MessageAPI": {"current_user": "USR001"}},
    (
        Turn(
            (Message("user", "Tell Bob 'see you at six'."),),
            (
                "get_user_id(user='Bob')",
                "send_message(receiver_id='USR002', message='see you at six')",
            ),
        ),
        Turn(
            (Message("user", "Take it back."),),
            ("delete_message(receiver_id='USR002')",),
        ),
    ),
    provenance={"author": "Turnwise"},
)


def noted(turn, functions, without="Tell Bob that.", answer="That is 'see you at six'."):
    return Notes("base_x", MissingParameter(0, without, answer), MissingFunction(turn, functions))


def shape(trajectory):
    return [(bool(t.messages), bool(t.ground_truth), t.offers) for t in trajectory.turns]


def test_all_three_are_there():
    harder = compose(BASE, noted(1, ("delete_message",)), items=40)
    assert (harder.id, harder.category) == ("composite_x", Category.COMPOSITE)
    assert harder.provenance == {"author": "Turnwise", "base": "base_x"}
    assert harder.long_context is not None
    assert len(harder.config["MessageAPI"]["inbox"]) == 43
    assert shape(harder) == [
        (True, False, ()),
        (True, True, ()),
        (True, False, ()),
        (False, True, ("delete_message",)),
    ]
    assert harder.held_out == ("delete_message",)


def test_both_may_be_about_the_same_turn():
    harder = compose(BASE, noted(0, ("send_message",)), items=40)
    assert shape(harder) == [
        (True, False, ()),
        (True, False, ()),
        (False, True, ("send_message",)),
        (True, True, ()),
    ]
    assert harder.turns[2].ground_truth == BASE.turns[0].ground_truth


def test_the_same_seed_and_size_give_the_same_trajectory():
    note = noted(1, ("delete_message",))
    assert compose(BASE, note, 3, 40) == compose(BASE, note, 3, 40)
    assert compose(BASE, note, 3, 40) != compose(BASE, note, 4, 40)


def test_a_value_that_can_be_had_otherwise_is_refused():
    with pytest.raises(DataError, match="base_x: missing_parameter"):
        compose(BASE, noted(1, ("delete_message",), "Say 'see you at six' to Bob.", "Bob."))
