"""Voting: request votes one after another until the label can no longer change.

A stored vote is not requested again. Requests go through the engine of live runs, with its limits,
retries and budget.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Generic, NamedTuple, Protocol, TypeVar

from extensions.judges.episode_brief import EpisodeBrief, join_briefs
from extensions.judges.judge_questions import (
    InvalidAnswer,
    JudgeQuestions,
    read_comparison,
    read_observations,
)
from extensions.judges.judged_episode import JudgedEpisode, LabelOptions
from extensions.judges.label_rules import (
    Choice,
    Criterion,
    Preference,
    choose_better,
    combine_orders,
    find_majority,
    find_preference,
    is_decided,
    is_settled,
)
from extensions.judges.scripted_judge import ScriptedJudge
from extensions.judges.votes import AnyVote, PreferenceVote, Vote, VoteStore, VoteUsage
from runner.analysis.figures import add_counts
from runner.live.budget import Budget
from runner.live.engine import JobEngine, RequestLimits
from runner.live.episode_player import Ask, ModelAnswer
from runner.live.progress_display import ProgressDisplay
from runner.live.run_control import RunEnding, watched
from runner.models.model_types import CHARACTERS_PER_TOKEN, Model, ModelError, Reply, Request, Usage
from runner.records.episode_record import Key, Outcome
from runner.records.reply_cache import ReplyCache

_MAX_FAILED = 10
"""Failed episodes after which the command stops if there is no vote yet."""
_OUTCOMES: Mapping[str, Outcome] = {"pass": "passed", "win": "passed"}
_Report = TypeVar("_Report")


class VoteCount(NamedTuple):
    """Number of votes per case, and the rule for stopping early."""

    votes: int
    """Maximum votes for each episode or pair."""
    all: bool = False
    """Whether the command requests all votes, even if the label can no longer change."""

    @property
    def fewest(self) -> int:
        """Number of votes that decide a label if all votes agree."""
        return self.votes if self.all else self.votes // 2 + 1


class VotingCase(Protocol[AnyVote]):
    """An episode or a pair of episodes to vote on."""

    @property
    def key(self) -> Key:
        """Entry id and trial."""
        ...

    @property
    def brief(self) -> EpisodeBrief:
        """Text for judge models."""
        ...

    @property
    def expected(self) -> int:
        """Likely number of requests."""
        ...

    def is_over(self, votes: Sequence[AnyVote]) -> bool:
        """Tell whether the votes on an episode, or on a pair of episodes, are complete."""
        ...

    def outcome(self, votes: Sequence[AnyVote]) -> str:
        """Return the result of the votes, such as ``pass``, for the progress output."""
        ...

    async def draw(self, number: int, ask: Ask) -> AnyVote:
        """Request one more vote and return it.

        Raises ModelError if the request failed.
        """
        ...


@dataclass(frozen=True, eq=False)
class LiveJudge:
    """A judge model that votes by answering requests; its answers can be cached."""

    questions: JudgeQuestions
    replies: ReplyCache | None = None

    async def vote(self, exhibit: JudgedEpisode, draw: int, ask: Ask) -> Vote:
        """Request one vote on an episode."""
        brief, turns = exhibit.brief, exhibit.asked
        read = partial(read_observations, turns=turns)
        report, usage = await self.request(exhibit.key, draw, brief, read, ask, turns)
        vote = Vote(*exhibit.key, draw, brief.sha256, took=usage)
        if isinstance(report, InvalidAnswer):
            return vote._replace(abstained=str(report))
        return vote._replace(turns=report)

    async def prefer(self, pair: PairCase, draw: int, ask: Ask) -> PreferenceVote:
        """Request comparisons of two episodes in both orders."""
        usage, found = VoteUsage(), []
        read = partial(read_comparison, criteria=self.questions.criteria)
        for brief in (pair.brief, join_briefs(pair.b.brief, pair.a.brief)):
            report, usage = await self.request(pair.key, draw, brief, read, ask, usage=usage)
            found.append(None if isinstance(report, InvalidAnswer) else report)
        a_first, b_first = [each and each.choices for each in found]
        why = [each.why if each else "" for each in found]
        return PreferenceVote(*pair.key, draw, pair.brief.sha256, a_first, b_first, why, usage)

    async def request(
        self,
        key: Key,
        draw: int,
        brief: EpisodeBrief,
        read: Callable[[Reply], _Report],
        ask: Ask,
        turns: Sequence[int] = (),
        *,
        usage: VoteUsage | None = None,
    ) -> tuple[_Report | InvalidAnswer, VoteUsage]:
        """Ask for a report, and once more if the report is invalid.

        ``usage`` is the usage of earlier requests for the same vote. The returned usage is the sum
        of old and new requests.
        """
        usage = usage or VoteUsage()
        token = brief.token(str(draw))
        request = self.questions.ask(brief.text(token), token, turns)
        for _ in range(2):
            answer = await self._ask(key, draw, request, ask)
            usage = _add_usage(usage, answer)
            try:
                return read(answer.reply), usage
            except InvalidAnswer as error:
                invalid = error
                request = self.questions.again(request, answer.reply, str(error), turns)
        return invalid, usage

    async def _ask(self, key: Key, draw: int, request: Request, ask: Ask) -> ModelAnswer:
        place = f"{key[0]} {key[1]}", draw
        known = self.replies and self.replies.find(place, request)
        if known:
            await asyncio.sleep(0)
            return ModelAnswer(known, 0)
        answer = await ask(request._replace(trial=draw))
        if self.replies:
            self.replies.keep(place, request, answer.reply)
        return answer


def _add_usage(took: VoteUsage, answer: ModelAnswer) -> VoteUsage:
    reply, attempts = answer
    if not attempts:
        return took
    prompt = add_counts(took.usage.prompt, reply.usage.prompt)
    completion = add_counts(took.usage.completion, reply.usage.completion)
    cost = reply.cost if took.cost is None else took.cost + (reply.cost or 0.0)
    latency = took.latency + reply.latency
    return VoteUsage(Usage(prompt, completion), latency, cost, took.attempts + attempts)


AnyJudge = LiveJudge | ScriptedJudge


@dataclass(frozen=True, eq=False)
class EpisodeCase:
    """One episode to vote on."""

    exhibit: JudgedEpisode
    judge: AnyJudge
    terms: LabelOptions
    draws: VoteCount

    @property
    def key(self) -> Key:
        """Entry id and trial."""
        return self.exhibit.key

    @property
    def brief(self) -> EpisodeBrief:
        """Text for judge models."""
        return self.exhibit.brief

    @property
    def expected(self) -> int:
        """Likely number of requests."""
        return self.draws.fewest

    def is_over(self, votes: Sequence[Vote]) -> bool:
        """Return whether voting can stop: all votes are cast, or the label is certain."""
        most = self.draws.votes
        if isinstance(self.judge, LiveJudge) and self.exhibit.fails_unasked(self.terms.unit):
            return True
        if len(votes) >= most or self.draws.all:
            return len(votes) >= most
        return all(is_settled(cast, most) for cast in self.exhibit.cast(votes, self.terms))

    def outcome(self, votes: Sequence[Vote]) -> str:
        """Return the label of the episode."""
        (cast,) = self.exhibit.cast(votes, self.terms._replace(unit="episode"))
        return find_majority(cast, self.draws.votes)

    async def draw(self, number: int, ask: Ask) -> Vote:
        """Return one more vote."""
        if isinstance(self.judge, ScriptedJudge):
            return self.judge.vote(self.exhibit, number)
        return await self.judge.vote(self.exhibit, number, ask)


@dataclass(frozen=True, eq=False)
class PairCase:
    """Two episodes of one entry to compare; episode B is from the run under test."""

    a: JudgedEpisode
    b: JudgedEpisode
    judge: AnyJudge
    draws: VoteCount
    counts: bool
    """Whether Turnwise, not the judge model, decides the three countable criteria."""

    @property
    def key(self) -> Key:
        """Entry id and trial."""
        return self.a.key

    @property
    def brief(self) -> EpisodeBrief:
        """Text for judge models; episode A comes first."""
        return join_briefs(self.a.brief, self.b.brief)

    def preference(self, vote: PreferenceVote) -> Preference | None:
        """Return whether episode B won, tied or lost a vote; None if the vote is invalid."""
        a_first, b_first = self.choices(vote)
        return a_first and b_first and combine_orders(a_first, b_first)

    def choices(self, vote: PreferenceVote) -> tuple[Choice | None, Choice | None]:
        """Return the choice with A shown first, and the choice with B shown first."""
        a, b = self.a.doings.merits, self.b.doings.merits
        return self._choose(vote.a_first, a.against(b)), self._choose(vote.b_first, b.against(a))

    def _choose(
        self, judged: Mapping[Criterion, Choice] | None, counted: Mapping[Criterion, Choice]
    ) -> Choice | None:
        return (
            None
            if judged is None
            else choose_better({**judged, **(counted if self.counts else {})})
        )

    @property
    def expected(self) -> int:
        """Likely number of requests."""
        return 2 * self.draws.fewest

    def is_over(self, votes: Sequence[PreferenceVote]) -> bool:
        """Return whether voting can stop: all votes are cast, or the preference is certain."""
        if len(votes) >= self.draws.votes or self.draws.all:
            return len(votes) >= self.draws.votes
        return is_decided([self.preference(vote) for vote in votes], self.draws.votes)

    def outcome(self, votes: Sequence[PreferenceVote]) -> str:
        """Count the votes, and return whether episode B wins, ties or loses."""
        return find_preference([self.preference(vote) for vote in votes], self.draws.votes)

    async def draw(self, number: int, ask: Ask) -> PreferenceVote:
        """Return one more vote."""
        if isinstance(self.judge, ScriptedJudge):
            return self.judge.prefer(self.a, self.b, number, self.brief.sha256)
        return await self.judge.prefer(self, number, ask)


@dataclass
class VotingResult(Generic[AnyVote]):
    """Votes that a command collected, and the errors of failed requests."""

    votes: dict[Key, Sequence[AnyVote]] = field(default_factory=dict)
    """Votes of all finished cases; unfinished cases are missing."""
    failed: dict[Key, str] = field(default_factory=dict)
    """Error of each case with a failed request."""
    cast: int = 0
    """Number of new votes."""
    ending: RunEnding | None = None
    """Reason why the judging ended, and the total spending."""


class ModelPlaceholder:
    """Placeholder for the client of a scripted model."""

    async def ask(self, request: Request) -> Reply:
        """Raise an error."""
        raise ModelError("a scripted model does not accept requests")

    async def close(self) -> None:
        """Do nothing."""


@dataclass
class _Voting(Generic[AnyVote]):
    """State while votes are collected."""

    store: VoteStore[AnyVote]
    engine: JobEngine[VotingCase[AnyVote], VotingCase[AnyVote]]
    meter: ProgressDisplay
    result: VotingResult[AnyVote] = field(default_factory=VotingResult)

    async def draw(self, case: VotingCase[AnyVote], ask: Ask) -> VotingCase[AnyVote]:
        votes = self.store.cast(case.key, case.brief.sha256)
        await asyncio.sleep(0)  # lets other tasks run, such as a stop
        while not case.is_over(votes):
            try:
                vote = await case.draw(len(votes), ask)
            except ModelError as error:
                self.result.failed[case.key] = str(error)
                return case
            vote = vote._replace(spent=self.engine.budget.spent)
            self.store.append(vote)
            votes.append(vote)
            self.result.cast += 1
        self.result.votes[case.key] = votes
        return case

    def count(self, case: VotingCase[AnyVote]) -> None:
        """Count a finished case; stop if too many cases failed and no case has a vote."""
        votes, failed = self.result.votes.get(case.key), self.result.failed
        outcome: Outcome = "error"
        if votes is not None:
            outcome = _OUTCOMES.get(case.outcome(votes), "failed")
        self.meter.count(outcome, self.engine.budget.spent)
        if len(failed) >= _MAX_FAILED and not self.result.cast:
            self.engine.failed = True
            message = f"{len(failed)} episodes got no vote; last error: {failed[case.key]}"
            self.engine.stop(message, at_once=True)


async def collect_votes(
    cases: Sequence[VotingCase[AnyVote]],
    store: VoteStore[AnyVote],
    model: Model | None,
    limits: RequestLimits,
    budget: Budget,
    meter: ProgressDisplay,
) -> VotingResult[AnyVote]:
    """Request the missing votes, store each vote, and return all votes.

    ``model`` is None for a scripted judge model.

    Raises DataError if a vote cannot be written.
    """
    client = model or ModelPlaceholder()
    engine: JobEngine[VotingCase[AnyVote], VotingCase[AnyVote]] = JobEngine(
        client, limits, Random(0), budget, say=meter.say
    )
    voting = _Voting(store, engine, meter)
    try:
        async with watched(engine, meter):
            await engine.run(cases, voting.draw, voting.count, lambda case: case.expected)
    finally:
        await client.close()
    voting.result.ending = RunEnding(engine.stop_reason, engine.failed, budget.spent)
    return voting.result


class VotingEstimate(NamedTuple):
    """Estimated number of requests and tokens for the needed votes."""

    episodes: int = 0
    """Number of episodes that need requests."""
    requests: int = 0
    """Number of requests if all votes agree and every answer is valid."""
    most: int = 0
    """Maximum number of requests."""
    tokens: int = 0
    """Approximate prompt tokens of ``requests``."""
    answered: int = 0
    """Approximate completion tokens of ``requests``, without reasoning."""


_TOKENS_PER_TURN = 70
"""Estimated completion tokens of a judge model's report, per turn."""


def estimate_votes(cases: Sequence[EpisodeCase], kept: VoteStore[Vote] | None) -> VotingEstimate:
    """Estimate the requests for the votes that are not stored yet."""
    total = VotingEstimate()
    for case in cases:
        votes = kept.cast(case.key, case.brief.sha256) if kept else []
        if not isinstance(case.judge, LiveJudge) or case.is_over(votes):
            continue
        token, turns = case.brief.token("0"), case.exhibit.asked
        request = case.judge.questions.ask(case.brief.text(token), token, turns)
        requests = max(1, case.draws.fewest - len(votes))
        size = len(request.tools.encoded) if request.tools else 0
        size += sum(len(message["content"]) for message in request.messages)
        total = VotingEstimate(
            total.episodes + 1,
            total.requests + requests,
            total.most + 2 * (case.draws.votes - len(votes)),
            total.tokens + requests * (size // CHARACTERS_PER_TOKEN),
            total.answered + requests * len(turns) * _TOKENS_PER_TURN,
        )
    return total
