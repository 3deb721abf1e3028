"""The client for OpenAI-compatible servers, against a real server: shapes, faults, what is sent."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import resource
import selectors
import socket
import ssl
import zlib
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any
from urllib.parse import quote

import pytest

from runner.models import client
from runner.models.client import Client
from runner.models.litellm_model import LiteLLMModel
from runner.models.model_types import (
    USUAL,
    FatalError,
    ModelError,
    Price,
    Reply,
    Request,
    RequestError,
    RequestOptions,
    ToolList,
    TransientError,
    Usage,
)
from runner.models.openai_model import OpenAIModel
from runner.models.reply_reader import Endpoint
from tests.live.asking import CD, CERTIFICATE, QUESTION, REQUESTS, ask, exhaust_redirects, talk
from tests.servers.faults import FAULTS, fault, now_and_then, scripted
from tests.servers.serving import Answer, Asked, FakeServer, as_json
from tests.servers.shapes import SHAPES, completion, expected

both_modes = pytest.mark.parametrize("mode", ["fc", "prompt"])
KEY = "sk-test-0123456789abcdef"
UNENDING = ("hang", "slow")
"""Faults that only a timeout ends."""


@both_modes
@pytest.mark.parametrize("name", SHAPES)
def test_shape(server: FakeServer, name: str, mode: str) -> None:
    shape = SHAPES[name]
    server.answer = fault(name)
    model = OpenAIModel("fake", RequestOptions(base_url=server.base_url))
    if shape.error is None:
        reply = ask(model, mode)
        assert reply._asdict() == {**expected(shape), "latency": reply.latency, "cost": None}
        assert 0 < reply.latency < 5
    else:
        with pytest.raises(shape.error):
            ask(model, mode)


MEANING: dict[str, tuple[type[ModelError], str]] = {
    "reset": (TransientError, "the connection to http://127.0.0.1"),
    "hang": (TransientError, "within 0.3 seconds"),
    "slow": (TransientError, "within 0.3 seconds"),
    "half": (TransientError, "was lost"),
    "truncated": (TransientError, ", not a JSON object"),
    "empty": (TransientError, "0 bytes of application/json"),
    "html": (TransientError, "bytes of text/html, not a JSON object"),
    "401": (FatalError, "set OPENAI_API_KEY"),
    "403": (FatalError, "set OPENAI_API_KEY"),
    "404": (FatalError, "has no fake; check --model and --base-url"),
    "400": (RequestError, "This is too long."),
    "413": (RequestError, "a web page"),
    "422": (RequestError, "This is not a role."),
    "groq": (RequestError, "for more details.: <function=cd>{"),
    "ollama": (RequestError, "(500): error parsing tool call: raw="),
    "policy": (RequestError, "(400): No."),
    "no-tools": (FatalError, "use --mode prompt"),
    "408": (TransientError, "Timed out"),
    "409": (TransientError, "Conflict"),
    "429": (TransientError, "Rate limit reached"),
    "429-quota": (FatalError, "requires payment"),
    "500": (TransientError, "Oh no"),
    "503-html": (TransientError, "server error"),
    "error200": (TransientError, "Rate limit reached"),
    "error200-context": (RequestError, "maximum context length"),
    "error200-key": (FatalError, "set OPENAI_API_KEY"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_fault(server: FakeServer, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.answer = fault(kind)
    error, says = MEANING[kind]
    timeout = 0.3 if kind in UNENDING else 60.0
    with pytest.raises(ModelError) as caught:
        ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url, timeout=timeout)))
    assert type(caught.value) is error
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)
    assert server.requests == 1


def test_retry_after_is_passed_on(server: FakeServer) -> None:
    server.answer = fault("429")
    with pytest.raises(TransientError) as caught:
        ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url)))
    assert (caught.value.retry_after, caught.value.unreachable) == (1.0, False)


def closed_port() -> int:
    """Return a port where nobody listens."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@pytest.mark.parametrize(
    ("host", "says"),
    [(f"127.0.0.1:{closed_port()}", "refused"), ("no-such-host.invalid", "unknown host name")],
    ids=["no server", "no host"],
)
def test_nobody_there(host: str, says: str) -> None:
    with pytest.raises(TransientError) as caught:
        ask(OpenAIModel("fake", RequestOptions(base_url=f"http://{host}/v1")))
    assert caught.value.unreachable
    assert says in str(caught.value)


