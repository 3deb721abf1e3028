"""How long servers ask to wait, in the forms in which they do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.models.model_types import TransientError
from runner.models.reply_reader import classify
from runner.models.retry_wait import retry_after

DATE = {"date": "Wed, 21 Oct 2015 07:28:00 GMT"}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1.57s"}, 1.57),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-remaining-tokens": "9", "x-ratelimit-reset-tokens": "6m0s"}, None),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2015-10-21T07:28:30Z",
            },
            30,
        ),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1445412510000"}, 30),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1445412510"}, 30),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "12"}, 12),
        ({"retry-after": "3", "ratelimit-remaining": "0", "ratelimit-reset": "12"}, 3),
        ({"retry-after": "soon", "ratelimit-remaining": "0", "ratelimit-reset": "later"}, None),
    ],
)
def test_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after({**DATE, **headers}) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("says", "seconds"),
    [
        ("Rate limit reached for x in y on tokens per min. Please try again in 1.57s. Visit", 1.57),
        ("Please try again in 20ms.", 0.02),
        ("Please try again in 7m12s.", 432),
        ("Please retry after 26 seconds.", 26),
        ("Try again in 2 minutes", 120),
        ("Limit 30 requests per 60 seconds", None),
        ("Please retry later", None),
    ],
)
def test_words(says: str, seconds: float | None) -> None:
    found = classify(429, {"error": {"message": says}}, {})
    assert isinstance(found, TransientError)
    assert found.retry_after == pytest.approx(seconds)


def test_the_delay_of_a_body() -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37.5s"}
    body: dict[str, Any] = {"error": {"message": "Quota", "details": [{"x": 1}, info]}}
    for each in (body, [body]):
        found = classify(429, each, {})
        assert isinstance(found, TransientError)
        assert found.retry_after == 37.5


@given(st.text(), st.text())
def test_nothing_that_a_server_says_breaks_it(value: str, words: str) -> None:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": value}
    for said in (words, f"try again in {words}", f"retry after {value}s"):
        found = retry_after(headers, said)
        assert found is None or found >= 0
