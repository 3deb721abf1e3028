"""Cache of ground-truth outcomes; the key is a hash of the initial config and the calls."""

from __future__ import annotations

import marshal
from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeAlias

from checkers.verdict import ExecutedTurn
from envs.session import Session
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import Trajectory

Start: TypeAlias = tuple[Session, tuple[ExecutedTurn, ...]]
"""Initial session of an entry, and the outcome of each turn of its ground truth."""


class PlayedTruths:
    """Cache of initial sessions and ground-truth outcomes, for one data set and one profile.

    ``size`` is the maximum number of sessions. A session and its outcomes take about 15 KB.
    """

    def __init__(self, size: int = 1_000) -> None:
        self._size = size
        self._played: dict[bytes, Start] = {}

    def play(self, trajectory: Trajectory, load: Callable[[], Session]) -> Start:
        """Return an entry's initial session and the outcomes of its ground truth.

        Variants of a scenario share the session and the outcomes, except long-context variants.
        """
        if trajectory.long_context or (len(trajectory.turns) == 1 and trajectory.environments):
            return play_alone(trajectory, load)
        calls = [turn.ground_truth for turn in trajectory.turns if turn.ground_truth]
        inputs: Any = trajectory.environments, trajectory.config, calls
        # Version 2 of the format does not depend on which objects are shared.
        key = sha256(marshal.dumps(inputs, 2)).digest()
        if key not in self._played:
            template, outcomes = play_alone(trajectory, load)
            # In worlds, time passes in turns without calls, too.
            if not template.has_worlds:
                if len(self._played) == self._size:
                    del self._played[next(iter(self._played))]
                self._played[key] = template, tuple(each for each in outcomes if each.calls)
            return template, outcomes
        template, played = self._played[key]
        ready, last = iter(played), ExecutedTurn((), template.snapshot(), False, ())
        found = []
        for turn in trajectory.turns:
            last = next(ready) if turn.ground_truth else ExecutedTurn((), last.snapshot, False, ())
            found.append(last)
        return template, tuple(found)


def play_alone(trajectory: Trajectory, load: Callable[[], Session]) -> Start:
    """Load the initial session and play the ground truth in a fork of the session."""
    template = load()
    return template, play_truth(trajectory, template)


def play_truth(trajectory: Trajectory, template: Session) -> tuple[ExecutedTurn, ...]:
    """Play the ground truth; return the outcome of each turn."""
    session = template.fork()
    outcomes = []
    for turn in trajectory.turns:
        calls = tuple(read_truth_calls(turn))
        results = tuple(session.play(calls))
        outcomes.append(ExecutedTurn(results, session.snapshot(), bool(results), calls))
        session.end_turn()
    return tuple(outcomes)
