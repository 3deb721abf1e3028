"""The table of providers agrees with litellm, and what goes out is what litellm would send."""

from __future__ import annotations

from typing import Any

import pytest

from runner.models.anthropic_api import ANTHROPIC
from runner.models.block_api import BlockApi
from runner.models.litellm_model import LiteLLMModel, load_litellm
from runner.models.model_types import (
    ChatMessage,
    FatalError,
    Model,
    Request,
    RequestOptions,
    ToolList,
)
from runner.models.openai_model import OpenAIModel
from runner.models.providers import PROVIDERS
from runner.models.toolbox import Toolbox, own_documents
from tests.live.asking import CD, ask, exhaust_redirects, talk
from tests.servers.serving import Answer, Asked, FakeServer, as_json
from tests.servers.shapes import completion

KEY = "sk-test-0123456789abcdef"
SIGNED = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
MORE: dict[str, Any] = {
    "name": "ls",
    "description": "List \u00e9.",
    "parameters": {
        "type": "object",
        "properties": {"all": {"type": "boolean", "default": False}},
        "additionalProperties": False,
    },
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "Done."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 4, "output_tokens": 3},
}

CANDIDATE = {
    "content": {"parts": [{"text": "Done."}], "role": "model"},
    "finishReason": "STOP",
    "index": 0,
}
USED = {"promptTokenCount": 4, "candidatesTokenCount": 3, "totalTokenCount": 7}
APIS = [name for name, provider in PROVIDERS.items() if isinstance(provider.api, BlockApi)]
OPENAI_LIKE = [name for name in PROVIDERS if name not in APIS]
OTHERS = {"anthropic": MESSAGE, "gemini": {"candidates": [CANDIDATE], "usageMetadata": USED}}


def call(name: str, arguments: str, number: int = 1) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": f"call_{number}", "type": "function", "function": function}


def tools(*functions: dict[str, Any]) -> ToolList:
    return ToolList([{"type": "function", "function": function} for function in functions])


CONVERSATION: list[ChatMessage] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Wo\u0308 \u2028 am I?"},
    {"role": "assistant", "content": None, "tool_calls": [call("cd", '{"folder": "a"}')]},
    {"role": "tool", "tool_call_id": "call_1", "content": "/a"},
    {
        "role": "assistant",
        "content": "",
        "reasoning_content": "Hm.",
        "thinking_blocks": [SIGNED],
        "tool_calls": [call("cd", "{}", 2), call("ls", '{"all": true}', 3)],
    },
    {"role": "tool", "tool_call_id": "call_2", "content": "0"},
    {"role": "tool", "tool_call_id": "call_3", "content": '{"error": "none"}'},
    {"role": "assistant", "content": "There."},
    {"role": "user", "content": "And now?"},
]
REQUESTS = [
    Request(CONVERSATION[:2], tools(CD)),
    Request(CONVERSATION[:4], tools(CD)),
    Request(CONVERSATION[:7], tools(CD)),
    Request(CONVERSATION, tools(CD, MORE)),
    Request(CONVERSATION, tools(CD, MORE)),
    Request(CONVERSATION, tools(CD, MORE), trial=1),
    Request(CONVERSATION, tools(CD, MORE), grows=True),
]


def ours(provider: str, model: str, options: RequestOptions) -> OpenAIModel:
    return OpenAIModel(model, options, PROVIDERS[provider])


def theirs(provider: str, model: str, options: RequestOptions) -> LiteLLMModel:
    return LiteLLMModel(f"{provider}/{model}", options)


def place(server: FakeServer, provider: str) -> str:
    """Return the base URL of a server that answers as a provider does."""
    alike = provider in OPENAI_LIKE
    # litellm reads no answer of Groq's without a service tier.
    done = completion({"role": "assistant", "content": "Done."}) | {"service_tier": "auto"}
    server.answer = lambda _: as_json(done if alike else OTHERS[provider])
    return server.base_url if alike else server.base_url.removesuffix("/v1")


def asked(server: FakeServer, model: Model, requests: list[Request]) -> list[Asked]:
    """Return what a server sees of requests."""
    seen: list[Asked] = []
    answer = server.answer

    def kept(one: Asked) -> Answer:
        seen.append(one)
        return answer(one)

    server.answer = kept

    async def talking(model: Model) -> None:
        for request in requests:
            assert (await model.ask(request)).text == "Done."

    talk(model, talking)
    return seen


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        for variable in provider.keys:
            monkeypatch.setenv(variable, KEY)


