"""An episode as it is put to a judge: its brief, how its turns ended, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from checkers.calls.documents import Kind
from checkers.why.divergence import align
from envs.calls import Call
from extensions.judges.brief import Brief, BriefOf, Closing, Show, closings_of
from extensions.judges.judging import (
    ANSWERED,
    Cast,
    Ended,
    JudgeLabel,
    JudgingRules,
    Merits,
    decide,
    of_turns,
    relevance,
)
from extensions.judges.votes import Vote
from runner.analysis.runs import Viewed
from runner.episodes.examined import Examined, ExaminedCalls, ExaminedTurns
from runner.records.record import EpisodeRecord, Key, call_text
from trajectories.errors import DataError
from trajectories.schema import FACTS, Category, Trajectory, Turn

Unit = Literal["episode", "turn"]
"""What a label is of."""
SolvableBy = Literal["known", "judged"]
"""Who says whether a turn can be solved: the ground truth, or the judge."""

CHATS = frozenset({Category.CHAT, Category.CHATABLE})
"""Where an answer is all that is right: the verdict says whether no call was made, the label
whether the answer is relevant."""

_ENDINGS: Mapping[str, Ended] = {
    "cut_off": "cut_off",
    "exhausted": "step_limit",
    "give_up": "give_up",
    "step_limit": "step_limit",
    "unreadable": "nothing",
    "empty": "nothing",
}
"""How a turn ended by why it is on record to have; all else is an answer."""


class LabelTerms(NamedTuple):
    """How observations become labels."""

    rules: JudgingRules = "paper"
    solvable: SolvableBy = "known"
    unit: Unit = "episode"


class ExhibitedTurn(NamedTuple):
    """One turn, as far as labels need it."""

    ended: Ended
    solvable: bool
    """Whether the ground truth has something to do in it, or to tell."""
    reached: bool
    passed: bool | None
    """What the verdict says of it; None where it says nothing."""


class Exhibit:
    """One episode that can be judged.

    Args:
        viewed: The episode, executed again.
        examined: What there is to see of it.
        show: What a judge is shown of it.

    Raises:
        DataError: Its words are wanted, and there are none on record.
    """

    def __init__(self, viewed: Viewed, examined: Examined, show: Show) -> None:
        self.viewed = viewed
        self.trajectory: Trajectory = viewed.trajectory
        self.key: Key = viewed.recorded.record.key
        self._examined = examined
        self._show: Show = show
        self.closings: Sequence[Closing] = examined.show(_Closings(viewed.recorded.record))
        record = viewed.recorded.record
        if show == "answer" and not record.messages and not any(c.words for c in self.closings):
            message = "has no words on record; judge it by --show steps"
            raise DataError(f"{self.key[0]}, trial {self.key[1]}", message)

    @cached_property
    def brief(self) -> Brief:
        """What a judge reads."""
        return self._examined.show(BriefOf(self._show, self.closings))

    @cached_property
    def turns(self) -> tuple[ExhibitedTurn, ...]:
        """All turns of the trajectory."""
        return tuple([self._turn(n, turn) for n, turn in enumerate(self.trajectory.turns)])

    @cached_property
    def doings(self) -> Doings:
        """What was done in it, by which two episodes are told apart."""
        return self._examined.show(_Doings(self.closings))

    @property
    def passed(self) -> bool | None:
        """The verdict; None where there is none."""
        verdict = self.viewed.judged.verdict
        return verdict and verdict.valid

    @property
    def cause(self) -> str | None:
        """Why it failed, where it did."""
        diagnosis = None if self.passed else self._examined.diagnosis
        return diagnosis and diagnosis.cause.value

    @property
    def cluster(self) -> str:
        """The scenario."""
        return self.trajectory.base

    @property
    def is_chat(self) -> bool:
        """Whether it is labelled by whether its words are relevant, and not by what it solves."""
        return self.trajectory.category in CHATS

    @property
    def words(self) -> int:
        """Characters of the words that end its turns."""
        return sum(len(closing.words or "") for closing in self.closings)

    @property
    def asked(self) -> tuple[int, ...]:
        """The turns that a judge has a say in."""
        return tuple([n for n, turn in enumerate(self.turns) if turn.ended in ANSWERED])

    def fails_unasked(self, unit: Unit) -> bool:
        """Tell whether its labels follow from how its turns ended."""
        return not self.asked or (unit == "episode" and len(self.asked) < len(self.turns))

    def labels(self, vote: Vote, terms: LabelTerms) -> list[JudgeLabel] | None:
        """Return the label of each turn that a vote amounts to; None of an abstention."""
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
            # The one place where the words of a chat are judged.
            chat = self.is_chat
            found.append(
                relevance(seen, turn.ended) if chat else decide(seen, turn.ended, terms.rules)
            )
        return found

    def units(self, unit: Unit) -> list[int | None]:
        """Return what labels are of: the episode, or each of the turns that were reached."""
        if unit == "episode":
            return [None]
        return [number for number, turn in enumerate(self.turns) if turn.reached]

    def cast(self, votes: Iterable[Vote], terms: LabelTerms) -> list[Cast]:
        """Return what votes say of each unit."""
        labels = [self.labels(vote, terms) for vote in votes]
        return [
            [None if each is None else _of(each, number) for each in labels]
            for number in self.units(terms.unit)
        ]

    def _turn(self, number: int, turn: Turn) -> ExhibitedTurn:
        reached = number < len(self.closings)
        kind = FACTS[self.trajectory.category].calls
        solvable = bool(turn.ground_truth) or turn.only_asks
        if kind is not None:
            solvable = kind is not Kind.IRRELEVANCE
        return ExhibitedTurn(self._ended(number), solvable, reached, self._passed(number))

    def _ended(self, number: int) -> Ended:
        record, is_last = self.viewed.recorded.record, number == len(self.closings) - 1
        found = {end.turn: end.why for end in record.turn_ends}
        if number in found:
            return _ENDINGS.get(found[number], "answer")
        if number >= len(self.closings):
            return "nothing"
        if is_last and self._examined.model and self._examined.model.terminated:
            return "step_limit"
        # Calls end a single turn, and result files do not say how a turn ended.
        answered = self.trajectory.expects is not None or not record.messages
        return "answer" if answered else "nothing"

    def _passed(self, number: int) -> bool | None:
        """Return what the verdict says of a turn: nothing of those after the one that failed."""
        verdict = self.viewed.judged.verdict
        if verdict is None or verdict.valid or number < verdict.turns_passed:
            return None if verdict is None else True
        return False if number == (verdict.failed_turn or 0) else None


def _of(labels: Sequence[JudgeLabel], turn: int | None) -> JudgeLabel:
    return of_turns(labels) if turn is None else labels[turn]


def exhibits(episodes: Iterable[Viewed], show: Show) -> Iterator[Exhibit]:
    """Yield what can be put to a judge of the episodes of a run: all but those of errors.

    Raises:
        DataError: Their words are wanted, and there are none on record.
    """
    for viewed in episodes:
        if viewed.examined is not None and viewed.judged.outcome != "error":
            yield Exhibit(viewed, viewed.examined, show)


class Doings(NamedTuple):
    """What was done in an episode."""

    calls: tuple[tuple[str, ...], ...]
    """By turn."""
    words: tuple[str | None, ...]
    """That ended each turn."""
    merits: Merits


class _Closings:
    """Finds how the turns of an episode ended."""

    def __init__(self, record: EpisodeRecord) -> None:
        self._record = record

    def turns(self, examined: ExaminedTurns) -> Sequence[Closing]:
        """Return that of several turns."""
        traced = examined.model.turns if examined.model else ()
        return closings_of(self._record, traced, len(examined.trajectory.turns))

    def pairs(self, examined: ExaminedCalls) -> Sequence[Closing]:
        """Return that of a single turn; none where the request failed."""
        words, problem, failed = examined.paired.said
        note = f"No call could be read in the answer: {problem}" if problem else ""
        return () if failed else (Closing(words or None, note),)


class _Doings:
    """Finds what was done in an episode."""

    def __init__(self, closings: Sequence[Closing]) -> None:
        self._words = tuple([closing.words for closing in closings])

    def turns(self, examined: ExaminedTurns) -> Doings:
        """Return that of several turns."""
        traced = examined.model.turns if examined.model else ()
        milestones = sum(
            len(truth.calls) - len(align(truth, model).missing)
            for truth, model in zip(examined.truth.turns, traced, strict=False)
        )
        good = {
            call.name
            for turn in traced
            for call, result, _ in turn.calls
            if isinstance(call, Call) and result.ok and call.name in turn.offered
        }
        calls = tuple([tuple([call_text(each.call) for each in turn.calls]) for turn in traced])
        return Doings(calls, self._words, Merits(milestones, len(good), _repeats(calls)))

    def pairs(self, examined: ExaminedCalls) -> Doings:
        """Return that of a single turn."""
        made = [pair for pair in examined.paired.pairs if pair.call is not None]
        milestones = sum(pair.expected is not None and pair.problem is None for pair in made)
        good = {
            pair.call.name
            for pair in made
            if isinstance(pair.call, Call) and (pair.result is None or pair.result.ok)
        }
        calls = (tuple([call_text(pair.call) for pair in made if pair.call is not None]),)
        return Doings(calls, self._words, Merits(milestones, len(good), _repeats(calls)))


def _repeats(calls: Iterable[Sequence[str]]) -> int:
    return sum(len(made) - len(set(made)) for made in calls)
