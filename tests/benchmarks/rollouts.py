"""Speed of a rollout pool beside one process: ``python -m tests.benchmarks.rollouts``.

Both play the built-in category ``base`` with a policy that follows the ground truth, and return all
episodes. The start of the processes and the loading of the environments are not measured.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from statistics import median
from time import perf_counter

from envs.calls import parse_call
from extensions.pools.environment_holder import Policy, play
from extensions.pools.rollout_pool import RolloutPool
from runner.rollouts.rollout_env import Action, Observation, RolloutEnv, Transition
from tests.benchmarks.measuring import machine
from trajectories.dataset import load_embedded
from trajectories.schema import Category, Trajectory


class Script:
    """A policy that gives actions one after the other."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._left: list[Action] = []
        for turn in trajectory.turns:
            self._left += [[parse_call(text)] for text in turn.ground_truth]
            self._left.append("Done.")

    def __call__(self, shown: Observation) -> Action:
        """Return the next action."""
        return self._left.pop(0)


def step_in_batches(
    pool: RolloutPool, policies: Mapping[int, Policy]
) -> dict[int, list[Transition]]:
    """Step all environments of a pool to their ends."""
    shown = pool.reset([*policies])
    steps: dict[int, list[Transition]] = {id: [] for id in policies}
    while shown:
        taken = pool.step({id: policies[id](each) for id, each in shown.items()})
        for id, transition in taken.items():
            steps[id].append(transition)
        shown = {id: each.observation for id, each in taken.items() if not each.terminated}
    return steps


def seconds_of(play_all: Callable[[], object]) -> float:
    """Return the seconds that a function takes."""
    start = perf_counter()
    played = play_all()
    seconds = perf_counter() - start
    del played
    return seconds


def main() -> None:
    """Measure in turn, and print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    trajectories = list(load_embedded([Category.BASE]).trajectories.values())
    envs = [RolloutEnv(trajectory) for trajectory in trajectories]

    def scripts(ids: Iterable[int]) -> dict[int, Policy]:
        return dict(zip(ids, map(Script, trajectories), strict=True))

    taken: dict[str, list[float]] = {"one process": [], "pool.play": [], "pool.step": []}
    with RolloutPool(options.workers) as pool:
        ids = pool.add(envs)
        for _ in range(options.rounds):
            own = scripts(range(len(envs)))
            alone = partial(lambda own: [play(envs[id], own[id]) for id in own], own)
            taken["one process"].append(seconds_of(alone))
            taken["pool.play"].append(seconds_of(partial(pool.play, scripts(ids))))
            taken["pool.step"].append(seconds_of(partial(step_in_batches, pool, scripts(ids))))
    steps = sum(len(play(env, Script(env.trajectory)).steps) for env in envs)
    print(f"{len(envs)} episodes, {steps} steps; {options.workers} workers; {machine()}")
    for name, each in taken.items():
        ratios = [one / other for one, other in zip(taken["one process"], each, strict=True)]
        print(
            f"{name:12}{steps / median(each):7.0f} steps/s, {median(ratios):.2f} times "
            f"({min(ratios):.2f} to {max(ratios):.2f})"
        )


if __name__ == "__main__":
    main()
