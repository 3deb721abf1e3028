"""litellm's providers asked by our own client: what goes out is what litellm would send."""

from __future__ import annotations

from typing import Any

import pytest

from runner.models.base import ChatMessage, FatalError, Request, RequestOptions, ToolList
from runner.models.litellm_model import LiteLLMModel
from runner.models.translation import APIS, OPENAI_LIKE, TRANSLATED, Translation
from tests.live.asking import CD, talk
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


def client(server: FakeServer, provider: str, **options: Any) -> LiteLLMModel:
    alike = provider in OPENAI_LIKE
    # litellm reads no answer of Groq's without a service tier.
    done = completion({"role": "assistant", "content": "Done."}) | {"service_tier": "auto"}
    server.answer = lambda _: as_json(done if alike else OTHERS[provider])
    url = server.base_url if alike else server.base_url.removesuffix("/v1")
    return LiteLLMModel(f"{provider}/m", RequestOptions(url, **options))


def asked(server: FakeServer, model: LiteLLMModel, requests: list[Request]) -> list[Asked]:
    """Return what a server sees of requests."""
    seen: list[Asked] = []
    answer = server.answer

    def kept(one: Asked) -> Answer:
        seen.append(one)
        return answer(one)

    server.answer = kept

    async def talking(model: LiteLLMModel) -> None:
        for request in requests:
            assert (await model.ask(request)).text == "Done."

    talk(model, talking)
    return seen


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in TRANSLATED:
        monkeypatch.setenv(f"{provider.upper()}_API_KEY", KEY)


