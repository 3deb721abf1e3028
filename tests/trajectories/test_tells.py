"""Facts and what they follow from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checkers.answers import Date, Fact, Items, Number, Text, YesNo
from envs.results import Result
from tests.trajectories.test_validate import dataset, ticket
from trajectories.rules.problem import Problem, Severity
from trajectories.schema import Trajectory
from trajectories.tells import Grounds
from trajectories.validate import rules_named, validate

SHOWN = {
    "id": 7710032,
    "cost": 800.25,
    "date": "2024-06-01",
    "paid": True,
    "seats": ["A", "B", "C"],
}


@pytest.fixture
def grounds() -> Grounds:
    grounds = Grounds()
    grounds.hear("Please tell Anna about the two tickets, it's urgent.")
    grounds.see(Result(SHOWN))
    return grounds


@pytest.mark.parametrize(
    "fact",
    [
        Number(800.25, "USD", decimals=0),
        Number(7710032),
        Number(3, "seats"),
        Number(2),
        Text("Anna"),
        Items(("A", "C", 7710032)),
        Date("2024-06-01"),
        YesNo(True, ("paid",)),
        YesNo(False, ("cancelled",)),
    ],
)
def test_what_is_shown_said_or_counted_follows(grounds: Grounds, fact: Fact) -> None:
    assert grounds.doubt(fact) is None


@pytest.mark.parametrize(
    ("fact", "why"),
    [
        (Number(801), "801 was told by nobody"),
        (Text("Berlin"), "berlin"),
        (Items(("A", "Berlin")), "berlin"),
        (Date("2024-06-02"), "2024-06-02"),
        (YesNo(False, ("paid",)), "a result says that paid is True"),
    ],
)
def test_what_is_not_is_doubted(grounds: Grounds, fact: Fact, why: str) -> None:
    doubt = grounds.doubt(fact)
    assert doubt is not None
    assert doubt.serious
    assert why in doubt.why


def test_what_is_worked_out_is_no_serious_doubt(grounds: Grounds) -> None:
    doubt = grounds.doubt(Number(1600.5))
    assert doubt is not None
    assert not doubt.serious


def test_a_yes_needs_something_that_was_shown() -> None:
    assert Grounds().doubt(YesNo(True, ("paid",))) is not None


def told(entry: Trajectory, turn: int, *facts: Fact) -> list[Problem]:
    """Return what the rule finds where a turn tells some facts."""
    turns = list(entry.turns)
    turns[turn] = replace(turns[turn], tells=facts)
    entry = replace(entry, turns=tuple(turns))
    return validate(dataset(entry), [entry], rules_named(["TELLS"]))


ASKED = ticket(
    ("What is ticket 1 about?", ("get_ticket(ticket_id=1)",)),
    ("And which ones are mine?", ("get_user_tickets()",)),
)


def test_a_fact_follows_from_its_own_turn_and_from_those_before() -> None:
    assert told(ASKED, 0, Text("Broken lamp"), Number(2)) == []
    assert told(ASKED, 1, Text("Broken lamp"), Items(("Broken lamp", "Wet floor"))) == []


def test_a_fact_that_is_shown_only_later_is_named() -> None:
    [problem] = told(ASKED, 0, Text("Broken lamp"), Text("Wet floor"))
    assert problem.severity is Severity.ERROR
    assert (problem.turn, problem.field) == (0, "tells[1]")
    assert "wet, floor" in problem.message
