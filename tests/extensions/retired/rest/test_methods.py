"""All methods of HTTP, through httpx, to the fixture: headers, query, path and body parameters."""

from __future__ import annotations

from typing import Any

import pytest

from envs.calls import parse_call
from envs.results import Result
from envs.session import Session
from runner.data.web_services import FIXTURE_ONLY, connect

BASE = "http://fixture.localhost/v1"
KEY = {"X-Api-Key": "reader-7"}


def made(call: str) -> Result:
    """Return the result of a call of a client that asks the fixture."""
    session = Session.load(["RestClient"], {}, checks_arguments=True)
    connect(session, FIXTURE_ONLY)
    return session.call(parse_call(call))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            f"http_get(url='{BASE}/books/{{id}}/availability', path_params={{'id': 3}})",
            {"status": 200, "body": {"id": 3, "copies": 2}},
        ),
        (
            f"http_post(url='{BASE}/holds', json={{'book': 2, 'reader': 'r-200'}}, headers={KEY})",
            {"status": 201, "body": {"hold": {"id": 902, "book": 2, "reader": "r-200"}}},
        ),
        (
            f"http_post(url='{BASE}/questions', form={{'text': 'Open on 1 May?'}}, headers={KEY})",
            {"status": 201, "body": {"question": {"id": 7, "text": "Open on 1 May?"}}},
        ),
        (
            f"http_put(url='{BASE}/readers/r-100', headers={KEY},"
            " json={'email': 'a@b.example', 'phone': '1'})",
            {
                "status": 200,
                "body": {"reader": "r-100", "changed": {"email": "a@b.example", "phone": "1"}},
            },
        ),
        (
            f"http_patch(url='{BASE}/readers/{{id}}', path_params={{'id': 'r-100'}},"
            f" headers={KEY}, json={{'phone': '1'}})",
            {"status": 200, "body": {"reader": "r-100", "changed": {"phone": "1"}}},
        ),
        (
            f"http_delete(url='{BASE}/holds/902', headers={KEY})",
            {"status": 200, "body": {"deleted": 902}},
        ),
        (
            f"http_head(url='{BASE}/books')",
            {"status": 200, "headers": {"content-type": "application/json"}},
        ),
        (
            f"http_options(url='{BASE}/books')",
            {
                "status": 204,
                "headers": {
                    "allow": "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE",
                    "content-type": "application/json",
                },
            },
        ),
        (
            f"requests_get(url='{BASE}/rooms', params={{'floor': [1], 'x': None}}, timeout=5,"
            " allow_redirects=False, stream=True, verify='yes', auth=('a', 'b'), cookies={'c': 'd'}"
            ")",
            {
                "status": 200,
                "body": [
                    {"room": "1.01", "floor": 1, "seats": 24, "projector": True},
                    {"room": "1.04", "floor": 1, "seats": 6, "projector": False},
                ],
            },
        ),
    ],
)
def test_each_method_is_answered(call: str, expected: dict[str, Any]) -> None:
    assert made(call).value == expected


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (f"http_post(url='{BASE}/holds', json={{'book': 2, 'reader': 'r-200'}})", "status 401"),
        (f"http_post(url='{BASE}/holds', json={{'book': 99}}, headers={KEY})", "status 400"),
        (f"http_post(url='{BASE}/holds', form={{'book': 2}}, headers={KEY})", "status 400"),
        (f"http_put(url='{BASE}/readers/r-100', json={{'phone': '1'}}, headers={KEY})", "PATCH"),
        (f"http_patch(url='{BASE}/readers/r-100', json=[1], headers={KEY})", "status 400"),
        (f"http_delete(url='{BASE}/books/1', headers={KEY})", "status 404"),
        (f"http_get(url='{BASE}/books/{{id}}', path_params={{'no': 3}})", "of the URL (id)"),
        (f"http_get(url='{BASE}/books', path_params={{'no': 3}})", "of the URL (none)"),
        (f"http_get(url='{BASE}/books/{{id}}', path_params={{'id': '../rooms'}})", "status 404"),
        (
            f"http_put(url='{BASE}/x', json='{'x' * 20_001}')",
            "The length of the body must be from 0 to 20000",
        ),
        (f"requests_get(url='{BASE}/rooms', proxies={{'http': 'p'}})", "cert and proxies"),
        (f"requests_get(url='{BASE}/rooms', cert='/etc/passwd')", "cert and proxies"),
        (f"requests_get(url='{BASE}/rooms', auth=['a'])", "a list of two strings"),
        (f"requests_get(url='{BASE}/rooms', cookies={{'a': 'b\\r\\nc'}})", "is not a valid header"),
    ],
)
def test_what_cannot_be_asked_or_is_not_answered_is_a_refusal(call: str, reason: str) -> None:
    result = made(call)
    assert not result.ok
    assert reason in result.text


def test_a_path_parameter_stays_in_its_place() -> None:
    session = Session.load(["RestClient"], {"RestClient": {"answers": {}}})
    text = "http_get(url='http://h/{a}/b', path_params={'a': 'x/y ?#ü'})"
    assert (
        "No service answers at http://h/x%2Fy%20%3F%23%C3%BC/b."
        in session.call(parse_call(text)).text
    )
