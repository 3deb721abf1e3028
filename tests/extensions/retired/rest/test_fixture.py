"""The fixture service: path parameters, query parameters, headers, and what is not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from extensions.retired.functions.web import WebRequest
from extensions.retired.rest.fixture import HOST, FixtureService, answer
from extensions.retired.rest.http_sender import HttpSender

STAFF = {"authorization": "Bearer staff-42"}


@pytest.fixture
def service() -> Iterator[FixtureService]:
    """The service, running."""
    running = FixtureService()
    yield running
    running.stop()


@pytest.mark.parametrize(
    ("path", "query", "headers", "status"),
    [
        ("/v1/books", {}, {}, 200),
        ("/v1/books/", {}, {}, 200),
        ("/v1/books", {"since": "x"}, {}, 400),
        ("/v1/books/4", {}, {}, 200),
        ("/v1/books/7", {}, {}, 404),
        ("/v1/books/7/availability", {}, {}, 404),
        ("/v1/rooms", {"min_seats": "-1"}, {}, 400),
        ("/v1/rooms/9.99", {}, {}, 404),
        ("/v1/branches/moon/hours", {}, {}, 404),
        ("/v1/readers/r-100/loans", {}, {}, 401),
        ("/v1/readers/r-100/loans", {}, {"x-api-key": "reader-7"}, 200),
        ("/v1/readers/r-999/loans", {}, {"x-api-key": "reader-7"}, 404),
        ("/v1/reports/circulation", {}, {}, 403),
        ("/v1/reports/circulation", {"year": "2024"}, STAFF, 200),
        ("/", {}, {}, 404),
        ("/v2/books", {}, {}, 404),
    ],
)
def test_status(path: str, query: dict[str, str], headers: dict[str, str], status: int) -> None:
    assert answer(path, query, headers).status == status


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ({}, [1, 2, 3, 4, 5, 6]),
        ({"author": "P. Oduya"}, [3, 5]),
        ({"title": "NIGHT"}, [2]),
        ({"since": "2016"}, [4, 5, 6]),
        ({"since": "2016", "limit": "2"}, [4, 5]),
        ({"limit": "0"}, []),
    ],
)
def test_books_are_filtered(query: dict[str, str], ids: list[int]) -> None:
    assert [book["id"] for book in answer("/v1/books", query, {}).body["books"]] == ids


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, ["1.01", "1.04", "2.01", "2.07"]),
        ({"floor": "1"}, ["1.01", "1.04"]),
        ({"projector": "true", "min_seats": "20"}, ["1.01", "2.07"]),
        ({"projector": "false"}, ["1.01", "1.04", "2.01", "2.07"]),
    ],
)
def test_rooms_are_filtered(query: dict[str, str], names: list[str]) -> None:
    assert [room["room"] for room in answer("/v1/rooms", query, {}).body] == names


@pytest.mark.parametrize(
    ("language", "expected"), [("fr-CH", "Bienvenue"), ("xx", "Welcome"), (None, "Welcome")]
)
def test_the_greeting_is_in_the_language_asked_for(language: Any, expected: str) -> None:
    headers = {"accept-language": language} if language else {}
    assert answer("/v1/greeting", {}, headers).body["greeting"] == expected


def test_it_is_reached_by_its_name(service: FixtureService) -> None:
    get = HttpSender({HOST: lambda: service.port})
    assert get(WebRequest(f"http://{HOST}/v1/authors"))[:2] == (
        200,
        ["I. Maren", "L. Brandt", "P. Oduya", "S. Ito"],
    )
    report = get(
        WebRequest(
            f"http://{HOST}/v1/reports/circulation?year=2024", {"Authorization": "Bearer staff-42"}
        )
    )
    assert report.body["year"] == "2024"


def test_path_and_query_are_unquoted(service: FixtureService) -> None:
    get = HttpSender({HOST: lambda: service.port})
    assert get(WebRequest(f"http://{HOST}/v1/rooms/1%2E04")).body["seats"] == 6
    assert get(WebRequest(f"http://{HOST}/v1/books?author=I.+Maren")).body["total"] == 2
