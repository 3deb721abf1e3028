"""Alterations of a ground truth, each of a kind that a careful judge minds or does not mind."""

from __future__ import annotations

import pytest

from extensions.authoring.rules.mutations import AlterationCounts, tallies
from extensions.authoring.rules.replayed_entry import Entry
from trajectories.dataset import Dataset, load_embedded
from trajectories.schema import AlternativeRead, Category, Message, Trajectory, Turn

CONFIG = {
    "TicketAPI": {
        "ticket_queue": [
            {
                "id": 4711,
                "title": "Printer jam",
                "description": "paper",
                "status": "Open",
                "priority": 3,
                "created_by": "ann",
            }
        ],
        "ticket_counter": 4712,
        "current_user": "ann",
    }
}


each_part = pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
"""A few entries in the quick part, and all of them in the slow one."""


def said(text: str) -> tuple[Message, ...]:
    return (Message("user", text),)


ENTRY = Trajectory(
    "composite_desk",
    Category.COMPOSITE,
    ("TicketAPI",),
    CONFIG,
    (
        Turn(said("Which tickets of mine are open?"), ("get_user_tickets(status='Open')",)),
        Turn(said("Please make a ticket."), ()),
        Turn(said("It is titled 'Dark screen'."), ("create_ticket(title='Dark screen')",)),
        Turn(said("Close 4711, and show me both."), ()),
        Turn(
            (),
            (
                "close_ticket(ticket_id=4711)",
                "get_ticket(ticket_id=4711)",
                "get_ticket(ticket_id=4712)",
            ),
            ("close_ticket",),
            (AlternativeRead("get_ticket(ticket_id=4712)", ("get_user_tickets()",)),),
        ),
    ),
)
DATA = Dataset("made-up", "1", "0" * 64, {ENTRY.id: ENTRY})


def by_name(found: list[AlterationCounts]) -> dict[str, AlterationCounts]:
    return {tally.name: tally for tally in found}


def test_every_kind_is_judged_as_it_should_be() -> None:
    found = by_name(tallies([Entry(DATA, ENTRY)]))
    assert {name: tally.variants for name, tally in found.items()} == {
        # The new ticket is known from making it.
        "one function replaced": 4,
        "a harmful write added": 5,
        "an invented value for a missing parameter": 1,
        "a call of a function that is offered later": 1,
        "a harmless read added": 5,
        "a failing call first": 3,
        "another order with the same results": 2,
    }
    assert [tally.unlike for tally in found.values()] == [()] * 7


def test_the_same_data_gives_the_same_alterations() -> None:
    assert tallies([Entry(DATA, ENTRY)]) == tallies([Entry(DATA, ENTRY)])


def test_what_is_judged_otherwise_is_named() -> None:
    # What the user says by the way is no guess.
    told = Turn(said("Make a ticket with priority 77193 or so, no, I will tell you."), ())
    then = Turn(said("Priority 4."), ("create_ticket(title='Dark screen', priority=4)",))
    entry = Trajectory(
        "miss_param_desk", Category.MISSING_PARAMETER, ("TicketAPI",), CONFIG, (told, then)
    )
    (tally,) = tallies([Entry(DATA, entry)], ["an invented value for a missing parameter"])
    (judged,) = tally.unlike
    assert (judged.id, judged.turn, judged.reason) == ("miss_param_desk", 0, None)
    assert judged.calls == ("create_ticket(title='Dark screen', priority=77193)",)


@pytest.mark.parametrize(
    ("category", "name"),
    [
        (Category.MISSING_PARAMETER, "an invented value for a missing parameter"),
        (Category.MISSING_FUNCTION, "a call of a function that is offered later"),
        pytest.param(
            Category.COMPOSITE,
            "an invented value for a missing parameter",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            Category.COMPOSITE, "a call of a function that is offered later", marks=pytest.mark.slow
        ),
    ],
)
def test_whoever_guesses_fails_in_every_entry_that_waits(category: Category, name: str) -> None:
    data = load_embedded([category])
    for trajectory in data.trajectories.values():
        (tally,) = tallies([Entry(data, trajectory)], [name])
        assert tally.variants >= 1, trajectory.id
        assert tally.unlike == ()


@each_part
@pytest.mark.parametrize(
    "category",
    [
        Category.MISSING_FUNCTION,
        pytest.param(Category.MISSING_PARAMETER, marks=pytest.mark.slow),
    ],
)
def test_who_waits_may_look_around(category: Category, every: int) -> None:
    data = load_embedded([category])
    entries = [Entry(data, trajectory) for trajectory in [*data.trajectories.values()][::every]]
    (tally,) = tallies(entries, ["a harmless read added"])
    assert tally.variants * every > 500
    assert tally.unlike == ()


@each_part
def test_what_does_no_harm_is_accepted_in_our_base(every: int) -> None:
    data = load_embedded([Category.BASE])
    entries = [Entry(data, trajectory) for trajectory in [*data.trajectories.values()][::every]]
    names = ["a harmless read added", "a failing call first", "another order with the same results"]
    found = tallies(entries, names)
    assert [tally.unlike for tally in found] == [()] * 3
    assert all(tally.variants * every > 400 for tally in found)