SILENT = ("anthropic", "gemini", "minimax", "openrouter")
"""Providers whose address and key litellm's public functions do not tell."""
SETTINGS = ("temperature", "top_p", "max_tokens", "seed", "parallel_tool_calls")


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_table_agrees_with_litellm(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    provider, litellm = PROVIDERS[name], load_litellm()
    for variable in (*provider.keys, *provider.bases):
        monkeypatch.delenv(variable, raising=False)
    assert litellm.get_llm_provider(f"{name}/m")[3] == (None if name in SILENT else provider.url)
    for variable in () if name in SILENT else (*provider.keys, *provider.bases):
        with monkeypatch.context() as there:
            there.setenv(variable, "https://localhost:1/x")
            # Of other keys than the first, litellm tells some only where it sends.
            first = variable in (*provider.keys[:1], *provider.bases)
            told = "\n".join(map(str, litellm.get_llm_provider(f"{name}/m")))
            assert "https://localhost:1/x" in told or not first
            assert (provider.key or provider.base) == "https://localhost:1/x"
    for variable in provider.keys:
        monkeypatch.setenv(variable, KEY)
    assert litellm.validate_environment(f"{name}/m")["missing_keys"] == []
    taken = litellm.get_supported_openai_params(model="m", custom_llm_provider=name) or SETTINGS
    assert provider.refuses == ({*SETTINGS} - {*taken} if name != "gemini" else set())


def test_what_is_not_taken_is_named_before_anything_is_sent() -> None:
    for provider in filter(lambda provider: "seed" in provider.refuses, PROVIDERS.values()):
        with pytest.raises(FatalError, match=f"{provider.name}/m does not take 'seed'; leave"):
            ours(provider.name, "m", RequestOptions("http://localhost", sampling={"seed": 1}))


@pytest.mark.parametrize("name", ["hosted_vllm", "lm_studio", "litellm_proxy"])
def test_a_server_of_one_s_own_is_where_a_variable_says(
    server: FakeServer, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FatalError, match=f"set {name.upper()}_API_BASE to the base URL of {name}"):
        ours(name, "m", RequestOptions())
    monkeypatch.delenv(f"{name.upper()}_API_KEY")
    monkeypatch.setenv(f"{name.upper()}_API_BASE", server.base_url)
    assert ask(ours(name, "m", RequestOptions())).text == "Yes."
    assert server.last is not None
    assert server.last.headers["authorization"] == "Bearer no-key-needed"


def test_a_key_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        for variable in (*provider.keys, *provider.tokens, *provider.bases):
            monkeypatch.delenv(variable, raising=False)
        if (provider.url or "http:").startswith("https:"):
            with pytest.raises(FatalError, match=f"an API key: set {provider.keys[0]}"):
                ours(provider.name, "m", RequestOptions())


def same_wire(server: FakeServer, provider: str, model: str, **options: Any) -> list[Asked]:
    """Compare what our client and litellm send of some requests, and return ours."""
    requests = options.pop("requests", REQUESTS)
    given = RequestOptions(place(server, provider), **options)
    mine = asked(server, ours(provider, model, given), requests)
    place(server, provider)
    other = asked(server, theirs(provider, model, given), requests)
    assert [one.path for one in mine] == [one.path for one in other]
    assert [leveled(one.body) for one in mine] == [leveled(one.body) for one in other]
    names = ("authorization", "x-api-key", "x-goog-api-key", "anthropic-version", "x-who")
    for one, two in zip(mine, other, strict=True):
        assert [one.headers.get(name) for name in names] == [two.headers.get(n) for n in names]
    return mine


SNAKE = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "functionDeclarations": "function_declarations",
    "topP": "top_p",
    "maxOutputTokens": "max_output_tokens",
    "allowedFunctionNames": "allowed_function_names",
}


def leveled(value: Any) -> Any:
    """Return a body without what means the same: nulls, and the spelling of Gemini's members."""
    if isinstance(value, dict):
        members = {SNAKE.get(name, name): leveled(part) for name, part in value.items()}
        return {name: part for name, part in members.items() if part is not None}
    return [leveled(part) for part in value] if isinstance(value, list) else value


WITHOUT_TOOLS = ("perplexity", "sambanova")
"""Providers that take tools for models that litellm knows."""
SAMPLING = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 2000, "seed": 7}
LEAVES_OUT = {
    "hosted_vllm": {"thinking_blocks"},
    "together_ai": {"thinking_blocks"},
    "fireworks_ai": {"thinking_blocks"},
    "mistral": {"thinking_blocks", "reasoning_content"},
}
"""Members of messages that litellm leaves out; they come from other providers only."""


