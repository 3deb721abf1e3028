"""The REST client: what it asks for, what it refuses, and who answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from envs.calls import Call
from envs.errors import InvalidArgument, Refused
from envs.results import Result
from envs.session import Session
from extensions.retired.functions.rest import RestClient
from extensions.retired.functions.web import WebAnswer, WebRequest


def get(session: Session, url: str, **arguments: Any) -> Result:
    """Return the result of a request."""
    return session.call(Call("http_get", (), {"url": url, **arguments}))


def offline(answers: Mapping[str, Any]) -> Session:
    """Return a client that gives recorded answers."""
    config = {"RestClient": {"answers": dict(answers)}}
    return Session.load(["RestClient"], config, checks_arguments=True)


def connected(answer: WebAnswer) -> tuple[Session, list[tuple[str, Mapping[str, str]]]]:
    """Return a client that always gets one answer, and what it was asked so far."""
    asked: list[tuple[str, Mapping[str, str]]] = []

    def send(request: WebRequest) -> WebAnswer:
        asked.append((request.url, request.headers))
        return answer

    session = offline({})
    client = session.backends["RestClient"]
    assert isinstance(client, RestClient)
    client.connect(send)
    return session, asked


@pytest.mark.parametrize(
    ("url", "params", "expected"),
    [
        ("http://h/p", None, "http://h/p"),
        ("http://h/p", {"b": 1, "a": "x y"}, "http://h/p?a=x+y&b=1"),
        ("http://h/p?c=3&a=", {"b": True}, "http://h/p?a=&b=true&c=3"),
        ("http://h/p", {"a": 0.5, "u": "é&=?#"}, "http://h/p?a=0.5&u=%C3%A9%26%3D%3F%23"),
        ("https://h:8443/p#part", {}, "https://h:8443/p"),
        ("HTTP://h", {}, "http://h"),
    ],
)
def test_parameters_become_a_sorted_query(url: str, params: Any, expected: str) -> None:
    session, asked = connected(WebAnswer(200, None))
    assert get(session, url, params=params).ok
    assert asked == [(expected, {})]


def test_headers_are_passed_on() -> None:
    session, asked = connected(WebAnswer(200, None))
    get(session, "http://h/", headers={"X-Api-Key": "k 1"})
    assert asked == [("http://h/", {"X-Api-Key": "k 1"})]


@pytest.mark.parametrize("body", [None, "text", [1, {"a": 2}], {}])
def test_an_answer_is_given_with_its_status(body: Any) -> None:
    session, _ = connected(WebAnswer(201, body))
    assert get(session, "http://h/").value == {"status": 201, "body": body}


@pytest.mark.parametrize("status", [199, 301, 404, 500])
def test_any_other_status_is_a_refusal(status: int) -> None:
    session, _ = connected(WebAnswer(status, {"error": "no"}))
    result = get(session, "http://h/")
    assert type(result.error) is Refused
    assert result.error.message == f"The service returned status {status}: {{'error': 'no'}}"


def test_recorded_answers_are_found_by_the_whole_url() -> None:
    session = offline({"http://h/p?a=1&b=2": [1]})
    assert get(session, "http://h/p?b=2", params={"a": 1}).value == {"status": 200, "body": [1]}
    assert "No service answers at http://h/p?a=1." in get(session, "http://h/p?a=1").text


def test_forks_are_connected_too_and_the_state_says_nothing_of_it() -> None:
    session, asked = connected(WebAnswer(200, None))
    get(session.fork(), "http://h/")
    assert asked
    assert session.snapshot() == offline({}).snapshot()
    assert session.snapshot().digest() == offline({}).snapshot().digest()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "h/p",
        "ftp://h/",
        "file:///etc/passwd",
        "http://",
        "http:///p",
        "http://h:0/",
        "http://h:99999/",
        "http://[::1/",
        "http://user:secret@h/",
        "http://h/a b",
        "http://h/\r\nX: y",
        "http://hé/",
        "http://h/" + "x" * 2000,
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    session, asked = connected(WebAnswer(200, None))
    result = get(session, url)
    assert not result.ok
    assert "URL" in result.text or "length of url" in result.text
    assert asked == []


@pytest.mark.parametrize(
    "headers",
    [{"": "x"}, {"a b": "x"}, {"a": "x\r\ny: z"}, {"a": "é"}, {"a": "x" * 1001}],
)
def test_what_is_no_header_is_refused(headers: dict[str, str]) -> None:
    session, asked = connected(WebAnswer(200, None))
    assert "is not a valid header." in get(session, "http://h/", headers=headers).text
    assert asked == []


@pytest.mark.parametrize(
    "name", ["Host", "Connection", "Expect", "Proxy-Authorization", "Transfer-Encoding", "Upgrade"]
)
def test_headers_of_the_connection_are_not_the_models(name: str) -> None:
    session, asked = connected(WebAnswer(200, None))
    assert "The client sets" in get(session, "http://h/", headers={name: "x"}).text
    assert asked == []


def test_headers_are_bounded_in_number() -> None:
    session, _ = connected(WebAnswer(200, None))
    many = {f"h{number}": "x" for number in range(21)}
    assert (
        "The length of headers must be from 0 to 20, not 21."
        in get(session, "http://h/", headers=many).text
    )


def test_long_parameters_are_refused() -> None:
    session, asked = connected(WebAnswer(200, None))
    assert (
        "The length of the URL must be" in get(session, "http://h/", params={"a": "x" * 2000}).text
    )
    assert asked == []


def test_half_a_character_in_a_parameter_is_the_model_s_mistake() -> None:
    session = Session.load(["RestClient"], {})
    result = session.call(
        Call("http_get", (), {"url": "http://x.localhost/", "params": {"a": "\ud800"}})
    )
    assert isinstance(result.error, InvalidArgument)
    assert "a lone surrogate" in result.text
