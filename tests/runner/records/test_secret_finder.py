from __future__ import annotations

import pytest

from runner.models.reply_reader import secrets_in_address
from runner.records.secret_finder import (
    is_secret_header,
    redact_address,
    redact_body,
    redact_command,
    secrets_in_body,
)


@pytest.mark.parametrize(
    ("word", "kept"),
    [
        (["--base-url", "http://ann:pw@host:1/v1?key=k"], ["--base-url", "http://host:1/v1"]),
        (["--base-url=http://ann:pw@host/v1"], ["--base-url=http://host/v1"]),
        (["--user-base-url", "http://host/v1?key=k"], ["--user-base-url", "http://host/v1"]),
        (["--user-base-url=http://host/v1#k"], ["--user-base-url=http://host/v1"]),
        (["--no-base-urls", "http://host/v1?key=k"], ["--no-base-urls", "http://host/v1?key=k"]),
        (["--header", "X-Api-Key=abc"], ["--header", "X-Api-Key=***"]),
        (["--header=X-Trace=on"], ["--header=X-Trace=on"]),
        (["--body", '{"api_key": "k", "n": 1}'], ["--body", '{"api_key": "***", "n": 1}']),
        (["--body", '{"top_k":1}'], ["--body", '{"top_k":1}']),
        (["--body", "{no JSON"], ["--body", "{no JSON"]),
        (["--model", "--body"], ["--model", "--body"]),
        (
            ["--retrieve-by", "embed:http://h/v1?k=a#b#m"],
            ["--retrieve-by", "embed:http://h/v1?***#m"],
        ),
        (["--retrieve-by=embed:http://h/v1#m"], ["--retrieve-by=embed:http://h/v1#m"]),
        (["--retrieve-by", "local:a?b#c"], ["--retrieve-by", "local:a?b#c"]),
    ],
)
def test_a_command_line_is_kept_without_its_secrets(word, kept):
    assert redact_command(["turnwise", "eval", *word, "x"]) == ["turnwise", "eval", *kept, "x"]


def test_the_secrets_of_an_address():
    url = "https://ann:p%40ss@host/v1?a=1&b=x+y"
    assert {"ann", "p%40ss", "p@ss", "ann:p@ss", "a=1&b=x+y", "x y"} <= {*secrets_in_address(url)}
    assert redact_address(url) == "https://host/v1"
    assert not any(secrets_in_address("http://localhost:8000/v1"))
    for separator in "&;":
        bare = secrets_in_address(f"http://host/v1?a=1{separator}sig=k+y=={separator}token#part")
        assert {"k+y==", "token"} <= {*bare}
        assert not any("part" in each for each in bare)


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("http://ann:pw@[bad/v1?key=k", "http://[bad/v1"),
        ("http://host:x/v1#key", "http://host:x/v1"),
        ("http://host/run/@cf/m?a\nb", "http://host/run/@cf/m"),
        ("ann:pw@host/v1", "host/v1"),
    ],
)
def test_an_invalid_address_is_kept_without_its_secrets_too(url, kept):
    assert redact_address(url) == kept


def test_the_secrets_of_an_invalid_address():
    assert {"ann", "pw", "k"} <= {*secrets_in_address("http://ann:pw@[bad/v1?key=k")}


@pytest.mark.parametrize(
    "name", ["api_key", "apiKey", "key", "token", "access-token", "password", "client_secret"]
)
def test_a_member_of_the_body_that_is_secret(name):
    body = {"provider": [{name: "abc", "stop_token": "<|end|>"}], "max_tokens": 5}
    assert [*secrets_in_body(body)] == ["abc"]
    assert redact_body(body) == {
        "provider": [{name: "***", "stop_token": "<|end|>"}],
        "max_tokens": 5,
    }


@pytest.mark.parametrize("name", ["max_tokens", "prompt_cache_key", "stop_token", "tokenizer"])
def test_a_member_of_the_body_that_guards_nothing(name):
    assert redact_body({name: "abc"}) == {name: "abc"}


def test_a_header_may_hold_a_key_by_its_name_or_its_length():
    assert is_secret_header("Cookie", "a")
    assert is_secret_header("X-Whatever", "0123456789abcdef")
    assert not is_secret_header("X-Trace", "on")


@pytest.mark.parametrize(
    ("name", "value", "is_secret"),
    [
        ("X-Trace", "a" * 15, False),
        ("X-Trace", "a" * 16, True),
        ("", "", False),
        *((name, "a", True) for name in ("X-AUTH", "Key-Id", "my-token", "Secret", "PASSWORD")),
    ],
)
def test_a_long_value_or_a_telling_name_is_a_secret_header(name, value, is_secret):
    assert is_secret_header(name, value) is is_secret
    kept = f"{name}=***" if is_secret else f"{name}={value}"
    assert redact_command(["--header", f"{name}={value}"]) == ["--header", kept]


def test_only_strings_of_a_body_are_secrets_at_any_depth():
    body = {"key": 5, "a": ({"token": ["x", {"password": "p"}]}, "s"), "secret": {"b": "c"}, 1: "d"}
    assert [*secrets_in_body(body)] == ["p"]
    assert redact_body(body) == {
        "key": 5,
        "a": [{"token": ["x", {"password": "***"}]}, "s"],
        "secret": {"b": "c"},
        1: "d",
    }
    assert [*secrets_in_body("key")] == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["--header", "Authorization"], ["--header", "Authorization"]),
        (
            ["--header", "A-Key=b=c", "--header", "B=c=d"],
            ["--header", "A-Key=***", "--header", "B=c=d"],
        ),
        (["--body", '["password"]'], ["--body", '["password"]']),
        (["--body", '{ "password": 1 }'], ["--body", '{ "password": 1 }']),
        (["--base-url"], ["--base-url"]),
        (["--header=A=b", "Key=c"], ["--header=A=b", "Key=c"]),
        (["--base-url=http://a@b@host/#part"], ["--base-url=http://host/"]),
    ],
)
def test_only_the_values_of_the_three_options_are_changed(given, kept):
    assert redact_command(given) == kept
