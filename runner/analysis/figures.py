"""What a run came to: every figure of its outcomes, scores, trials, cost and latency, once.

The lines of ``eval``, the table, its CSV and JSON, and the pages take their numbers from here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

from checkers.statistics import Attempts, cluster_interval, pass_at_1, pass_at_k, pass_hat_k
from checkers.verdict import Selected
from envs.lazy import lazily
from runner import extension
from runner.analysis.groups import Rate, Row, table
from runner.models.base import Usage
from runner.records.record import EpisodeRecord, JsonObject, Life, Outcome, Telling
from trajectories.schema import MULTI_TURN, Category, Trajectory

if TYPE_CHECKING:
    import statistics
else:
    # It brings fractions along, and only live runs have latencies.
    statistics = lazily("statistics")

MOST_ERRORS = 0.02
"""Share of errors above which a score says more about the harness than about the model."""


_Member = TypeVar("_Member", EpisodeRecord, Trajectory)


class Latency(NamedTuple):
    """How long requests took, in seconds."""

    mean: float
    deviation: float
    """Standard deviation, estimated from the sample as BFCL does."""
    p50: float
    p95: float

    @classmethod
    def of(cls, latencies: Sequence[float]) -> Self | None:
        """Return the figures of requests, None of fewer than two."""
        if len(latencies) < 2:
            return None
        cuts = statistics.quantiles(latencies, n=20, method="inclusive")
        mean, deviation = statistics.mean(latencies), statistics.stdev(latencies)
        return cls(mean, deviation, cuts[9], cuts[18])


class OwnMachine(NamedTuple):
    """What a run took of a machine of one's own, over all of its sittings."""

    seconds: float
    """By the clock."""
    concurrency: int
    """Episodes at once, in the last sitting."""
    entries: int
    """Episodes that are done."""
    price: float | None = None
    """US dollars per hour."""

    @classmethod
    def of(cls, lives: Sequence[Life], entries: int, price: float | None = None) -> Self | None:
        """Add up the sittings of a run, at its own price if there is no other; None of none."""
        if not lives:
            return None
        seconds, last = sum(life.seconds for life in lives), lives[-1]
        return cls(seconds, last.concurrency, entries, price or last.gpu_price)


@dataclass(frozen=True)
class Totals:
    """What a run used."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    latencies: Sequence[float]
    """Seconds of every request that was answered."""
    cost: float | None
    """US dollars; None where a price is unknown."""
    machine: OwnMachine | None = None
    """None where nobody kept how long the run took."""
    cached_tokens: int | None = None
    """Of the prompts, read from a cache; None where no server said."""
    written_tokens: int | None = None
    """Of the prompts, written to a cache; likewise."""
    kept: int = 0
    """Answers of an earlier run that were taken once more, for which nothing was asked."""

    @property
    def seconds_per_entry(self) -> float | None:
        """Seconds by the clock over the entries, which is the latency of a batched run."""
        machine = self.machine
        return machine.seconds / machine.entries if machine and machine.entries else None

    @property
    def gpu_cost(self) -> float | None:
        """US dollars of the machine by the clock; None where its price or the time is unknown."""
        return self._machine_cost(self.machine.seconds) if self.machine else None

    @property
    def gpu_cost_by_latency(self) -> float | None:
        """US dollars of the machine by the sum of latencies over the concurrency."""
        machine = self.machine
        return self._machine_cost(sum(self.latencies) / machine.concurrency) if machine else None

    def _machine_cost(self, seconds: float) -> float | None:
        price = self.machine and self.machine.price
        return None if price is None else price * seconds / 3600

    @property
    def cost_per_1000(self) -> float | None:
        """US dollars of 1,000 requests; None where a price is unknown."""
        return None if self.cost is None else 1000 * self.cost / self.requests

    @cached_property
    def latency(self) -> Latency | None:
        """How long requests took; None of fewer than two."""
        return Latency.of(self.latencies)


class StepTook(NamedTuple):
    """What one answered request took, as a step's record has it."""

    usage: Usage
    latency: float
    cost: float | None
    attempts: int


