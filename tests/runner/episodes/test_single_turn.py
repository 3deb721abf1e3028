from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace

import pytest

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.profile import BFCL, STRICT
from checkers.reasons import Reason
from runner.episodes.judging import evaluate
from runner.live.episode_player import EpisodeSetup, ModelAnswer, run_live
from runner.live.workers import LocalWorkers
from runner.models.calling_formats.format_types import NOTED
from runner.models.conversation import ConversationSettings
from runner.models.model_types import Reply, ToolCall, Usage
from runner.models.prompting import read_prompts
from runner.models.toolbox import toolbox_of
from runner.rollouts.rollout_env import RolloutEnv
from tests.judging import run_recorded
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category

WAIT = {
    "name": "clock.wait",
    "description": "Wait.",
    "parameters": {
        "type": "dict",
        "properties": {"n": {"type": "integer", "description": "Seconds."}},
        "required": ["n"],
    },
}
ANSWER = {"clock.wait": {"n": [5]}}
RIGHT = [{"clock_wait": '{"n": 5}'}]
both_profiles = pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda p: p.name)


@pytest.fixture
def entry(single_turn):
    """Return an entry that wants one call."""
    return single_turn("python", WAIT, ANSWER)


@pytest.fixture
def judge_step(dataset_of):
    """Judge the one step of an entry."""

    def judged(entry, step, mode, profile):
        return run_recorded(prepare(dataset_of(entry), entry, profile), [[step]], mode, profile)

    return judged


def live(data, trajectory, mode, profile, reply):
    """Run an entry with one scripted reply."""
    run, asked = live_on(data, trajectory, mode, profile, [reply], asks_on=False)
    assert len(asked) == 1
    return run, asked[0]


def live_on(data, trajectory, mode, profile, replies, *, limit=20, asks_on=True):
    """Run an entry with scripted replies, of which the last is given for ever."""
    asked = []

    async def ask(request):
        asked.append(request._replace(messages=[*request.messages]))
        return ModelAnswer(replies[min(len(asked), len(replies)) - 1], 1)

    style = ConversationSettings(toolbox_of(trajectory), read_prompts(), "all", asks_on=asks_on)
    setup = EpisodeSetup(
        prepared=prepare(data, trajectory, profile),
        style=style,
        mode=mode,
        profile=profile,
        step_limit=limit,
        ask=ask,
        put_tools=lambda *_: None,
    )
    return asyncio.run(run_live(setup)), asked


def waiting(*seconds):
    """Return a reply that waits so many times."""
    calls = [ToolCall("a", "clock_wait", json.dumps({"n": n})) for n in seconds]
    return Reply(None, tuple(calls), None, None, Usage(), 0.0)


DONE = Reply("Done.", (), None, None, Usage(), 0.0)


# Judging


@both_profiles
def test_the_calls_of_the_one_step_are_judged(judge_step, entry, profile):
    assert judge_step(entry, RIGHT, "fc", profile).valid
    assert judge_step(entry, "[clock.wait(n=5)]", "prompt", profile).valid
    wrong = judge_step(entry, [{"clock_wait": '{"n": 6}'}], "fc", profile)
    assert (wrong.valid, wrong.failed_turn, wrong.turns, wrong.turns_passed) == (False, 0, 1, 0)
    assert wrong.failure.reason is Reason.OTHER_VALUE
    shown = json.loads(json.dumps(wrong.to_json()))
    assert shown["error_type"] == "value_error:others"
    assert (shown["calls"]["parameter"], shown["calls"]["expected"]) == ("n", [5])


@pytest.mark.parametrize(
    ("category", "called", "silent"),
    [
        (Category.IRRELEVANCE, False, True),
        (Category.LIVE_IRRELEVANCE, False, True),
        (Category.CHAT, False, True),
        (Category.LIVE_RELEVANCE, True, False),
    ],
)
@both_profiles
def test_some_categories_only_ask_whether_a_call_is_made(
    judge_step, single_turn, category, called, silent, profile
):
    entry = single_turn("python", WAIT, category=category)
    assert judge_step(entry, RIGHT, "fc", profile).valid is called
    assert judge_step(entry, "There is nothing to wait for.", "fc", profile).valid is silent


@pytest.mark.parametrize("category", [Category.PARALLEL, Category.LIVE_PARALLEL_MULTIPLE])
@both_profiles
def test_parallel_calls_come_in_any_order(judge_step, single_turn, category, profile):
    answers = [{"clock.wait": {"n": [n]}} for n in (1, 2)]
    entry = single_turn("python", WAIT, *answers, category=category)
    step = [{"clock_wait": json.dumps({"n": n})} for n in (2, 1)]
    assert judge_step(entry, step, "fc", profile).valid
    assert not judge_step(entry, step[:1], "fc", profile).valid


def test_a_failed_request_is_the_model_s_fault_only_for_the_reference(
    judge_step, single_turn, dataset_of
):
    entry = single_turn("python", WAIT, category=Category.IRRELEVANCE)
    error = "Error during inference: 500"
    assert judge_step(entry, error, "fc", BFCL).valid
    with pytest.raises(UnjudgeableEntry, match="the request failed"):
        judge_step(entry, error, "fc", STRICT)

    def run(prepared):
        return run_recorded(prepared, [[error]], "fc", STRICT)

    (judged,) = evaluate(dataset_of(entry), [entry], STRICT, run)
    assert (judged.verdict, judged.error) == (None, "the request failed")


