from __future__ import annotations

import asyncio

import pytest

from checkers.profile import BFCL
from runner.live.live_run import RunInputs
from runner.live.run_control import preflight, secrets_of
from runner.live.settings import Settings
from runner.models.model_types import RequestError, TransientError
from runner.models.prompting import read_prompts
from trajectories.dataset import load_bfcl
from trajectories.schema import Category

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


class Refusing:
    """A model that takes no tool with what its results are like."""

    def __init__(self, word: str) -> None:
        self.asked = []
        self._word = word

    async def ask(self, request):
        self.asked.append(request.tools.tools[0]["function"])
        if "response" in self.asked[-1]:
            raise RequestError(f"refuses this request (400): unknown member {self._word}")

    async def close(self):
        pass


def plan_for(folder, model="m", **settings):
    data = load_bfcl(folder, [Category.BASE])
    return RunInputs(model, data, BFCL, 20, Settings(**settings), read_prompts())


def test_the_request_before_a_run_has_the_system_prompt_of_the_run(bfcl_folder):
    asked = []

    class Ready(Refusing):
        async def ask(self, request):
            asked.append(request)

    plan = plan_for(bfcl_folder, mode="prompt", function_docs="own")
    asyncio.run(preflight(plan, lambda _: Ready("")))
    [request] = asked
    assert [message["role"] for message in request.messages] == ["system", "user"]
    assert request.messages[-1]["content"] == "Are you ready?"
    assert request.tools is None


def test_providers_with_a_protocol_of_their_own_are_told_no_response(bfcl_folder):
    for plan in (
        plan_for(bfcl_folder, observations="own"),
        plan_for(bfcl_folder, model="gemini/flash"),
    ):
        model = Refusing("response")
        asyncio.run(preflight(plan, lambda _, model=model: model))
        assert model.asked


def test_the_first_request_is_sent_three_times(bfcl_folder):
    class Busy(Refusing):
        async def ask(self, request):
            self.asked.append(request)
            raise TransientError("503", retry_after=1e-6)

    plan = plan_for(bfcl_folder)
    model = Busy("")
    with pytest.raises(TransientError):
        asyncio.run(preflight(plan, lambda _: model))
    assert len(model.asked) == 3
