"""Facts and what they follow from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checkers.answer_text.reader import list_unreported
from checkers.required_info import Date, Fact, Items, Number, Text, YesNo
from envs.results import Result
from extensions.authoring.fact_sources import FactSources
from extensions.authoring.rule_sets import select_rules, validate
from extensions.authoring.rules.finding import Finding, Severity
from tests.extensions.authoring.test_rule_sets import dataset, ticket
from trajectories.dataset import load_embedded
from trajectories.schema import Category, Trajectory

SHOWN = {
    "id": 7710032,
    "cost": 800.25,
    "date": "2024-06-01",
    "paid": True,
    "seats": ["A", "B", "C"],
}


@pytest.fixture
def grounds() -> FactSources:
    grounds = FactSources()
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
def test_what_is_shown_said_or_counted_follows(grounds: FactSources, fact: Fact) -> None:
    assert grounds.doubt(fact) is None


@pytest.mark.parametrize(
    ("fact", "why"),
    [
        (Number(801), "801 is in no message"),
        (Text("Berlin"), "berlin"),
        (Items(("A", "Berlin")), "berlin"),
        (Date("2024-06-02"), "2024-06-02"),
        (YesNo(False, ("paid",)), "a result shows the opposite (paid: True)"),
    ],
)
def test_what_is_not_is_doubted(grounds: FactSources, fact: Fact, why: str) -> None:
    doubt = grounds.doubt(fact)
    assert doubt is not None
    assert doubt.serious
    assert why in doubt.why


def test_what_is_worked_out_is_no_serious_doubt(grounds: FactSources) -> None:
    doubt = grounds.doubt(Number(1600.5))
    assert doubt is not None
    assert not doubt.serious


def test_a_yes_needs_something_that_was_shown() -> None:
    assert FactSources().doubt(YesNo(True, ("paid",))) is not None


def told(entry: Trajectory, turn: int, *facts: Fact) -> list[Finding]:
    """Return what the rule finds where a turn tells some facts."""
    turns = list(entry.turns)
    turns[turn] = replace(turns[turn], tells=facts)
    entry = replace(entry, turns=tuple(turns))
    return validate(dataset(entry), [entry], select_rules(["TELLS"]))


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


def plainest(fact: Fact, *, right: bool = True) -> str:
    """Return the plainest answer that tells a fact; of a yes or no, its opposite if not right."""
    match fact:
        case Number(number=number, unit=unit):
            return f"It is {number:,} {unit}."
        case Text(text=text):
            return f"It says: {text}"
        case Items(items=items):
            return "\n".join(f"- {item}" for item in items)
        case YesNo(yes=yes, about=about, subject=subject):
            head, verb = ("Yes", "is") if yes is right else ("No", "is not")
            return f"{head}, {subject or 'it'} {verb} {about[0]}."
    return f"On {fact}."


def test_every_fact_of_our_data_is_told_by_its_plainest_answer_and_by_no_empty_words() -> None:
    entries = load_embedded([Category.BASE]).trajectories.values()
    facts = [fact for entry in entries for turn in entry.turns for fact in turn.tells]
    assert len(facts) > 400
    assert [fact for fact in facts if list_unreported([fact], plainest(fact))] == []
    opposite = [(fact, plainest(fact, right=False)) for fact in facts if isinstance(fact, YesNo)]
    assert [fact for fact, words in opposite if not list_unreported([fact], words)] == []
    assert [fact for fact in facts if not list_unreported([fact], "All done! Anything else?")] == []
