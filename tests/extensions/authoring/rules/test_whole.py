"""Rules WHOLE, DATES and ACCEPTS, and numbers changed by the step that a function takes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from time import process_time

import pytest

from extensions.authoring.making.build import long
from extensions.authoring.making.scenarios import SCENARIOS, read_scenario
from extensions.authoring.rules.alternatives import check_alternatives
from extensions.authoring.rules.execution import check_complete
from extensions.authoring.rules.generated_items import check_dates, check_whole
from extensions.authoring.rules.mutation_detection import mutants
from extensions.authoring.rules.replayed_entry import Entry
from trajectories.dataset import Dataset, load_embedded
from trajectories.schema import AlternativeRead, Category, Tier


@cache
def dataset() -> Dataset:
    """Return our own entries with and without bulk."""
    return load_embedded([Category.BASE, Category.LONG_CONTEXT])


@pytest.mark.parametrize(
    "name", ["vehicle_files_campervan_change_of_plan", "files_message_estate_letters"]
)
def test_words_about_the_whole_of_a_lengthened_file_are_found(name: str) -> None:
    scenario = read_scenario(SCENARIOS / f"{name}.json")
    kept = dataset().trajectories[f"long_context_{name}"]
    assert [*check_whole(Entry(dataset(), kept))] == []
    longer = long(replace(scenario, kept_whole=()))
    assert longer is not None
    assert [*check_whole(Entry(dataset(), longer))] != []


def test_a_flight_of_another_century_is_found() -> None:
    entry = dataset().trajectories["base_travel_twin_sisters"]
    assert [*check_dates(Entry(dataset(), entry))] == []
    agency = dict(entry.config["TravelAPI"])
    number, booking = next(iter(agency["booking_record"].items()))
    old = {**booking, "travel_date": "1951-02-03"}
    agency["booking_record"] = {**agency["booking_record"], number: old}
    changed = replace(entry, config={**entry.config, "TravelAPI": agency})
    assert "1951" in next(check_dates(Entry(dataset(), changed))).message


def test_an_alternative_that_shows_bulk_only_is_withdrawn_and_found() -> None:
    entry = dataset().trajectories["long_context_twitter_files_dark_skies_club"]
    tail = "tail(file_name='logins.txt')"
    assert tail not in [call for each in entry.turns[0].accepts for call in each.instead]
    wrong = AlternativeRead("cat(file_name='logins.txt')", ("list_all_following()",))
    turn = replace(entry.turns[0], accepts=(wrong,))
    changed = replace(entry, turns=(turn, *entry.turns[1:]))
    assert [finding.turn for finding in check_alternatives(Entry(dataset(), changed))] == [0]


def test_another_speed_of_the_cruise_control_is_rejected() -> None:
    entry = Entry(dataset(), dataset().trajectories["base_vehicle_files_driving_instructor"])
    steps = [step for step in entry.steps if step.function == "setCruiseControl"]
    speeds = [mutant for mutant in mutants(entry, steps) if mutant.parameter == "speed"]
    assert [(mutant.value, mutant.accepted) for mutant in speeds] == [(50, "")]


@pytest.mark.slow
def test_every_other_number_of_a_call_that_changes_something_is_rejected() -> None:
    accepted = []
    for each in dataset().trajectories.values():
        if each.tier is Tier.HARD:
            entry = Entry(dataset(), each)
            steps = [step for step in entry.steps if step.result.changed]
            accepted += [
                (each.id, str(mutant.step.call), mutant.parameter, mutant.value)
                for mutant in mutants(entry, steps)
                if isinstance(mutant.value, (int, float)) and mutant.accepted
            ]
    assert accepted == []


@pytest.mark.parametrize("sign", ["-", "a", "é"])
def test_unknown_files_are_searched_in_linear_time(sign: str) -> None:
    entry = dataset().trajectories["base_files_band_setlist"]
    opening, *turns = entry.turns
    (message,) = opening.messages
    longer = replace(message, content=f"{sign * 30_000} {message.content}")
    changed = replace(entry, turns=(replace(opening, messages=(longer,)), *turns))
    begin = process_time()
    assert [*check_complete(Entry(dataset(), changed))] == []
    assert process_time() - begin < 2.5