class EpisodeTook(NamedTuple):
    """What an episode took and told, without anything else of its record."""

    outcome: Outcome | None
    steps: Sequence[StepTook] = ()
    telling: Telling | None = None
    extensions: Mapping[str, JsonObject] = {}

    @property
    def requests(self) -> Sequence[StepTook]:
        """The steps, also those that were undone."""
        members = self.extensions.items()
        undone = [step for name, each in members for step in extension.named(name).undone(each)]
        return [*self.steps, *undone]


def totals_of(records: Iterable[EpisodeRecord | EpisodeTook]) -> Totals:
    """Add up what the requests of a run used; records are looked at one by one."""
    prompt = completion = kept = 0
    latencies: list[float] = []
    cost: float | None = 0.0
    cached: int | None = None
    written: int | None = None
    for record in records:
        for step in record.requests:
            if not step.attempts:
                kept += 1
                continue
            prompt += step.usage.prompt or 0
            completion += step.usage.completion or 0
            cached = _sum(cached, step.usage.cached)
            written = _sum(written, step.usage.written)
            latencies.append(step.latency)
            cost = None if cost is None or step.cost is None else cost + step.cost
    known = cost if latencies else None
    return Totals(
        len(latencies),
        prompt,
        completion,
        latencies,
        known,
        cached_tokens=cached,
        written_tokens=written,
        kept=kept,
    )


def _sum(known: int | None, more: int | None) -> int | None:
    return known if more is None else (known or 0) + more


class ToldFigures(NamedTuple):
    """What answers told the users, over the episodes in which their words are on record."""

    facts: int
    """How many facts the users asked to hear."""
    facts_told: int
    turns: int
    """How many turns have such facts."""
    turns_told: int
    """In how many of them all were told."""
    waiting: int
    """How many turns lack something that comes one turn later."""
    asked: int
    """In how many of these it was asked for."""

    @classmethod
    def of(cls, tellings: Iterable[Telling | None]) -> Self | None:
        """Add up what episodes told, None where none of them is known to have told anything."""
        known = [telling for telling in tellings if telling]
        untold = [{untold.turn for untold in telling.untold} for telling in known]
        facts, turns = sum(t.facts for t in known), sum(t.turns for t in known)
        figures = cls(
            facts,
            facts - sum(len(telling.untold) for telling in known),
            turns,
            turns - sum(map(len, untold)),
            sum(telling.waiting for telling in known),
            sum(telling.asked for telling in known),
        )
        return figures if known else None

    @property
    def shares(self) -> Mapping[str, float | None]:
        """The shares by what columns call them; None of what there is nothing of."""
        return {
            "facts told": self.facts_told / self.facts if self.facts else None,
            "turns told": self.turns_told / self.turns if self.turns else None,
            "asked": self.asked / self.waiting if self.waiting else None,
        }


class Acts(NamedTuple):
    """How often episodes did something that is counted whether they passed or not."""

    acts: int
    episodes: int
    """How many episodes did."""
    judged: int
    """Of how many."""

    @property
    def share(self) -> float:
        """Share of the episodes that did."""
        return self.episodes / self.judged

    @classmethod
    def of(cls, acts: Sequence[Sequence[str]]) -> Self | None:
        """Count what each judged episode did; None where there is none of these."""
        counts = [*map(len, acts)]
        return cls(sum(counts), sum(map(bool, counts)), len(counts)) if counts else None


class SelectionFigures(NamedTuple):
    """How well functions were chosen and called, over the episodes of which that was counted."""

    needed: int
    """Calls that the ground truth needs."""
    functions: int
    """Of these, whose function was called in their turn."""
    arguments: int
    """Of those, with all arguments right."""
    distractors: int
    """Calls of functions that were offered and that the ground truth never calls."""
    episodes: int
    """How many made such calls."""
    judged: int
    """Of how many."""

    @classmethod
    def of(cls, found: Iterable[Selected | None]) -> Self | None:
        """Add up what episodes chose; None where that is known of none."""
        known = [each for each in found if each]
        if not known:
            return None
        return cls(
            sum(each.needed for each in known),
            sum(each.functions for each in known),
            sum(each.arguments for each in known),
            sum(each.strangers for each in known),
            sum(each.strangers > 0 for each in known),
            len(known),
        )

    @property
    def function_right(self) -> float | None:
        """Share of what is needed whose function was called; None where nothing is needed."""
        return self.functions / self.needed if self.needed else None

    @property
    def arguments_right(self) -> float | None:
        """Share of those called whose arguments are all right; None where none was called."""
        return self.arguments / self.functions if self.functions else None

    @property
    def distractor_calls(self) -> Acts:
        """Calls of distractors, and the episodes that made them."""
        return Acts(self.distractors, self.episodes, self.judged)


