"""Metrics from votes: labels, pass rates, agreement with verdicts and people, win rates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any, NamedTuple

from checkers.statistics import TrialCounts, cluster_interval
from extensions.judges.judged_episode import JudgedEpisode, LabelOptions
from extensions.judges.label_rules import (
    SCORES,
    AgreementFigures,
    Cast,
    Choice,
    Confusion,
    JudgeLabel,
    Preference,
    RatedLabel,
    VoteRounds,
    find_majority,
    is_settled,
    measure_agreement,
    summarize_rounds,
)
from extensions.judges.vote_collection import PairCase
from extensions.judges.votes import PreferenceVote, Vote
from runner.records.episode_record import Key
from runner.records.json_codec import members_of

MAX_FAILED_SHARE = 0.02
"""No rate is shown if more than this share of the votes failed."""
_THIRDS = ("short", "middling", "long")


class LabelledUnit(NamedTuple):
    """One episode or turn with its label."""

    exhibit: JudgedEpisode
    turn: int | None
    """Number of the turn; None for the whole episode."""
    cast: Cast
    label: JudgeLabel
    votes: Sequence[Vote]

    @property
    def passed(self) -> bool | None:
        """Whether the verdict is a pass; None if there is no verdict or the entry is a chat."""
        if self.exhibit.is_chat:
            return None
        return self.exhibit.passed if self.turn is None else self.exhibit.turns[self.turn].passed

    @property
    def cause(self) -> str | None:
        """Cause of a failure."""
        return self.exhibit.cause if self.passed is False else None

    @property
    def whys(self) -> list[str]:
        """Reasons of the judge model, one line per vote."""
        return [_format_reasons(vote, self.turn) for vote in self.votes]

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


def _format_reasons(vote: Vote, turn: int | None) -> str:
    if vote.abstained is not None:
        return f"abstained: {vote.abstained}"
    return " ".join(
        f"turn {each.turn + 1}: {each.answer}{f' ({each.why})' if each.why else ''};"
        for each in vote.turns
        if turn in (None, each.turn)
    ).removesuffix(";")


def labelled(
    exhibits: Iterable[JudgedEpisode],
    votes: Mapping[Key, Sequence[Vote]],
    terms: LabelOptions,
    number: int,
) -> list[LabelledUnit]:
    """Return the labels of the episodes with enough votes; at most ``number`` votes are used."""
    found = []
    for exhibit in exhibits:
        given = [*votes.get(exhibit.key, ())][:number]
        units = exhibit.units(terms.unit)
        if not given and exhibit.fails_unasked(terms.unit):
            found += [LabelledUnit(exhibit, turn, (), "fail", ()) for turn in units]
            continue
        for turn, cast in zip(units, exhibit.cast(given, terms), strict=True):
            if is_settled(cast, number):
                found.append(LabelledUnit(exhibit, turn, cast, find_majority(cast, number), given))
    return found


class PassRate(NamedTuple):
    """Share of ``pass`` labels."""

    labelled: int
    counts: Mapping[JudgeLabel, int]
    lower: float
    """Pass rate if each ``unsure`` label counts as failed."""
    half: float
    """Pass rate if each ``unsure`` label counts as half a pass."""
    upper: float
    """Pass rate if each ``unsure`` label counts as passed."""
    interval: tuple[float, float]
    """95% interval of ``half``."""
    rounds: VoteRounds | None

    @classmethod
    def of(cls, found: Sequence[LabelledUnit]) -> PassRate | None:
        """Return the pass rate of labels; None if there are no labels."""
        if not found:
            return None
        counts = {label: sum(each.label == label for each in found) for label in SCORES}
        total, passed = len(found), counts["pass"]
        trials = [TrialCounts(e.exhibit.cluster, 2, int(2 * SCORES[e.label])) for e in found]
        return cls(
            total,
            counts,
            lower=passed / total,
            half=(passed + counts["unsure"] / 2) / total,
            upper=(passed + counts["unsure"]) / total,
            interval=cluster_interval(trials),
            rounds=summarize_rounds([each.cast for each in found if each.cast]),
        )


class LabelGroup(NamedTuple):
    """Labels of the episodes of one category, or of one cause of failure."""

    name: str
    total: int
    judged_passed: float
    """Share of labels that are ``pass``."""
    confusion: Confusion


class AnswerLengths(NamedTuple):
    """Lengths of the answers with right labels, and of the answers with wrong labels."""

    right: float | None
    """Median length of answers with right labels, in characters."""
    wrong: float | None
    thirds: Sequence[tuple[str, int, float]]
    """Three groups of answers by length: name, size and share of wrong labels of each group."""


class VerdictAgreement(NamedTuple):
    """Agreement of labels with verdicts."""

    whole: AgreementFigures
    categories: Sequence[LabelGroup]
    causes: Sequence[LabelGroup]
    lengths: AnswerLengths
    disagreements: Sequence[LabelledUnit]
    """Labels that differ from the verdict. The list ends with the ``unsure`` labels."""


@dataclass(frozen=True)
class RunLabels:
    """The labels of a run with their metrics."""

    found: Sequence[LabelledUnit]
    failed: int = 0
    """Number of episodes without votes because a request failed."""
    pending: int = 0
    """Number of episodes that lack votes."""
    people: Mapping[Key, bool] | None = None
    """Label that people gave each episode; None if no person labelled the run."""

    @cached_property
    def votes(self) -> int:
        """Number of votes on labelled episodes."""
        return sum(len(each.cast) for each in self._episodes)

    @cached_property
    def abstained(self) -> int:
        """Number of abstentions."""
        return sum(label is None for each in self._episodes for label in each.cast)

    @property
    def asked(self) -> int:
        """Number of episodes that have votes."""
        return sum(bool(each.cast) for each in self._episodes)

    @cached_property
    def _episodes(self) -> list[LabelledUnit]:
        return list({each.exhibit.key: each for each in self.found}.values())

    @property
    def failed_share(self) -> float:
        """Share of failed votes."""
        return self.failed / (self.failed + self.votes) if self.failed else 0.0

    @property
    def is_rated(self) -> bool:
        """Whether enough votes succeeded for a meaningful rate."""
        return self.failed_share <= MAX_FAILED_SHARE

    @cached_property
    def rate(self) -> PassRate | None:
        """Pass rate of the entries that are not chats."""
        return PassRate.of([each for each in self.found if not each.exhibit.is_chat])

    @cached_property
    def chats(self) -> PassRate | None:
        """Pass rate of the chats: the share that is labelled as relevant."""
        return PassRate.of([each for each in self.found if each.exhibit.is_chat])

    @cached_property
    def anchored(self) -> VerdictAgreement | None:
        """Agreement with the verdicts; None if there are no verdicts."""
        known = [each for each in self.found if each.passed is not None]
        if not known:
            return None
        failed = [each for each in known if each.cause]
        wrong = [each for each in known if not _is_right(each)]
        return VerdictAgreement(
            measure_agreement(
                [RatedLabel(e.exhibit.cluster, e.label, bool(e.passed)) for e in known]
            ),
            list(_split(known, lambda each: each.exhibit.trajectory.category.value)),
            sorted(
                _split(failed, lambda each: each.cause or ""),
                key=lambda part: (-part.judged_passed, -part.total, part.name),
            ),
            _measure_lengths(known),
            sorted(wrong, key=lambda each: each.label == "unsure"),
        )

    @cached_property
    def with_people(self) -> AgreementFigures | None:
        """Agreement with the labels of people."""
        people = self.people or {}
        rated = [
            RatedLabel(each.exhibit.cluster, each.label, people[each.exhibit.key])
            for each in self.found
            if each.turn is None and each.exhibit.key in people
        ]
        return measure_agreement(rated) if rated else None


def verdicts_with_people(
    exhibits: Iterable[JudgedEpisode], people: Mapping[Key, bool]
) -> AgreementFigures | None:
    """Return the agreement of verdicts with people; None if no episode has both."""
    rated = [
        RatedLabel(exhibit.cluster, "pass" if exhibit.passed else "fail", people[exhibit.key])
        for exhibit in exhibits
        if exhibit.key in people and exhibit.passed is not None and not exhibit.is_chat
    ]
    return measure_agreement(rated) if rated else None


def _is_right(each: LabelledUnit) -> bool:
    return each.label == ("pass" if each.passed else "fail")


def _split(
    found: Sequence[LabelledUnit], name_of: Callable[[LabelledUnit], str]
) -> Iterator[LabelGroup]:
    parts: dict[str, list[LabelledUnit]] = {}
    for each in found:
        parts.setdefault(name_of(each), []).append(each)
    for name, members in parts.items():
        passes = sum(each.label == "pass" for each in members)
        confusion = Confusion.of((each.label, bool(each.passed)) for each in members)
        yield LabelGroup(name, len(members), passes / len(members), confusion)


def _measure_lengths(known: Sequence[LabelledUnit]) -> AnswerLengths:
    right = [each.exhibit.words for each in known if _is_right(each)]
    wrong = [each.exhibit.words for each in known if not _is_right(each)]
    ranked = sorted(known, key=lambda each: (each.exhibit.words, each.exhibit.key))
    bounds = [len(ranked) * third // 3 for third in range(4)]
    thirds = []
    for name, start, end in zip(_THIRDS, bounds, bounds[1:], strict=False):
        if part := ranked[start:end]:
            share = sum(not _is_right(each) for each in part) / len(part)
            thirds.append((name, len(part), share))
    medians = [float(median(lengths)) if lengths else None for lengths in (right, wrong)]
    return AnswerLengths(medians[0], medians[1], thirds)


class PairWinner(NamedTuple):
    """The better of two episodes of an entry."""

    key: Key
    cluster: str
    preference: Preference
    """Result of the challenger."""
    by: str
    """Basis of the preference: ``label``, ``same`` (the episodes are equal) or ``votes``."""


@dataclass(frozen=True)
class WinRate:
    """Win rate of one run against another run."""

    name: str
    """Path of the challenger."""
    wins: Sequence[PairWinner]
    pairs: Sequence[tuple[PairCase, Sequence[PreferenceVote]]]
    """Pairs that needed votes."""
    left_out: int
    """Number of common entries that are not compared, because a label is unsure or missing."""
    failed: int
    """Number of entries with a failed request."""
    pending: int
    """Number of entries that lack votes."""

    @property
    def counts(self) -> Mapping[Preference, int]:
        """Numbers of wins, ties and losses."""
        order: tuple[Preference, ...] = ("win", "tie", "lose")
        return {name: sum(win.preference == name for win in self.wins) for name in order}

    @property
    def rate(self) -> float | None:
        """Share of wins; a tie counts as half a win."""
        if not self.wins:
            return None
        return (self.counts["win"] + self.counts["tie"] / 2) / len(self.wins)

    @property
    def interval(self) -> tuple[float, float] | None:
        """95% interval of the rate."""
        worth: Mapping[Preference, int] = {"win": 2, "tie": 1, "lose": 0}
        found = [TrialCounts(win.cluster, 2, worth[win.preference]) for win in self.wins]
        return cluster_interval(found) if found else None

    @property
    def votes(self) -> int:
        """Number of votes; each vote compares the two episodes in both orders."""
        return len(self._choices)

    @cached_property
    def _choices(self) -> list[tuple[Choice | None, Choice | None]]:
        return [case.choices(vote) for case, votes in self.pairs for vote in votes]

    @property
    def consistency(self) -> float | None:
        """Share of votes with the same preference in both orders of the pair."""
        same = {("first", "second"), ("second", "first"), ("equal", "equal")}
        answered = [each for each in self._choices if None not in each]
        return sum(each in same for each in answered) / len(answered) if answered else None

    @property
    def first_share(self) -> float | None:
        """Share of the choices that prefer the episode shown first; ties are ignored."""
        decided = [each for both in self._choices for each in both if each in ("first", "second")]
        return decided.count("first") / len(decided) if decided else None

    @property
    def is_rated(self) -> bool:
        """Whether the rate can be shown; too many failed votes would make the rate meaningless."""
        return self.failed <= MAX_FAILED_SHARE * (self.failed + self.votes)

    def to_json(self, *, allow_errors: bool = False) -> dict[str, Any]:
        """Return the metrics as JSON; the rate is null if too many votes failed."""
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


def agreement_to_json(found: AgreementFigures | None) -> dict[str, Any] | None:
    """Return a confusion matrix and its metrics as JSON."""
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


def tally_to_json(tally: RunLabels, *, allow_errors: bool) -> dict[str, Any]:
    """Return the metrics of a run as JSON; rates are null if too many votes failed."""
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
            **(agreement_to_json(anchored.whole) or {}),
            "categories": [_part_to_json(part) for part in anchored.categories],
            "causes": [
                {"cause": part.name, "episodes": part.total, "judged_passed": part.judged_passed}
                for part in anchored.causes
            ],
            "lengths": anchored.lengths._asdict(),
            "disagreements": [each.to_json() for each in anchored.disagreements],
        },
        "people": agreement_to_json(tally.with_people) if rated else None,
    }


def _part_to_json(part: LabelGroup) -> dict[str, Any]:
    confusion = part.confusion
    return {
        "category": part.name,
        "episodes": part.total,
        "judged_passed": part.judged_passed,
        "passed": confusion.passed / part.total,
        "agreement": confusion.agreement,
        "kappa": confusion.kappa,
    }