@pytest.mark.parametrize("provider", [each for each in OPENAI_LIKE if each not in WITHOUT_TOOLS])
def test_what_goes_out_is_what_litellm_sends(server: FakeServer, provider: str) -> None:
    left_out = LEAVES_OUT.get(provider, set())
    messages = [
        {name: value for name, value in message.items() if name not in left_out}
        for message in CONVERSATION
    ]
    declared = tools(CD) if provider == "hosted_vllm" else tools(CD, MORE)
    requests = [Request(messages[:until], declared) for until in (2, 4, 7, 9, 9)]
    requests += [Request(messages, tools(CD), trial=1), Request(messages, None, grows=True)]
    refused = PROVIDERS[provider].refuses
    seen = same_wire(
        server,
        provider,
        "m",
        requests=requests,
        sampling={name: value for name, value in SAMPLING.items() if name not in refused},
        # Which takes it for models that litellm knows; it drops it at DeepInfra.
        calling={} if provider in ("fireworks_ai", "deepinfra") else {"tool_choice": "auto"},
        extra_headers={"X-Who": "me"},
        # With which litellm loses Mistral's seed.
        extra_body={} if provider == "mistral" else {"any": [1]},
    )
    if "seed" not in refused:
        seed = "random_seed" if provider == "mistral" else "seed"
        assert [one.body[seed] for one in seen] == [7] * 5 + [8, 7]
    assert {one.headers["authorization"] for one in seen} == {f"Bearer {KEY}"}


WITHOUT_THOUGHTS: list[ChatMessage] = [
    *CONVERSATION[:4],
    {"role": "assistant", "content": "So.", "tool_calls": CONVERSATION[4]["tool_calls"]},
    *CONVERSATION[5:],
]
MODELS = {"anthropic": "claude-sonnet-4-5", "gemini": "gemini-2.5-pro"}


@pytest.mark.parametrize("provider", APIS)
def test_what_goes_out_in_an_api_of_its_own_is_what_litellm_sends(
    server: FakeServer, provider: str
) -> None:
    requests = [
        Request(WITHOUT_THOUGHTS[:until], tools(CD, MORE), grows=grows)
        for until in (2, 4, 7, len(WITHOUT_THOUGHTS))
        for grows in (False, True)
    ]
    refused = PROVIDERS[provider].refuses
    seen = same_wire(
        server,
        provider,
        MODELS[provider],
        requests=requests,
        sampling={name: value for name, value in SAMPLING.items() if name not in refused},
        calling={"tool_choice": "auto"},
        extra_headers={"X-Who": "me"},
    )
    marked = provider == "anthropic"
    assert ["cache_control" in str(one.body) for one in seen] == [False, marked] * 4


CD_CHOICE = {"type": "function", "function": {"name": "cd"}}
CHOICES = [{"tool_choice": choice} for choice in ("auto", "none", "required", CD_CHOICE)]
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
CLAUDES = ("claude-sonnet-4-5", "claude-opus-4-1-20250805", "claude-opus-4-6", "claude-opus-4-7")
GEMINIS = (
    *("gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"),
    *("gemini-3-pro-preview", "gemini-3-flash-preview"),
)
TRANSLATED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    *[
        (f"anthropic/{model}", {"reasoning_effort": effort, "max_tokens": 20000}, {})
        for model in CLAUDES
        for effort in EFFORTS
        if (model, effort) != ("claude-opus-4-6", "xhigh")
    ],
    *[
        (f"anthropic/{CLAUDES[0]}", {"max_tokens": 9}, {**choice, **parallel})
        for choice in (*CHOICES, {})
        for parallel in ({}, {"parallel_tool_calls": True}, {"parallel_tool_calls": False})
    ],
    # For later models, litellm spells out the temperature.
    *[
        (f"gemini/{model}", {"reasoning_effort": effort, "temperature": 1.0}, {})
        for model in GEMINIS
        for effort in EFFORTS[:5]
    ],
    *[(f"gemini/{GEMINIS[0]}", {}, {**choice, "parallel_tool_calls": True}) for choice in CHOICES],
]


@pytest.mark.parametrize(("name", "sampling", "calling"), TRANSLATED)
def test_settings_in_a_form_of_their_own(
    server: FakeServer, name: str, sampling: dict[str, Any], calling: dict[str, Any]
) -> None:
    provider, _, model = name.partition("/")
    requests = REQUESTS[:1]
    same_wire(server, provider, model, requests=requests, sampling=sampling, calling=calling)


@pytest.mark.parametrize("effort", EFFORTS[5:])
def test_an_effort_that_gemini_does_not_know(effort: str) -> None:
    with pytest.raises(FatalError, match=f"gemini-x does not take --reasoning-effort {effort}"):
        ours("gemini", "gemini-x", RequestOptions(sampling={"reasoning_effort": effort}))


BACKENDS = ("GorillaFileSystem", "TravelAPI", "TradingBot", "MessageAPI")
STRANGE: dict[str, Any] = {
    "name": "odd",
    "description": "Odd.",
    "parameters": {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["a"], "format": "date", "examples": ["b"]},
            "size": {"type": "integer", "enum": [1, 2]},
            "all": {"type": "array", "items": {}, "uniqueItems": True},
            "some": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "map": {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
            "title": {"type": "string"},
        },
        "required": ["title"],
        "additionalProperties": False,
    },
}


