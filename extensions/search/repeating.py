"""ReAct again and again, until it has used what a search with undo has used (ReAct@N).

ToolLLM's baseline: a budget is worth more attempts, too, and an entry is solved once one of them
passes. What may be used is that of all entries together. Rounds of attempts at what has not passed
follow each other; which entries are in a round is decided by the rounds before it alone, so that a
run that goes on does the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from runner.records.record import EpisodeRecord, Key, Outcome
from trajectories.schema import Trajectory


class Attempt(NamedTuple):
    """What became of one attempt at an entry, and what it took."""

    outcome: Outcome | None
    requests: int

    @classmethod
    def of(cls, record: EpisodeRecord) -> Attempt:
        """Return what a record says of it."""
        return cls(record.outcome, len(record.requests))


def next_round(
    done: Mapping[Key, Attempt], trajectories: Sequence[Trajectory], number: int, budget: int
) -> list[Trajectory]:
    """Return the entries that are attempted once more in a round; none where all is used up.

    An attempt is begun where it brings what is used nearer to the budget, if it takes as many
    requests as those before it did.

    Attempts of later rounds are not looked at; the round 0 attempts each entry once. The budget is
    of requests, of all attempts together.
    """
    taken: dict[str, list[Attempt]] = defaultdict(list)
    for (id, trial), attempt in done.items():
        if trial < number:
            taken[id].append(attempt)
    left = float(budget - _requests(attempt for some in taken.values() for attempt in some))
    failed = [
        entry
        for entry in trajectories
        if (some := taken[entry.id])
        and all(attempt.outcome != "passed" for attempt in some)
        and len(some) == number
    ]
    Random(number).shuffle(failed)
    chosen = []
    for entry in failed:
        expected = _requests(taken[entry.id]) / number
        if left < max(1.0, expected / 2):
            break
        left -= expected
        chosen.append(entry)
    return chosen


def _requests(attempts: Iterable[Attempt]) -> int:
    return sum(attempt.requests for attempt in attempts)
