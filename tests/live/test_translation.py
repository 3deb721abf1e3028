"""litellm's providers asked by our own client: what goes out is what litellm would send."""

from __future__ import annotations

from typing import Any

import pytest

from runner.models.base import ChatMessage, FatalError, Request, RequestOptions, ToolList
from runner.models.litellm_model import LiteLLMModel
from runner.models.translation import OPENAI_LIKE, TRANSLATED, Translation
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
    {"role": "tool", "tool_call_id": "call_2", "content": ""},
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


@pytest.mark.parametrize("provider", TRANSLATED)
def test_what_goes_out_is_what_litellm_sends(
    server: FakeServer,
    provider: str,
    monkeypatch: pytest.MonkeyPatch,
    sent_by_litellm: list[Any],
) -> None:
    options: dict[str, Any] = {
        "sampling": {"temperature": 0.5, "max_tokens": 2000},
        "calling": {"tool_choice": "auto"},
        "extra_headers": {"X-Who": "me"},
        "extra_body": {"any": [1]},
    }
    if provider == "fireworks_ai":  # which takes it for models that litellm knows
        del options["calling"]
    if provider != "anthropic":  # which takes no seed
        options["sampling"]["seed"] = 7
    ours = asked(server, client(server, provider, **options), REQUESTS)
    assert not sent_by_litellm
    monkeypatch.setenv("SSL_VERIFY", "true")
    theirs = asked(server, client(server, provider, **options), REQUESTS)
    assert [(one.path, one.body) for one in ours] == [(one.path, one.body) for one in theirs]
    if provider == "anthropic":
        assert ["cache_control" in str(one.body) for one in ours] == [False] * 6 + [True]
    else:
        settings = [one.body.get("generationConfig", one.body) for one in ours]
        seed = "random_seed" if provider == "mistral" else "seed"
        assert [each[seed] for each in settings] == [7] * 5 + [8, 7]
    # Of headers, only what says how an answer may be encoded is ours.
    how = {"accept-encoding", "content-length", "connection"}
    for one, other in zip(ours, theirs, strict=True):
        assert {name: one.headers[name] for name in one.headers.keys() - how} == {
            name: other.headers[name] for name in other.headers.keys() - how
        }


def test_where_litellm_would_send_something_else_it_sends_it(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, sent_by_litellm: list[Any]
) -> None:
    def otherwise(*_: object) -> dict[str, Any]:
        return {"messages": []}

    monkeypatch.setattr(Translation, "_translated", otherwise)
    seen = asked(server, client(server, "hosted_vllm"), REQUESTS[:2])
    assert len(seen) == len(sent_by_litellm) == 2
    assert [len(one.body["messages"]) for one in seen] == [2, 4]


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