@dataclass(frozen=True, kw_only=True)
class CategoryScore:
    """What became of the episodes of a category, or of all."""

    name: str
    entries: int
    """How many were to be done, whatever came of them."""
    passed: int
    failed: int
    errors: int
    rate: float | None
    """Share that passed; None where nothing was judged, or too much was errors."""
    interval: tuple[float, float] | None
    """Of the rate, at 95%."""
    turns: int
    turns_passed: int
    figures: RunFigures
    """Those of its episodes."""


class TrialScore(NamedTuple):
    """What several trials of the same entries come to."""

    k: int
    any: float
    """pass@k: that one of k trials passes."""
    all: float
    """pass^k: that all of k trials pass."""


@dataclass(frozen=True)
class RunFigures:
    """The figures of a run.

    Attributes:
        outcomes: One per finished episode.
        planned: Its entries; those that are not known share nothing with each other.
        totals: What its requests used; None where that is not recorded.
        allow_errors: Whether a score is given however many errors there were.
    """

    outcomes: Sequence[EpisodeRecord]
    planned: Sequence[Trajectory] = ()
    totals: Totals | None = None
    allow_errors: bool = False

    @cached_property
    def errors(self) -> int:
        """How many episodes ended in an error that is not the model's."""
        return sum(outcome.outcome == "error" for outcome in self.outcomes)

    @property
    def scored(self) -> bool:
        """Whether a score says more about the model than about the harness."""
        return self.allow_errors or self.errors <= MOST_ERRORS * len(self.outcomes)

    @cached_property
    def judged(self) -> list[EpisodeRecord]:
        """The outcomes that are no errors."""
        return [outcome for outcome in self.outcomes if outcome.outcome != "error"]

    @property
    def turns_passed(self) -> list[dict[str, int]]:
        """By number of passed turns how many failed after them and how many passed.

        Episodes of one turn are not counted; where there are no others, there is nothing.
        """
        if not any(outcome.category in MULTI_TURN for outcome in self.outcomes):
            return []
        several = [outcome for outcome in self.judged if outcome.category in MULTI_TURN]
        count = Counter((outcome.turns_passed, outcome.outcome) for outcome in several)
        most = max((turns for turns, _ in count), default=0)
        return [
            {"turns": turns, "failed": count[turns, "failed"], "passed": count[turns, "passed"]}
            for turns in range(most + 1)
        ]

    @cached_property
    def told(self) -> ToldFigures | None:
        """What was told in all; None where no words are on record."""
        return ToldFigures.of(outcome.telling for outcome in self.judged)

    @property
    def latency(self) -> Latency | None:
        """How long its requests took; None where that is not recorded."""
        return self.totals.latency if self.totals else None

    @cached_property
    def irreversible(self) -> Acts | None:
        """What was done over several turns that cannot be taken back and should not have been."""
        several = [outcome for outcome in self.judged if outcome.category in MULTI_TURN]
        return Acts.of([each.verdict.irreversible for each in several if each.verdict])

    @cached_property
    def hallucinations(self) -> Mapping[str, Acts]:
        """What models made up in all, by kind; empty where nothing was judged."""
        made_up = [outcome.verdict.hallucinated for outcome in self.judged if outcome.verdict]
        found = {
            "invented_functions": Acts.of([each.functions for each in made_up]),
            "invented_parameters": Acts.of([each.parameters for each in made_up]),
            "calls_where_none_fits": Acts.of([each.needless for each in made_up]),
        }
        return {name: acts for name, acts in found.items() if acts}

    @cached_property
    def selection(self) -> SelectionFigures | None:
        """How well functions were chosen in all; None where nobody counted."""
        return SelectionFigures.of(o.verdict and o.verdict.selected for o in self.judged)

    @cached_property
    def rates(self) -> dict[str, Rate]:
        """The score of each category of which something was judged."""
        judged = by_category(self.judged)
        return {category: _rate(some, self._clusters) for category, some in judged.items()}

    @cached_property
    def overall(self) -> Rate | None:
        """The score of all that was judged together; None of nothing, or of too many errors."""
        return _rate(self.judged, self._clusters) if self.scored and self.judged else None

    @cached_property
    def rows(self) -> list[Row]:
        """The table that BFCL has."""
        return table(self.rates)

    @property
    def grouped(self) -> bool:
        """Whether BFCL's table says more than the scores of the categories."""
        single = any(entry.category not in MULTI_TURN for entry in self.planned)
        return self.scored and bool(self.judged) and single

    @cached_property
    def scores(self) -> list[CategoryScore]:
        """The score of each category that was planned, and where it is several of all."""
        present, found = by_category(self.planned), by_category(self.outcomes)
        scores = [
            self._score(category, entries, found.get(category, []))
            for category, entries in present.items()
        ]
        if len(present) > 1:
            scores.append(self._score("all", self.planned, self.outcomes))
        return scores

    @cached_property
    def attempts(self) -> list[Attempts]:
        """The trials of each entry of which something was judged."""
        return [*self.attempts_by_id.values()]

    @cached_property
    def attempts_by_id(self) -> Mapping[str, Attempts]:
        """The same, by the entries' ids."""
        return _attempts(self.judged, self._clusters)

    def complete(self, trials: int) -> list[Attempts]:
        """Return the trials of the entries that have all."""
        return [entry for entry in self.attempts if entry.trials == trials]

    def trial_scores(self, trials: int) -> list[TrialScore]:
        """Return pass@k and pass^k over the entries that have all trials; empty for one trial."""
        complete = self.complete(trials)
        if trials == 1 or not complete:
            return []
        return [
            TrialScore(k, pass_at_k(complete, k), pass_hat_k(complete, k))
            for k in range(1, trials + 1)
        ]

    @cached_property
    def _clusters(self) -> dict[str, str]:
        """By entry what it shares with those that are made from the same scenario."""
        return {trajectory.id: trajectory.base for trajectory in self.planned}

    def _score(
        self, name: str, planned: Sequence[Trajectory], outcomes: Sequence[EpisodeRecord]
    ) -> CategoryScore:
        mine = [outcome for outcome in outcomes if outcome.id in self._clusters]
        count = Counter(outcome.outcome for outcome in mine)
        judged = [outcome for outcome in mine if outcome.outcome != "error"]
        rate = _rate(judged, self._clusters) if judged and self.scored else None
        return CategoryScore(
            name=name,
            entries=len(planned),
            passed=count["passed"],
            failed=count["failed"],
            errors=count["error"],
            rate=rate and rate.value,
            interval=rate and rate.interval,
            turns=sum(outcome.turns for outcome in judged),
            turns_passed=sum(outcome.turns_passed for outcome in judged),
            figures=RunFigures(mine),
        )


