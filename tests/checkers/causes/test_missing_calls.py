from __future__ import annotations

import pytest

from checkers.causes.divergence import list_effects
from checkers.causes.missing_calls import is_implicit, names
from checkers.causes.trace import TracedCall, TracedTurn
from envs.calls import parse_call
from envs.session import Session

CONFIG = {"TicketAPI": {"ticket_queue": [], "ticket_counter": 7001, "current_user": "ann"}}


def acts(*texts):
    """Return what calls do in one turn."""
    session = Session.load(["TicketAPI", "MessageAPI", "VehicleControlAPI"], CONFIG)
    before = session.snapshot()
    calls = [parse_call(text) for text in texts]
    steps = [(TracedCall(call, session.call(call), session.snapshot()),) for call in calls]
    return list_effects(TracedTurn(frozenset(), before, tuple(steps)))


@pytest.mark.parametrize(
    ("call", "words", "named"),
    [
        ("pressBrakePedal(pedalPosition=1.0)", "Start the engine.", False),
        ("pressBrakePedal(pedalPosition=1.0)", "Press the brake.", True),
        ("displayCarStatus(option='fuel')", "Fill up the car with fuel.", False),
        ("create_ticket(title='Dark screen')", "It is the dark screen again.", True),
        ("create_ticket(title='Dark screen')", "Open a new ticket.", True),
        ("get_ticket(ticket_id=1)", "Close my ticket.", True),
        ("get_user_tickets()", "Close my ticket.", False),
        ("message_login(user_id='USR002')", "Write Bob a message.", False),
        ("message_login(user_id='USR002')", "Log in and write a message.", True),
        ("get_user_id(user='Bob')", "Write to Bob.", False),
        ("get_user_id(user='Bob')", "Which ID has the user Bob?", True),
    ],
)
def test_words_that_name_a_call(call, words, named):
    assert names(acts(call)[0], words) is named


def test_a_step_is_implicit_that_only_a_later_call_asks_for():
    find, write = truth = acts("get_user_id(user='Bob')", "message_login(user_id='USR002')")
    assert is_implicit(find, truth, ["Be Bob."])
    assert not is_implicit(write, truth, ["Be Bob."])
    assert not is_implicit(find, truth, ["Find the user id of Bob, then log in."])
    assert not is_implicit(find, truth, [])


def test_a_word_in_the_name_of_a_later_function_is_said_of_that_one():
    read, close = truth = acts("get_ticket(ticket_id=1)", "close_ticket(ticket_id=1)")
    assert is_implicit(read, truth, ["Close my ticket."])
    assert not is_implicit(close, truth, ["Close my ticket."])
    first, _ = twice = acts("create_ticket(title='One')", "create_ticket(title='Two')")
    assert not is_implicit(first, twice, ["Open a ticket for each."])


def test_a_call_of_another_backend_prepares_nothing_that_it_does_not_feed():
    look, _ = truth = acts("displayCarStatus(option='fuel')", "create_ticket(title='Odd')")
    assert not is_implicit(look, truth, ["Open a ticket."])
