"""Win rate of one run against another run: labels or votes decide which episode is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from extensions.judges.label_figures import LabelledUnit, PairWinner, WinRate
from extensions.judges.label_rules import find_preference
from extensions.judges.vote_collection import AnyJudge, PairCase, VoteCount, VotingResult
from extensions.judges.votes import PreferenceVote
from runner.records.episode_record import Key


class CommonEntries(NamedTuple):
    """The entries that two runs have in common."""

    wins: Sequence[PairWinner]
    """Entries that need no votes, with their winners."""
    cases: Sequence[PairCase]
    """Entries that need votes."""
    left_out: int
    """Number of entries with an unsure or missing label in at least one run."""


def pair_episodes(
    first: Sequence[LabelledUnit],
    second: Sequence[LabelledUnit],
    common: int,
    judge: AnyJudge,
    draws: VoteCount,
    *,
    counts: bool,
) -> CommonEntries:
    """Pair the episodes of two runs. If the labels of a pair differ, the pair needs no vote.

    ``common`` is the number of episodes that both runs have.
    """
    one, other = _find_decided(first), _find_decided(second)
    wins, cases = [], []
    for key, a in one.items():
        if key not in other:
            continue
        b = other[key]
        cluster = a.exhibit.cluster
        if a.label != b.label:
            wins.append(PairWinner(key, cluster, "win" if b.label == "pass" else "lose", "label"))
        elif _are_same(a, b):
            wins.append(PairWinner(key, cluster, "tie", "same"))
        else:
            cases.append(PairCase(a.exhibit, b.exhibit, judge, draws, counts))
    return CommonEntries(wins, cases, common - len(wins) - len(cases))


def compute_win_rate(
    name: str, pairs: CommonEntries, sat: VotingResult[PreferenceVote], draws: VoteCount
) -> WinRate:
    """Return the challenger's win rate."""
    voted = [(case, sat.votes[case.key]) for case in pairs.cases if case.key in sat.votes]
    wins = [*pairs.wins]
    for case, votes in voted:
        winner = find_preference([case.preference(vote) for vote in votes], draws.votes)
        wins.append(PairWinner(case.a.key, case.a.cluster, winner, "votes"))
    pending = len(pairs.cases) - len(voted) - len(sat.failed)
    return WinRate(name, wins, voted, pairs.left_out, len(sat.failed), pending)


def _find_decided(found: Sequence[LabelledUnit]) -> dict[Key, LabelledUnit]:
    return {each.exhibit.key: each for each in found if each.label != "unsure"}


def _are_same(a: LabelledUnit, b: LabelledUnit) -> bool:
    one, other = a.exhibit.doings, b.exhibit.doings
    return (one.calls, one.words) == (other.calls, other.words)