@pytest.mark.parametrize("provider", APIS)
def test_tools_in_a_form_of_their_own(server: FakeServer, provider: str) -> None:
    documents = own_documents(BACKENDS)
    every = Toolbox(documents).tools(frozenset(each["name"] for each in documents), ())
    declared = ToolList([*every.tools, *tools(STRANGE).tools])
    sampling = {"max_tokens": 9}
    requests = [Request(CONVERSATION[:2], declared)]
    same_wire(server, provider, MODELS[provider], sampling=sampling, requests=requests)


def test_claude_behind_openrouter_is_marked_as_litellm_does(server: FakeServer) -> None:
    requests = [Request(CONVERSATION[:until], tools(CD, MORE), grows=True) for until in (2, 4, 7)]
    seen = same_wire(server, "openrouter", "anthropic/claude-sonnet-4.5", requests=requests)
    assert [str(one.body).count("cache_control") for one in seen] == [3, 4, 4]


def test_a_model_that_knows_no_system_prompt_is_told_as_the_user(server: FakeServer) -> None:
    given = RequestOptions(place(server, "gemini"))
    [seen] = asked(server, ours("gemini", "gemma-3-27b-it", given), [REQUESTS[0]])
    assert "system_instruction" not in seen.body
    assert [turn["parts"][0]["text"] for turn in seen.body["contents"]] == [
        message["content"] for message in CONVERSATION[:2]
    ]


def test_an_answer_of_nothing_is_left_out_at_mistral(server: FakeServer) -> None:
    nothing = {"role": "assistant", "content": ""}
    said = Request([*CONVERSATION[:2], nothing, CONVERSATION[1]], tools(CD))
    [seen] = asked(server, ours("mistral", "m", RequestOptions(place(server, "mistral"))), [said])
    assert [message["role"] for message in seen.body["messages"]] == ["system", "user", "user"]


@pytest.mark.parametrize(
    ("model", "sent"),
    [("glm-4p6", "accounts/fireworks/models/glm-4p6"), ("accounts/me/x", "accounts/me/x")],
)
def test_a_model_of_fireworks_has_an_account(server: FakeServer, model: str, sent: str) -> None:
    given = RequestOptions(place(server, "fireworks_ai"))
    [seen] = asked(server, ours("fireworks_ai", model, given), REQUESTS[:1])
    assert seen.body["model"] == sent


@pytest.mark.parametrize(("effort", "kind"), [("none", "disabled"), ("low", "enabled")])
def test_deepseek_thinks_or_does_not(server: FakeServer, effort: str, kind: str) -> None:
    given = RequestOptions(place(server, "deepseek"), sampling={"reasoning_effort": effort})
    [seen] = asked(server, ours("deepseek", "m", given), REQUESTS[:1])
    assert seen.body["thinking"] == {"type": kind}
    assert "reasoning_effort" not in seen.body


def test_a_token_is_sent_where_there_is_no_key(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", KEY)
    [seen] = same_wire(server, "anthropic", "m", sampling={"max_tokens": 9}, requests=REQUESTS[:1])
    assert (seen.headers["authorization"], "x-api-key" in seen.headers) == (f"Bearer {KEY}", False)


def test_an_address_may_name_the_path(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    place(server, "anthropic")
    monkeypatch.setenv("ANTHROPIC_API_BASE", f"{server.base_url}/messages")
    ask(ours("anthropic", "m", RequestOptions()))
    assert server.last is not None
    assert server.last.path == f"/{ANTHROPIC.path}"


def test_a_redirect_to_another_server_is_refused_and_no_key_goes_there(server: FakeServer) -> None:
    options = RequestOptions(place(server, "hosted_vllm"), extra_headers={"X-Key": KEY})
    with FakeServer(lambda _: as_json({})) as other:
        to = (("Location", f"{other.base_url}/chat/completions"),)
        server.answer = lambda _: Answer(status=307, headers=to)
        with pytest.raises(FatalError, match="redirects to"):
            talk(ours("hosted_vllm", "m", options), exhaust_redirects)
        assert other.requests == 0


@pytest.mark.parametrize("provider", ["gemini", "anthropic", "xai", "groq"])
def test_litellm_s_own_clients_go_to_no_other_server_either(
    server: FakeServer, provider: str
) -> None:
    options = RequestOptions(server.base_url, extra_headers={"X-Key": KEY})
    with FakeServer(lambda _: as_json({})) as other:
        to = (("Location", f"{other.base_url}/chat/completions"),)
        server.answer = lambda _: Answer(status=307, headers=to)
        with pytest.raises(FatalError, match="redirects to"):
            talk(theirs(provider, "m", options), exhaust_redirects)
        assert other.requests == 0