@pytest.fixture
def tls() -> ssl.SSLContext:
    """Return a server's side of HTTPS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def test_a_certificate_that_nobody_signed_is_fatal(tls: ssl.SSLContext) -> None:
    with FakeServer(fault("text"), tls=tls) as server:
        with pytest.raises(FatalError, match=r"certificate of https://.*self-signed"):
            ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url)))
        assert server.requests == 0


def test_a_certificate_that_the_user_trusts_is_fine(
    tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with FakeServer(fault("text"), tls=tls) as server:
        assert ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url))).text == "Yes."


def test_what_is_sent(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = OpenAIModel(
        "org/fake",
        RequestOptions(
            base_url=f"{server.base_url}/",
            sampling={"temperature": 0.5, "seed": 7, "max_tokens": 9},
            extra_headers={"X-Who": "me"},
            extra_body={"top_k": 3, "seed": 8},
        ),
    )
    ask(model)
    assert server.last is not None
    assert server.last.path == "/v1/chat/completions"
    assert server.last.body == {
        "model": "org/fake",
        "temperature": 0.5,
        "seed": 8,
        "max_tokens": 9,
        "top_k": 3,
        "messages": QUESTION,
        "tools": REQUESTS["fc"].tools.tools,
    }
    headers = server.last.headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["content-type"] == "application/json"
    assert headers["x-who"] == "me"


def test_what_is_sent_with_tools(server: FakeServer) -> None:
    calling = {"tool_choice": "auto", "parallel_tool_calls": False}
    body = {"tool_choice": "required"}
    ask(OpenAIModel("m", RequestOptions(server.base_url, calling=calling, extra_body=body)))
    assert server.last is not None
    sent = {name: server.last.body[name] for name in calling}
    assert sent == {"tool_choice": "required", "parallel_tool_calls": False}


@pytest.mark.parametrize("tools", [None, ToolList([])])
def test_no_tools_are_not_sent_as_an_empty_list(server: FakeServer, tools: ToolList | None) -> None:
    calling = {"tool_choice": "auto", "parallel_tool_calls": False}
    model = OpenAIModel("fake", RequestOptions(base_url=server.base_url, calling=calling))
    talk(model, lambda model: model.ask(Request(QUESTION, tools)))
    assert server.last is not None
    assert server.last.body.keys() == {"model", "messages"}


def test_a_growing_conversation_is_sent_whole(server: FakeServer) -> None:
    seen: list[Any] = []

    def answer(asked: Any) -> Answer:
        seen.append(asked.body["messages"])
        return as_json(completion({"role": "assistant", "content": "Yes."}))

    server.answer = answer
    wanted: list[Any] = []

    async def talking(model: OpenAIModel) -> Reply:
        one: list[dict[str, Any]] = []
        other: list[dict[str, Any]] = []
        for number in range(4):
            for messages in (one, other):
                messages.append(
                    {"role": "user", "content": f"ünïcode \ud800 {number} {id(messages)}"}
                )
                reply = await model.ask(Request(messages, None))
                wanted.append(list(messages))
        # One that was rewritten is none that has grown.
        for rest in (
            [],
            [{"role": "user", "content": "No."}],
            [{"role": "user", "content": "So."}],
        ):
            other[1:] = rest
            await model.ask(Request(other, None))
            wanted.append(list(other))
        return reply

    talk(OpenAIModel("fake", RequestOptions(base_url=server.base_url)), talking)
    assert seen == wanted


def test_requests_share_what_is_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    model, sent = OpenAIModel("fake", RequestOptions(base_url="http://localhost")), list[Any]()
    monkeypatch.setattr(model._transport, "post", sent.append)
    tools = ToolList([{"name": "a" * 1000}, {"name": "b" * 1000}])
    messages: list[Any] = [{"role": "user", "content": "c" * 1000}]
    request = Request(messages, tools, conversation=test_requests_share_what_is_encoded)
    for _ in range(2):
        model._send(request)
    first, second = (each.content for each in sent)
    long = [part for part in first if len(part) > 1000]
    assert len(long) == 3
    assert all(any(part is other for other in second) for part in long)


def refusing(*names: str) -> Callable[[Asked], Answer]:
    """Return a server that refuses thoughts of some names, the first that it finds."""

    def answer(asked: Asked) -> Answer:
        found = [name for name in names if any(name in m for m in asked.body["messages"])]
        said = "('messages.2' : property '{}' is unsupported, did you mean 'role'?)"
        if found:
            return as_json({"error": {"message": said.format(found[0])}}, 400)
        return as_json(completion({"role": "assistant", "content": "Yes."}))

    return answer


THOUGHTFUL = [
    *QUESTION,
    {"role": "assistant", "content": "Here.", "reasoning": "Hm.", "reasoning_details": []},
    {"role": "user", "content": "And now?"},
]


@pytest.mark.parametrize("client", ["native", "litellm"])
def test_thoughts_that_a_server_refuses_to_take_back_are_left_out(
    server: FakeServer, client: str
) -> None:
    server.answer = refusing("reasoning", "reasoning_details")
    options = RequestOptions(base_url=server.base_url)

    async def talking(model: OpenAIModel | LiteLLMModel) -> None:
        for request in [Request(THOUGHTFUL, None)] * 2:
            assert (await model.ask(request)).text == "Yes."
        # Those that were under way when it was found out are sent again as well.
        await asyncio.gather(*[model.ask(Request([*THOUGHTFUL], None)) for _ in range(5)])

    native = client == "native"
    talk(OpenAIModel("m", options) if native else LiteLLMModel("hosted_vllm/m", options), talking)
    assert server.requests == 3 + 1 + 5
    assert server.last is not None
    assert server.last.body["messages"][1] == {"role": "assistant", "content": "Here."}


def test_many_at_once_that_are_refused_are_all_answered(server: FakeServer) -> None:
    server.answer = refusing("reasoning")

    async def talking(model: OpenAIModel) -> list[Reply]:
        return await asyncio.gather(*[model.ask(Request([*THOUGHTFUL], None)) for _ in range(9)])

    replies = talk(OpenAIModel("m", RequestOptions(base_url=server.base_url)), talking)
    assert [reply.text for reply in replies] == ["Yes."] * 9


@pytest.mark.parametrize(
    "said",
    [
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "reasoning_effort is not supported",
        "property 'top_k' is unsupported",
    ],
)
def test_what_is_refused_for_another_reason_is_asked_once(server: FakeServer, said: str) -> None:
    server.answer = lambda _: as_json({"error": {"message": said}}, 400)
    with pytest.raises(RequestError, match=r"refuses this request|requires the reasoning"):
        ask(OpenAIModel("m", RequestOptions(base_url=server.base_url)))
    assert server.requests == 1


def test_the_key_comes_from_the_environment(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    ask(OpenAIModel("fake", USUAL))
    assert server.last is not None
    assert server.last.headers["authorization"] == f"Bearer {KEY}"


def test_a_local_server_needs_no_key(server: FakeServer) -> None:
    ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url)))
    assert server.last is not None
    assert server.last.headers["authorization"].startswith("Bearer ")


@pytest.mark.parametrize(
    ("key", "settings", "says"),
    [
        ("", {}, "set OPENAI_API_KEY"),
        ("", {"base_url": "localhost:8000/v1"}, "must be like http://localhost:8000/v1"),
        ("", {"base_url": "http://[::1"}, "not valid"),
        ("", {"base_url": "http://me:hush@localhost/v1"}, "an Authorization --header"),
        ("two\nlines", {}, "characters that cannot be sent"),
        (KEY, {"extra_headers": {"X": "é"}}, "header X has characters that cannot be sent"),
        (KEY, {"extra_headers": {"X: y": "z"}}, "header X: y has characters that cannot be sent"),
        (KEY, {"extra_body": {"stream": True}}, "'stream' is set by Turnwise"),
        (KEY, {"sampling": {"temperature": float("nan")}}, "cannot be sent"),
    ],
)
def test_settings_that_cannot_work(
    key: str, settings: dict[str, Any], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(FatalError, match=says) as caught:
        OpenAIModel("fake", RequestOptions(**settings))
    assert not {KEY, "hush"} & set(str(caught.value).split())


def test_other_secrets_are_masked_too(server: FakeServer) -> None:
    server.answer = lambda asked: as_json({"error": asked.headers["x-auth-token"]}, 400)
    headers = {"X-Auth-Token": "hush hush1"}
    model = OpenAIModel("fake", RequestOptions(base_url=server.base_url, extra_headers=headers))
    with pytest.raises(RequestError) as caught:
        ask(model)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("key", ["querysecret777", "a/b c+d%2Fe-long"])
def test_a_key_in_the_query_of_the_base_url_is_masked(server: FakeServer, key: str) -> None:
    server.answer = lambda asked: as_json({"error": f"You sent {asked.path} ({key})"}, 400)
    url = f"{server.base_url}?version=2&key={quote(key)}"
    with pytest.raises(RequestError) as caught:
        ask(OpenAIModel("fake", RequestOptions(base_url=url)))
    assert "You sent /v1/chat/completions?***" in str(caught.value)
    assert key not in str(caught.value)
    assert quote(key) not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000/v1?key=hush",
        "http://[::1/v1?key=hushhush",
        "http://me:hush@localhost:99999/v1",
        "http://me:hu@hush@localhost:x/v1",
        "http://localhost:99999/v1#hush",
        "ftp://localhost/v1#hush",
        "me:hush@localhost/v1",
    ],
)
def test_an_invalid_base_url_is_told_without_its_secrets(url: str) -> None:
    with pytest.raises(FatalError) as caught:
        OpenAIModel("fake", RequestOptions(base_url=url))
    assert "hush" not in str(caught.value)


def test_a_query_in_the_base_url_stays(server: FakeServer) -> None:
    ask(OpenAIModel("fake", RequestOptions(base_url=f"{server.base_url}?version=2")))
    assert server.last is not None
    assert server.last.path == "/v1/chat/completions?version=2"


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip"])
def test_a_compressed_answer_is_read(server: FakeServer, encoding: str) -> None:
    body = gzip.compress(json.dumps(SHAPES["call"].body).encode())
    server.answer = lambda _: Answer(body, headers=(("content-encoding", encoding),))
    assert (
        ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url))).tool_calls
        == SHAPES["call"].calls
    )


@pytest.mark.parametrize("encoding", ["none", "UTF-8", "deflate"])
def test_an_answer_with_a_loosely_named_encoding_is_read(server: FakeServer, encoding: str) -> None:
    body = json.dumps(SHAPES["call"].body).encode()
    body = zlib.compress(body) if encoding == "deflate" else body
    server.answer = lambda _: Answer(body, headers=(("content-encoding", encoding),))
    model = OpenAIModel("fake", RequestOptions(base_url=server.base_url))
    assert ask(model).tool_calls == SHAPES["call"].calls


@pytest.mark.parametrize("kind", ["text/plain", "Text/Event-Stream; charset=utf-8"])
def test_a_streamed_answer_of_another_type_is_read(server: FakeServer, kind: str) -> None:
    chunk = {"choices": [{"delta": {"content": "Yes."}, "finish_reason": "stop"}]}
    server.answer = lambda _: Answer(f"data: {json.dumps(chunk)}\n\n".encode(), kind=kind)
    assert ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url))).text == "Yes."


def test_a_compressed_answer_of_several_members_is_read(server: FakeServer) -> None:
    whole = json.dumps(SHAPES["call"].body).encode()
    body = gzip.compress(whole[:20]) + gzip.compress(whole[20:])
    server.answer = lambda _: Answer(body, headers=(("content-encoding", "gzip"),))
    model = OpenAIModel("fake", RequestOptions(base_url=server.base_url))
    assert ask(model).tool_calls == SHAPES["call"].calls


_UNKNOWN_MEMBER = {"error": "Unknown parameter: 'tools[0].function.response'."}
_AT_A_PLACE = {
    "detail": [
        {
            "type": "extra_forbidden",
            "loc": ["body", "tools", 0, "function", "response"],
            "msg": "Extra inputs are not permitted",
        }
    ]
}


@pytest.mark.parametrize(
    ("unknown", "status", "of_template"), [(_UNKNOWN_MEMBER, 400, 400), (_AT_A_PLACE, 422, 500)]
)
def test_a_demand_in_a_refusal_is_fulfilled_at_once(
    server: FakeServer, unknown: object, status: int, of_template: int
) -> None:
    def strict(asked: Asked) -> Answer:
        if "response" in asked.body["tools"][0]["function"]:
            return as_json(unknown, status)
        if asked.body["messages"][0]["role"] == "system":
            # Some servers report an error of the chat template as their own.
            return as_json({"error": "System role not supported"}, of_template)
        if not asked.body.get("stream"):
            return as_json({"error": 'streaming responses only: set "stream": true.'}, 400)
        chunk = {"choices": [{"delta": {"content": "Yes."}, "finish_reason": "stop"}]}
        return Answer(f"data: {json.dumps(chunk)}\n\n".encode(), kind="text/event-stream")

    server.answer = strict
    tool = {"type": "function", "function": {**CD, "response": {"type": "dict"}}}
    question = [{"role": "system", "content": "S"}, *QUESTION]
    request = Request(question, ToolList([tool]))
    model = OpenAIModel("fake", RequestOptions(base_url=server.base_url))

    async def twice(model: OpenAIModel) -> tuple[Reply, Reply]:
        return await model.ask(request), await model.ask(request)

    before = server.requests
    assert [reply.text for reply in talk(model, twice)] == ["Yes.", "Yes."]
    # Three refusals are learned from, and not met again.
    assert server.requests - before == 5
    assert server.last is not None
    assert server.last.body["messages"] == [{"role": "user", "content": "S\n\nWhere am I?"}]


def test_history_rules_are_kept_from_the_first_request(server: FakeServer) -> None:
    options = RequestOptions(
        base_url=server.base_url, provider={"history_rules": "no-system,alternate"}
    )
    system = {"role": "system", "content": "S"}
    talk(OpenAIModel("fake", options), lambda m: m.ask(Request([system, *QUESTION], None)))
    assert server.last is not None
    assert [message["role"] for message in server.last.body["messages"]] == ["user"]


def test_tool_messages_get_the_name_that_a_server_demands(server: FakeServer) -> None:
    def strict(asked: Asked) -> Answer:
        if any(each["role"] == "tool" and "name" not in each for each in asked.body["messages"]):
            return as_json([{"error": {"message": "function_response.name: Name is empty."}}], 400)
        return fault("text")(asked)

    server.answer = strict
    call = {"id": "a", "type": "function", "function": {"name": "cd", "arguments": "{}"}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    history = [*QUESTION, said, {"role": "tool", "tool_call_id": "a", "content": "{}"}]
    model = OpenAIModel("fake", RequestOptions(base_url=server.base_url))
    assert talk(model, lambda m: m.ask(Request(history, None))).text == "Yes."
    assert server.last is not None
    assert server.last.body["messages"][-1]["name"] == "cd"


@both_modes
def test_a_history_with_tools_that_never_alternates_needs_another_mode(
    server: FakeServer, mode: str
) -> None:
    server.answer = lambda _: as_json({"error": "Conversation roles must alternate"}, 400)
    with pytest.raises(RequestError) as caught:
        ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url)), mode)
    assert str(caught.value).endswith("; use --mode prompt") is (mode == "fc")


@pytest.mark.parametrize("status", [424, 425])
def test_a_failure_behind_the_server_may_pass(server: FakeServer, status: int) -> None:
    server.answer = lambda _: as_json({"error": "ModelErrorException"}, status)
    with pytest.raises(TransientError):
        ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url)))


def test_a_body_that_is_not_compressed_as_it_says_is_lost(server: FakeServer) -> None:
    server.answer = lambda _: Answer(b"{}", headers=(("content-encoding", "gzip"),))
    with pytest.raises(TransientError):
        ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url)))


def test_a_redirect_is_followed(server: FakeServer) -> None:
    def answer(asked: Any) -> Answer:
        if asked.path.startswith("/v2"):
            return fault("text")(asked)
        return Answer(status=307, headers=(("location", "/v2/chat/completions"),))

    server.answer = answer
    assert ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url))).text == "Yes."


def test_a_redirect_to_another_server_is_refused_and_no_key_goes_there(server: FakeServer) -> None:
    with FakeServer(fault("text")) as other:
        place = f"{other.base_url}/chat/completions?token=abc"
        server.answer = lambda _: Answer(status=307, headers=(("location", place),))
        options = RequestOptions(base_url=server.base_url, extra_headers={"X-Api-Key": KEY})
        with pytest.raises(FatalError, match="to send your key there, use --base-url") as caught:
            talk(OpenAIModel("fake", options), exhaust_redirects)
        assert other.base_url.removesuffix("/v1") in str(caught.value)
        assert "abc" not in str(caught.value)
        assert other.requests == 0


def test_a_redirect_in_circles_is_fatal(server: FakeServer) -> None:
    server.answer = lambda _: Answer(status=307, headers=(("location", "/v1/chat/completions"),))
    with pytest.raises(FatalError, match="not a usable base URL"):
        talk(OpenAIModel("fake", RequestOptions(base_url=server.base_url)), exhaust_redirects)


@pytest.mark.parametrize("place", ["http://127.0.0.1:9/v1", "/v1/chat/completions", None])
def test_stray_redirects_are_temporary_errors(server: FakeServer, place: str | None) -> None:
    redirect = Answer(status=302, headers=(("location", place),) if place else ())
    answers = [True, False] * 10

    async def ask_all(model: OpenAIModel) -> list[str | None]:
        texts: list[str | None] = []
        for is_stray in answers:
            server.answer = (lambda _: redirect) if is_stray else fault("text")
            try:
                texts.append((await model.ask(REQUESTS["fc"])).text)
            except TransientError:
                texts.append(None)
        return texts

    model = OpenAIModel("fake", RequestOptions(base_url=server.base_url))
    assert talk(model, ask_all) == [None, "Yes."] * 10


@pytest.mark.parametrize(
    "url",
    [
        *(
            "localhost:8000/v1",
            "http://local host/v1",
            "http://a..b/v1",
            "http://a:99999",
            "ftp://a",
        ),
        *("http://::1:8000/v1", "http://[::1/v1", "http://", " ", "http://\udc80x/v1"),
    ],
)
def test_an_address_that_cannot_be_used_is_named_before_the_first_request(url: str) -> None:
    with pytest.raises(FatalError) as caught:
        OpenAIModel("m", RequestOptions(base_url=url))
    advice = "is not valid; it must be like http://localhost:8000/v1"
    assert str(caught.value) == f"the base URL (--base-url or OPENAI_BASE_URL) {url!r} {advice}"


def test_an_address_of_the_sixth_version_keeps_its_brackets_in_errors() -> None:
    model = OpenAIModel("fake", RequestOptions(base_url="http://[::1]:1/v1"))
    with pytest.raises(TransientError, match=r"http://\[::1\]:1/v1 cannot be reached"):
        ask(model)


@pytest.mark.parametrize(
    ("body", "headers", "reason"),
    [
        (lambda: b"x" * 8_000_001, (), "more than 8000000 bytes"),
        (
            lambda: gzip.compress(b"x" * 8_000_000),
            (("content-encoding", "gzip"),),
            "more than 8000000",
        ),
        (lambda: b"x", (("content-encoding", "x-other"),), "not as gzip"),
    ],
    ids=["large", "bomb", "encoding"],
)
def test_an_answer_is_bounded(
    server: FakeServer,
    body: Callable[[], bytes],
    headers: tuple[tuple[str, str], ...],
    reason: str,
) -> None:
    answer = Answer(body(), headers=headers)
    server.answer = lambda _: answer
    with pytest.raises(RequestError, match=reason):
        ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url, timeout=20)))


def test_an_answer_may_be_compressed(server: FakeServer) -> None:
    def answer(asked: Any) -> Answer:
        plain = fault("text")(asked)
        zipped = ("content-encoding", "gzip")
        return plain._replace(body=gzip.compress(plain.body), headers=(*plain.headers, zipped))

    server.answer = answer
    assert ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url))).text == "Yes."


def test_cost(server: FakeServer) -> None:
    server.answer = fault("usage-details")
    model = OpenAIModel(
        "fake", RequestOptions(base_url=server.base_url, price=Price(2.0, 10.0, 1.0))
    )
    reply = ask(model)
    assert reply.usage == Usage(12, 3, 8, 2)
    assert reply.cost == 4 * 2 + 8 * 1 + 3 * 10


LATENCY, WORK = 0.05, 0.001
"""Seconds that a server takes, and that we take to build a request and to read an answer."""


class Hours(selectors.DefaultSelector):
    """A selector for a loop whose time goes by when the loop waits, or somebody works."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


