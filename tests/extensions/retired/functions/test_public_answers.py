"""The fixture of public services: what an answer depends on, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from extensions.retired.functions import public_answers, public_tables
from extensions.retired.functions.web import WebAnswer, WebRequest

RAPID = "p.rapidapi.com"


def answered(url: str, method: str = "GET", **headers: str) -> WebAnswer:
    """Return what the fixture answers to a request with a key."""
    given = {"X-RapidAPI-Key": "k", **{k.replace("_", "-"): v for k, v in headers.items()}}
    return public_answers.answer(WebRequest(url, given, method))


def body(url: str) -> Any:
    """Return the body of an answer, which says that it is the fixture's."""
    found = answered(url)
    assert found.fixture
    assert found.status == 200, found
    json.dumps(found.body, allow_nan=False)
    return found.body


@pytest.mark.parametrize(
    ("url", "members"),
    [
        (f"https://timezone-by-location.{RAPID}/timezone?lat=48&lon=2&c=1", {"Safezone", "Zones"}),
        (f"https://timezone-by-location.{RAPID}/timezone?lat=48&lon=2",
         {"Notice", "Safezone", "Zones"}),
        ("http://ip-api.com/json?fields=query,country,nonsense", {"query", "country"}),
        ("http://ip-api.com/json?fields=", set()),
        ("https://geocode.maps.co/search?q=Paris&api_key=k&format=geojson",
         {"type", "licence", "features"}),
        (f"https://mashape-community-urban-dictionary.{RAPID}/define?term=a", {"list"}),
        ("http://www.omdbapi.com/?t=nothing&apikey=k", {"Response", "Error"}),
        ("http://www.omdbapi.com/?t=avatar&y=1900&apikey=k", {"Response", "Error"}),
    ],
)  # fmt: skip
def test_what_is_in_an_answer_depends_on_the_parameters(url: str, members: set[str]) -> None:
    assert {*body(url)} == members


def test_lists_are_as_long_as_what_they_are_of() -> None:
    forecast = (
        "https://api.open-meteo.com/v1/forecast?latitude=1,2&longitude=3,4&hourly=a&daily=b,c"
    )
    first, second = body(f"{forecast}&forecast_days=3&timezone=auto")
    assert first["timezone"] != "auto"
    assert {*second["daily"]} == {"time", "b", "c"}
    assert (len(second["hourly"]["a"]), len(second["daily"]["b"])) == (72, 3)
    assert body("https://geocode.maps.co/search?q=Nowhere&api_key=k") == []
    everywhere = body(f"https://covid-193.{RAPID}/statistics")
    assert everywhere["results"] == len(public_tables.EPIDEMIC) == len(everywhere["response"])
    assert body(f"https://covid-193.{RAPID}/statistics?country=Atlantis")["response"] == []
    assert body(f"https://yahoo-finance15.{RAPID}/api/v1/markets/search?search=")["body"] == []


def test_the_place_named_last_is_meant() -> None:
    place = public_tables.place_in("5 Paris Street, New York, NY")
    assert place is not None
    assert place.name == "New York"
    assert public_tables.place_in("Parish of Newyork") is None


def test_holidays_follow_the_year() -> None:
    days = [day for day, _ in public_tables.holidays(2024, "GB")]
    assert [day.isoformat() for day in days[1:3]] == ["2024-03-29", "2024-04-01"]
    lengths = {length for _, length, _ in public_tables.long_weekends(days)}
    assert lengths <= {3, 4}


@pytest.mark.parametrize(
    ("url", "status"),
    [
        (f"https://timezone-by-location.{RAPID}/timezone?lat=91&lon=2", 400),
        (f"https://timezone-by-location.{RAPID}/timezone?lat=nan&lon=2", 400),
        (f"https://timezone-by-location.{RAPID}/other", 404),
        ("https://v6.exchangerate-api.com/v6/k/latest/XYZ", 404),
        ("https://v6.exchangerate-api.com/v6//latest/EUR", 404),
        ("https://geocode.maps.co/search?q=Paris", 401),
        ("https://geocode.maps.co/reverse?lat=a&lon=b&api_key=k", 400),
        ("https://api.open-meteo.com/v1/forecast?latitude=1&longitude=2&forecast_days=17", 400),
        ("https://api.open-meteo.com/v1/forecast?latitude=1&longitude=2&elevation=high", 400),
        ("https://api.open-meteo.com/v1/forecast?latitude=1,2&longitude=2", 400),
        ("https://api.open-meteo.com/v1/forecast?latitude=1&longitude=2&daily=" + "a," * 61, 400),
        ("http://www.omdbapi.com/?t=Avatar", 401),
        ("https://date.nager.at/api/v3/LongWeekend/9999/FR", 400),
        ("https://date.nager.at/api/v3/PublicHolidays/2024/XX", 404),
        ("https://api.zippopotam.us/us/00000", 404),
    ],
)
def test_what_a_service_would_refuse_is_refused(url: str, status: int) -> None:
    assert answered(url).status == status


def test_keys_hosts_and_methods_are_looked_at() -> None:
    url = f"https://covid-193.{RAPID}/statistics"
    assert public_answers.answer(WebRequest(url)).status == 401
    assert answered(url, X_RapidAPI_Host="other").status == 403
    assert answered(url, "POST").status == 405
    assert answered(url, "HEAD").body is None


def test_an_internet_address_has_a_place_or_a_reason() -> None:
    assert body("http://ip-api.com/json/8.8.8.8")["status"] == "success"
    for address, reason in [("10.0.0.1", "private range"), ("127.0.0.1", "reserved range")]:
        assert body(f"http://ip-api.com/json/{address}")["message"] == reason
    assert body("http://ip-api.com/json/nobody")["message"] == "invalid query"
