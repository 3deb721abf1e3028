"""Streamed answers: assembly of deltas, the time to the first token, and whole runs."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from extensions.streaming.answers import FIRST_TOKEN, StreamedAnswers
from runner.cli import main
from runner.models.model_connection import connect
from runner.models.model_name import LiveName
from runner.models.model_types import FatalError, RequestOptions, ToolCall, TransientError, Usage
from runner.records.recorded_run import open_run
from tests.live.asking import ask
from tests.live.running import BASE, records
from tests.servers.serving import Answer, Answerer, Asked, FakeServer

pytest_plugins = ["tests.live.run_fixtures"]


def sse(*events: object) -> bytes:
    """Return events as a stream."""
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)


def in_deltas(message: dict) -> Iterator[dict]:
    """Yield the deltas of a message: the role, then every text in pieces of three characters."""
    yield {"role": "assistant", "content": None}
    text = message.get("content") or ""
    for place in range(0, len(text), 3):
        yield {"content": text[place : place + 3]}
    for index, call in enumerate(message.get("tool_calls") or ()):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        start = {"id": call["id"], "type": "function", "function": {"name": name, "arguments": ""}}
        yield {"tool_calls": [{"index": index, **start}]}
        for place in range(0, len(arguments), 3):
            piece = {"arguments": arguments[place : place + 3]}
            yield {"tool_calls": [{"index": index, "function": piece}]}


def streaming(answer: Answerer) -> Answerer:
    """Return an answerer that streams the answers of another one if it is asked to."""

    def streamed(asked: Asked) -> Answer:
        whole = answer(asked)
        if not (asked.body or {}).get("stream"):
            return whole
        assert asked.body["stream_options"] == {"include_usage": True}
        body = json.loads(whole.body)
        [choice] = body["choices"]
        chunks = [{"choices": [{"delta": each}]} for each in in_deltas(choice["message"])]
        end = {"choices": [{"delta": {}, "finish_reason": choice["finish_reason"]}]}
        content = sse(*chunks, end, {"choices": [], "usage": body["usage"]}) + b"data: [DONE]\n\n"
        return Answer(content, kind="text/event-stream")

    return streamed


MESSAGE = [
    {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 9}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0,
     "delta": {"type": "thinking_delta", "thinking": "Hm."}},
    {"type": "content_block_delta", "index": 0,
     "delta": {"type": "signature_delta", "signature": "s1"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Let "}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "me."}},
    {"type": "content_block_start", "index": 2,
     "content_block": {"type": "tool_use", "id": "t1", "name": "cd", "input": {}}},
    {"type": "content_block_delta", "index": 2,
     "delta": {"type": "input_json_delta", "partial_json": '{"folder"'}},
    {"type": "content_block_delta", "index": 2,
     "delta": {"type": "input_json_delta", "partial_json": ': "docs"}'}},
    {"type": "content_block_start", "index": 3,
     "content_block": {"type": "tool_use", "id": "t2", "name": "ls", "input": {}}},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 4}},
    {"type": "message_stop"},
]  # fmt: skip


def test_the_first_token_is_the_first_generated_part() -> None:
    role = {"choices": [{"delta": {"role": "assistant", "content": ""}}]}
    text = {"choices": [{"delta": {"content": "Yes"}}]}
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    sizes = [len(sse(role)), len(sse(role, text)), len(sse(role, text, end))]
    arrivals = [*zip((0.1, 0.2, 0.3), sizes, strict=True)]
    StreamedAnswers().read(sse(role, text, end), arrivals, "x")
    assert FIRST_TOKEN.get() == 0.2
    StreamedAnswers().read(sse(role, end), [(0.1, sizes[0]), (0.3, 999)], "x")
    assert FIRST_TOKEN.get() is None
    sizes = [len(sse(*MESSAGE[:count])) for count in range(1, len(MESSAGE) + 1)]
    StreamedAnswers().read(sse(*MESSAGE), [*zip(range(len(sizes)), sizes, strict=True)], "x")
    assert FIRST_TOKEN.get() == 3


@pytest.fixture
def anthropic(server: FakeServer, monkeypatch):
    """A client for Anthropic's API, whose address is the fake server's."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test-0123456789")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
    return connect(
        LiveName("anthropic/claude-sonnet-4-5"), RequestOptions(stream=StreamedAnswers())
    )