class Worker(Client):
    """A client whose work takes time by such a clock, and its server too."""

    FAILURES = ()

    def __init__(self, clock: Hours) -> None:
        super().__init__(Endpoint(), USUAL)
        self._clock = clock

    async def close(self) -> None:
        """Have nothing to release."""

    def _send(self, request: Request) -> Awaitable[object]:
        self._clock.now += WORK
        return asyncio.sleep(LATENCY, completion({"role": "assistant", "content": "Yes."}))

    def _explain(self, error: Exception) -> ModelError:
        raise error

    def _body(self, answer: object) -> object:
        self._clock.now += WORK
        return answer


def test_latency_is_of_the_server_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """To build the requests takes longer here than the server's answers."""
    clock = Hours()
    loop = asyncio.SelectorEventLoop(clock)
    monkeypatch.setattr(loop, "time", lambda: clock.now)
    monkeypatch.setattr(client, "perf_counter", lambda: clock.now)
    model = Worker(clock)

    async def talking() -> list[Reply]:
        return await asyncio.gather(*[model.ask(REQUESTS["fc"]) for _ in range(200)])

    with contextlib.closing(loop):
        latencies = [reply.latency for reply in loop.run_until_complete(talking())]
    assert clock.now >= 200 * 2 * WORK
    assert min(latencies) >= LATENCY - 1e-9
    # Besides the server's it is at most what was begun when the answer came, and one answer read.
    assert max(latencies) <= LATENCY + 3 * WORK


