from __future__ import annotations

import asyncio
import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.profile import BFCL, STRICT
from envs.backends.ticket import TicketAPI
from envs.calls import Call, parse_call
from envs.errors import BackendFault, DataError
from envs.state import copy_json
from runner.episodes.script_playback import make_truth_script
from runner.rollouts.rollout_env import REWARDS, RolloutEnv
from tests.envs.test_results import spoil
from tests.examples import examples
from tests.judging import run_script
from trajectories.dataset import load_embedded
from trajectories.prepared_trajectory import prepare
from trajectories.replay_queries import retried_calls
from trajectories.schema import MULTI_TURN

both_modes = pytest.mark.parametrize("mode", ["fc", "prompt"])
each_category = pytest.mark.parametrize("category", MULTI_TURN)


@cache
def embedded():
    return load_embedded(MULTI_TURN)


@cache
def last_of(category):
    """Return the last trajectory of a category."""
    return [t for t in embedded().trajectories.values() if t.category is category][-1]


def started(trajectory, *given, **more):
    """Return an environment after ``reset``."""
    env = RolloutEnv(trajectory, *given, **more)
    env.reset()
    return env


def actions(trajectory):
    """Return what a model does that knows the ground truth."""
    for turn in trajectory.turns:
        if turn.ground_truth:
            yield retried_calls(turn)
        yield "Done."


def course(env, some):
    """Take actions and return the transitions."""
    return [env.step(action) for action in some]


def message(*calls, text=None):
    """Return an assistant message."""
    functions = [{"name": c.name, "arguments": json.dumps(dict(c.kwargs))} for c in calls]
    made = [{"id": f"c{n}", "type": "function", "function": f} for n, f in enumerate(functions)]
    return {"role": "assistant", "content": text, "tool_calls": made}


# Steps


@both_modes
@each_category
@pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda profile: profile.name)
def test_the_ground_truth_earns_every_reward_in_full(category, profile, mode):
    trajectory = last_of(category)
    for reward in REWARDS:
        env = started(trajectory, profile, dataset=embedded(), reward=reward, mode=mode)
        taken = course(env, actions(trajectory))
        assert sum(t.reward for t in taken) == pytest.approx(1.0)
        assert [t.terminated for t in taken] == [False] * (len(taken) - 1) + [True]
        assert not any(t.truncated for t in taken)
        assert taken[-1].info["verdict"]["valid"]
        truth = run_script(
            prepare(embedded(), trajectory, profile), make_truth_script(trajectory), profile
        )
        assert env.verdict == truth


def test_progress_is_paid_when_a_turn_passes_and_not_after_a_failed_one(help_desk):
    env = started(help_desk, reward="progress")
    rewards = [env.step([parse_call(help_desk.turns[0].ground_truth[0])]).reward]
    rewards.append(env.step("Done.").reward)
    rewards.append(env.step([parse_call("create_ticket(title='More')")]).reward)
    last = course(env, ["Done.", "Done."])
    assert [*rewards, *(t.reward for t in last)] == [0, pytest.approx(1 / 3), 0, 0, 0]
    assert last[-1].info["turns_passed"] == env.verdict.turns_passed == 1


def test_what_was_observed_may_be_changed_and_nobody_else_sees_it(help_desk):
    env = started(help_desk)
    first = env.reset()
    fork = env.fork()
    first.tools[0]["function"]["description"] = "changed"
    first.messages[0]["content"] = "changed"
    for other in (env, fork, started(help_desk)):
        seen = other.reset()
        assert seen.tools[0]["function"]["description"] != "changed"
        assert seen.messages[0]["content"] == "My screen is dark."


def test_an_observation_is_what_is_new_to_the_model(help_desk):
    env = started(help_desk)
    first = env.reset()
    assert first.messages == ({"role": "user", "content": "My screen is dark."},)
    names = [tool["function"]["name"] for tool in first.tools]
    assert "create_ticket" in names
    assert "close_ticket" not in names
    made = env.step(message(parse_call("create_ticket(title='Dark screen')")))
    (result,) = made.observation.messages
    assert (result["role"], result["tool_call_id"]) == ("tool", "c0")
    assert json.loads(result["content"])["title"] == "Dark screen"
    second = env.step("Your ticket is open.").observation
    assert second.messages == ({"role": "user", "content": "Close the printer ticket."},)
    third = env.step("I cannot.").observation
    assert [tool["function"]["name"] for tool in third.tools][-1] == "close_ticket"
    assert [m["role"] for m in env.messages] == [
        "user", "assistant", "tool", "assistant", "user", "assistant", "user"
    ]  # fmt: skip