@pytest.fixture
def sent_by_litellm(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that grows by all that litellm itself sends."""
    sent: list[Any] = []
    outgoing = Translation.outgoing

    def counted(self: Translation, request: Request) -> Any:
        found = outgoing(self, request)
        if found is None:
            sent.append(request)
        return found

    monkeypatch.setattr(Translation, "outgoing", counted)
    return sent


TAKEN: dict[str, set[str]] = {
    "anthropic": {"temperature", "max_tokens"},
    "v0": set(),
    "deepinfra": {"temperature", "max_tokens"},
    "zai": {"temperature", "max_tokens"},
}
"""Settings that a provider takes, where it does not take all."""
WITHOUT_TOOLS = ("perplexity", "sambanova")
"""Providers that take tools for models that litellm knows."""


def options_for(provider: str) -> dict[str, Any]:
    settings = {"temperature": 0.5, "max_tokens": 2000, "seed": 7}
    taken = TAKEN.get(provider, settings.keys())
    options: dict[str, Any] = {
        "sampling": {name: settings[name] for name in settings.keys() & taken},
        "extra_headers": {"X-Who": "me"},
        "extra_body": {"any": [1]},
    }
    # Which takes it for models that litellm knows.
    calling = {} if provider == "fireworks_ai" else {"tool_choice": "auto"}
    return {**options, "calling": calling}


def headers_of(asked: Asked) -> dict[str, str]:
    """Return the headers of a request but for those that say how an answer may be encoded."""
    how = {"accept-encoding", "content-length", "connection"}
    return {name: asked.headers[name] for name in asked.headers.keys() - how}


@pytest.mark.parametrize("provider", [each for each in OPENAI_LIKE if each not in WITHOUT_TOOLS])
def test_what_goes_out_is_what_litellm_sends(
    server: FakeServer,
    provider: str,
    monkeypatch: pytest.MonkeyPatch,
    sent_by_litellm: list[Any],
) -> None:
    options = options_for(provider)
    ours = asked(server, client(server, provider, **options), REQUESTS)
    assert not sent_by_litellm
    monkeypatch.setenv("SSL_VERIFY", "true")
    theirs = asked(server, client(server, provider, **options), REQUESTS)
    assert [(one.path, one.body) for one in ours] == [(one.path, one.body) for one in theirs]
    if "seed" in options["sampling"]:
        seed = "random_seed" if provider == "mistral" else "seed"
        assert [one.body[seed] for one in ours] == [7] * 5 + [8, 7]
    assert [headers_of(one) for one in ours] == [headers_of(other) for other in theirs]


WITHOUT_THOUGHTS: list[ChatMessage] = [
    *CONVERSATION[:4],
    {"role": "assistant", "content": "So.", "tool_calls": CONVERSATION[4]["tool_calls"]},
    *CONVERSATION[5:],
]
MODELS = {"anthropic": "claude-sonnet-4-5", "gemini": "gemini-2.5-pro"}


def snake(value: Any) -> Any:
    """Return a body of Gemini's with the other of its two spellings."""
    names = {"functionCall": "function_call", "functionResponse": "function_response"}
    if isinstance(value, dict):
        return {names.get(name, name): snake(part) for name, part in value.items()}
    return [snake(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize("provider", APIS)
def test_what_goes_out_in_an_api_of_its_own_is_what_litellm_sends(
    server: FakeServer,
    provider: str,
    monkeypatch: pytest.MonkeyPatch,
    sent_by_litellm: list[Any],
) -> None:
    options = options_for(provider)
    url = server.base_url.removesuffix("/v1")
    server.answer = lambda _: as_json(OTHERS[provider])
    size = len(WITHOUT_THOUGHTS)
    requests = [
        Request(WITHOUT_THOUGHTS[:until], tools(CD, MORE), grows=grows)
        for until in (2, 4, 7, size)
        for grows in (False, True)
    ]

    def made() -> LiteLLMModel:
        return LiteLLMModel(f"{provider}/{MODELS[provider]}", RequestOptions(url, **options))

    ours = asked(server, made(), requests)
    assert not sent_by_litellm
    monkeypatch.setenv("SSL_VERIFY", "true")
    server.answer = lambda _: as_json(OTHERS[provider])
    theirs = asked(server, made(), requests)
    assert [snake(one.body) for one in ours] == [snake(one.body) for one in theirs]
    assert [one.path for one in ours] == [one.path for one in theirs]
    assert [headers_of(one) for one in ours] == [headers_of(other) for other in theirs]
    marked = provider == "anthropic"
    assert ["cache_control" in str(one.body) for one in ours] == [False, marked] * 4


def test_a_message_that_litellm_changes_is_sent_by_it(
    server: FakeServer, sent_by_litellm: list[Any]
) -> None:
    # It leaves out answers of Mistral's tools that are empty.
    empty = {"role": "tool", "tool_call_id": "call_1", "content": ""}
    said = Request([*CONVERSATION[:3], empty], tools(CD))
    seen = asked(server, client(server, "mistral"), [REQUESTS[0], REQUESTS[1], said, REQUESTS[1]])
    assert [len(request.messages) for request in sent_by_litellm] == [4]
    assert [len(one.body["messages"]) for one in seen] == [2, 4, 3, 4]


def test_a_function_whose_name_litellm_changes_is_called_by_its_own(
    server: FakeServer, sent_by_litellm: list[Any]
) -> None:
    name = "files.cd"
    model = client(server, "anthropic")

    def called(one: Asked) -> Answer:
        [tool] = one.body["tools"]
        use = {"type": "tool_use", "id": "toolu_1", "name": tool["name"], "input": {}}
        return as_json({**MESSAGE, "content": [use]})

    server.answer = called
    request = Request(CONVERSATION[:2], tools({**CD, "name": name}))
    [made] = talk(model, lambda model: model.ask(request)).tool_calls
    assert made.name == name
    assert len(sent_by_litellm) == 1


def test_a_redirect_to_another_server_is_refused_and_no_key_goes_there(server: FakeServer) -> None:
    model = client(server, "hosted_vllm", extra_headers={"X-Key": KEY})
    with FakeServer(lambda _: as_json({})) as other:
        to = (("Location", f"{other.base_url}/chat/completions"),)
        server.answer = lambda _: Answer(status=307, headers=to)
        with pytest.raises(FatalError, match="sends requests on to"):
            talk(model, lambda model: model.ask(REQUESTS[0]))
        assert other.requests == 0


def test_litellm_s_own_clients_go_to_no_other_server_either(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_VERIFY", "true")
    monkeypatch.setenv("XAI_API_KEY", KEY)
    for provider in ("gemini", "anthropic", "xai", "groq"):
        options = RequestOptions(server.base_url, extra_headers={"X-Key": KEY})
        model = LiteLLMModel(f"{provider}/m", options)
        with FakeServer(lambda _: as_json({})) as other:
            to = (("Location", f"{other.base_url}/chat/completions"),)
            server.answer = lambda _, to=to: Answer(status=307, headers=to)
            with pytest.raises(FatalError, match="sends requests on to"):
                talk(model, lambda model: model.ask(REQUESTS[0]))
            assert other.requests == 0
