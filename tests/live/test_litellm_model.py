"""The client for litellm's providers, against a real server: shapes, faults, other protocols."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checkers.replies.decoding import decode_tool_calls
from envs.calls import Call
from envs.results import Result
from runner.models.conversation import ConversationSettings, ToolCallConversation
from runner.models.litellm_model import LiteLLMModel, is_provider
from runner.models.model_connection import takes_choice
from runner.models.model_name import parse_model_name
from runner.models.model_types import (
    FatalError,
    Model,
    ModelError,
    Price,
    Reply,
    Request,
    RequestError,
    RequestOptions,
    TransientError,
    Usage,
)
from runner.models.openai_model import OpenAIModel
from runner.models.prompting import read_prompts
from runner.models.providers import PROVIDERS
from runner.models.toolbox import Toolbox
from tests.live.asking import CD, REQUESTS, ask, talk
from tests.servers.faults import BLAMED, FAULTS, fault
from tests.servers.serving import Answer, FakeServer, as_json
from tests.servers.shapes import SHAPES, Shape, completion, expected
from trajectories.schema import Message

ROOT = Path(__file__).parents[2]
KEY = "sk-test-0123456789abcdef"
NAME = "hosted_vllm/fake"

CLAUDE = "anthropic/claude-sonnet-4-5"
OWN_WAY = "litellm"


@pytest.fixture(params=["ours", OWN_WAY])
def way(request: pytest.FixtureRequest) -> str:
    """Return who sends: our client, or litellm, as for providers not in our table."""
    return str(request.param)


def hosted(way: str, options: RequestOptions, name: str = NAME) -> Model:
    """Return a client for ``provider/model``."""
    if way == OWN_WAY:
        return LiteLLMModel(name, options)
    provider, _, model = name.partition("/")
    return OpenAIModel(model, options, PROVIDERS[provider])


both_modes = pytest.mark.parametrize("mode", ["fc", "prompt"])
KEPT = [name for name, shape in SHAPES.items() if shape.strict_client and shape.error is None]
CHANGED = [name for name, shape in SHAPES.items() if not shape.strict_client]
REFUSED = [name for name, shape in SHAPES.items() if shape.error]


@both_modes
@pytest.mark.parametrize("name", KEPT)
def test_shape(server: FakeServer, name: str, mode: str, way: str) -> None:
    server.answer = fault(name)
    reply = ask(hosted(way, RequestOptions(base_url=server.base_url)), mode)
    assert reply._asdict() == {
        **expected(SHAPES[name]),
        "latency": reply.latency,
        "cost": None,
    }


def meaning(shape: Shape | Reply) -> tuple[str, list[Any]]:
    """Return what a verdict depends on: the text and the calls."""
    calls = shape.calls if isinstance(shape, Shape) else shape.tool_calls
    return (shape.text or "").strip(), decode_tool_calls([{c.name: c.arguments} for c in calls])


@pytest.mark.parametrize("name", CHANGED)
def test_an_odd_shape_is_read_rightly_or_not_at_all(
    server: FakeServer, name: str, way: str
) -> None:
    server.answer = fault(name)
    if way != OWN_WAY:
        # As the client for OpenAI-compatible servers does.
        reply = ask(hosted(way, RequestOptions(base_url=server.base_url)))
        read = reply._asdict()
        assert read == {**expected(SHAPES[name]), "latency": reply.latency, "cost": None}
        return
    came: object
    try:
        came = meaning(ask(hosted(way, RequestOptions(base_url=server.base_url))))
    except TransientError as error:
        came = str(error).partition(": ")[2]
    assert came in (meaning(SHAPES[name]), "an answer that litellm cannot read")


@pytest.mark.parametrize("name", REFUSED)
def test_an_error_is_never_a_reply(server: FakeServer, name: str, way: str) -> None:
    server.answer = fault(name)
    with pytest.raises(ModelError) as caught:
        ask(hosted(way, RequestOptions(base_url=server.base_url)))
    assert "\n" not in str(caught.value)


def test_a_key_in_the_address_of_a_variable_is_masked(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_BASE", f"{server.base_url}?key=querysecret777")
    server.answer = lambda asked: as_json({"error": {"message": f"You sent {asked.path}"}}, 400)
    with pytest.raises(ModelError, match="You sent /") as caught:
        ask(LiteLLMModel(NAME, RequestOptions()))
    assert "querysecret777" not in str(caught.value)


MEANING: dict[str, type[ModelError]] = {
    **dict.fromkeys(FAULTS, TransientError),
    **dict.fromkeys(["401", "403", "404", "no-tools", "429-quota", "error200-key"], FatalError),
    **dict.fromkeys([*BLAMED, "422"], RequestError),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_fault(server: FakeServer, kind: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", KEY)
    server.answer = fault(kind)
    # Only a timeout ends these. On a busy machine, a shorter one ends before the request is sent.
    timeout = 2.0 if kind in ("hang", "slow") else 60.0
    with pytest.raises(ModelError) as caught:
        ask(hosted(way, RequestOptions(base_url=server.base_url, timeout=timeout)))
    assert type(caught.value) is MEANING[kind]
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)
    # litellm itself tries a lost connection once more.
    assert server.requests == (2 if kind == "reset" and way == OWN_WAY else 1)
    if kind in BLAMED:
        assert caught.value.kind == BLAMED[kind]
    if kind == "429":
        assert isinstance(caught.value, TransientError)
        assert caught.value.retry_after == 1.0
    if kind == "401":
        told = "the API key of hosted_vllm, such as " if way == OWN_WAY else ""
        assert f"set {told}HOSTED_VLLM_API_KEY" in str(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1:1", "no-such-host.invalid"])
def test_nobody_there(host: str, way: str) -> None:
    with pytest.raises(TransientError) as caught:
        ask(hosted(way, RequestOptions(base_url=f"http://{host}/v1")))
    assert caught.value.unreachable


def test_what_is_sent(server: FakeServer, way: str) -> None:
    model = hosted(
        way,
        RequestOptions(
            base_url=server.base_url,
            sampling={"temperature": 0.5, "seed": 7, "max_tokens": 9},
            extra_headers={"X-Who": "me"},
            extra_body={"top_k": 3},
        ),
    )
    ask(model)
    assert server.last is not None
    assert server.last.body == {
        "model": "fake",
        "temperature": 0.5,
        "seed": 7,
        "max_tokens": 9,
        "top_k": 3,
        "messages": REQUESTS["fc"].messages,
        "tools": REQUESTS["fc"].tools.tools,
    }
    assert server.last.headers["x-who"] == "me"


def test_a_trial_has_its_own_seed(server: FakeServer, way: str) -> None:
    model = hosted(way, RequestOptions(base_url=server.base_url, sampling={"seed": 7}))
    talk(model, lambda model: model.ask(REQUESTS["fc"]._replace(trial=2)))
    assert server.last is not None
    assert server.last.body["seed"] == 9


def test_the_conversation_stays_as_it_is(server: FakeServer, way: str) -> None:
    messages = [
        {"role": "user", "content": "Where am I?"},
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "pwd", "arguments": "{}"}}
        ]},
        {"role": "tool", "tool_call_id": "call_1", "content": "/"},
    ]  # fmt: skip
    before = json.dumps(messages)
    model = hosted(way, RequestOptions(base_url=server.base_url))
    talk(model, lambda model: model.ask(Request(messages, REQUESTS["fc"].tools)))
    assert json.dumps(messages) == before
    assert server.last is not None
    assert server.last.body["messages"] == messages


def test_a_setting_that_a_provider_does_not_take_is_an_error(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    options = RequestOptions(base_url=server.base_url, sampling={"seed": 1})
    with pytest.raises(FatalError, match=r"claude-sonnet-4-5 does not take 'seed'"):
        ask(hosted(way, options, CLAUDE))
    assert server.requests == 0


CONTENT = [
    {"type": "thinking", "thinking": "Hm.", "signature": "x"},
    {"type": "text", "text": "Let me look."},
    {"type": "tool_use", "id": "toolu_1", "name": "cd", "input": {"folder": "docs"}},
]
ANTHROPIC = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": CONTENT,
    "stop_reason": "tool_use",
    "usage": {
        "input_tokens": 4,
        "cache_read_input_tokens": 8,
        "cache_creation_input_tokens": 20,
        "output_tokens": 3,
    },
}


THOUGHTS = [
    {"type": "thinking", "thinking": "Hm.", "signature": "x"},
    {"type": "thinking", "thinking": "", "signature": "y"},
    {"type": "redacted_thinking", "data": "ENC"},
]
THE_CD = {"type": "function", "function": {"name": "cd"}}
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}}


def anthropic(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, way: str = "ours", **options: Any
) -> Model:
    """Return a client for a server that talks as Anthropic's does."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    server.answer = lambda _: as_json({**ANTHROPIC, "content": [*THOUGHTS, *CONTENT[1:]]})
    url = server.base_url.removesuffix("/v1")
    return hosted(way, RequestOptions(url, **options), CLAUDE)


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        (
            {"sampling": {"reasoning_effort": "low"}},
            {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        ),
        ({"calling": {"tool_choice": "none"}}, {"tool_choice": {"type": "none"}}),
        ({"calling": {"tool_choice": "required"}}, {"tool_choice": {"type": "any"}}),
        ({"calling": {"tool_choice": THE_CD}}, {"tool_choice": {"type": "tool", "name": "cd"}}),
        (
            {"calling": {"parallel_tool_calls": False}},
            {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
        ),
    ],
)
def test_settings_arrive_in_the_provider_s_own_form(
    server: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    sent: dict[str, Any],
) -> None:
    ask(anthropic(server, monkeypatch, **options))
    assert server.last is not None
    assert server.last.body.items() >= sent.items()


