"""Policies and environments that worker processes import."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field

from envs.calls import parse_call
from envs.errors import BackendFault
from runner.rollouts.rollout_env import RolloutEnv
from trajectories.dataset import load_embedded
from trajectories.schema import Category

SOME = list(load_embedded([Category.BASE]).trajectories.values())[:4]


def actions(trajectory):
    """Return what a model does that knows the ground truth."""
    for turn in trajectory.turns:
        yield [parse_call(text) for text in turn.ground_truth]
        yield "Done."


@dataclass
class Script:
    """A policy that gives actions one after the other, and raises at the word ``raise``."""

    left: list = field(default_factory=list)

    def __call__(self, shown):
        """Return the next action."""
        assert shown.messages
        action = self.left.pop(0)
        if action == "raise":
            raise KeyError(action)
        return action


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
        if action == "crash":
            raise TypeError("a bug of ours")
        return super().step(action)


class _Text(str):
    """A text that can be pickled, but not be read."""

    def __new__(cls, one, two):
        """Return the text."""
        return super().__new__(cls, one)


class Unreadable:
    """A policy whose answers cannot be read by another process."""

    def __call__(self, shown):
        """Return an answer."""
        return _Text("Done.", "more")
