"""What votes come to: labels, pass rates, agreement with verdicts and with people, win rates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from statistics import median
from typing import Any, NamedTuple

from checkers.statistics import Attempts, cluster_interval
from extensions.judges.exhibit import Exhibit, LabelTerms
from extensions.judges.judging import (
    SCORES,
    Agreed,
    Cast,
    Confusion,
    JudgeLabel,
    Preference,
    Rated,
    Rounds,
    agreed,
    is_settled,
    majority,
    rounds_of,
)
from extensions.judges.sitting import PairCase
from extensions.judges.votes import PreferenceVote, Vote
from runner.records.codec import members_of
from runner.records.record import Key

MOST_FAILED = 0.02
"""With a larger share of votes failed there is no rate."""
_THIRDS = ("short", "middling", "long")


class Labelled(NamedTuple):
    """One episode, or one turn of it, with its label."""

    exhibit: Exhibit
    turn: int | None
    """None where the label is the episode's."""
    cast: Cast
    label: JudgeLabel
    votes: Sequence[Vote]

    @property
    def passed(self) -> bool | None:
        """What the verdict says; None where it says nothing, or of something else."""
        if self.exhibit.is_chat:
            return None
        return self.exhibit.passed if self.turn is None else self.exhibit.turns[self.turn].passed

    @property
    def cause(self) -> str | None:
        """Why it failed, where it did."""
        return None if self.passed is not False else self.exhibit.cause

    @property
    def whys(self) -> list[str]:
        """The judge's reasons, a line a vote: those for the turns that a failure may be of."""
        return [_why(vote, self.turn) for vote in self.votes]

    def to_json(self) -> dict[str, Any]:
        """Return the label and its votes as a JSON object."""
        (id, trial), exhibit = self.exhibit.key, self.exhibit
        turn = {} if self.turn is None else {"turn": self.turn}
        return {
            "id": id,
            "trial": trial,
            "category": exhibit.trajectory.category.value,
            **turn,
            "label": self.label,
            "votes": [
                {"label": label, "why": why}
                for label, why in zip(self.cast, self.whys, strict=True)
            ],
            "passed": self.passed,
            "cause": self.cause,
        }


def _why(vote: Vote, turn: int | None) -> str:
    if vote.abstained is not None:
        return f"abstained: {vote.abstained}"
    return " ".join(
        f"turn {each.turn}: {each.answer}{f' ({each.why})' if each.why else ''};"
        for each in vote.turns
        if turn in (None, each.turn)
    ).removesuffix(";")


def labelled(
    exhibits: Iterable[Exhibit],
    votes: Mapping[Key, Sequence[Vote]],
    terms: LabelTerms,
    number: int,
) -> list[Labelled]:
    """Return the labels of those episodes whose votes suffice for one.

    Args:
        exhibits: The episodes.
        votes: What was said of each.
        terms: How labels are made.
        number: Of votes there may be on each; further ones are left alone.
    """
    found = []
    for exhibit in exhibits:
        given = [*votes.get(exhibit.key, ())][:number]
        units = exhibit.units(terms.unit)
        if not given and exhibit.fails_unasked(terms.unit):
            found += [Labelled(exhibit, turn, (), "fail", ()) for turn in units]
            continue
        for turn, cast in zip(units, exhibit.cast(given, terms), strict=True):
            if is_settled(cast, number):
                found.append(Labelled(exhibit, turn, cast, majority(cast, number), given))
    return found


class PassRate(NamedTuple):
    """The share that passes, by what ``unsure`` is taken for."""

    labelled: int
    counts: Mapping[JudgeLabel, int]
    lower: float
    """Where ``unsure`` fails."""
    half: float
    upper: float
    """Where it passes."""
    interval: tuple[float, float]
    """95%, of the middle one, from resampling scenarios."""
    rounds: Rounds | None

    @classmethod
    def of(cls, found: Sequence[Labelled]) -> PassRate | None:
        """Return the pass rate of what was labelled; None where nothing was."""
        if not found:
            return None
        counts = {label: sum(each.label == label for each in found) for label in SCORES}
        total, passed = len(found), counts["pass"]
        attempts = [Attempts(e.exhibit.cluster, 2, int(2 * SCORES[e.label])) for e in found]
        return cls(
            total,
            counts,
            lower=passed / total,
            half=(passed + counts["unsure"] / 2) / total,
            upper=(passed + counts["unsure"]) / total,
            interval=cluster_interval(attempts),
            rounds=rounds_of([each.cast for each in found if each.cast]),
        )


class Part(NamedTuple):
    """A part of what was labelled: a category, or a cause of failure."""

    name: str
    total: int
    judged_passed: float
    """Share that the judge passes."""
    confusion: Confusion


class Lengths(NamedTuple):
    """How the length of what was said goes with the judge's errors."""

    right: float | None
    """Median of characters where the label is right."""
    wrong: float | None
    thirds: Sequence[tuple[str, int, float]]
    """The shortest third, the middle and the longest: name, number, share that is wrong."""


