"""Trajectories as a Gymnasium environment of texts."""

from __future__ import annotations

import json
import string
from collections.abc import Sequence
from typing import Any

import gymnasium
from gymnasium import spaces

from checkers.profile import STRICT, Mode, Profile
from runner.rollout import Observation, RewardName, RolloutEnv
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory

MAX_ACTION = 10_000
"""Longest action that the space has, in characters; longer ones are taken all the same."""
MAX_OBSERVATION = 1_000_000


class TrajectoryEnv(gymnasium.Env[str, str]):
    """Trajectories, one per episode.

    An observation is JSON: ``messages``, the chat messages that are new, and ``tools``. An action is
    an assistant message as JSON, or plain text, which is what the model says or, for a prompting
    model, its calls.

    Args:
        trajectories: What ``reset`` chooses from, at random.
        profile: How steps are decoded, executed and judged.
        dataset: Where they are from; needed for the reference's data only.
        reward: Name of the reward, one of ``runner.rollout.REWARDS``.
        mode: How the model calls functions.
    """

    def __init__(
        self,
        trajectories: Sequence[Trajectory],
        profile: Profile = STRICT,
        *,
        dataset: Dataset | None = None,
        reward: RewardName = "verdict",
        mode: Mode = "fc",
    ) -> None:
        text = string.ascii_letters + string.digits + string.punctuation + " "
        self.action_space = spaces.Text(MAX_ACTION, min_length=0, charset=text)
        self.observation_space = spaces.Text(MAX_OBSERVATION, charset=text)
        self._trajectories = list(trajectories)
        self._make = lambda trajectory: RolloutEnv(
            trajectory, profile, dataset=dataset, reward=reward, mode=mode
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin a trajectory: the one that ``options["id"]`` names, or one by chance."""
        super().reset(seed=seed)
        index = int(self.np_random.integers(len(self._trajectories)))
        wanted = (options or {}).get("id", self._trajectories[index].id)
        (trajectory,) = [t for t in self._trajectories if t.id == wanted]
        self.env = self._make(trajectory)
        return _text(self.env.reset()), {"id": trajectory.id}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take what the model says or does."""
        observation, reward, terminated, truncated, info = self.env.step(_action(action))
        return _text(observation), reward, terminated and not truncated, truncated, info


def _text(observation: Observation) -> str:
    return json.dumps({"messages": observation.messages, "tools": observation.tools})


def _action(text: str) -> Any:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return message if isinstance(message, dict) and "role" in message else text
