from __future__ import annotations

import pytest

from trajectories.errors import DataError
from trajectories.making.missing_parameter import found_only_in_answer, leave_out_value
from trajectories.making.notes import MissingFunction, MissingParameter, Notes
from trajectories.schema import Category, Message, Trajectory, Turn

BASE = Trajectory(
    "base_greeting",
    Category.BASE,
    ("MessageAPI", "VehicleControlAPI"),
    {
        "MessageAPI": {
            "user_map": {"Ann": "USR001", "Ben": "USR002"},
            "user_count": 2,
            "inbox": [],
            "message_count": 0,
            "current_user": "USR001",
        }
    },
    (
        Turn((Message("user", "Who is there?"),), ("list_users()",)),
        Turn(
            (Message("user", "Tell Ben 'see you at six'."),),
            (
                "get_user_id(user='Ben')",
                "send_message(receiver_id='USR002', message='see you at six')",
            ),
        ),
        Turn((Message("user", "Fill in 7.25 gallons."),), ("fillFuelTank(fuelAmount=7.25)",)),
    ),
    provenance={"author": "Turnwise", "persona": "a friend"},
)


def noted(turn, without, answer):
    parameter = MissingParameter(turn, without, answer)
    return Notes(BASE.id, parameter, MissingFunction(0, ("list_users",)))


GOOD = noted(1, "Tell Ben what I told you.", "I mean 'see you at six'.")


def test_the_turn_becomes_a_request_and_an_answer():
    harder = leave_out_value(BASE, GOOD)
    assert (harder.id, harder.category) == ("miss_param_greeting", Category.MISSING_PARAMETER)
    assert harder.provenance == {"author": "Turnwise", "base": "base_greeting"}
    assert harder.config == BASE.config
    before, request, answer, after = harder.turns
    assert (before, after) == (BASE.turns[0], BASE.turns[2])
    assert request == Turn((Message("user", "Tell Ben what I told you."),), ())
    assert answer.messages == (Message("user", "I mean 'see you at six'."),)
    assert answer.ground_truth == BASE.turns[1].ground_truth


def test_the_same_notes_give_the_same_trajectory():
    assert leave_out_value(BASE, GOOD) == leave_out_value(BASE, GOOD)


@pytest.mark.parametrize(
    ("note", "values"),
    [
        (GOOD, ["see you at six"]),
        (noted(2, "Fill it up some.", "By 7.25 gallons."), [7.25]),
    ],
)
def test_a_value_that_only_the_user_knows_is_named(note, values):
    assert found_only_in_answer(BASE, note) == values


@pytest.mark.parametrize(
    "note",
    [
        pytest.param(noted(1, "Tell the other one 'see you at six'.", "Ben."), id="in the state"),
        pytest.param(noted(1, "Say 'see you at six', Ben.", "I said Ben."), id="said before"),
        pytest.param(noted(2, "Fill in 7.25 of it.", "Those 7.25 gallons."), id="said at once"),
        pytest.param(noted(1, "Tell Ben something.", "Something nice!"), id="never supplied"),
    ],
)
def test_a_value_that_can_be_had_otherwise_is_refused(note):
    assert found_only_in_answer(BASE, note) == []
    with pytest.raises(DataError, match="base_greeting: missing_parameter"):
        leave_out_value(BASE, note)


def test_a_value_that_a_function_tells_is_refused():
    asked = Turn(
        (Message("user", "How far is it from Rivermist to Stonebrook?"),),
        ("estimate_distance(cityA='83214', cityB='74532')",),
    )
    base = Trajectory("base_way", Category.BASE, ("VehicleControlAPI",), {}, (asked,))
    note = Notes(
        base.id,
        MissingParameter(0, "How far is it from Rivermist to there?", "To 83214, from 83214."),
        MissingFunction(0, ("estimate_distance",)),
    )
    assert found_only_in_answer(base, note) == []


def test_a_turn_that_is_not_there_is_refused():
    with pytest.raises(DataError, match="there is no turn 3"):
        leave_out_value(BASE, noted(3, "a", "b"))
