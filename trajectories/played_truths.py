"""Cache of ground-truth outcomes; the key is a hash of the initial config and the calls."""

from __future__ import annotations

import marshal
from hashlib import sha256
from typing import Any

from checkers.verdict import ExecutedTurn
from envs.session import Session
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import Trajectory

_MAX_SHARED = 1_000
"""Maximum number of kept ground truths; each takes about 10 KB."""


class PlayedTruths:
    """Outcomes of ground truths; all entries belong to one data set and one profile."""

    def __init__(self) -> None:
        self._played: dict[bytes, tuple[ExecutedTurn, ...]] = {}

    def play(self, trajectory: Trajectory, template: Session) -> tuple[ExecutedTurn, ...]:
        """Return the outcomes of an entry's ground truth; ``template`` is the initial session.

        Except for long contexts, all variants of a scenario make the same calls. Entries with the
        same calls and initial config share one replay.
        """
        alone = trajectory.long_context is not None or len(trajectory.turns) == 1
        # Time passes in turns without calls, too.
        if alone or template.has_worlds:
            return play_truth(trajectory, template)
        calls = [turn.ground_truth for turn in trajectory.turns if turn.ground_truth]
        inputs: Any = trajectory.environments, trajectory.config, calls
        # Version 2 of the format does not depend on which objects are shared.
        key = sha256(marshal.dumps(inputs, 2)).digest()
        played = self._played.get(key)
        if played is None:
            outcomes = play_truth(trajectory, template)
            if len(self._played) < _MAX_SHARED:
                self._played[key] = tuple(each for each in outcomes if each.calls)
            return outcomes
        ready, last = iter(played), ExecutedTurn((), template.snapshot(), False, ())
        found = []
        for turn in trajectory.turns:
            last = next(ready) if turn.ground_truth else ExecutedTurn((), last.snapshot, False, ())
            found.append(last)
        return tuple(found)


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
