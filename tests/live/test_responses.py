"""OpenAI's Responses API: what is sent, what is read, and a whole run against a fake of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from envs.calls import Call
from envs.errors import DataError
from envs.results import Result
from runner.models.conversation import ConversationSettings, ToolCallConversation
from runner.models.model_connection import connect
from runner.models.model_name import LiveName, parse_model_name
from runner.models.model_types import (
    FatalError,
    Price,
    Reply,
    RequestError,
    RequestOptions,
    ToolCall,
    TransientError,
    Usage,
    VerbatimParts,
)
from runner.models.openai_model import OpenAIModel
from runner.models.prompting import read_prompts
from runner.models.settings import ReasoningPolicy
from runner.models.toolbox import Toolbox
from runner.records.recorded_run import open_run
from tests.live.asking import CD, ask, talk
from tests.live.running import BASE, Ended
from tests.servers.responses import call, responding, response, said, thought
from tests.servers.serving import Answerer, FakeServer, as_json
from trajectories.schema import Message

pytest_plugins = ["tests.live.run_fixtures"]

KEY = "sk-test-0123456789abcdef"
CALLED = [thought(), call("call_1", "cd", '{"folder": "docs"}')]


def model(server: FakeServer, **options: Any) -> OpenAIModel:
    """Return a client that speaks the Responses API to a server."""
    return OpenAIModel("fake", RequestOptions(server.base_url, api="responses", **options))


def test_what_is_read(server: FakeServer) -> None:
    server.answer = lambda _: as_json(response([*CALLED, said("Let me look.")]))
    reply = ask(model(server, price=Price(2.0, 10.0, 1.0)))
    assert reply == Reply(
        "Let me look.",
        (ToolCall("call_1", "cd", '{"folder": "docs"}'),),
        "Hm.",
        "completed",
        Usage(12, 3, 8, 2),
        reply.latency,
        4 * 2 + 8 * 1 + 3 * 10,
        VerbatimParts({"output_items": [*CALLED, said("Let me look.")]}, ({},)),
    )


def test_what_is_sent(server: FakeServer) -> None:
    server.answer = lambda _: as_json(response([said("Yes.")]))
    sampling = {"temperature": 0.5, "max_tokens": 9, "reasoning_effort": "low"}
    calling = {"parallel_tool_calls": False}
    body = {"reasoning": {"summary": "auto"}, "top_logprobs": 2}
    ask(model(server, sampling=sampling, calling=calling, extra_body=body))
    assert server.last is not None
    assert server.last.path == "/v1/responses"
    assert server.last.body == {
        "model": "fake",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "temperature": 0.5,
        "max_output_tokens": 9,
        "reasoning": {"effort": "low", "summary": "auto"},
        "top_logprobs": 2,
        "parallel_tool_calls": False,
        "input": [{"role": "user", "content": "Where am I?"}],
        "tools": [{"type": "function", "strict": False, **CD}],
    }


def history(server: FakeServer, output: list[Any], reasoning: ReasoningPolicy) -> tuple[Any, Any]:
    """Return what was sent after an answer in its turn, and in the turn after it."""
    chat = ToolCallConversation(ConversationSettings(Toolbox([CD]), read_prompts(), reasoning))
    chat.start_turn([Message("user", "Go.")], frozenset(["cd"]), ())
    sent = []

    async def talking(model: OpenAIModel) -> None:
        server.answer = lambda _: as_json(response(output))
        chat.read(await model.ask(chat.request()))
        chat.observe([Call("cd")], [Result(None)])
        server.answer = lambda _: as_json(response([said("Done.")]))
        for question in ("And?", ""):
            chat.read(await model.ask(chat.request()))
            assert server.last is not None
            sent.append(server.last.body["input"])
            chat.start_turn([Message("user", question)], frozenset(["cd"]), ())

    talk(model(server), talking)
    return sent[0], sent[1]


def test_items_go_back_as_they_came(server: FakeServer) -> None:
    in_turn, after = history(server, CALLED, "all")
    shown = {"type": "function_call_output", "call_id": "call_1", "output": Result(None).text}
    assert in_turn == [{"role": "user", "content": "Go."}, *CALLED, shown]
    assert after == [*in_turn, said("Done."), {"role": "user", "content": "And?"}]


_REASONING = {"type": "reasoning", "id": "rs_1"}
_CALL = call("call_1", "cd", '{"folder": "docs"}')


@pytest.mark.parametrize(
    "output",
    [
        [{**_REASONING, "summary": [], "encrypted_content": "gAAAA"}, _CALL],
        [{**_REASONING, "summary": [{"type": "summary_text", "text": "Hm."}]}, _CALL],
        [{**_REASONING, "summary": [], "encrypted_content": None, "status": None}, _CALL],
        [
            {
                **_REASONING,
                "summary": [],
                "content": [{"type": "reasoning_text", "text": "Hm."}],
            },
            _CALL,
        ],
        [
            {**_REASONING, "summary": [], "encrypted_content": "one"},
            said("Let me look."),
            {**_REASONING, "id": "rs_2", "summary": [], "encrypted_content": "two"},
            _CALL,
        ],
    ],
    ids=["encrypted", "summary", "nothing", "open", "several"],
)
def test_thoughts_of_every_shape_go_back_as_they_came(
    server: FakeServer, output: list[Any]
) -> None:
    in_turn, after = history(server, output, "all")
    assert in_turn[1:-1] == output
    assert after[: len(in_turn)] == in_turn


def test_without_its_thoughts_an_answer_of_an_earlier_turn_is_its_words_and_calls(
    server: FakeServer,
) -> None:
    in_turn, after = history(server, CALLED, "none")
    assert in_turn[1:3] == CALLED
    made = {"type": "function_call", "call_id": "call_1", "name": "cd"}
    assert after == [
        {"role": "user", "content": "Go."},
        {**made, "arguments": '{"folder": "docs"}'},
        in_turn[-1],
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "And?"},
    ]


def test_a_call_goes_back_with_the_id_and_the_arguments_of_the_chat(server: FakeServer) -> None:
    odd = [thought(), {**call("", "cd", "{oops"), "call_id": None}]
    in_turn, _ = history(server, odd, "all")
    assert in_turn[1:] == [
        thought(),
        {**odd[1], "call_id": "call00001", "arguments": "{}"},
        {**in_turn[-1], "call_id": "call00001"},
    ]


@pytest.mark.parametrize(
    ("body", "text", "finish"),
    [
        (response([]), None, "completed"),
        (response([{"type": "message", "content": None}, 7, None]), None, "completed"),
        (
            response([{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]),
            "No.",
            "refusal",
        ),
        (
            response([said("Ye")], incomplete_details={"reason": "max_output_tokens"}),
            "Ye",
            "length",
        ),
        (
            response([], incomplete_details={"reason": "content_filter"}),
            None,
            "content_filter",
        ),
    ],
)
def test_odd_answers(server: FakeServer, body: Any, text: str | None, finish: str) -> None:
    server.answer = lambda _: as_json(body)
    reply = ask(model(server))
    assert (reply.text, reply.tool_calls, reply.finish_reason) == (text, (), finish)


def test_what_is_no_answer_is_an_error(server: FakeServer) -> None:
    failed = {"error": {"code": "server_error", "message": "Oh no"}, "status": "failed"}
    for body in (response([], **failed), {}, [], {"output": "x"}, None):
        server.answer = lambda _, body=body: as_json(body)  # type: ignore[misc]
        with pytest.raises(TransientError):
            ask(model(server))
    server.answer = lambda _: as_json({"error": {"message": "Too long."}}, 400)
    with pytest.raises(RequestError, match="Too long"):
        ask(model(server))


def test_what_the_api_does_not_have_is_refused(server: FakeServer) -> None:
    with pytest.raises(FatalError, match="takes no seed"):
        model(server, sampling={"seed": 1})
    with pytest.raises(FatalError, match="'input' is set by Turnwise"):
        model(server, extra_body={"input": []})
    with pytest.raises(DataError, match="not for anthropic"):
        connect(LiveName("anthropic/claude-sonnet-4-5"), RequestOptions(api="responses"))


@pytest.mark.parametrize(
    ("name", "wanted", "path"),
    [
        ("gpt-4o", None, "chat/completions"),
        ("gpt-5-chat-latest", None, "chat/completions"),
        ("no-such-model", None, "chat/completions"),
        ("openai/o3", None, "responses"),
        ("gpt-5-codex", None, "responses"),
        ("gpt-5", "chat", "chat/completions"),
        ("gpt-4o", "responses", "responses"),
    ],
)
def test_at_openai_a_model_has_the_api_that_it_needs(
    name: str, wanted: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    client = connect(parse_model_name(name), RequestOptions(api=wanted))
    assert isinstance(client, OpenAIModel)
    assert str(client._url) == f"https://api.openai.com/v1/{path}"
    asks_for_thoughts = b"encrypted_content" in client._heads[0]
    assert asks_for_thoughts == (path == "responses" and name != "gpt-4o")


@pytest.mark.parametrize("mode", ["fc", "prompt"])
def test_a_run(
    run: Callable[..., Ended], server: FakeServer, truth: Answerer, folder: Any, mode: str
) -> None:
    server.answer = responding(truth)
    flags = ("--limit", "6", "--api", "responses", "--mode", mode)
    ended = run(*BASE, *flags)
    assert ended.status == 0, ended.err
    done = list(open_run(folder).records)
    assert [record.outcome for record in done] == ["passed"] * 6
    answers = [m for record in done for m in record.messages if m["role"] == "assistant"]
    assert all(m["output_items"][0]["type"] == "reasoning" for m in answers)
    asked = json.loads((folder / "run.json").read_text())["definition"]["settings"]
    assert asked["api"] == "responses"