def test_a_call_may_be_given_by_position(help_desk):
    env = started(help_desk)
    given = env.step([Call("create_ticket", ("Dark screen",))])
    assert given.info["calls"] == ["create_ticket(title='Dark screen')"]


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ([Call("f", (Call("g"),), nested=True)], "make the inner call first"),
        ([Call("nothing", (1,))], "by name"),
        ([Call("get_ticket", (1, 2))], "takes 1"),
    ],
)
def test_what_is_no_action_is_refused_and_changes_nothing(help_desk, action, said):
    env = started(help_desk)
    env.reset()
    before = env.snapshot()
    with pytest.raises(ValueError, match=said):
        env.step(action)
    assert env.snapshot() == before


@both_modes
def test_hostile_text_is_an_answer_or_a_refused_call(help_desk, mode):
    env = started(help_desk, mode=mode)
    for text in ("__import__('os').system('ls')", "[" * 5_000, "\x00\ud800", "f(" * 500):
        assert all(key in env.step(text).info for key in ("problem", "verdict"))
        env.reset()
    refused = started(help_desk).step(message(Call("__class__", (), {"a": 1})))
    assert "There is no function" in refused.observation.messages[0]["content"]


def test_the_step_limit_truncates(help_desk):
    env = started(help_desk, step_limit=1)
    look = [Call("ticket_get_login_status")]
    first, second = course(env, [look, look])
    assert (first.terminated, first.truncated) == (False, False)
    assert (second.terminated, second.truncated, second.reward) == (True, True, 0.0)
    with pytest.raises(ValueError, match="reset"):
        env.step(look)
    assert env.reset() == RolloutEnv(help_desk).reset()


# Forks, snapshots, pickles


@settings(max_examples=examples(25), deadline=None)
@given(data=st.data())
@each_category
def test_forks_snapshots_and_pickles_go_on_alike(category, data):
    trajectory = last_of(category)
    # A pickle takes along the data set: one of a single entry here.
    alone = replace(embedded(), trajectories={trajectory.id: trajectory})
    some = list(actions(trajectory))
    cut = data.draw(st.integers(0, len(some) - 1))
    env = started(trajectory, dataset=alone, reward="progress")
    course(env, some[:cut])
    restored = started(trajectory, dataset=alone, reward="progress")
    restored.restore(env.snapshot())
    others = [env.fork(), restored, pickle.loads(pickle.dumps(env))]
    at_cut = env.snapshot()
    expected = course(env, some[cut:])
    for other in others:
        assert other.snapshot() == at_cut
        assert course(other, some[cut:]) == expected
        assert other.snapshot() == env.snapshot()
        assert other.messages == env.messages


def test_a_snapshot_is_the_same_in_every_process(help_desk, tmp_path):
    trajectory = next(iter(embedded().trajectories.values()))
    code = (
        "import sys\n"
        "from envs.calls import parse_call\n"
        "from runner.rollouts.rollout_env import RolloutEnv\n"
        "from trajectories.dataset import load_embedded\n"
        "from trajectories.schema import Category\n"
        "t = next(iter(load_embedded([Category.BASE]).trajectories.values()))\n"
        "env = RolloutEnv(t)\n"
        "env.reset()\n"
        "env.step([parse_call(text) for text in t.turns[0].ground_truth])\n"
        "sys.stdout.buffer.write(env.snapshot())"
    )
    env = started(trajectory)
    env.step([parse_call(text) for text in trajectory.turns[0].ground_truth])
    for seed in ("0", "1"):
        made = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert made.stdout == env.snapshot()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda held: b"no JSON", "was not made by"),
        (lambda held: b'{"replies": 1}', "was not made by"),
        (lambda held: {**held, "format": 99}, "the snapshot's format is 99"),
        (lambda held: {**held, "trajectory": "other"}, "the snapshot's trajectory is 'other'"),
        (lambda held: {**held, "profile": "bfcl"}, "profile"),
        (lambda held: {**held, "state": "0" * 64}, "another state"),
        (lambda held: {**held, "replies": [["Hi", []]] * 9}, "do not fit"),
        (lambda held: {**held, "replies": [[None, [["a"]]]]}, "do not fit"),
    ],
)
def test_a_snapshot_that_does_not_fit_is_refused_and_changes_nothing(help_desk, change, said):
    env = started(help_desk)
    env.step("Hello.")
    before = env.snapshot()
    changed = change(json.loads(before))
    bad = changed if isinstance(changed, bytes) else json.dumps(changed).encode()
    with pytest.raises(DataError, match=said):
        env.restore(bad)
    assert env.snapshot() == before


# Seeds


