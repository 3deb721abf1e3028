"""Environments in a worker of a rollout pool; each environment has a number."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from envs.errors import BackendFault
from runner.rollouts.rollout_env import Action, Observation, RolloutEnv, Transition

Policy = Callable[[Observation], Action]
"""Picklable function that takes an observation and returns an action."""

SAME_TOOLS: Any = None
"""Placeholder for tools that have not changed since the previous observation."""


class Rollout(NamedTuple):
    """A played episode."""

    first: Observation
    """Observation of the reset."""
    steps: tuple[tuple[Action, Transition], ...]
    """The policy's actions and the resulting transitions."""


class EnvironmentHolder:
    """Environments of one worker process.

    Each method returns one result per environment number. If an environment has an error, its
    result is a ValueError.
    """

    def __init__(self) -> None:
        self._envs: dict[int, RolloutEnv] = {}
        self._sent_tools: dict[int, Sequence[Any]] = {}

    def hold(
        self, actions: Mapping[int, Sequence[Action | None]], *origins: RolloutEnv
    ) -> dict[int, None]:
        """Copy each origin, and execute the actions in the copy. The action None is a reset."""
        for (id, some), origin in zip(actions.items(), origins, strict=True):
            # Several numbers may have the same origin.
            env = self._envs[id] = origin.fork()
            self._sent_tools.pop(id, None)
            for action in some:
                if action is None:
                    env.reset()
                else:
                    env.step(action)
        return dict.fromkeys(actions)

    def fork(self, copies: Mapping[int, int]) -> dict[int, None]:
        """Copy environments; ``copies`` maps new numbers to the numbers of the originals."""
        self._envs |= {new: self._envs[id].fork() for new, id in copies.items()}
        return dict.fromkeys(copies)

    def reset(self, ids: Collection[int]) -> dict[int, Observation | ValueError]:
        """Reset environments."""
        return _for_each(ids, self._reset)

    def step(self, actions: Mapping[int, Action]) -> dict[int, Transition | ValueError]:
        """Execute an action in each environment."""
        return _for_each(actions, lambda id: self._step(id, actions[id]))

    def play(self, policies: Mapping[int, Policy]) -> dict[int, Rollout | ValueError]:
        """Play a copy of each environment from a reset to the end."""
        return _for_each(policies, lambda id: play(self._envs[id].fork(), policies[id]))

    def drop(self, ids: Collection[int]) -> dict[int, None]:
        """Remove environments."""
        for id in ids:
            self._envs.pop(id, None)
            self._sent_tools.pop(id, None)
        return dict.fromkeys(ids)

    def _reset(self, id: int) -> Observation:
        shown = self._envs[id].reset()
        self._sent_tools[id] = shown.tools
        return shown

    def _step(self, id: int, action: Action) -> Transition:
        taken = self._envs[id].step(action)
        tools, sent = taken.observation.tools, self._sent_tools.get(id)
        self._sent_tools[id] = tools
        if tools is not sent:
            return taken
        return taken._replace(observation=taken.observation._replace(tools=SAME_TOOLS))


def play(env: RolloutEnv, policy: Policy) -> Rollout:
    """Play an environment from a reset to its end. Raises ValueError if the policy fails."""
    first = shown = env.reset()
    steps: list[tuple[Action, Transition]] = []
    over = False
    while not over:
        try:
            action = policy(shown)
        except Exception as error:
            message = f"the policy raised {type(error).__name__}: {error}"
            raise ValueError(message) from error
        transition = env.step(action)
        steps.append((action, transition))
        shown, over = transition.observation, transition.terminated
    return Rollout(first, tuple(steps))


def _for_each(ids: Iterable[int], act: Callable[[int], Any]) -> dict[int, Any]:
    return {id: _attempt(id, partial(act, id)) for id in ids}


def _attempt(id: int, act: Callable[[], Any]) -> Any:
    try:
        return act()
    except (BackendFault, ValueError) as error:
        return ValueError(f"environment {id}: {error}")
