"""What a data set is like, counted on entries small enough to count by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from extensions.authoring.statistics import (
    FIGURES,
    ArgumentCounts,
    Statistics,
    count_entry,
    count_near_duplicates,
    select_figures,
    shares,
    statistics,
)
from tools.figures import README
from trajectories.dataset import Dataset, load_embedded
from trajectories.schema import Category, ExpectedCalls, Message, Trajectory, Turn

CONFIG: dict[str, Any] = {
    "TravelAPI": {
        "credit_card_list": {},
        "booking_record": {},
        "access_token": "t0ken",
        "token_expires_in": 3600,
        "user_first_name": "Ada",
        "user_last_name": "May",
        "budget_limit": 1000.0,
    },
    "VehicleControlAPI": {"fuelLevel": 10.0, "engineState": "stopped"},
}
LOCK = "lockDoors(unlock=False, door=['driver', 'passenger', 'rear_left', 'rear_right'])"
START = [LOCK, "pressBrakePedal(pedalPosition=1.0)", "startEngine(ignitionMode='START')"]


def entry(*turns: tuple[str, Sequence[str]]) -> Trajectory:
    """Return an entry over a travel agency and a car."""
    made = tuple([Turn((Message("user", said),), tuple(calls)) for said, calls in turns])
    return Trajectory("base_one", Category.BASE, tuple(CONFIG), CONFIG, made)


def facts(*turns: tuple[str, Sequence[str]]) -> Any:
    """Return what is counted of an entry."""
    made = entry(*turns)
    return count_entry(Dataset("hand", "1", "0", {made.id: made}), made)


def test_chains_follow_values_that_only_results_have_shown() -> None:
    found = facts(
        ("Which airport is near Rivermist?", ["get_nearest_airport_by_city(location='Rivermist')"]),
        (
            "And what is a flight from there to LAX, economy, on 2026-05-01?",
            [
                "get_flight_cost(travel_from='RMS', travel_to='LAX', "
                "travel_date='2026-05-01', travel_class='economy')"
            ],
        ),
    )
    assert found.arguments == ArgumentCounts(5, 1, 0)
    assert found.hops == 1
    assert found.dated == (1, 0)


def test_dates_in_words_are_told_apart_and_counted_once() -> None:
    fare = (
        "get_flight_cost(travel_from='JFK', travel_to='LAX', "
        "travel_date='2026-05-01', travel_class='economy')"
    )
    found = facts(
        ("JFK to LAX, economy, May 1st 2026: how much?", [fare]), ("Again, please.", [fare])
    )
    assert found.dated == (0, 1)


@pytest.mark.parametrize(
    ("said", "undictated"),
    [
        ("Off we go.", 2),
        ("Off we go, with all doors locked.", 1),
        ("Lock the doors, press the pedal, and start the engine.", 0),
    ],
)
def test_preconditions_are_dictated_or_left_to_the_model(said: str, undictated: int) -> None:
    found = facts((said, START))
    assert (found.needed, found.undictated) == (2, undictated)


@pytest.mark.parametrize(
    ("said", "conditions"),
    [
        ("Fill it up if the level is below 10.", 1),
        ("Should any tire be low, tell me.", 1),
        ("Fill it up if you could.", 0),
        ("It feels as if it were empty, so fill it up.", 0),
        ("Fill it up.", 0),
    ],
)
def test_conditions_are_no_politeness(said: str, conditions: int) -> None:
    assert facts((said, ["fillFuelTank(fuelAmount=5)"])).conditions == conditions


def test_figures_of_a_small_set() -> None:
    one = entry(("Start it.", START), ("What airports are there?", ["list_all_airports()"]))
    two = entry(("Fill in five gallons.", ["fillFuelTank(fuelAmount=5)"]))
    found = statistics(Dataset("hand", "1", "0", {"a": one, "b": two}))
    shown = {figure.name: figure.text(found) for figure in FIGURES}
    assert shown["entries"] == "2"
    assert shown["turns per entry"] == "1.50 (1 to 2)"
    assert shown["calls"] == "5"
    assert shown["calls per turn"] == "1.67 (1 to 3)"
    assert shown["functions used"] == "5"
    assert shown["effective functions"] == "5"
    assert shown["pairs of calls"] == "3 of 3 (100%)"
    assert shown["entries across backends"] == "1 of 2 (50%)"
    assert shown["turns across backends"] == "0 of 3 (0%)"
    assert shown["distinct configs"] == "1 of 2 (50%)"
    assert found.words_per_turn == [2, 4, 4]


def test_single_turns_have_their_answers_for_calls() -> None:
    documents = ({"name": "f", "parameters": {}}, {"name": "g", "parameters": {}})
    single = Trajectory(
        "parallel_one",
        Category.PARALLEL,
        (),
        {},
        (Turn((Message("user", "Call f twice."),), ()),),
        expects=ExpectedCalls(documents, ({"f": {"x": [1]}}, {"f": {"x": [2]}})),
    )
    found = count_entry(Dataset("hand", "1", "0", {}), single)
    assert (found.turns, found.offered, found.hops) == ([["f", "f"]], 2, 0)


def test_what_cannot_be_played_is_left_out_and_counted() -> None:
    odd = Trajectory("odd", Category.BASE, ("TicketAPI",), {"TicketAPI": {"no": 1}}, ())
    broken = Trajectory("broken", Category.BASE, ("TicketAPI",), {"TicketAPI": 3}, ())  # type: ignore[arg-type]
    found = statistics(Dataset("hand", "1", "0", {"a": odd, "b": broken}))
    assert len(found.entries) + found.unplayable == 2
    assert all(figure.text(found) for figure in FIGURES)


def test_near_duplicates_share_runs_of_five_words() -> None:
    one = ["please", "book", "me", "a", "flight", "to", "rome"]
    assert count_near_duplicates(
        [one, one, ["something", "else", "altogether", "said", "here"]]
    ) == (
        2,
        1.0,
    )
    other = [*one[:6], "paris"]
    count, largest = count_near_duplicates([one, other])
    assert (count, largest) == (2, 0.5)
    assert count_near_duplicates([one, one[2:] + one[:2]]) == (2, 0.2)
    assert count_near_duplicates([["a"], ["a"]]) == (0, 0.0)


def test_shares_add_up_and_have_no_gap() -> None:
    assert shares([1, 1, 3]) == {"0": 0, "1": 2 / 3, "2": 0, "3": 1 / 3}
    assert shares([3, 12, 14], 10) == {"0\u20139": 1 / 3, "10\u201319": 2 / 3}
    assert shares([]) == {}


def test_the_embedded_data_is_what_its_readme_says() -> None:
    found = statistics(load_embedded([Category.BASE]))
    row = f"| base | {len(found.entries)} | {len(found.turns)} | "
    assert row in README.read_text(encoding="utf-8")
    assert len(found.functions) == 127
    assert found.unplayable == 0
    assert isinstance(found, Statistics)


def test_functions_that_entries_describe_have_domains_types_and_languages() -> None:
    def single(id: str, language: Any, *functions: tuple[str, Sequence[str]]) -> Trajectory:
        described = [
            {"name": name, "parameters": {"properties": {w + str(i): {"type": w}}}}
            for name, words in functions
            for i, w in enumerate(words[:1])
        ]
        expects = ExpectedCalls(tuple(described), ({functions[0][0]: {}},), language)
        turn = Turn((Message("user", "Do it."),), ())
        return Trajectory(id, Category.MULTIPLE, (), {}, (turn,), expects=expects)

    made = [
        single("a", "python", ("music.play", ["string"]), ("music.stop", ["string"])),
        single("b", "java", ("clock", ["integer"]), ("door.open", ["string"])),
    ]
    found = statistics(Dataset("hand", "1", "0", {each.id: each for each in made}))
    texts = {figure.name: figure.text(found) for figure in select_figures([found])}
    assert texts["languages"] == "python 50%, java 50%"
    assert texts["domains"] == "2"
    assert texts["types"] == "string 75%, integer 25%"
    assert found.domains == {"music": 2, "door": 1}
    assert found.offered_where_described == [2, 2]
    assert select_figures([Statistics("none", ())]) == FIGURES