def test_a_seed_replaces_what_is_drawn():
    everything = embedded().trajectories.values()
    seeded = next(t for t in everything if "VehicleControlAPI" in t.environments)
    look = [Call("check_tire_pressure")]
    one, same, other = (started(seeded, seed=seed, profile=BFCL) for seed in (1, 1, 2))
    assert one.step(look) == same.step(look)
    assert one.snapshot() != other.snapshot()


def test_a_seed_under_which_the_ground_truth_fails_is_refused():
    trajectory = embedded().trajectories["composite_travel_ticket_new_hire_trip"]
    with pytest.raises(DataError, match="randomly drawn"):
        started(trajectory, seed=7, dataset=embedded())


# Many at once


def test_several_are_stepped_together_and_one_that_is_over_waits_for_the_others(help_desk):
    envs = [started(help_desk, reward="progress") for _ in range(3)]
    assert [env.verdict for env in envs] == [None, None, None]
    for actions in ({0: "a", 2: "a"}, {0: "b", 2: [Call("ticket_get_login_status")]}, {0: "c"}):
        taken = {index: envs[index].step(action) for index, action in actions.items()}
    assert taken[0].terminated
    assert [env.verdict is None for env in envs] == [False, True, True]
    assert not asyncio.run(envs[1].astep("a")).terminated


def test_stepping_awaits_nothing(help_desk):
    env, other = started(help_desk), started(help_desk)
    assert asyncio.run(env.astep("Done.")) == other.step("Done.")


# What is given away


@given(st.sampled_from(MULTI_TURN))
@settings(max_examples=10)
def test_who_changes_observations_changes_no_episode(category):
    trajectory = last_of(category)
    script = list(actions(trajectory))
    untouched, spoilt = started(trajectory), started(trajectory)
    fork = spoilt.fork()
    first, unchanged = spoilt.reset(), untouched.reset()
    spoil(first)
    for action in script:
        expected, made = untouched.step(action), spoilt.step(action)
        if made.observation.tools is first.tools:
            assert expected.observation.tools == unchanged.tools
            expected = expected._replace(
                observation=expected.observation._replace(tools=first.tools)
            )
        assert made == expected
        spoil(made.observation.messages)
        spoil(made.info)
    assert spoilt.snapshot() == untouched.snapshot()
    assert spoilt.verdict == untouched.verdict
    assert fork.reset() == RolloutEnv(trajectory).reset()


def test_the_tools_of_an_episode_are_copied_again_when_they_change(help_desk):
    env = started(help_desk)
    first = env.reset()
    same = env.step(message(parse_call("create_ticket(title='Dark screen')"))).observation
    assert same.tools is first.tools
    fork = env.fork()
    env.step("Your ticket is open.")
    third = env.step("I cannot.").observation
    assert len(third.tools) == len(first.tools) + 1
    fork.step("Your ticket is open.")
    assert fork.step("I cannot.").observation.tools is not third.tools


def test_an_environment_is_sent_without_the_other_trajectories():
    data = embedded()
    trajectory = next(iter(data.trajectories.values()))
    sent = RolloutEnv(trajectory, dataset=data)
    assert len(pickle.dumps(sent)) < len(pickle.dumps([*data.trajectories.values()])) / 10
    there = pickle.loads(pickle.dumps(sent))
    assert [*there.dataset.trajectories] == [trajectory.id]
    assert there.reset() == sent.reset()


def test_the_whole_chat_is_a_copy():
    env = started(last_of(MULTI_TURN[0]))
    env.step(next(actions(last_of(MULTI_TURN[0]))))
    before = copy_json(list(env.messages))
    spoil(env.messages)
    assert list(env.messages) == before != []


@pytest.mark.parametrize("action", [None, 5, ["end_day()"], parse_call("pwd()"), [None]])
def test_what_is_no_action_is_refused_in_one_line(help_desk, action):
    env = started(help_desk)
    env.reset()
    with pytest.raises(
        ValueError, match="action: must be a string, an assistant message or a list"
    ):
        env.step(action)


def test_a_bug_in_a_backend_ends_the_trajectory_until_a_reset(monkeypatch, help_desk):
    env = started(help_desk)
    before = env.snapshot()
    get_ticket = parse_call("get_ticket(ticket_id=1)")
    with monkeypatch.context() as patched:
        patched.setattr(TicketAPI, "_find", lambda self, ticket_id: 1 / 0)
        with pytest.raises(
            BackendFault, match=r"^TicketAPI\.get_ticket\(ticket_id=1\) raised Zero"
        ) as info:
            env.step([get_ticket])
    assert isinstance(info.value.__cause__, ZeroDivisionError)
    with pytest.raises(DataError, match="is not running; call reset"):
        env.step("Done.")
    env.restore(before)
    assert not env.step("Done.").terminated
    env.reset()
    assert env.snapshot() == before
