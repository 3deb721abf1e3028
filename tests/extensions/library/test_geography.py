"""The geography functions: the table they read, and what they make of it."""

from __future__ import annotations

from typing import Any

import pytest

from extensions.library.geography import CITIES, COUNTRIES
from tests.extensions.library.calling import refusal, value

NAME = "GeographyTools"


def test_the_tables_are_in_order_and_agree() -> None:
    names = [country.name for country in COUNTRIES]
    assert names == sorted(set(names))
    assert len({country.capital for country in COUNTRIES}) == len(names)
    cities = [city.name for city in CITIES]
    assert cities == sorted(set(cities))
    assert {city.country for city in CITIES} == set(names)


@pytest.mark.parametrize("country", COUNTRIES, ids=lambda country: country.name)
def test_facts_and_capitals_belong_together(country: Any) -> None:
    facts = value(NAME, f"country_facts(country={country.name!r})")
    assert facts["capital"] == value(NAME, f"capital_of(country={country.name!r})")
    assert value(NAME, f"country_of_capital(capital={facts['capital']!r})") == country.name
    assert country.name in value(NAME, f"countries_of(continent={facts['continent']!r})")


@pytest.mark.parametrize(
    ("one", "other", "kilometres"),
    [("London", "Paris", 344), ("Berlin", "Tokyo", 8_920), ("Sydney", "Santiago", 11_340)],
)
def test_distances(one: str, other: str, kilometres: float) -> None:
    there = value(NAME, f"city_distance(from_city={one!r}, to_city={other!r})")
    back = value(NAME, f"city_distance(from_city={other!r}, to_city={one!r})")
    assert there == pytest.approx(kilometres, rel=0.01)
    assert there == pytest.approx(back)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("city_distance(from_city='Rome', to_city='Rome')", 0.0),
        ("time_difference(from_city='Tokyo', to_city='Lima')", -14),
        (
            "largest_countries(continent='Europe', limit=2)",
            [{"name": "France", "value": 551_000}, {"name": "Spain", "value": 506_000}],
        ),
        ("countries_of(continent='North America')", ["Canada", "Mexico"]),
    ],
)
def test_known_values(call: str, expected: Any) -> None:
    assert value(NAME, call) == expected


def test_the_nearest_city_may_be_beyond_the_date_line() -> None:
    nearest = value(NAME, "nearest_city(latitude=-36, longitude=-179)")
    assert nearest["city"] == "Auckland"


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("country_facts(country='norway')", "Unknown country 'norway'. Did you mean Norway?"),
        ("city_position(city='Atlantis')", "Unknown city 'Atlantis'."),
        ("countries_of(continent='europe')", "Did you mean Europe?"),
        ("largest_countries(continent='Europe', limit=51)", "limit must be from 1 to 50, not 51."),
        ("largest_countries(continent='Europe', limit=5, by='age')", "by = 'age'"),
        ("nearest_city(latitude=0, longitude=181)", "longitude must be from -180 to 180, not 181."),
    ],
)
def test_refusals(call: str, reason: str) -> None:
    assert reason in refusal(NAME, call)
