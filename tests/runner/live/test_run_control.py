from __future__ import annotations

import asyncio
from contextlib import nullcontext
from types import SimpleNamespace
from typing import ClassVar

import pytest

from checkers.profile import BFCL
from runner.live import run_control
from runner.live.live_run import EpisodeJob, RunInputs
from runner.live.run_control import (
    RunEstimate,
    conduct_here,
    estimate,
    limits_of,
    open_jobs,
    preflight,
    secrets_of,
)
from runner.live.run_settings import Settings
from runner.models.agent_model import AgentModel
from runner.models.model_name import LiveName, parse_model_name
from runner.models.model_types import ModelError, RequestError, TransientError
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
    assert {*secrets_of(parse_model_name(model), Settings(), ENVIRONMENT)} == keys


def test_what_a_run_was_given_is_secret():
    settings = Settings(
        base_url="http://ann:hidden-word@host/v1?key=in-query",
        extra_headers={"Authorization": "Bearer in-header", "X-Trace": "on"},
        extra_body={"api_key": "in-body", "top_k": 1},
    )
    found = {*secrets_of(LiveName("m"), settings, {})}
    assert {"hidden-word", "in-query", "Bearer in-header", "in-header", "in-body"} <= found
    assert "on" not in found
    server = {"OPENAI_BASE_URL": "http://ann:hidden-word@host/v1"}
    assert "hidden-word" in secrets_of(LiveName("m"), Settings(), server)


@pytest.mark.parametrize(
    "variable", ["ANTHROPIC_API_BASE", "anthropic_base_url", "AZURE_ENDPOINT", "OPENAI_BASE_URL"]
)
@pytest.mark.parametrize("model", ["anthropic/claude", "azure/x", "python:mine:agent"])
def test_the_query_of_each_provider_s_address_is_secret(variable, model):
    for host in ("host", "[bad"):
        environment = {variable: f"http://{host}/v1?key=in-query"}
        assert "in-query" in secrets_of(parse_model_name(model), Settings(), environment)
    other = {"DATABASE_URL": "postgres://postgres:postgres@host?key=in-query"}
    assert secrets_of(parse_model_name(model), Settings(), other) == []


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
    return RunInputs(parse_model_name(model), data, BFCL, 20, Settings(**settings), read_prompts())


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


@pytest.mark.parametrize(
    ("model", "base_url", "has_response"),
    [
        ("gpt-4o", None, True),
        ("gemini/flash", None, False),
        ("gemini/flash", "http://localhost:8000/v1", True),
    ],
)
def test_the_own_api_of_a_provider_has_no_response_in_its_tools(
    bfcl_folder, model, base_url, has_response
):
    plan = plan_for(bfcl_folder, model=model, base_url=base_url)
    assert plan.notes().response is has_response


@pytest.mark.parametrize(
    ("errors", "waits", "fails"),
    [
        ([], [], False),
        ([TransientError("503")], [1.0], False),
        ([TransientError("503", retry_after=0.5), TransientError("503")], [0.5, 1.0], False),
        ([TransientError("429", retry_after=10.5)], [10.0], False),
        ([TransientError("503", retry_after=4.0)] * 3, [4.0, 4.0], True),
        ([TransientError("late", kind="timeout")], [], True),
        ([TransientError("gone", unreachable=True)], [], True),
        ([RequestError("400")], [], True),
    ],
)
def test_the_first_request_is_sent_three_times_at_most(
    bfcl_folder, monkeypatch, errors, waits, fails
):
    class Busy(Refusing):
        async def ask(self, request):
            self.asked.append(request)
            if len(self.asked) <= len(errors):
                raise errors[len(self.asked) - 1]

        async def close(self):
            self.asked.append("closed")

    async def wait(seconds):
        waited.append(seconds)

    waited = []
    monkeypatch.setattr(run_control.asyncio, "sleep", wait)
    model = Busy("")
    with pytest.raises(ModelError) if fails else nullcontext():
        asyncio.run(preflight(plan_for(bfcl_folder), lambda _: model))
    assert waited == waits
    assert model.asked[-1] == "closed"
    assert len(model.asked) == len(waits) + 2


@pytest.mark.parametrize(
    ("forced", "name"), [(None, "report_ready"), ("auto", "report_ready"), ("cd", "cd")]
)
def test_the_first_request_offers_a_function_that_may_be_called(bfcl_folder, forced, name):
    model = Refusing("")
    plan = plan_for(bfcl_folder, tool_choice=forced, observations="own")
    asyncio.run(preflight(plan, lambda _: model))
    [asked] = model.asked
    assert asked["name"] == name
    assert asked["parameters"]["type"] == "object"


def test_an_agent_is_not_asked_before_a_run(bfcl_folder):
    closed = []

    class Agent(AgentModel):
        def __init__(self):
            pass

        async def close(self):
            closed.append(True)

    asyncio.run(preflight(plan_for(bfcl_folder), lambda _: Agent()))
    assert closed == [True]


def entry(*turns):
    """Return an entry with messages and calls of these lengths."""
    made = [
        SimpleNamespace(
            messages=[SimpleNamespace(content="m" * length) for length in messages],
            ground_truth=["c" * length for length in calls],
        )
        for messages, calls in turns
    ]
    return SimpleNamespace(turns=made)