def test_an_answer_of_anthropic_is_assembled(server: FakeServer, anthropic) -> None:
    server.answer = lambda _: Answer(sse(*MESSAGE), kind="text/event-stream")
    reply = ask(anthropic)
    assert server.last is not None
    assert server.last.body["stream"] is True
    assert "stream_options" not in server.last.body
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("Let me.", "Hm.", "tool_calls")
    assert reply.tool_calls == (
        ToolCall("t1", "cd", '{"folder": "docs"}'),
        ToolCall("t2", "ls", "{}"),
    )
    assert reply.usage == Usage(9, 4)
    assert reply.verbatim is not None
    assert reply.verbatim.message["output_items"][0]["signature"] == "s1"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (sse(*MESSAGE[:-2]), "ended its stream early"),
        (sse(*MESSAGE[:4]) + b"data: {\n\n", "not a JSON object"),
        (sse(MESSAGE[0], {"type": "error", "error": {"type": "overloaded_error",
                                                     "message": "Overloaded"}}), "Overloaded"),
        (sse({"choices": [{"delta": {"content": "Yes"}}]}), "ended its stream early"),
    ],
)  # fmt: skip
def test_a_broken_stream_may_be_tried_again(server: FakeServer, anthropic, content, problem):
    server.answer = lambda _: Answer(content, kind="text/event-stream")
    with pytest.raises(TransientError, match=problem):
        ask(
            connect(
                LiveName("anthropic/claude-x"),
                RequestOptions(server.base_url, stream=StreamedAnswers()),
            )
        )


def test_malformed_arguments_are_the_models_mistake() -> None:
    broken = [*MESSAGE[:11], *MESSAGE[12:]]
    found = StreamedAnswers().read(sse(*broken), (), "x")
    assert isinstance(found, dict)
    assert found["content"][2]["input"] == '{"folder"'


def test_a_streamed_run_has_the_same_verdicts_and_a_column(run, server, truth, folder, capsys):
    whole = run(*BASE, folder=folder / "whole")
    server.answer = streaming(truth)
    status = main(["eval", "--model", "fake", "--base-url", server.base_url, *BASE, "--stream",
                   "--run-dir", str(folder / "streamed")])  # fmt: skip
    said = capsys.readouterr().out
    assert (whole.status, status) == (0, 0)
    assert "time to the first token: 0." in said
    plain, streamed = records(folder / "whole"), records(folder / "streamed")
    results = [{each["id"]: each["result"] for each in run} for run in (plain, streamed)]
    assert results[0] == results[1]
    for record in open_run(folder / "streamed").records:
        times = record.extensions["streaming"].seconds
        assert len(times) == len(record.steps)
        assert all(
            0 < first <= step.latency for first, step in zip(times, record.steps, strict=True)
        )
    assert main(["table", str(folder / "whole"), str(folder / "streamed")]) == 0
    assert "first token s" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--model", "fake", "--api", "responses"], "answers of the API responses cannot be"),
        (
            ["--model", "oracle"],
            "--stream: only live models accept this option; omit it for oracle",
        ),
        (["--model", "python:json:loads"], "is called through a client that cannot stream"),
    ],
)
def test_what_cannot_be_streamed_is_refused(server: FakeServer, tmp_path, capsys, flags, complaint):
    more = ["--base-url", server.base_url] if flags[1] == "fake" else []
    more += [] if flags[1] == "oracle" else ["--run-dir", str(tmp_path / "run")]
    assert main(["eval", *flags, *more, *BASE, "--stream"]) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_another_api_is_refused() -> None:
    with pytest.raises(FatalError, match="the API responses cannot be streamed"):
        StreamedAnswers().fields("responses")
