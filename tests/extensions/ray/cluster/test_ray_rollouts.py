"""A pool of environments on a real cluster steps like the environments themselves."""

from __future__ import annotations

import os
import signal

import pytest

from envs.calls import parse_call
from envs.errors import BackendFault
from extensions.ray.rollout_pool import RolloutPool
from runner.rollouts.rollout_env import RolloutEnv
from trajectories.dataset import load_embedded
from trajectories.schema import Category

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")

SOME = list(load_embedded([Category.BASE]).trajectories.values())[:4]


class Deadly(RolloutEnv):
    """An environment that kills, stalls or breaks its process at three words."""

    def step(self, action):
        """Die, stall or raise at the words, else step."""
        if action == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if action == "stall":
            signal.pause()
        if action == "bug":
            raise BackendFault("f()", KeyError("x"))
        return super().step(action)


def actions(trajectory):
    """Return what a model does that knows the ground truth."""
    for turn in trajectory.turns:
        yield [parse_call(text) for text in turn.ground_truth]
        yield "Done."


def started(env):
    """Return an environment after ``reset``."""
    env.reset()
    return env


def envs():
    """Return environments at their beginnings."""
    return [started(RolloutEnv(trajectory, reward="progress")) for trajectory in SOME]


@pytest.fixture
def pool(cluster):
    """Return a pool with nothing in it."""
    with RolloutPool(cluster) as pool:
        yield pool


def kill(pool, number):
    """Kill one of a pool's processes."""
    pool._ray.kill(pool._workers[number], no_restart=True)


def finish(pool, ids, after=0):
    """Step environments by the ground truth to their ends, in batches, and return all steps."""
    left = {id: list(actions(SOME[n]))[after:] for n, id in enumerate(ids)}
    taken = {id: [] for id in ids}
    while left:
        for id, transition in pool.step({id: some.pop(0) for id, some in left.items()}).items():
            taken[id].append(transition)
        left = {id: some for id, some in left.items() if some}
    return [taken[id] for id in ids]


def expected(after=0):
    """Return the steps of the environments themselves."""
    steps = []
    for env, trajectory in zip(envs(), SOME, strict=True):
        steps.append([env.step(action) for action in actions(trajectory)][after:])
    return steps


def test_it_steps_in_batches_like_one_environment_after_the_other(pool):
    ids = pool.add(envs())
    assert list(pool.reset(ids).values()) == [env.reset() for env in envs()]
    assert finish(pool, ids) == expected()


def test_environments_are_taken_as_they_stand(pool):
    stepped = envs()
    for env, trajectory in zip(stepped, SOME, strict=True):
        env.step(next(actions(trajectory)))
    assert finish(pool, pool.add(stepped), after=1) == expected(after=1)


def test_a_copy_is_independent(pool):
    ids = pool.add(envs())
    pool.step({id: next(actions(t)) for id, t in zip(ids, SOME, strict=True)})
    copies = pool.fork(ids)
    assert not set(copies) & set(ids)
    finish(pool, copies, after=1)
    assert finish(pool, ids, after=1) == expected(after=1)


def test_there_may_be_several_copies_of_one(pool):
    (id,) = pool.add(envs()[:1])
    a, b = pool.fork([id, id])
    taken = pool.step({a: "Done.", b: next(actions(SOME[0]))})
    assert (taken[a].info["calls"], len(taken[b].info["calls"])) == (
        [],
        len(SOME[0].turns[0].ground_truth),
    )


@pytest.mark.parametrize("number", [0, 1])
def test_a_killed_process_loses_nothing(pool, number):
    ids = pool.add(envs())
    pool.step({id: next(actions(t)) for id, t in zip(ids, SOME, strict=True)})
    kill(pool, number)
    copies = pool.fork(ids)
    kill(pool, number)
    assert finish(pool, copies, after=1) == expected(after=1)
    assert list(pool.reset(ids).values()) == [env.reset() for env in envs()]
    kill(pool, number)
    assert finish(pool, ids) == expected()


def test_one_bad_action_does_not_hold_up_the_others(pool):
    ids = pool.add(envs()[:2])
    with pytest.raises(ValueError, match="pass the arguments of an unknown function by name"):
        pool.step({ids[0]: [parse_call("nothing(1)")], ids[1]: next(actions(SOME[1]))})
    kill(pool, 1)
    assert pool.step({ids[1]: "Done."})[ids[1]].info == expected()[1][1].info


def test_a_bug_in_a_backend_does_not_hold_up_the_others(pool):
    ids = pool.add([started(Deadly(SOME[0])), *envs()[1:2]])
    with pytest.raises(ValueError, match=rf"environment {ids[0]}: f\(\) raised KeyError"):
        pool.step({ids[0]: "bug", ids[1]: next(actions(SOME[1]))})
    assert pool.step({ids[1]: "Done."})[ids[1]].info == expected()[1][1].info


@pytest.mark.parametrize("word", ["die", "stall"])
def test_what_kills_or_stalls_every_process_costs_no_other_environment(cluster, word):
    firsts = [next(actions(trajectory)) for trajectory in SOME]
    with RolloutPool(cluster, patience=4.0) as pool:
        ids = pool.add([started(Deadly(each, reward="progress")) for each in SOME])
        with pytest.raises(ValueError, match=f"environment {ids[2]}: every worker that held the"):
            pool.step({id: word if n == 2 else firsts[n] for n, id in enumerate(ids)})
        # It stands where it stood.
        pool.step({ids[2]: firsts[2]})
        assert finish(pool, ids, after=1) == expected(after=1)


def test_what_is_dropped_is_gone(pool):
    ids = pool.add(envs()[:2])
    pool.drop(ids[:1])
    with pytest.raises(ValueError, match=f"no environment has the number {ids[0]}; use a number"):
        pool.reset(ids[:1])
    with pytest.raises(ValueError, match="no environment has the number 999; use a number"):
        pool.step({999: "Done."})
    assert pool.reset(ids[1:]).keys() == set(ids[1:])