@pytest.mark.parametrize(
    ("entries", "size", "expected"),
    [
        ([], 100, (0, 0, 0, 0)),
        # A turn without calls is a single request, whose answer has 200 characters.
        ([entry(([10], []))], 31, (1, 1, 10, 50)),
        ([entry(([10, 2], [20]))], 100, (1, 2, 56, 55)),
        ([entry(([10], [20, 9]), ([7], []))], 100, (1, 4, 117, 107)),
        ([entry(*[([1], [])] * 4)], 12, (1, 4, 16, 200)),
        ([entry(([10], [20, 9])), entry(([7], []))], 100, (2, 4, 82 + 26, 57 + 50)),
    ],
)
def test_an_estimate_has_the_requests_and_tokens_of_the_ground_truth(entries, size, expected):
    jobs = [EpisodeJob(each, 0) for each in entries]
    assert estimate(jobs, lambda _: size) == expected


def test_estimates_of_several_runs_are_added():
    parts = [RunEstimate(1, 2, 3, 4), RunEstimate(10, 20, 30, 40)]
    assert RunEstimate.sum(parts) == RunEstimate(11, 22, 33, 44)


def test_a_run_has_the_limits_of_its_settings():
    settings = Settings(concurrency=3, retries=0, rpm=5, tpm=7, outage=9.0)
    limits = limits_of(settings)
    assert (limits.concurrency, limits.attempts, limits.requests, limits.tokens) == (3, 1, 5, 7)
    assert limits.outage == 9.0
    assert limits_of(Settings(retries=4)).attempts == 5


@pytest.mark.parametrize(
    ("model", "variable", "is_secret"),
    [
        ("gpt-4o", "OPENAI_API_KEY", True),
        ("gpt-4o", "openai_token", True),
        ("gpt-4o", "OPENAI_ORG", False),
        ("gpt-4o", "MY_OPENAI_KEY", False),
        ("azure/gpt-4o", "AZURE_API_KEY", True),
        ("azure_ai/gpt-4o", "AZURE_AI_CREDENTIALS", True),
        ("vertex_ai/gemini", "VERTEX_PASSWORD", True),
        ("huggingface/m", "HF_TOKEN", True),
        ("huggingface/m", "HUGGINGFACE_TOKEN", True),
        ("sagemaker/m", "AWS_SECRET", True),
        ("Mistral/m", "MISTRAL_API_KEY", True),
        ("mistral/m", "GROQ_API_KEY", False),
        ("python:mine:agent", "GROQ_API_KEY", True),
        ("python:mine:agent", "OPENAI_TOKEN", False),
    ],
)
def test_keys_are_recognized_by_the_name_of_their_provider(model, variable, is_secret):
    assert (
        secrets_of(parse_model_name(model), Settings(), {variable: "abc"}) == ["abc"]
    ) is is_secret


def test_words_after_the_first_of_a_secret_are_secrets():
    environment = {"OPENAI_API_KEY": "Bearer abc def", "OPENAI_TOKEN": ""}
    assert secrets_of(LiveName("m"), Settings(), environment) == [
        "Bearer abc def",
        "abc",
        "def",
    ]


def test_a_run_in_a_notebook_has_its_own_event_loop(monkeypatch):
    async def execute(*given):
        await asyncio.sleep(0)
        if given[0] is None:
            raise KeyError("no plan")
        return given

    async def cell(plan):
        return conduct_here(plan, "store", "jobs", "connect", "watch", "player")

    monkeypatch.setattr(run_control, "execute_run", execute)
    given = ("plan", "store", "jobs", "connect", "watch", "player")
    assert asyncio.run(cell("plan")) == conduct_here(*given) == given
    with pytest.raises(KeyError, match="no plan"):
        asyncio.run(cell(None))
    with pytest.raises(KeyError, match="no plan") as found:
        conduct_here(None, *given[1:])
    assert found.value.__context__ is None, "a traceback shows the user's error only"


@pytest.mark.parametrize(
    ("only", "superseded", "goes_on", "left"),
    [
        (None, None, None, ["c", "d"]),
        ("errors", [("b", 0)], True, ["b", "c", "d"]),
        ("failed", [("a", 0)], False, ["a", "c", "d"]),
    ],
)
def test_open_jobs_are_those_without_an_outcome(only, superseded, goes_on, left):
    class Store:
        done: ClassVar = {("a", 0): "failed", ("b", 0): "error", ("x", 0): "passed"}

        def supersede(self, keys, *, go_on):
            assert (keys, go_on) == (superseded, goes_on)
            self.done = {key: end for key, end in self.done.items() if key not in keys}

        def underway(self, key):
            return [key]

    entries = [SimpleNamespace(id=id, turns=()) for id in "abcd"]
    jobs = open_jobs(Store(), entries, 1, only)
    assert [job.trajectory.id for job in jobs] == left
    assert [job.course for job in jobs] == [[(id, 0)] for id in left]
    assert all(job.is_last for job in jobs)
    trials = open_jobs(Store(), entries[2:], 2, None, seed=1)
    assert [(job.trial, job.is_last) for job in trials] == [(0, False)] * 2 + [(1, True)] * 2
