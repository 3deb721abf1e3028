"""ReAct@N: repeat ReAct until it has taken as many requests as the tree search.

ReAct@N is the baseline in ToolLLM's paper: several ordinary episodes share the request budget of
the tree search. An entry passes if one of its episodes passes. The budget covers all entries
together. Each round repeats the entries that have not passed. The entries of a round depend only on
earlier rounds, so a resumed run makes the same rounds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from runner.records.episode_record import EpisodeRecord, Key, Outcome
from trajectories.schema import Trajectory


class RepeatedEpisode(NamedTuple):
    """An episode's outcome and number of requests."""

    outcome: Outcome | None
    requests: int

    @classmethod
    def of(cls, record: EpisodeRecord) -> RepeatedEpisode:
        """Return the outcome of a record, and the number of its requests."""
        return cls(record.outcome, len(record.requests))


def next_round(
    done: Mapping[Key, RepeatedEpisode],
    trajectories: Sequence[Trajectory],
    number: int,
    budget: int,
) -> list[Trajectory]:
    """Return the entries to repeat in a round.

    ``budget`` is the maximum number of requests of all episodes together. The round ends
    when the rest of the budget is too small for another episode. Only earlier rounds affect the
    result. Round 0 has one episode per entry.
    """
    taken: dict[str, list[RepeatedEpisode]] = defaultdict(list)
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


def _requests(attempts: Iterable[RepeatedEpisode]) -> int:
    return sum(attempt.requests for attempt in attempts)
