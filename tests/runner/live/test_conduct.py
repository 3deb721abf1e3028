from __future__ import annotations

import pytest

from runner.live.conduct import secrets_of
from runner.live.settings import Settings

ENVIRONMENT = {
    "POSTGRES_PASSWORD": "password",
    "DEMO_TOKEN": "multi_turn_base_0",
    "OPENAI_API_KEY": "sk-openai",
    "ANTHROPIC_API_KEY": "sk-anthropic",
    "GOOGLE_API_KEY": "sk-google",
    "AWS_SECRET_ACCESS_KEY": "aws-secret",
    "AWS_REGION": "eu-central-1",
}


@pytest.mark.parametrize(
    ("model", "keys"),
    [
        ("gpt-4o", {"sk-openai"}),
        ("anthropic/claude", {"sk-openai", "sk-anthropic"}),
        ("gemini/flash", {"sk-openai", "sk-google"}),
        ("bedrock/claude", {"sk-openai", "aws-secret"}),
        ("python:mine:agent", {"sk-openai", "sk-anthropic", "sk-google"}),
    ],
)
def test_of_the_environment_only_the_provider_s_keys_are_secret(model, keys):
    assert {*secrets_of(model, Settings(), ENVIRONMENT)} == keys


def test_what_a_run_was_given_is_secret():
    settings = Settings(
        base_url="http://ann:hidden-word@host/v1?key=in-query",
        extra_headers={"Authorization": "Bearer in-header", "X-Trace": "on"},
        extra_body={"api_key": "in-body", "top_k": 1},
    )
    found = {*secrets_of("m", settings, {})}
    assert {"hidden-word", "in-query", "Bearer in-header", "in-header", "in-body"} <= found
    assert "on" not in found
    server = {"OPENAI_BASE_URL": "http://ann:hidden-word@host/v1"}
    assert "hidden-word" in secrets_of("m", Settings(), server)