@both_profiles
def test_a_record_without_a_step_is_no_answer(entry, dataset_of, profile):
    prepared = prepare(dataset_of(entry), entry, profile)
    verdict = run_recorded(prepared, [[]], "fc", profile)
    assert (verdict.valid, verdict.failure.reason.value) == (False, "multi_turn:force_terminated")


# In the harness


@both_profiles
def test_a_function_calling_model_is_asked_once(dataset_of, entry, profile):
    reply = Reply(None, (ToolCall("a", "clock_wait", '{"n": 5}'),), None, None, Usage(), 0.0)
    run, request = live(dataset_of(entry), entry, "fc", profile, reply)
    assert run.verdict.valid
    assert run.result == [[[{"clock_wait": '{"n": 5}'}]]]
    (tool,) = request.tools.tools
    assert tool["function"]["name"] == "clock_wait"
    assert run.steps[0].calls == ["clock_wait(n=5)"]
    assert run.steps[0].results == []


@both_profiles
def test_a_prompting_model_is_asked_once(dataset_of, entry, profile):
    reply = Reply("[clock.wait(n=6)]", (), None, None, Usage(), 0.0)
    run, request = live(dataset_of(entry), entry, "prompt", profile, reply)
    assert run.verdict.failure.reason is Reason.OTHER_VALUE
    assert "clock.wait" in request.messages[0]["content"]
    assert run.result == [["[clock.wait(n=6)]"]]


@both_profiles
def test_a_model_of_one_call_a_step_is_asked_until_it_makes_none(single_turn, dataset_of, profile):
    answers = [{"clock.wait": {"n": [n]}} for n in (1, 2, 3)]
    entry = single_turn("python", WAIT, *answers, category=Category.PARALLEL)
    data = dataset_of(entry)
    run, asked = live_on(data, entry, "fc", profile, [waiting(1), waiting(2, 3), DONE])
    assert run.verdict.valid
    assert run.result == [[[{"clock_wait": json.dumps({"n": n})} for n in (1, 2, 3)]]]
    assert [len(step.calls) for step in run.steps] == [1, 2, 0]
    shown = [message["content"] for message in asked[-1].messages if message["role"] == "tool"]
    assert shown == [json.dumps(NOTED)] * 3
    assert run_recorded(prepare(data, entry, profile), run.result, "fc", profile) == run.verdict


@both_profiles
def test_a_call_too_many_counts_where_a_model_is_asked_on(entry, dataset_of, profile):
    data = dataset_of(entry)
    assert live_on(data, entry, "fc", profile, [waiting(5), DONE])[0].verdict.valid
    run, _ = live_on(data, entry, "fc", profile, [waiting(5), waiting(5), DONE])
    assert not run.verdict.valid
    run, asked = live_on(data, entry, "fc", profile, [DONE, waiting(5)])
    assert (run.verdict.valid, len(asked)) == (False, 1)


@pytest.mark.parametrize("limit", [1, 2, 20])
def test_who_never_stops_is_stopped(entry, dataset_of, limit):
    run, asked = live_on(dataset_of(entry), entry, "fc", STRICT, [waiting(5)], limit=limit)
    assert len(asked) == limit
    assert run.verdict.valid is (limit == 1)


@both_profiles
def test_a_call_that_cannot_be_read_ends_a_single_turn(entry, dataset_of, profile):
    broken = waiting(5)._replace(tool_calls=(ToolCall("a", "clock_wait", '{"n": '),))
    run, asked = live_on(dataset_of(entry), entry, "fc", profile, [waiting(5), broken, DONE])
    assert (run.verdict.valid, len(asked)) == (False, 2)
    assert run.result == [[[*RIGHT, {"clock_wait": '{"n": '}]]]


@both_profiles
def test_what_was_recorded_of_a_live_run_is_judged_alike(dataset_of, entry, profile):
    data = dataset_of(entry)
    for arguments in ('{"n": 5}', '{"n": "5"}', "{", "[]"):
        calls = (ToolCall("a", "clock_wait", arguments),)
        run, _ = live(data, entry, "fc", profile, Reply(None, calls, None, None, Usage(), 0.0))
        prepared = prepare(data, entry, profile)
        assert run_recorded(prepared, run.result, "fc", profile) == run.verdict


def test_a_rollout_pays_for_the_right_call(entry):
    for reward in ("verdict", "turns_passed", "progress"):
        env = RolloutEnv(entry, reward=reward)
        env.reset()
        right = {
            "role": "assistant",
            "tool_calls": [{"function": {"name": "clock_wait", "arguments": '{"n": 5}'}}],
        }
        done = env.fork().step(right)
        assert (done.reward, done.terminated) == (1.0, True)
        assert env.step("I would rather not.").reward == 0.0


def test_many_entries_are_compared_in_one_process(entry, dataset_of, monkeypatch):
    monkeypatch.delattr(os, "fork", raising=False)
    entries = [replace(entry, id=f"{entry.id}_{number}") for number in range(500)]

    def run(prepared):
        return run_recorded(prepared, [[RIGHT]], "fc", BFCL)

    judged = [*LocalWorkers().judge(dataset_of(*entries), entries, BFCL, run)]
    assert [record.outcome for record in judged] == ["passed"] * 500
