from __future__ import annotations

import pytest

from checkers.profile import STRICT
from envs.calls import MAX_TEXT
from runner.episodes.dialogue import ExecutedAnswer
from runner.episodes.script_playback import start_episode
from runner.live.step_recording import (
    answer_of,
    describe_step,
    end_of,
    user_answer_of,
    user_reply_of,
)
from runner.models.model_types import Reply, ToolCall, Usage, VerbatimParts
from runner.records.episode_record import ReplyRecord, ResumableStep
from tests.runner.records import made
from trajectories.prepared_trajectory import prepare


@pytest.mark.parametrize(
    ("text", "stop", "why"),
    [
        ("Done.", "stop", "answer"),
        ("Don", "length", "cut_off"),
        ("", "content_filter", "content_filter"),
        ("I found", "content_filter", "content_filter"),
        ("No.", "refusal", "refusal"),
        ("", "stop", "empty"),
        ("[ls()]", "stop", "unreadable"),
        ("I called `ls()` for you.", "stop", "answer"),
    ],
)
def test_the_stop_reason_of_the_server_says_why_a_turn_ended(dataset_of, folders, text, stop, why):
    episode = start_episode(prepare(dataset_of(folders), folders, STRICT), STRICT, 20)
    reply = Reply(text, (), None, stop, Usage(), 0.5)
    assert end_of(ExecutedAnswer(0, (), None), reply, episode).why == why


LONG = "x" * (MAX_TEXT + 1)


@pytest.mark.parametrize(
    ("reply", "taken", "end"),
    [
        (("Done.", "stop"), ("problem", False), ("answer", None)),
        (("Done.", None), (None, True), ("answer", None)),
        (("", None), (None, False), ("empty", None)),
        ((None, "stop"), (None, False), ("empty", None)),
        ((" \n", "stop"), ("problem", False), ("empty", None)),
        (("Done.", "stop"), ("problem", True), ("unreadable", "problem")),
        (("[ls(]", "stop"), ("problem", False), ("unreadable", "problem")),
        (("Do", "length"), ("problem", True), ("cut_off", "problem")),
        (("Do", "length"), (None, True), ("cut_off", None)),
        (("No.", "refusal"), ("problem", True), ("refusal", None)),
        ((LONG, "stop"), ("too long", False), ("answer", "too long")),
        ((LONG[1:], "stop"), ("too long", False), ("answer", None)),
        ((LONG, "refusal"), ("too long", False), ("refusal", "too long")),
    ],
)
def test_the_end_of_a_turn_has_the_problem_of_calls_that_cannot_be_read(
    dataset_of, folders, reply, taken, end
):
    text, stop = reply
    problem, meant = taken
    episode = start_episode(prepare(dataset_of(folders), folders, STRICT), STRICT, 20)
    ended = end_of(
        ExecutedAnswer(1, (), problem, meant=meant),
        Reply(text, (), None, stop, Usage(), 0.5),
        episode,
    )
    assert ended == (1, *end)


REPLY = Reply("a", (ToolCall("1", "f", "{}"),), "why", "stop", Usage(5, 6), 0.5, 0.25)


def test_a_recorded_reply_of_the_user_is_the_reply_again():
    record = user_reply_of(REPLY, 3)
    assert record == (("a", REPLY.tool_calls, "why", "stop"), Usage(5, 6), 0.5, 0.25, 3)
    assert user_answer_of(record) == (REPLY, 3)


@pytest.mark.parametrize(
    ("message", "verbatim"),
    [
        ({"role": "assistant", "content": "a"}, None),
        ({"role": "assistant", "content": "a", "tool_calls": [{"id": "1", "type": "f"}]}, None),
        ({"content": "a", "signature": "s"}, ({"signature": "s"}, ())),
        (
            {"content": None, "tool_calls": [{"id": "1"}, {"function": {}, "index": 5}]},
            ({}, ({}, {"index": 5})),
        ),
        (
            {"role": "assistant", "content": [{"type": "text"}]},
            ({"content": [{"type": "text"}]}, ()),
        ),
    ],
)
def test_a_recorded_answer_has_the_fields_that_the_server_expects_back(message, verbatim):
    reply = ReplyRecord("a", [*REPLY.tool_calls], "why", "stop")
    step = made.step(0)._replace(reply=reply, usage=Usage(5, 6), latency=0.5, cost=0.25)
    assert answer_of(ResumableStep("x", 0, step, message)) == REPLY._replace(
        verbatim=verbatim and VerbatimParts(*verbatim)
    )


def test_steps_are_compared_without_their_time_and_cost():
    step = made.step(1, ["f()"], ["1"])
    same = step._replace(latency=9.0, cost=1.0, attempts=5, usage=Usage(7), calls=("f()",))
    assert describe_step(step) == describe_step(same)
    for changed in (
        {"turn": 2},
        {"request_messages": 5},
        {"tools": "d"},
        {"calls": ["g()"]},
        {"results": ["2"]},
    ):
        assert describe_step(step) != describe_step(step._replace(**changed))