class Anchored(NamedTuple):
    """Labels beside verdicts."""

    whole: Agreed
    categories: Sequence[Part]
    causes: Sequence[Part]
    lengths: Lengths
    disagreements: Sequence[Labelled]
    """In the order of the data, those that are unsure last."""


class RunLabels:
    """What the labels of a run come to.

    Args:
        found: The labels.
        failed: How many episodes have no votes since a request failed.
        pending: How many have not all votes that they need.
        people: What people say, by episode; None where nobody was asked.
    """

    def __init__(
        self,
        found: Sequence[Labelled],
        failed: int = 0,
        pending: int = 0,
        people: Mapping[Key, bool] | None = None,
    ) -> None:
        self.found = found
        self.failed = failed
        self.pending = pending
        self.people = people

    @cached_property
    def votes(self) -> int:
        """How many votes there are on what was labelled."""
        return sum(len(each.cast) for each in self._once)

    @cached_property
    def abstained(self) -> int:
        """How many of them are abstentions."""
        return sum(label is None for each in self._once for label in each.cast)

    @property
    def asked(self) -> int:
        """How many episodes have votes."""
        return sum(bool(each.cast) for each in self._once)

    @cached_property
    def _once(self) -> list[Labelled]:
        """One of the labels of each episode."""
        return list({each.exhibit.key: each for each in self.found}.values())

    @property
    def failed_share(self) -> float:
        """The share of votes that failed."""
        return self.failed / (self.failed + self.votes) if self.failed else 0.0

    @property
    def is_rated(self) -> bool:
        """Whether so few votes failed that there is a rate."""
        return self.failed_share <= MOST_FAILED

    @cached_property
    def rate(self) -> PassRate | None:
        """The pass rate of all but chats."""
        return PassRate.of([each for each in self.found if not each.exhibit.is_chat])

    @cached_property
    def chats(self) -> PassRate | None:
        """The share of chats with a relevant answer."""
        return PassRate.of([each for each in self.found if each.exhibit.is_chat])

    @cached_property
    def anchored(self) -> Anchored | None:
        """How the labels stand against the verdicts; None where there are none."""
        known = [each for each in self.found if each.passed is not None]
        if not known:
            return None
        failed = [each for each in known if each.cause]
        wrong = [each for each in known if not _is_right(each)]
        return Anchored(
            agreed([_rated(each, each.passed) for each in known]),
            list(_parts(known, lambda each: each.exhibit.trajectory.category.value)),
            sorted(
                _parts(failed, lambda each: each.cause or ""),
                key=lambda part: (-part.judged_passed, -part.total, part.name),
            ),
            _lengths(known),
            sorted(wrong, key=lambda each: each.label == "unsure"),
        )

    @cached_property
    def with_people(self) -> Agreed | None:
        """How the labels stand against what people say."""
        people = self.people or {}
        known = [e for e in self.found if e.turn is None and e.exhibit.key in people]
        return agreed([_rated(e, people[e.exhibit.key]) for e in known]) if known else None


def verdicts_with_people(exhibits: Iterable[Exhibit], people: Mapping[Key, bool]) -> Agreed | None:
    """Return how the verdicts stand against what people say."""
    rated = [
        Rated(exhibit.cluster, "pass" if exhibit.passed else "fail", people[exhibit.key])
        for exhibit in exhibits
        if exhibit.key in people and exhibit.passed is not None and not exhibit.is_chat
    ]
    return agreed(rated) if rated else None


def _rated(each: Labelled, passed: bool | None) -> Rated:
    return Rated(each.exhibit.cluster, each.label, bool(passed))


def _is_right(each: Labelled) -> bool:
    return each.label == ("pass" if each.passed else "fail")


def _parts(found: Sequence[Labelled], name_of: Callable[[Labelled], str]) -> Iterator[Part]:
    parts: dict[str, list[Labelled]] = {}
    for each in found:
        parts.setdefault(name_of(each), []).append(each)
    for name, members in parts.items():
        passes = sum(each.label == "pass" for each in members)
        confusion = Confusion.of((each.label, bool(each.passed)) for each in members)
        yield Part(name, len(members), passes / len(members), confusion)


