"""A judge at work: votes are drawn in order, until the label cannot change or all are drawn.

Votes that are kept already are not drawn again, whatever they were drawn for. Requests go through
the engine of live runs, with its limits, retries and budget.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Generic, NamedTuple, Protocol

from extensions.judges.ask import ComparedAnswer, Questions, Unfitting, compared_in, observed_in
from extensions.judges.brief import Brief, both
from extensions.judges.exhibit import Exhibit, LabelTerms
from extensions.judges.judging import (
    Choice,
    Criterion,
    Preference,
    both_orders,
    chosen,
    is_decided,
    is_settled,
    majority,
    preferred,
)
from extensions.judges.scripted import ScriptedJudge
from extensions.judges.votes import AnyVote, PreferenceVote, Took, Vote, VoteStore
from runner.live.budget import Budget
from runner.live.conduct import Ending, watched
from runner.live.engine import Engine, Limits
from runner.live.loop import Ask, ModelAnswer
from runner.live.meter import Meter
from runner.models.base import CHARACTERS_PER_TOKEN, Model, ModelError, Reply, Request
from runner.records.record import Key, Outcome
from runner.records.replies import ReplyCache

_HOPELESS = 10
"""So many episodes on which the first request failed, and no vote at all: the judge is no use."""
_OUTCOMES: Mapping[str, Outcome] = {"pass": "passed", "win": "passed"}


class VoteCount(NamedTuple):
    """How many votes are drawn."""

    votes: int
    """At most, on one thing."""
    all: bool = False
    """Whether also those that cannot change anything."""

    @property
    def fewest(self) -> int:
        """How many there are where they agree."""
        return self.votes if self.all else self.votes // 2 + 1


class Case(Protocol[AnyVote]):
    """Something to vote on."""

    @property
    def key(self) -> Key:
        """Trajectory and trial."""
        ...

    @property
    def brief(self) -> Brief:
        """What is shown."""
        ...

    @property
    def expected(self) -> int:
        """How many requests it is likely to take."""
        ...

    def is_over(self, votes: Sequence[AnyVote]) -> bool:
        """Tell whether no further vote is wanted."""
        ...

    def outcome(self, votes: Sequence[AnyVote]) -> str:
        """Return what the votes come to, for who watches."""
        ...

    async def draw(self, number: int, ask: Ask) -> AnyVote:
        """Return one more vote.

        Raises:
            ModelError: There is none to be had.
        """
        ...


@dataclass(frozen=True, eq=False)
class LiveJudge:
    """A model that is asked.

    Attributes:
        questions: Puts episodes into requests.
        replies: Where answers are looked up before it is asked, or None.
    """

    questions: Questions
    replies: ReplyCache | None = None

    async def vote(self, exhibit: Exhibit, draw: int, ask: Ask) -> Vote:
        """Ask for one vote on an episode, and once more where the answer does not fit."""
        brief, turns = exhibit.brief, exhibit.asked
        token = brief.token(str(draw))
        request = self.questions.ask(brief.text(token), token, turns)
        vote = Vote(*exhibit.key, draw, brief.sha256)
        for _ in range(2):
            answer = await self._ask(exhibit.key, draw, request, ask)
            vote = vote._replace(took=_and(vote.took, answer))
            try:
                return vote._replace(turns=observed_in(answer.reply, turns), abstained=None)
            except Unfitting as error:
                vote = vote._replace(abstained=str(error))
                request = self.questions.again(request, answer.reply, str(error), turns)
        return vote

    async def prefer(self, pair: PairCase, draw: int, ask: Ask) -> PreferenceVote:
        """Ask which of two episodes is better, in both orders."""
        vote = PreferenceVote(*pair.key, draw, pair.brief.sha256)
        said: list[ComparedAnswer | None] = []
        for brief in (both(pair.a.brief, pair.b.brief), both(pair.b.brief, pair.a.brief)):
            compared, took = await self._compared(pair.key, brief, draw, ask, vote.took)
            vote = vote._replace(took=took)
            said.append(compared)
        a_first, b_first = said
        return vote._replace(
            a_first=a_first and a_first.choices,
            b_first=b_first and b_first.choices,
            why=[each.why if each else "" for each in said],
        )

    async def _compared(
        self, key: Key, brief: Brief, draw: int, ask: Ask, took: Took
    ) -> tuple[ComparedAnswer | None, Took]:
        token = brief.token(str(draw))
        request = self.questions.ask(brief.text(token), token)
        for _ in range(2):
            answer = await self._ask(key, draw, request, ask)
            took = _and(took, answer)
            try:
                return compared_in(answer.reply, self.questions.criteria), took
            except Unfitting as error:
                request = self.questions.again(request, answer.reply, str(error))
        return None, took

    async def _ask(self, key: Key, draw: int, request: Request, ask: Ask) -> ModelAnswer:
        """Put a request, unless its answer is known; every vote has a seed of its own."""
        place = f"{key[0]} {key[1]}", draw
        known = self.replies and self.replies.find(place, request)
        if known:
            await asyncio.sleep(0)
            return ModelAnswer(known, 0)
        answer = await ask(request._replace(trial=draw))
        if self.replies:
            self.replies.keep(place, request, answer.reply)
        return answer


def _and(took: Took, answer: ModelAnswer) -> Took:
    reply, attempts = answer
    return took.and_more(reply.usage, reply.latency, reply.cost, attempts)


AnyJudge = LiveJudge | ScriptedJudge


@dataclass(frozen=True, eq=False)
class EpisodeCase:
    """The votes on one episode."""

    exhibit: Exhibit
    judge: AnyJudge
    terms: LabelTerms
    draws: VoteCount

    @property
    def key(self) -> Key:
        """Trajectory and trial."""
        return self.exhibit.key

    @property
    def brief(self) -> Brief:
        """What the judge reads."""
        return self.exhibit.brief

    @property
    def expected(self) -> int:
        """How many requests it is likely to take."""
        return self.draws.fewest

    def is_over(self, votes: Sequence[Vote]) -> bool:
        """Tell whether all votes are cast, or the labels of all units cannot change."""
        most = self.draws.votes
        if isinstance(self.judge, LiveJudge) and self.exhibit.fails_unasked(self.terms.unit):
            return True
        if len(votes) >= most or self.draws.all:
            return len(votes) >= most
        return all(is_settled(cast, most) for cast in self.exhibit.cast(votes, self.terms))

    def outcome(self, votes: Sequence[Vote]) -> str:
        """Return the label of the episode."""
        (cast,) = self.exhibit.cast(votes, self.terms._replace(unit="episode"))
        return majority(cast, self.draws.votes)

    async def draw(self, number: int, ask: Ask) -> Vote:
        """Return one more vote."""
        if isinstance(self.judge, ScriptedJudge):
            return self.judge.vote(self.exhibit, number)
        return await self.judge.vote(self.exhibit, number, ask)


@dataclass(frozen=True, eq=False)
class PairCase:
    """The votes on which of two episodes of an entry is better; the second is the challenger."""

    a: Exhibit
    b: Exhibit
    judge: AnyJudge
    draws: VoteCount
    counts: bool
    """Whether merits that can be counted are, and not asked for."""

    @property
    def key(self) -> Key:
        """Trajectory and trial."""
        return self.a.key

    @property
    def brief(self) -> Brief:
        """What the judge reads, with A first."""
        return both(self.a.brief, self.b.brief)

    def preference(self, vote: PreferenceVote) -> Preference | None:
        """Return what a vote says of B; None where one of its answers did not fit."""
        a_first, b_first = self.choices(vote)
        return a_first and b_first and both_orders(a_first, b_first)

    def choices(self, vote: PreferenceVote) -> tuple[Choice | None, Choice | None]:
        """Return which was better with A first, and with B first."""
        a, b = self.a.doings.merits, self.b.doings.merits
        return self._chosen(vote.a_first, a.against(b)), self._chosen(vote.b_first, b.against(a))

    def _chosen(
        self, said: Mapping[Criterion, Choice] | None, counted: Mapping[Criterion, Choice]
    ) -> Choice | None:
        return None if said is None else chosen({**said, **(counted if self.counts else {})})

    @property
    def expected(self) -> int:
        """How many requests it is likely to take."""
        return 2 * self.draws.fewest

    def is_over(self, votes: Sequence[PreferenceVote]) -> bool:
        """Tell whether all votes are cast, or the preference cannot change."""
        if len(votes) >= self.draws.votes or self.draws.all:
            return len(votes) >= self.draws.votes
        return is_decided([self.preference(vote) for vote in votes], self.draws.votes)

    def outcome(self, votes: Sequence[PreferenceVote]) -> str:
        """Return whether B wins."""
        return preferred([self.preference(vote) for vote in votes], self.draws.votes)

    async def draw(self, number: int, ask: Ask) -> PreferenceVote:
        """Return one more vote."""
        if isinstance(self.judge, ScriptedJudge):
            return self.judge.prefer(self.a, self.b, number, self.brief.sha256)
        return await self.judge.prefer(self, number, ask)


@dataclass
class Sat(Generic[AnyVote]):
    """What became of a sitting.

    Attributes:
        votes: The votes on every case that has all it needs, by its key.
        failed: Why there is no vote, of those that gave none.
        cast: How many votes were drawn now.
        ending: How it ended, and what all sittings have used.
    """

    votes: dict[Key, Sequence[AnyVote]] = field(default_factory=dict)
    failed: dict[Key, str] = field(default_factory=dict)
    cast: int = 0
    ending: Ending | None = None


class Nobody:
    """Stands where a model would, of a judge that asks none."""

    async def ask(self, request: Request) -> Reply:
        """Refuse: there is no answer."""
        raise ModelError("there is nobody to ask")

    async def close(self) -> None:
        """Do nothing."""


class _Sitting(Generic[AnyVote]):
    """The votes that are being drawn.

    Args:
        store: Where they are kept.
        engine: Puts requests.
        meter: Shows how it gets on.
    """

    def __init__(
        self,
        store: VoteStore[AnyVote],
        engine: Engine[Case[AnyVote], Case[AnyVote]],
        meter: Meter,
    ) -> None:
        self.sat: Sat[AnyVote] = Sat()
        self._store: VoteStore[AnyVote] = store
        self._engine: Engine[Case[AnyVote], Case[AnyVote]] = engine
        self._meter = meter

    async def do(self, case: Case[AnyVote], ask: Ask) -> Case[AnyVote]:
        """Draw the votes that a case lacks, and keep each as it comes."""
        votes = self._store.cast(case.key, case.brief.sha256)
        # Whoever waits for all to stop, say, gets a turn.
        await asyncio.sleep(0)
        while not case.is_over(votes):
            try:
                vote = await case.draw(len(votes), ask)
            except ModelError as error:
                self.sat.failed[case.key] = str(error)
                return case
            vote = vote._replace(spent=self._engine.budget.spent)
            self._store.append(vote)
            votes.append(vote)
            self.sat.cast += 1
        self.sat.votes[case.key] = votes
        return case

    def count(self, case: Case[AnyVote]) -> None:
        """Take note of a case that is over; give up where no case gets a vote."""
        sat, engine = self.sat, self._engine
        votes = sat.votes.get(case.key)
        outcome: Outcome = "error"
        if votes is not None:
            outcome = _OUTCOMES.get(case.outcome(votes), "failed")
        self._meter.count(outcome, engine.budget.spent)
        if len(sat.failed) >= _HOPELESS and not sat.cast:
            engine.failed = True
            engine.stop(f"no vote at all, the last since {sat.failed[case.key]}", at_once=True)


async def sit(
    cases: Sequence[Case[AnyVote]],
    store: VoteStore[AnyVote],
    model: Model | None,
    limits: Limits,
    budget: Budget,
    meter: Meter,
) -> Sat[AnyVote]:
    """Draw the votes that are missing, keep each as it comes, and return all.

    Args:
        cases: What to vote on.
        store: Where votes are kept.
        model: Whom to ask; None for a judge that asks nobody.
        limits: How hard to push.
        budget: What may be used.
        meter: Shows how it gets on.

    Raises:
        DataError: A vote cannot be kept.
    """
    asked = model or Nobody()
    engine: Engine[Case[AnyVote], Case[AnyVote]] = Engine(
        asked, limits, Random(0), budget, say=meter.say
    )
    sitting = _Sitting(store, engine, meter)
    try:
        async with watched(engine, meter):
            await engine.run(cases, sitting.do, sitting.count, lambda case: case.expected)
    finally:
        await asked.close()
    sitting.sat.ending = Ending(engine.stop_reason, engine.failed, budget.spent)
    return sitting.sat


class Guess(NamedTuple):
    """What a sitting would ask."""

    episodes: int
    """That something is asked about."""
    requests: int
    """Where all votes agree and every answer fits."""
    most: int
    """Where none does."""
    tokens: int
    """Prompt tokens of the former, roughly."""
    answered: int
    """Completion tokens of the former, roughly, without thoughts."""


_PER_TURN = 70
"""Tokens of what is reported of a turn, or of a comparison."""


def guess(cases: Sequence[EpisodeCase], kept: VoteStore[Vote] | None) -> Guess:
    """Return what votes on episodes would take, of which some may be kept."""
    found = [*_guesses(cases, kept)]
    return Guess(len(found), *[sum(each) for each in zip(*found, strict=True)] or [0, 0, 0, 0])


def _guesses(
    cases: Sequence[EpisodeCase], kept: VoteStore[Vote] | None
) -> Iterator[tuple[int, int, int, int]]:
    for case in cases:
        votes = kept.cast(case.key, case.brief.sha256) if kept else []
        if not isinstance(case.judge, LiveJudge) or case.is_over(votes):
            continue
        token, turns = case.brief.token("0"), case.exhibit.asked
        request = case.judge.questions.ask(case.brief.text(token), token, turns)
        requests = max(1, case.draws.fewest - len(votes))
        size = len(request.tools.encoded) if request.tools else 0
        size += sum(len(message["content"]) for message in request.messages)
        most = 2 * (case.draws.votes - len(votes))
        tokens = requests * (size // CHARACTERS_PER_TOKEN)
        yield requests, most, tokens, requests * len(turns) * _PER_TURN