def test_latency_is_measured(server: FakeServer) -> None:
    server.latency = LATENCY
    assert ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url))).latency >= LATENCY


def test_a_proxy_is_asked(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.port}")
    server.answer = fault("text")
    model = OpenAIModel("fake", RequestOptions(base_url="http://no-such-host.invalid/v1"))
    assert ask(model).text == "Yes."
    assert server.last is not None
    assert server.last.path == "http://no-such-host.invalid/v1/chat/completions"


def test_an_error_names_the_proxy(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "http://user:password-1@127.0.0.1:1")
    with pytest.raises(TransientError) as caught:
        ask(OpenAIModel("fake", RequestOptions(base_url="http://no-such-host.invalid/v1")))
    assert "(through the proxy 127.0.0.1:1) cannot be reached: connection" in str(caught.value)
    assert "password-1" not in str(caught.value)


def test_a_proxy_that_wants_a_password_is_not_taken_for_the_server(server: FakeServer) -> None:
    server.answer = lambda _: Answer(b"", 407)
    with pytest.raises(FatalError, match=r"^a proxy before .* requires a user name and a password"):
        ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url)))


def test_a_connection_that_ends_within_the_headers_is_lost() -> None:
    async def serve(model_of: Callable[[str], OpenAIModel]) -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-ty")
            writer.close()

        async with await asyncio.start_server(answer, "127.0.0.1") as listening:
            port = listening.sockets[0].getsockname()[1]
            model = model_of(f"http://127.0.0.1:{port}/v1")
            try:
                await model.ask(REQUESTS["fc"])
            finally:
                await model.close()

    with pytest.raises(TransientError, match=r"/v1 was lost: the server closed it$"):
        asyncio.run(serve(lambda url: OpenAIModel("fake", RequestOptions(base_url=url))))


