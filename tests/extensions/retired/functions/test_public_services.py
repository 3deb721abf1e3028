"""Functions that ask public services: what is taken from an answer, and what when it is odd."""

from __future__ import annotations

from typing import Any

import pytest

from envs.calls import parse_call
from envs.session import Session
from extensions.retired.functions.public_services import PublicServices
from extensions.retired.functions.web import WebAnswer, WebRequest
from tests.extensions.library.calling import refusal, value

NAME = "PublicServices"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("get_company_name_by_stock_name(stock_name='googl')", "Alphabet Inc. Class A"),
        ("get_coordinate_by_ip_address(ip_address='2001:4860:4860::8888')", list),
        ("get_zipcode_by_ip_address(ip_address='nobody')", "invalid query"),
        ("get_time_zone_by_coord(long='-0.1', lat='51.5')", "Europe/London"),
        ("convert_currency(amount=0, from_currency='usd', to_currency='eur')", 0),
        ("get_stock_history(stock_name='AAPL', interval='1d', diffandsplits='true')", dict),
        ("retrieve_holiday_by_year(year='2020', country='es')", list),
        ("get_active_covid_case_by_country(country='United States')", 780_000),
        ("get_movie_rating(movie_name='pulp fiction')", "R"),
    ],
)
def test_what_is_asked_for_is_taken_out_of_the_answer(call: str, expected: Any) -> None:
    found = value(NAME, call)
    assert found["answered_by"] == "fixture"
    answer = found["answer"]
    assert isinstance(answer, expected) if isinstance(expected, type) else answer == expected


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("get_movie_director(movie_name='')", "The length of movie_name must be"),
        ("get_movie_director(movie_name='No such film')", "returned no such data"),
        ("retrieve_holiday_by_year(year='../..', country='FR')", "status 400"),
        ("retrieve_city_based_on_zipcode(zipcode='1/../90210')", "status 404"),
        ("get_weather_data(coordinates=[91, 0])", "status 400"),
        ("get_stock_history(stock_name='AAPL', interval='2d')", "status 400"),
    ],
)
def test_refusals(call: str, reason: str) -> None:
    assert reason in refusal(NAME, call)


@pytest.mark.parametrize("body", [None, "text", [], {}, {"list": []}, {"list": [{}]}, 5])
def test_an_answer_of_another_form_is_a_refusal(body: Any) -> None:
    session = Session.load([NAME], {})
    services = session.backends[NAME]
    assert isinstance(services, PublicServices)
    services.connect(lambda _: WebAnswer(200, body))
    result = session.call(parse_call("find_term_on_urban_dictionary('x')"))
    assert "returned no such data" in result.text


def test_who_is_connected_is_asked_with_the_mark_of_a_key() -> None:
    asked: list[WebRequest] = []

    def send(request: WebRequest) -> WebAnswer:
        asked.append(request)
        return WebAnswer(200, {"data": {"product_price": "1"}})

    session = Session.load([NAME], {})
    services = session.backends[NAME]
    assert isinstance(services, PublicServices)
    services.connect(send)
    host = "real-time-amazon-data.p.rapidapi.com"
    result = session.fork().call(parse_call("get_price_by_amazon_ASIN('a&b')"))
    assert result.value == {"answer": "1", "answered_by": host}
    [request] = asked
    assert request.url == f"https://{host}/product-details?asin=a%26b"
    assert request.headers == {"X-RapidAPI-Key": "YOUR-RAPID-API-KEY", "X-RapidAPI-Host": host}


def test_half_a_character_is_the_model_s_mistake() -> None:
    result = Session.load([NAME], {}).call(parse_call("get_movie_director('\\ud800')"))
    assert "a lone surrogate" in result.text
