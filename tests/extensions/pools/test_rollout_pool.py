"""A pool of plain processes."""

from __future__ import annotations

import pytest

from envs.errors import DataError
from extensions.pools.rollout_pool import RolloutPool
from runner.rollouts.rollout_env import RolloutEnv
from tests.extensions.pools.policies import SOME, Deadly, Unreadable, actions
from tests.extensions.pools.pool_behaviour import PoolBehaviour, envs, expected, scripts, started


@pytest.fixture(scope="module")
def pool():
    """Return a pool of two processes, which the tests share."""
    with RolloutPool(2) as pool:
        yield pool


@pytest.fixture
def kill(pool):
    """Return a function that kills one of the pool's processes."""
    return lambda number: pool._workers._processes[number].process.kill()


@pytest.fixture
def new_pool():
    """Return a function that makes another pool of two processes."""
    return lambda **how: RolloutPool(2, **how)


class TestPoolOfProcesses(PoolBehaviour):
    """The tests of all pools, with processes."""


def test_a_policy_that_cannot_be_sent_does_not_hold_up_the_others(pool):
    ids = pool.add(envs()[:3])
    wanted = rf"environment {ids[2]}: cannot be sent to a worker process: .*; define it in a module"
    with pytest.raises(ValueError, match=wanted):
        pool.play({**scripts(ids), ids[2]: lambda shown: "Done."})
    assert pool.play(scripts(ids[:2])).keys() == set(ids[:2])


def test_a_value_that_is_no_environment_is_refused_at_once(pool):
    with pytest.raises(DataError, match="envs: must be a RolloutEnv, but is Trajectory"):
        pool.add([*envs()[:1], SOME[0]])
    ids = pool.add(envs()[:2])
    assert pool.reset(ids).keys() == set(ids)


def test_an_error_of_ours_in_a_worker_costs_no_other_environment(pool):
    ids = pool.add([started(Deadly(SOME[0])), *envs()[1:3]])
    first = next(actions(SOME[1])), next(actions(SOME[2]))
    with pytest.raises(ValueError, match=f"environment {ids[0]}: TypeError: a bug of ours"):
        pool.step({ids[0]: "crash", ids[1]: first[0], ids[2]: first[1]})
    taken = pool.step({ids[1]: "Done.", ids[2]: "Done."})
    assert [each.info for each in taken.values()] == [expected()[n][1].info for n in (1, 2)]


def test_an_environment_that_cannot_be_sent_is_refused(pool):
    env = started(Deadly(SOME[0]))
    env.opened = lambda: None
    with pytest.raises(DataError, match=r"envs: cannot be sent to a worker process: .*; define it"):
        pool.add([env])


def test_a_result_that_cannot_be_read_costs_no_other_environment(pool):
    ids = pool.add(envs()[:2])
    policies = {**scripts(ids), ids[0]: Unreadable()}
    with pytest.raises(ValueError, match=f"environment {ids[0]}: .*cannot be read: TypeError"):
        pool.play(policies)
    assert pool.reset(ids).keys() == set(ids)


def test_a_late_answer_is_not_taken_for_the_next_one(pool, monkeypatch):
    ids = pool.add(envs()[:2])

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pool._workers, "answer", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pool.reset(ids)
    assert list(pool.reset(ids).values()) == [RolloutEnv(each).reset() for each in SOME[:2]]


def test_a_closed_pool_starts_no_process_again():
    with RolloutPool(1) as pool:
        (id,) = pool.add(envs()[:1])
    for use in (lambda: pool.step({id: "Done."}), lambda: pool.add(envs()[:1])):
        with pytest.raises(ValueError, match="pool: is closed; make another one"):
            use()
    assert not pool._workers._processes[0].process.is_alive()


@pytest.mark.parametrize(
    ("size", "limit"), [(0, "at least 1"), (-1, "at least 1"), (10**400, "at most 1,000")]
)
def test_a_pool_has_a_process(size, limit):
    with pytest.raises(DataError, match=f"workers: must be .*{limit}"):
        RolloutPool(size)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"workers": "2"}, "workers: must be a number of processes, or workers .*, but is '2'"),
        ({"workers": True}, "workers: must be a number of processes"),
        ({"patience": "2"}, "patience: must be a number of seconds, but is '2'"),
        ({"patience": -1}, "patience: must be above 0 seconds, but is -1"),
        ({"patience": float("nan")}, "patience: must be above 0 seconds, but is nan"),
    ],
)
def test_an_argument_of_another_kind_is_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        RolloutPool(**arguments)
