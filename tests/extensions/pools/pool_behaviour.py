"""What every pool does; modules with a subclass have fixtures ``pool``, ``kill``, ``new_pool``."""

from __future__ import annotations

import pytest

from envs.calls import parse_call
from extensions.pools.environment_holder import Rollout
from runner.rollouts.rollout_env import RolloutEnv
from tests.extensions.pools.policies import SOME, Deadly, Script, actions


def started(env):
    """Return an environment after ``reset``."""
    env.reset()
    return env


def envs():
    """Return environments at their beginnings."""
    return [started(RolloutEnv(trajectory, reward="progress")) for trajectory in SOME]


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


def rollouts():
    """Return the episodes of the ground truth."""
    played = []
    for env, trajectory in zip(envs(), SOME, strict=True):
        first = env.reset()
        steps = tuple((action, env.step(action)) for action in actions(trajectory))
        played.append(Rollout(first, steps))
    return played


def scripts(ids):
    """Return a policy for each environment that follows the ground truth."""
    return {id: Script(list(actions(SOME[n]))) for n, id in enumerate(ids)}


class PoolBehaviour:
    """Tests that every kind of worker passes."""

    def test_it_steps_in_batches_like_one_environment_after_the_other(self, pool):
        ids = pool.add(envs())
        assert list(pool.reset(ids).values()) == [env.reset() for env in envs()]
        assert finish(pool, ids) == expected()

    def test_it_plays_like_one_environment_after_the_other(self, pool):
        ids = pool.add(envs())
        assert list(pool.play(scripts(ids)).values()) == rollouts()
        # The environments keep their states.
        assert finish(pool, ids) == expected()
        assert list(pool.play(scripts(ids)).values()) == rollouts()

    def test_environments_are_taken_as_they_stand(self, pool):
        stepped = envs()
        for env, trajectory in zip(stepped, SOME, strict=True):
            env.step(next(actions(trajectory)))
        ids = pool.add(stepped)
        stepped[0].step("Done.")
        assert finish(pool, ids, after=1) == expected(after=1)

    def test_a_copy_is_independent(self, pool):
        ids = pool.add(envs())
        pool.step({id: next(actions(t)) for id, t in zip(ids, SOME, strict=True)})
        copies = pool.fork(ids)
        assert not set(copies) & set(ids)
        finish(pool, copies, after=1)
        assert finish(pool, ids, after=1) == expected(after=1)

    def test_there_may_be_several_copies_of_one(self, pool):
        (id,) = pool.add(envs()[:1])
        a, b = pool.fork([id, id])
        taken = pool.step({a: "Done.", b: next(actions(SOME[0]))})
        assert (taken[a].info["calls"], len(taken[b].info["calls"])) == (
            [],
            len(SOME[0].turns[0].ground_truth),
        )

    def test_one_bad_action_does_not_hold_up_the_others(self, pool, kill):
        ids = pool.add(envs()[:2])
        with pytest.raises(ValueError, match="pass the arguments of an unknown function by name"):
            pool.step({ids[0]: [parse_call("nothing(1)")], ids[1]: next(actions(SOME[1]))})
        kill(pool._recipes[ids[1]].worker)
        assert pool.step({ids[1]: "Done."})[ids[1]].info == expected()[1][1].info

    def test_a_bug_in_a_backend_does_not_hold_up_the_others(self, pool):
        ids = pool.add([started(Deadly(SOME[0])), *envs()[1:2]])
        with pytest.raises(ValueError, match=rf"environment {ids[0]}: f\(\) raised KeyError"):
            pool.step({ids[0]: "bug", ids[1]: next(actions(SOME[1]))})
        assert pool.step({ids[1]: "Done."})[ids[1]].info == expected()[1][1].info

    @pytest.mark.parametrize("at", [0, 2])
    def test_a_policy_that_raises_does_not_hold_up_the_others(self, pool, at):
        ids = pool.add(envs()[:2])
        wanted = f"environment {ids[0]}: the policy raised KeyError: 'raise'"
        bad = Script([*list(actions(SOME[0]))[:at], "raise"])
        pool.step({ids[0]: next(actions(SOME[0]))})
        with pytest.raises(ValueError, match=wanted):
            pool.play({**scripts(ids), ids[0]: bad})
        assert pool.step({ids[0]: "Done."})[ids[0]].info == expected()[0][1].info

    @pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.slow)])
    def test_a_killed_process_loses_nothing(self, pool, kill, number):
        ids = pool.add(envs())
        pool.step({id: next(actions(t)) for id, t in zip(ids, SOME, strict=True)})
        kill(number)
        copies = pool.fork(ids)
        kill(number)
        assert finish(pool, copies, after=1) == expected(after=1)
        kill(number)
        assert list(pool.play(scripts(ids)).values()) == rollouts()
        assert list(pool.reset(ids).values()) == [env.reset() for env in envs()]
        kill(number)
        assert finish(pool, ids) == expected()

    def test_what_is_dropped_is_gone(self, pool):
        ids = pool.add(envs()[:2])
        pool.drop(ids[:1])
        with pytest.raises(ValueError, match=f"no environment has the number {ids[0]}; use a num"):
            pool.reset(ids[:1])
        with pytest.raises(ValueError, match="no environment has the number 999; use a number"):
            pool.step({999: "Done."})
        assert pool.reset(ids[1:]).keys() == set(ids[1:])

    @pytest.mark.slow
    @pytest.mark.parametrize("word", ["die", "stall"])
    def test_what_kills_or_stalls_every_process_costs_no_other_environment(self, new_pool, word):
        firsts = [next(actions(trajectory)) for trajectory in SOME]
        with new_pool(patience=2.0) as pool:
            ids = pool.add([started(Deadly(each, reward="progress")) for each in SOME])
            lost = f"environment {ids[2]}: every worker that held the"
            with pytest.raises(ValueError, match=lost):
                pool.step({id: word if n == 2 else firsts[n] for n, id in enumerate(ids)})
            if word == "die":
                with pytest.raises(ValueError, match=lost):
                    pool.play({**scripts(ids[:1]), ids[2]: Script([word])})
            # It stands where it stood.
            pool.step({ids[2]: firsts[2]})
            assert finish(pool, ids, after=1) == expected(after=1)
