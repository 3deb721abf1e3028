from __future__ import annotations

import json
import warnings

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from envs.calls import parse_call
from envs.errors import DataError
from extensions.adapters.gymnasium_env import TrajectoryEnv
from extensions.adapters.suite import suite
from runner.rollouts.rollout_env import REWARDS

BASE = suite(category="base")
SOME = list(BASE.dataset.trajectories.values())[:5]
NAME = "extensions.adapters.gymnasium_env:Turnwise-v0"


def message(texts):
    """Return the text of an assistant message that makes calls."""
    calls = [parse_call(text) for text in texts]
    functions = [{"name": c.name, "arguments": json.dumps(dict(c.kwargs))} for c in calls]
    made = [{"type": "function", "function": function} for function in functions]
    return json.dumps({"role": "assistant", "content": None, "tool_calls": made})


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("mode", ["fc", "prompt"])
def test_it_passes_the_library_s_own_check(mode, reward):
    env = gymnasium.make(NAME, category="base", reward=reward, mode=mode)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


def test_the_ground_truth_is_rewarded():
    env = TrajectoryEnv(BASE, reward="progress")
    for trajectory in SOME:
        observation, info = env.reset(options={"id": trajectory.id})
        assert info == {"id": trajectory.id}
        assert json.loads(observation)["messages"][-1]["content"]
        total = 0.0
        for turn in trajectory.turns:
            for action in [message(turn.ground_truth)] * bool(turn.ground_truth) + ["Done."]:
                observation, reward, terminated, truncated, info = env.step(action)
                assert observation in env.observation_space
                total += reward
        assert (terminated, truncated) == (True, False)
        assert total == pytest.approx(1.0)
        assert info["verdict"]["valid"]


def test_a_seed_chooses_the_trajectory():
    env, other = TrajectoryEnv(BASE), TrajectoryEnv(BASE)
    seen = [env.reset(seed=seed)[1]["id"] for seed in range(20)]
    assert seen == [other.reset(seed=seed)[1]["id"] for seed in range(20)]
    assert len(set(seen)) > 1


def test_the_step_limit_truncates():
    env = TrajectoryEnv(BASE)
    env.reset(options={"id": SOME[0].id})
    call = message(SOME[0].turns[0].ground_truth[:1])
    for _ in range(21):
        *_, terminated, truncated, _ = env.step(call)
    assert (terminated, truncated) == (False, True)


def test_there_must_be_such_a_trajectory():
    with pytest.raises(DataError, match="nothing_1"):
        TrajectoryEnv(BASE).reset(options={"id": "nothing_1"})


def test_there_must_be_such_a_profile():
    with pytest.raises(DataError, match="profile: 'lax' is not one of bfcl, strict"):
        gymnasium.make(NAME, profile="lax")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: TrajectoryEnv("base"), "chosen: must be a suite"),
        (lambda: TrajectoryEnv(suite(category="base"), reward="dense"), "reward: must be"),
        (lambda: TrajectoryEnv(suite(category="base"), mode="x"), "mode: must be fc or prompt"),
        (lambda: TrajectoryEnv(suite(category="base")).step("x"), "has not begun; call reset"),
        (lambda: TrajectoryEnv(suite(category="base")).reset(options=[1]), "options: must be"),
        (lambda: TrajectoryEnv(suite(category="base")).reset(options={"id": "x"}), "x"),
    ],
)
def test_a_wrong_use_gives_one_clear_error(wrong, said):
    with pytest.raises(DataError, match=said) as caught:
        wrong()
    assert "\n" not in str(caught.value)
