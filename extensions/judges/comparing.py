"""The win rate of one run against another: what labels decide, what is the same, what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from extensions.judges.judging import preferred
from extensions.judges.sitting import AnyJudge, PairCase, Sat, VoteCount
from extensions.judges.tally import Labelled, Win, WinRate
from extensions.judges.votes import PreferenceVote
from runner.records.record import Key


class Pairs(NamedTuple):
    """The entries that two runs have in common."""

    wins: Sequence[Win]
    """Those on which nothing needs to be asked."""
    cases: Sequence[PairCase]
    """Those that are put to the judge."""
    left_out: int
    """How many are unsure in one of them, or without a label."""


def pairs_of(
    first: Sequence[Labelled],
    second: Sequence[Labelled],
    common: int,
    judge: AnyJudge,
    draws: VoteCount,
    *,
    counts: bool,
) -> Pairs:
    """Return what there is to compare of two runs.

    Args:
        first: The labels of the run that is compared with.
        second: Those of the challenger.
        common: How many episodes both have.
        judge: Who is asked.
        draws: How many votes are drawn.
        counts: Whether merits that can be counted are.
    """
    one, other = _decided(first), _decided(second)
    wins, cases = [], []
    for key in (key for key in one if key in other):
        a, b = one[key], other[key]
        cluster = a.exhibit.cluster
        if a.label != b.label:
            wins.append(Win(cluster, "win" if b.label == "pass" else "lose", "label"))
        elif _are_same(a, b):
            wins.append(Win(cluster, "tie", "same"))
        else:
            cases.append(PairCase(a.exhibit, b.exhibit, judge, draws, counts))
    return Pairs(wins, cases, common - len(wins) - len(cases))


def win_rate(name: str, pairs: Pairs, sat: Sat[PreferenceVote], draws: VoteCount) -> WinRate:
    """Return what the challenger comes to."""
    asked = [(case, sat.votes[case.key]) for case in pairs.cases if case.key in sat.votes]
    voted = [
        Win(
            case.a.cluster,
            preferred([case.preference(vote) for vote in votes], draws.votes),
            "votes",
        )
        for case, votes in asked
    ]
    pending = len(pairs.cases) - len(asked) - len(sat.failed)
    return WinRate(name, [*pairs.wins, *voted], asked, pairs.left_out, len(sat.failed), pending)


def _decided(found: Sequence[Labelled]) -> dict[Key, Labelled]:
    return {each.exhibit.key: each for each in found if each.label != "unsure"}


def _are_same(a: Labelled, b: Labelled) -> bool:
    one, other = a.exhibit.doings, b.exhibit.doings
    return (one.calls, one.words) == (other.calls, other.words)
