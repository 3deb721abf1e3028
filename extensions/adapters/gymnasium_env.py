"""Gymnasium environment with text observations and actions.

``gymnasium.make("turnwise.extensions.adapters.gymnasium_env:Turnwise-v0")`` takes the arguments of
``suite`` and ``TrajectoryEnv``.
"""

from __future__ import annotations

import json
import string
from typing import Any, get_args

from checkers.profile import Mode
from envs.errors import require_type
from extensions.adapters.suite import Suite, extra, suite
from runner.data.api_parameters import require_choice
from runner.rollouts.rollout_env import (
    REWARDS,
    Action,
    ActionError,
    Observation,
    RewardName,
    RolloutEnv,
)

with extra("gymnasium"):
    import gymnasium

MAX_ACTION, MAX_OBSERVATION = 10_000, 1_000_000
"""Maximum lengths of strings in Gymnasium's spaces. Longer actions are accepted, too."""


class TrajectoryEnv(gymnasium.Env[str, str]):
    """Environment that plays one entry per episode.

    An observation is JSON with the new chat ``messages`` and the ``tools``. An action is an
    assistant message as JSON, or plain text. In the mode ``prompt``, the model writes calls in
    plain text.
    """

    def __init__(self, chosen: Suite, reward: RewardName = "verdict", mode: Mode = "fc") -> None:
        require_type("chosen", chosen, Suite, described="a suite, such as the result of suite()")
        require_choice("reward", reward, REWARDS)
        require_choice("mode", mode, get_args(Mode))
        self.env: RolloutEnv | None = None
        text = string.ascii_letters + string.digits + string.punctuation + " "
        self.action_space = gymnasium.spaces.Text(MAX_ACTION, min_length=0, charset=text)
        self.observation_space = gymnasium.spaces.Text(MAX_OBSERVATION, charset=text)
        self._chosen, self._reward, self._mode = chosen, reward, mode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Start the entry ``options["id"]`` (default: a random entry).

        Raises DataError if the id does not exist.
        """
        super().reset(seed=seed)
        require_type("options", options, dict, None, described="a dict or None")
        ids = list(self._chosen.dataset.trajectories)
        id = (options or {}).get("id", ids[int(self.np_random.integers(len(ids)))])
        self.env = self._chosen.env(id, self._reward, self._mode)
        return _text(self.env.reset()), {"id": id}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Apply an action of the model. Raises ActionError before ``reset`` and after the end."""
        if self.env is None:
            raise ActionError("action", "the episode has not begun; call reset()")
        require_type("action", action, str, described="a string")
        observation, reward, over, truncated, info = self.env.step(_action(action))
        return _text(observation), reward, over and not truncated, truncated, info


def _text(observation: Observation) -> str:
    return json.dumps({"messages": observation.messages, "tools": observation.tools})


def _action(text: str) -> Action:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return message if isinstance(message, dict) and "role" in message else text


def _make(*names: str, **named: Any) -> TrajectoryEnv:
    own = {key: named.pop(key) for key in ("reward", "mode") if key in named}
    return TrajectoryEnv(suite(*names, **named), **own)


gymnasium.register("Turnwise-v0", entry_point=_make)
