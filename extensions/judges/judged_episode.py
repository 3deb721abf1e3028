"""Episodes that a judge model can label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from checkers.calls.call_entry import ComparisonKind
from checkers.causes.divergence import match_effects
from envs.calls import Call
from envs.errors import DataError
from extensions.judges.episode_brief import (
    BriefWriter,
    EpisodeBrief,
    Show,
    TurnEnding,
    find_endings,
)
from extensions.judges.label_rules import (
    ANSWERED,
    Cast,
    Ended,
    EpisodeMerits,
    JudgeLabel,
    JudgingRules,
    label_chat,
    label_episode,
    label_turn,
)
from extensions.judges.votes import Vote
from runner.analysis.replayed_runs import ReplayedEpisode
from runner.episodes.rejudged_episode import RejudgedEpisode, RejudgedMultiTurn, RejudgedSingleTurn
from runner.records.episode_record import EpisodeRecord, Key, call_text
from trajectories.schema import FACTS, Category, Trajectory, Turn

Unit = Literal["episode", "turn"]
"""Unit of a label: a whole episode or a single turn."""
SolvableBy = Literal["known", "judged"]
"""Who decides whether a turn is solvable.

``known``: the ground truth decides; ``judged``: the judge model decides.
"""

CHATS = frozenset({Category.CHAT, Category.CHATABLE})
"""Categories of chats without calls; a label says whether the answer is relevant."""

_ENDINGS: Mapping[str, Ended] = {
    "content_filter": "nothing",
    "cut_off": "cut_off",
    "exhausted": "step_limit",
    "give_up": "give_up",
    "step_limit": "step_limit",
    "unreadable": "nothing",
    "empty": "nothing",
}
"""Maps a recorded reason to the kind of turn end. All other reasons have the kind ``answer``."""


class LabelOptions(NamedTuple):
    """Options for making labels from observations."""

    rules: JudgingRules = "paper"
    solvable: SolvableBy = "known"
    unit: Unit = "episode"


class JudgedTurn(NamedTuple):
    """Ending, solvability and verdict of a turn."""

    ended: Ended
    solvable: bool
    """Whether the turn can be solved: its ground truth has a call or required information."""
    reached: bool
    passed: bool | None
    """Whether the turn passed; None if it has no verdict."""


class JudgedEpisode:
    """An episode that judge models vote on.

    Raises DataError if ``show`` is ``answer`` and the record contains no texts.
    """

    def __init__(self, viewed: ReplayedEpisode, examined: RejudgedEpisode, show: Show) -> None:
        record = viewed.recorded.record
        self.viewed = viewed
        self.trajectory: Trajectory = viewed.trajectory
        self.key: Key = record.key
        self._examined = examined
        self._show: Show = show
        self.closings: Sequence[TurnEnding] = examined.show(_TurnEndings(record))
        if show == "answer" and not record.messages and not any(c.words for c in self.closings):
            message = "the record has no answers in words; use --show steps"
            raise DataError(f"{self.key[0]}, trial {self.key[1]}", message)

    @cached_property
    def brief(self) -> EpisodeBrief:
        """Text for judge models."""
        return self._examined.show(BriefWriter(self._show, self.closings))

    @cached_property
    def turns(self) -> tuple[JudgedTurn, ...]:
        """All turns of the entry."""
        return tuple([self._judge_turn(n, turn) for n, turn in enumerate(self.trajectory.turns)])

    @cached_property
    def doings(self) -> EpisodeActions:
        """Calls, final answers and counts of the episode, for comparisons with other episodes."""
        return self._examined.show(_ActFinder(self.closings))

    @property
    def passed(self) -> bool | None:
        """Whether the verdict is a pass; None if there is no verdict."""
        verdict = self.viewed.judged.verdict
        return verdict and verdict.valid

    @property
    def cause(self) -> str | None:
        """Cause of a failure."""
        diagnosis = None if self.passed else self._examined.diagnosis
        return diagnosis and diagnosis.cause.value

    @property
    def cluster(self) -> str:
        """Scenario of the entry."""
        return self.trajectory.base

    @property
    def is_chat(self) -> bool:
        """Whether the entry is a chat; the label of a chat rates the relevance of the answer."""
        return self.trajectory.category in CHATS

    @property
    def words(self) -> int:
        """Total number of characters in the final answers of the turns."""
        return sum(len(closing.words or "") for closing in self.closings)

    @property
    def asked(self) -> tuple[int, ...]:
        """Turns that a judge model reports on."""
        return tuple([n for n, turn in enumerate(self.turns) if turn.ended in ANSWERED])

    def fails_unasked(self, unit: Unit) -> bool:
        """Tell whether the episode fails because an answer is missing."""
        return not self.asked or (unit == "episode" and len(self.asked) < len(self.turns))

    def labels(self, vote: Vote, terms: LabelOptions) -> list[JudgeLabel] | None:
        """Convert a vote to one label per turn; return None if the judge model abstained."""
        if vote.labels is not None:
            return [*vote.labels]
        if vote.abstained is not None:
            return None
        observed = {each.turn: each for each in vote.turns}
        found: list[JudgeLabel] = []
        for number, turn in enumerate(self.turns):
            if number not in observed:
                found.append("fail")
                continue
            seen = observed[number]
            if terms.solvable == "known":
                seen = seen._replace(solvable="yes" if turn.solvable else "no")
            if self.is_chat:
                found.append(label_chat(seen, turn.ended))
            else:
                found.append(label_turn(seen, turn.ended, terms.rules))
        return found

    def units(self, unit: Unit) -> list[int | None]:
        """Return the indices of the turns that get a label; ``[None]`` means the whole episode."""
        if unit == "episode":
            return [None]
        return [number for number, turn in enumerate(self.turns) if turn.reached]

    def cast(self, votes: Iterable[Vote], terms: LabelOptions) -> list[Cast]:
        """Return the labels of the votes: one list per episode or turn."""
        labels = [self.labels(vote, terms) for vote in votes]
        return [
            [None if each is None else _pick_label(each, number) for each in labels]
            for number in self.units(terms.unit)
        ]

    def _judge_turn(self, number: int, turn: Turn) -> JudgedTurn:
        reached = number < len(self.closings)
        kind = FACTS[self.trajectory.category].calls
        solvable = bool(turn.ground_truth) or turn.only_asks
        if kind is not None:
            solvable = kind is not ComparisonKind.IRRELEVANCE
        return JudgedTurn(self._find_ending(number), solvable, reached, self._find_verdict(number))

    def _find_ending(self, number: int) -> Ended:
        record, is_last = self.viewed.recorded.record, number == len(self.closings) - 1
        reasons = {end.turn: end.why for end in record.turn_ends}
        if number in reasons:
            return _ENDINGS.get(reasons[number], "answer")
        if number >= len(self.closings):
            return "nothing"
        if is_last and self._examined.model and self._examined.model.terminated:
            return "step_limit"
        # Calls end a single turn, and result files do not record the ends of turns.
        answered = self.trajectory.expects is not None or not record.messages
        return "answer" if answered else "nothing"

    def _find_verdict(self, number: int) -> bool | None:
        verdict = self.viewed.judged.verdict
        if verdict is None or verdict.valid or number < verdict.turns_passed:
            return None if verdict is None else True
        return False if number == (verdict.failed_turn or 0) else None


def _pick_label(labels: Sequence[JudgeLabel], turn: int | None) -> JudgeLabel:
    return label_episode(labels) if turn is None else labels[turn]


def exhibits(episodes: Iterable[ReplayedEpisode], show: Show) -> Iterator[JudgedEpisode]:
    """Yield the episodes that can be judged.

    Raises DataError if ``show`` is ``answer`` and a record contains no texts.
    """
    for viewed in episodes:
        if viewed.examined is not None and viewed.judged.outcome != "error":
            yield JudgedEpisode(viewed, viewed.examined, show)


class EpisodeActions(NamedTuple):
    """Calls, final answers and counts of an episode, for the comparison with other episodes."""

    calls: tuple[tuple[str, ...], ...]
    """Calls of each turn."""
    words: tuple[str | None, ...]
    """Final answer of each turn; None if the turn has no answer."""
    merits: EpisodeMerits


class _TurnEndings:
    def __init__(self, record: EpisodeRecord) -> None:
        self._record = record

    def turns(self, examined: RejudgedMultiTurn) -> Sequence[TurnEnding]:
        traced = examined.model.turns if examined.model else ()
        return find_endings(self._record, traced, len(examined.trajectory.turns))

    def pairs(self, examined: RejudgedSingleTurn) -> Sequence[TurnEnding]:
        """Return the answer of a single-turn episode, if any."""
        words, problem, failed = examined.paired.said
        note = f"No call could be parsed in the answer: {problem}" if problem else ""
        return () if failed else (TurnEnding(words or None, note),)


class _ActFinder:
    def __init__(self, closings: Sequence[TurnEnding]) -> None:
        self._words = tuple([closing.words for closing in closings])

    def turns(self, examined: RejudgedMultiTurn) -> EpisodeActions:
        traced = examined.model.turns if examined.model else ()
        milestones = sum(
            len(truth.calls) - len(match_effects(truth, model).missing)
            for truth, model in zip(examined.truth.turns, traced, strict=False)
        )
        good = {
            call.name
            for turn in traced
            for call, result, _ in turn.calls
            if isinstance(call, Call) and result.ok and call.name in turn.offered
        }
        calls = [tuple([call_text(each.call) for each in turn.calls]) for turn in traced]
        return self._count(calls, milestones, good)

    def pairs(self, examined: RejudgedSingleTurn) -> EpisodeActions:
        made = [pair for pair in examined.paired.pairs if pair.call is not None]
        milestones = sum(pair.expected is not None and pair.problem is None for pair in made)
        good = {
            pair.call.name
            for pair in made
            if isinstance(pair.call, Call) and (pair.result is None or pair.result.ok)
        }
        calls = tuple([call_text(pair.call) for pair in made if pair.call is not None])
        return self._count([calls], milestones, good)

    def _count(
        self, calls: Sequence[tuple[str, ...]], milestones: int, good: set[str]
    ) -> EpisodeActions:
        repeats = sum(len(made) - len(set(made)) for made in calls)
        merits = EpisodeMerits(milestones, len(good), repeats)
        return EpisodeActions(tuple(calls), self._words, merits)
