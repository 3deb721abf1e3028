"""What every run starts from: a loaded session, connected where it may be, and the truth played."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checkers.profile import BFCL, STRICT
from envs.errors import DataError, MalformedCall
from trajectories.prepared_trajectory import load_session, prepare
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import Category, Trajectory, Turn


@pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda profile: profile.name)
def test_the_template_stays_as_it_was_loaded(dataset_of, folders, profile) -> None:
    ready = prepare(dataset_of(folders), folders, profile)
    assert ready.template.checks_arguments is profile.execution.checks_arguments
    assert ready.template.snapshot() == load_session(dataset_of(folders), folders).snapshot()
    assert ready.template.snapshot() != ready.truth[-1].snapshot
    assert [len(outcome.results) for outcome in ready.truth] == [
        len(turn.ground_truth) for turn in folders.turns
    ]


def test_a_session_is_connected_by_what_the_data_set_was_opened_with(dataset_of, folders) -> None:
    connected = []
    data = replace(dataset_of(folders), connect=connected.append)
    assert connected == []
    assert [prepare(data, folders, STRICT).template] == connected


def test_only_what_is_there_can_be_held_out(dataset_of, folders) -> None:
    odd = replace(folders, excluded=("no_such_function",))
    with pytest.raises(DataError, match="holds out unknown functions: no_such_function"):
        prepare(dataset_of(odd), odd, STRICT)


def test_what_cannot_be_read_stands_as_the_reason_why() -> None:
    call, reason = read_truth_calls(Turn((), ("ls()", "ls(")))
    assert call.name == "ls"
    assert isinstance(reason, MalformedCall)


BOOKING = {
    "TravelAPI": {
        "access_token": "t",
        "token_expires_in": 9,
        "credit_card_list": {"c": {"balance": 900.0}},
        "booking_record": {"b": {"card_id": "c"}},
    }
}


@pytest.mark.parametrize(
    ("profile", "tolerant", "kept"),
    [(STRICT, False, True), (BFCL, False, False), (STRICT, True, False)],
)
def test_what_bfcl_forgets_is_kept_on_own_data_under_strict(
    dataset_of, profile, tolerant, kept
) -> None:
    said = "contact_customer_support(booking_id='b', message='Hello.')"
    entry = Trajectory("t", Category.BASE, ("TravelAPI",), BOOKING, (Turn((), (said,)),))
    ready = prepare(dataset_of(entry, tolerant=tolerant), entry, profile)
    state = ready.truth[0].snapshot.compared()["TravelAPI"]
    assert ("support_messages" in state) is kept
    assert ready.truth[0].results[0].changed is kept


@pytest.mark.parametrize(("tolerant", "alike"), [(False, True), (True, False)])
def test_only_on_data_of_bfcl_a_reading_uses_up_the_next(dataset_of, tolerant, alike) -> None:
    turns = (Turn((), ("get_current_speed()", "get_current_speed()")),)
    entry = Trajectory("t", Category.BASE, ("VehicleControlAPI",), {}, turns)
    first, second = prepare(dataset_of(entry, tolerant=tolerant), entry, STRICT).truth[0].results
    assert (first.text == second.text) is alike
