"""What a scene answers, played in copies, on small entries."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checkers.profile import STRICT
from checkers.required_info import Text
from checkers.verdict import ExecutedTurn, PositionAfterCall
from envs.calls import parse_call
from envs.errors import MalformedCall
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.schema import AlternativeRead, Category, Message, Trajectory, Turn

STATE = {
    "ticket_queue": [],
    "ticket_counter": 1,
    "current_user": "ann",
}
CREATE = "create_ticket(title='Jam', description='Paper.', priority=2)"


@pytest.fixture
def ready(dataset_of):
    def make(
        *turns: Turn, environment: str = "TicketAPI", state: dict = STATE
    ) -> PreparedTrajectory:
        entry = Trajectory("t", Category.BASE, (environment,), {environment: state}, turns)
        return prepare(dataset_of(entry), entry, STRICT)

    return make


def said(words: str, *calls: str, accepts: tuple[AlternativeRead, ...] = ()) -> Turn:
    return Turn((Message("user", words),), calls, accepts=accepts)


def test_a_call_is_known_by_backend_and_arguments(ready) -> None:
    scene = ready(said("Go.", CREATE)).scene
    assert scene.words(0) == "Go."
    assert scene.backend(parse_call("get_ticket(1)")) == "TicketAPI"
    assert scene.backend(parse_call("fly(1)")) is None
    assert scene.backend(MalformedCall("no call")) is None
    assert scene.arguments(parse_call("get_ticket(1)")) == {"ticket_id": 1}
    # What does not fit stands as it was given.
    assert scene.arguments(parse_call("get_ticket(number=1)")) == {"number": 1}
    assert scene.arguments(parse_call("fly(1)")) == {}


def test_a_choice_of_a_closed_set_says_nothing_of_what_is_asked(ready) -> None:
    scene = ready(said("Go."), environment="VehicleControlAPI", state={}).scene
    locks = parse_call("lockDoors(unlock=True, door=['driver'])")
    assert scene.asks_about(locks) == ["driver"]
    assert scene.asks_about(parse_call("startEngine(ignitionMode='START')")) == []


def test_what_the_truth_leads_to_without_some_calls(ready) -> None:
    prepared = ready(said("Go.", CREATE, "get_ticket(1)"))
    scene = prepared.scene
    assert scene.ends_alike(prepared.truth, frozenset({1}))
    assert not scene.ends_alike(prepared.truth, frozenset({0}))
    assert scene.acts(0, 0)
    assert not scene.acts(0, 1)


def test_turns_are_asked_about_in_any_order_and_change_nothing(ready) -> None:
    prepared = ready(said("Go.", CREATE), said("More.", CREATE, "close_ticket(2)"))
    before = prepared.template.snapshot()
    answers = [prepared.scene.acts(turn, place) for turn, place in ((1, 1), (0, 0), (1, 1))]
    assert answers == [True, True, True]
    assert prepared.scene.ends_alike(prepared.truth, frozenset())
    assert prepared.scene.ends_alike(prepared.truth[:1], frozenset())
    assert prepared.template.snapshot() == before


def test_what_does_as_well_is_executed_where_the_call_stands(ready) -> None:
    accepts = (AlternativeRead("get_ticket(1)", ("get_user_tickets()",)),)
    scene = ready(said("Go.", CREATE, "get_ticket(1)", accepts=accepts)).scene
    assert scene.instead(0, 0) == ()
    [[given]] = scene.instead(0, 1)
    assert str(given.call) == "get_user_tickets()"
    assert [ticket["title"] for ticket in given.result.value] == ["Jam"]


def test_a_call_is_asked_again_at_the_start_and_after_each_change(ready) -> None:
    prepared = ready(said("Go.", CREATE, "get_ticket(1)"))
    [outcome] = prepared.truth
    model: list[ExecutedTurn] = [outcome]
    again = list(prepared.scene.again(outcome.calls[1], 0, 1, model))
    assert [point for point, _ in again] == [PositionAfterCall(0, -1), PositionAfterCall(0, 0)]
    assert [result.ok for _, result in again] == [False, True]


def test_what_is_told_only_later_is_waited_for(ready) -> None:
    scene = ready(
        said("Make a ticket with the title Jam."),
        said("The description is: Paper.", CREATE),
    ).scene
    assert set(scene.waiting(0, "create_ticket")) == {"description"}
    assert scene.waiting(0, "close_ticket") == ()
    assert scene.waiting(1, "create_ticket") == ()
    assert not scene.only_asks(0)


def test_a_question_that_what_was_seen_answers_waits_for_nothing(ready) -> None:
    question = replace(said("What is on the desk?"), tells=(Text("Nothing"),))
    scene = ready(question, said("Title it Jam.", CREATE)).scene
    assert scene.only_asks(0)
    assert scene.waiting(0, "create_ticket") == ()