def _lengths(known: Sequence[Labelled]) -> Lengths:
    right = [each.exhibit.words for each in known if _is_right(each)]
    wrong = [each.exhibit.words for each in known if not _is_right(each)]
    ranked = sorted(known, key=lambda each: (each.exhibit.words, each.exhibit.key))
    bounds = [len(ranked) * third // 3 for third in range(4)]
    thirds = []
    for name, start, end in zip(_THIRDS, bounds, bounds[1:], strict=False):
        part = ranked[start:end]
        if part:
            share = sum(not _is_right(each) for each in part) / len(part)
            thirds.append((name, len(part), share))
    return Lengths(_median(right), _median(wrong), thirds)


def _median(values: Sequence[int]) -> float | None:
    return float(median(values)) if values else None


class Win(NamedTuple):
    """Which of two episodes of an entry is better."""

    cluster: str
    preference: Preference
    """The challenger's."""
    by: str
    """``label``, ``same`` (nothing differs) or ``votes``."""


class WinRate:
    """What a run comes to against another.

    Args:
        name: What the challenger is called.
        wins: Of each entry that is labelled pass or fail in both.
        pairs: What was voted on, with the votes.
        left_out: Entries that both have and that are not compared.
        failed: Entries on which a request failed.
        pending: Entries that have not all votes that they need.
    """

    def __init__(
        self,
        name: str,
        wins: Sequence[Win],
        pairs: Sequence[tuple[PairCase, Sequence[PreferenceVote]]],
        left_out: int,
        failed: int,
        pending: int,
    ) -> None:
        self.name = name
        self.wins = wins
        self.left_out = left_out
        self.failed = failed
        self.pending = pending
        self._votes = [(case, vote) for case, votes in pairs for vote in votes]

    @property
    def counts(self) -> Mapping[Preference, int]:
        """How many entries are won, tied and lost."""
        order: tuple[Preference, ...] = ("win", "tie", "lose")
        return {name: sum(win.preference == name for win in self.wins) for name in order}

    @property
    def rate(self) -> float | None:
        """Wins, with half of the ties."""
        if not self.wins:
            return None
        return (self.counts["win"] + self.counts["tie"] / 2) / len(self.wins)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its 95% interval, from resampling scenarios."""
        worth: Mapping[Preference, int] = {"win": 2, "tie": 1, "lose": 0}
        found = [Attempts(win.cluster, 2, worth[win.preference]) for win in self.wins]
        return cluster_interval(found) if found else None

    @property
    def votes(self) -> int:
        """How many votes were cast, each in both orders."""
        return len(self._votes)

    @property
    def consistency(self) -> float | None:
        """The share of votes in which both orders say the same."""
        same = {("first", "second"), ("second", "first"), ("equal", "equal")}
        choices = [case.choices(vote) for case, vote in self._votes]
        answered = [each for each in choices if None not in each]
        return sum(each in same for each in answered) / len(answered) if answered else None

    @property
    def first_share(self) -> float | None:
        """Of the answers that prefer one, the share that prefers what was shown first."""
        choices = [choice for case, vote in self._votes for choice in case.choices(vote)]
        decided = [choice for choice in choices if choice in ("first", "second")]
        return decided.count("first") / len(decided) if decided else None

    @property
    def is_rated(self) -> bool:
        """Whether so few votes failed that there is a rate."""
        return self.failed <= MOST_FAILED * (self.failed + self.votes)

    def to_json(self, *, allow_errors: bool = False) -> dict[str, Any]:
        """Return all figures as a JSON object; no rate where too many votes failed."""
        rated = self.is_rated or allow_errors
        return {
            "run": self.name,
            **dict(self.counts.items()),
            "rate": self.rate if rated else None,
            "interval": self.interval if rated else None,
            "compared": len(self.wins),
            "by": {by: sum(win.by == by for win in self.wins) for by in ("label", "same", "votes")},
            "votes": self.votes,
            "consistency": self.consistency,
            "first_share": self.first_share,
            "left_out": self.left_out,
            "failed": self.failed,
            "pending": self.pending,
        }


def agreed_json(found: Agreed | None) -> dict[str, Any] | None:
    """Return a confusion with its figures as a JSON object."""
    if found is None:
        return None
    return {
        "confusion": found.confusion._asdict(),
        **{
            name: {"value": value, "interval": found.intervals[name]}
            for name, value in found.figures.items()
        },
        "scenarios": found.clusters,
    }


def tally_json(tally: RunLabels, *, allow_errors: bool) -> dict[str, Any]:
    """Return all figures of a run as a JSON object; no rate where too many votes failed."""
    rated = tally.is_rated or allow_errors
    anchored = tally.anchored if rated else None
    return {
        "labelled": len(tally.found),
        "votes": tally.votes,
        "abstained": tally.abstained,
        "failed": tally.failed,
        "pending": tally.pending,
        "rate": members_of(tally.rate) if tally.rate and rated else None,
        "chats": members_of(tally.chats) if tally.chats and rated else None,
        "verdicts": anchored
        and {
            **(agreed_json(anchored.whole) or {}),
            "categories": [_part_json(part) for part in anchored.categories],
            "causes": [
                {"cause": part.name, "episodes": part.total, "judged_passed": part.judged_passed}
                for part in anchored.causes
            ],
            "lengths": anchored.lengths._asdict(),
            "disagreements": [each.to_json() for each in anchored.disagreements],
        },
        "people": agreed_json(tally.with_people) if rated else None,
    }


def _part_json(part: Part) -> dict[str, Any]:
    confusion = part.confusion
    return {
        "category": part.name,
        "episodes": part.total,
        "judged_passed": part.judged_passed,
        "passed": confusion.passed / part.total,
        "agreement": confusion.agreement,
        "kappa": confusion.kappa,
    }