def by_category(members: Iterable[_Member]) -> dict[str, list[_Member]]:
    """Return outcomes or entries by category, in the order in which categories are shown."""
    found: dict[str, list[_Member]] = {category: [] for category in Category}
    for member in members:
        found.setdefault(member.category, []).append(member)
    return {category: some for category, some in found.items() if some}


def _rate(judged: Sequence[EpisodeRecord], clusters: Mapping[str, str]) -> Rate:
    """Return the score of at least one, with its interval.

    That is Wilson's where trials are independent, else from clusters: what entries share.
    """
    passed = sum(outcome.outcome == "passed" for outcome in judged)
    if not clusters and len({outcome.id for outcome in judged}) == len(judged):
        return Rate.of(passed, len(judged))
    attempts = [*_attempts(judged, clusters).values()]
    if len(judged) == len({entry.cluster for entry in attempts}):
        return Rate.of(passed, len(judged))
    return Rate(pass_at_1(attempts), cluster_interval(attempts), len(attempts))


def _attempts(judged: Sequence[EpisodeRecord], clusters: Mapping[str, str]) -> dict[str, Attempts]:
    trials = Counter(outcome.id for outcome in judged)
    passed = Counter(o.id for o in judged if o.outcome == "passed")
    return {id: Attempts(clusters.get(id, id), count, passed[id]) for id, count in trials.items()}