def test_a_setting_that_would_be_lost_is_an_error() -> None:
    for way, provider in (("ours", "gemini"), (OWN_WAY, "vertex_ai")):
        options = [
            RequestOptions("http://x", calling={"parallel_tool_calls": b}) for b in (True, False)
        ]
        hosted(way, options[0], f"{provider}/x")
        with pytest.raises(FatalError, match=f"{provider} cannot limit an answer to one call"):
            hosted(way, options[1], f"{provider}/x")


@pytest.mark.parametrize("extra", [{}, {"tool_choice": "auto"}])
def test_mistral_is_told_which_function_to_call(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, extra: dict[str, Any]
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    options = RequestOptions(server.base_url, calling={"tool_choice": THE_CD}, extra_body=extra)
    ask(hosted("ours", options, "mistral/m"))
    assert server.last is not None
    assert server.last.body["tool_choice"] == (extra or {"tool_choice": THE_CD})["tool_choice"]


@pytest.mark.parametrize("choice", ["required", THE_CD])
def test_a_provider_that_would_not_be_told_to_call_is_known(choice: object) -> None:
    options = RequestOptions(calling={"tool_choice": choice})
    for name in ("cohere/command-r", "ollama_chat/x"):
        assert not takes_choice(parse_model_name(name), options)
    for name in (CLAUDE, "gemini/x", "mistral/m", "groq/x", "nobody/x", "azure/gpt-4o"):
        assert takes_choice(parse_model_name(name), options)


@pytest.mark.parametrize("name", ["gemini/gemini-2.5-pro", "anthropic/claude-sonnet-4-5"])
def test_a_key_that_is_not_there_is_named(server: FakeServer, name: str) -> None:
    with pytest.raises(FatalError, match=f"{name.partition('/')[0].upper()}_API_KEY"):
        ask(LiteLLMModel(name, RequestOptions(base_url=server.base_url)))
    assert server.requests == 0


def marks(body: dict[str, Any]) -> int:
    return json.dumps(body).count('"cache_control": {"type": "ephemeral"}')


def test_a_growing_conversation_is_marked_for_the_cache(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    chat = ToolCallConversation(ConversationSettings(Toolbox([CD]), read_prompts(), "all"))
    chat.start_turn([Message("system", "Be brief."), Message("user", "Go.")], frozenset(["cd"]), ())
    bodies = []

    async def talking(model: Model) -> None:
        for _ in range(4):
            chat.read(await model.ask(chat.request()._replace(grows=True)))
            assert server.last is not None
            bodies.append(server.last.body)
            chat.observe([Call("cd")], [Result(None)])

    talk(anthropic(server, monkeypatch, way), talking)
    assert [marks(body) for body in bodies] == [3, 4, 4, 4]
    mark = {"type": "ephemeral"}
    assert bodies[3]["tools"][-1]["cache_control"] == mark
    assert bodies[3]["system"][-1]["cache_control"] == mark
    said = [
        message["content"][-1] for message in bodies[3]["messages"] if message["role"] == "user"
    ]
    assert [block.get("cache_control") for block in said] == [None, None, mark, mark]


@pytest.mark.parametrize(
    ("options", "grows", "found"),
    [
        ({}, False, 0),
        ({}, True, 2),
        ({"provider": {"prompt_caching": True}}, False, 2),
        ({"provider": {"prompt_caching": False}}, True, 0),
        ({"extra_body": {"cache_control": {"type": "ephemeral"}}}, True, 1),
    ],
)
def test_who_is_marked_for_the_cache(
    server: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    grows: bool,
    found: int,
) -> None:
    request = REQUESTS["fc"]._replace(grows=grows)
    talk(anthropic(server, monkeypatch, **options), lambda model: model.ask(request))
    assert server.last is not None
    assert marks(server.last.body) == found


def test_nobody_else_gets_marks(server: FakeServer, way: str) -> None:
    model = hosted(way, RequestOptions(base_url=server.base_url))
    talk(model, lambda model: model.ask(REQUESTS["fc"]._replace(grows=True)))
    assert server.last is not None
    assert "cache_control" not in json.dumps(server.last.body)


def test_signed_thoughts_go_back_as_they_came(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = ToolCallConversation(ConversationSettings(Toolbox([CD]), read_prompts(), "all"))
    chat.start_turn([Message("user", "Go.")], frozenset(["cd"]), ())

    async def talking(model: Model) -> None:
        chat.read(await model.ask(chat.request()))
        chat.observe([Call("cd")], [Result(None)])
        await model.ask(chat.request())

    talk(anthropic(server, monkeypatch, extra_body=THINKING), talking)
    assert server.last is not None
    [answer] = [m for m in server.last.body["messages"] if m["role"] == "assistant"]
    assert answer["content"] == [*THOUGHTS, *CONTENT[1:]]


def test_members_of_the_body_arrive_as_such_at_anthropic(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = {**THINKING, "service_tier": "auto", "metadata": {"user_id": "u"}, "any": [1]}
    ask(anthropic(server, monkeypatch, sampling={"temperature": 1.0}, extra_body=members))
    assert server.last is not None
    sent = server.last.body
    assert {**sent, "messages": 0, "tools": 0, "max_tokens": 0} == {
        "model": "claude-sonnet-4-5",
        "messages": 0,
        "tools": 0,
        "max_tokens": 0,
        "temperature": 1.0,
        **members,
    }


@pytest.mark.parametrize(
    ("name", "base"),
    [("deepseek/deepseek-chat", ""), ("gemini/gemini-2.5-pro", ""), ("ollama_chat/fake", "/v1")],
)
def test_members_of_the_body_arrive_as_such(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, name: str, base: str
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    server.answer = fault("400")
    options = RequestOptions(server.base_url.removesuffix(base), extra_body=dict(THINKING, any=[1]))
    with pytest.raises(RequestError):
        ask(hosted("ours" if base == "" else OWN_WAY, options, name))
    assert server.last is not None
    assert server.last.body.items() >= {**THINKING, "any": [1]}.items()


def test_tools_stay_as_they_are(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    server.answer = fault("400")
    tools = REQUESTS["fc"].tools
    assert tools is not None
    before = json.dumps(tools.tools)
    with pytest.raises(RequestError):
        ask(hosted(way, RequestOptions(server.base_url), "gemini/gemini-2.5-pro"))
    assert json.dumps(tools.tools) == before


def test_what_models_are_talked_to_with_is_no_further_member(way: str) -> None:
    with pytest.raises(FatalError, match="'tools' is set by Turnwise"):
        hosted(way, RequestOptions("http://localhost/v1", extra_body={"tools": []}))


def test_thoughts_go_back_under_the_name_under_which_they_came(
    server: FakeServer, way: str
) -> None:
    for name in ("thoughts-reasoning", "thoughts-reasoning-content", "thoughts-empty"):
        server.answer = fault(name)
        reply = ask(hosted(way, RequestOptions(base_url=server.base_url)))
        assert reply.verbatim == SHAPES[name].verbatim


def test_another_protocol(server: FakeServer, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    server.answer = lambda _: as_json(ANTHROPIC)
    url, price = server.base_url.removesuffix("/v1"), Price(3.0, 15.0, 0.5, 4.0)
    reply = ask(hosted(way, RequestOptions(base_url=url, price=price), CLAUDE))
    assert server.last is not None
    assert server.last.path == "/v1/messages"
    assert server.last.headers["x-api-key"] == KEY
    assert (reply.text, reply.reasoning) == ("Let me look.", "Hm.")
    assert [(c.id, c.name, json.loads(str(c.arguments))) for c in reply.tool_calls] == [
        ("toolu_1", "cd", {"folder": "docs"})
    ]
    assert reply.usage._replace(reasoning=None) == Usage(32, 3, 8, written=20)
    assert reply.cost == 4 * 3 + 8 * 0.5 + 20 * 4 + 3 * 15


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (529, "overloaded_error", TransientError),
        (429, "rate_limit_error", TransientError),
        (401, "authentication_error", FatalError),
        (404, "not_found_error", FatalError),
        (400, "invalid_request_error", RequestError),
    ],
)
def test_errors_of_another_protocol(
    server: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    kind: str,
    error: type[ModelError],
    way: str,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    body = {"type": "error", "error": {"type": kind, "message": "Sorry."}}
    server.answer = lambda _: as_json(body, status)
    with pytest.raises(ModelError) as caught:
        ask(hosted(way, RequestOptions(base_url=server.base_url), CLAUDE))
    assert type(caught.value) is error
    assert "Sorry." in str(caught.value)
    assert server.requests == 1


def test_cost(server: FakeServer, way: str) -> None:
    server.answer = fault("usage-details")
    reply = ask(hosted(way, RequestOptions(base_url=server.base_url, price=Price(2.0, 10.0, 1.0))))
    assert reply.cost == 4 * 2 + 8 * 1 + 3 * 10


def test_many_at_once(server: FakeServer, way: str) -> None:
    def answer(asked: Any) -> Answer:
        said = asked.body["messages"][0]["content"]
        return as_json(completion({"role": "assistant", "content": said}))

    server.answer = answer

    async def talking(model: Model) -> list[str | None]:
        requests = [Request([{"role": "user", "content": str(n)}], None) for n in range(40)]
        return [reply.text for reply in await asyncio.gather(*map(model.ask, requests))]

    model = hosted(way, RequestOptions(base_url=server.base_url))
    assert talk(model, talking) == [str(number) for number in range(40)]


def test_providers() -> None:
    assert is_provider("anthropic")
    assert is_provider("gemini")
    assert is_provider("bedrock")
    assert not is_provider("meta-llama")


@pytest.mark.slow
def test_loading_it_asks_the_network_for_nothing_and_says_nothing() -> None:
    code = (
        "import socket\n"
        "def refuse(*a, **k): raise SystemExit('asked the network')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from runner.models.litellm_model import load_litellm\n"
        "load_litellm()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