def test_many_connections_are_possible_where_few_files_are_the_default(server: FakeServer) -> None:
    server.answer = fault("text")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        ask(OpenAIModel("fake", RequestOptions(base_url=server.base_url)))
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (min(hard, 10_240), hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_connections_are_kept() -> None:
    with FakeServer(fault("text")) as server:

        async def talking(model: OpenAIModel) -> int:
            for _ in range(5):
                await model.ask(REQUESTS["fc"])
            return len(server.connections)

        assert talk(OpenAIModel("fake", RequestOptions(base_url=server.base_url)), talking) == 1


def test_after_trouble_the_next_request_is_fine(server: FakeServer) -> None:
    server.answer = scripted("reset,half,500,slow,hangx2,truncated", fault("text"))

    async def talking(model: OpenAIModel) -> Reply:
        for _ in range(7):
            with pytest.raises(TransientError):
                await model.ask(REQUESTS["fc"])
        return await model.ask(REQUESTS["fc"])

    assert (
        talk(
            OpenAIModel("fake", RequestOptions(base_url=server.base_url, timeout=0.2)), talking
        ).text
        == "Yes."
    )
    assert server.requests == 8


def test_many_requests_meet_trouble_at_random(server: FakeServer) -> None:
    kinds = ["reset", "429", "500", "half", "truncated", "html", "error200"]
    server.answer = now_and_then(kinds, 0.3, 1, fault("text"))

    async def one(model: OpenAIModel) -> str | None:
        while True:
            try:
                return (await model.ask(REQUESTS["fc"])).text
            except TransientError:
                pass

    async def talking(model: OpenAIModel) -> list[str | None]:
        return await asyncio.gather(*[one(model) for _ in range(100)])

    model = OpenAIModel("fake", RequestOptions(base_url=server.base_url))
    assert talk(model, talking) == ["Yes."] * 100
    assert server.requests > 110


def test_being_interrupted_takes_no_time(server: FakeServer) -> None:
    server.answer = fault("hang")

    async def interrupted(model: OpenAIModel) -> Reply:
        async with asyncio.timeout(0.2):
            return await model.ask(REQUESTS["fc"])

    start = perf_counter()
    with pytest.raises(TimeoutError):
        talk(OpenAIModel("fake", RequestOptions(base_url=server.base_url)), interrupted)
    assert perf_counter() - start < 1


class _Uncopied(list[Any]):
    """Messages of which no part is copied."""

    def __getitem__(self, place: Any) -> Any:
        assert isinstance(place, int)
        return super().__getitem__(place)


def test_encoding_a_long_conversation_copies_none_of_its_parts(server: FakeServer) -> None:
    messages = _Uncopied([{"role": "user", "content": "Well?"}] * 50)
    server.answer = lambda asked: as_json(completion({"role": "assistant", "content": "Yes."}))
    model = OpenAIModel("fake", RequestOptions(base_url=server.base_url))
    assert talk(model, lambda model: model.ask(Request(messages, None))).text == "Yes."
