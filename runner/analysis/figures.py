"""Metrics of a run: outcomes, scores, trials, cost and latency.

The commands ``eval`` and ``table``, their CSV and JSON files, and the pages show these metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

from checkers.statistics import TrialCounts, cluster_interval, pass_at_1, pass_at_k, pass_hat_k
from checkers.verdict import SelectionCounts
from envs.lazy_modules import lazy_module
from runner import extension
from runner.analysis.bfcl_table import HEADLINE, BfclTableRow, GroupScore, score_rows
from runner.records.episode_record import (
    EpisodeRecord,
    InfoReport,
    JsonObject,
    Outcome,
    RunProgress,
    RunSegment,
)
from trajectories.schema import MULTI_TURN, Category, Trajectory

if TYPE_CHECKING:
    import statistics

    from runner.models import model_types
else:
    # This import is slow, and only live runs have latencies.
    statistics = lazy_module("statistics")
    model_types = lazy_module("runner.models.model_types")

MAX_ERROR_SHARE = 0.02


_Member = TypeVar("_Member", EpisodeRecord, Trajectory)


class Latency(NamedTuple):
    """Latency of requests in seconds."""

    mean: float
    deviation: float
    """Sample standard deviation, as in BFCL."""
    p50: float
    p95: float

    @classmethod
    def of(cls, latencies: Sequence[float]) -> Self | None:
        """Return the latency of requests, or None for fewer than two requests."""
        if len(latencies) < 2:
            return None
        cuts = statistics.quantiles(latencies, n=20, method="inclusive")
        mean, deviation = statistics.mean(latencies), statistics.stdev(latencies)
        return cls(mean, deviation, cuts[9], cuts[18])


class GpuServerUsage(NamedTuple):
    """Usage of a GPU server in all segments of a run."""

    seconds: float
    concurrency: int
    """Number of concurrent episodes in the last segment of the run."""
    entries: int
    price: float | None = None

    @classmethod
    def of(
        cls, segments: Sequence[RunSegment], ids: Iterable[str], price: float | None = None
    ) -> Self | None:
        """Return the usage in all segments; ``price`` overrides the recorded price."""
        if not segments:
            return None
        seconds, last = sum(segment.seconds for segment in segments), segments[-1]
        return cls(seconds, last.concurrency, len({*ids}), price or last.gpu_price)


class UsageTotals(NamedTuple):
    """Total usage of a run."""

    requests: int
    prompt_tokens: int | None
    """None if the usage of a request is unknown."""
    completion_tokens: int | None
    latencies: Sequence[float]
    """Seconds of each answered request."""
    cost: float | None
    """US dollars; None if a price is unknown."""
    machine: GpuServerUsage | None = None
    """Wall-clock seconds; None if the run's duration was not recorded."""
    cached_tokens: int | None = None
    """Prompt tokens that were read from a cache; None if no server reports them."""
    written_tokens: int | None = None
    """Prompt tokens that were written to a cache; None if no server reports them."""
    kept: int = 0
    """Number of answers that come from an earlier run instead of a request."""

    @property
    def seconds_per_entry(self) -> float | None:
        """Wall-clock seconds per entry."""
        machine = self.machine
        return machine.seconds / machine.entries if machine and machine.entries else None

    @property
    def gpu_cost(self) -> float | None:
        """Cost of the server by wall clock, in US dollars; None if unknown."""
        return self._machine_cost(self.machine.seconds) if self.machine else None

    @property
    def gpu_cost_by_latency(self) -> float | None:
        """Cost of the server by busy time (sum of latencies / concurrency), in US dollars."""
        machine = self.machine
        return self._machine_cost(sum(self.latencies) / machine.concurrency) if machine else None

    def _machine_cost(self, seconds: float) -> float | None:
        price = self.machine and self.machine.price
        return None if price is None else price * seconds / 3600

    @property
    def cost_per_1000(self) -> float | None:
        """US dollars per 1,000 requests; None if a price is unknown."""
        return None if self.cost is None else 1000 * self.cost / self.requests

    @property
    def latency(self) -> Latency | None:
        """Latency of the requests; None if there are fewer than two requests."""
        return Latency.of(self.latencies)


class StepUsage(NamedTuple):
    """Usage of one answered request, as recorded with its step."""

    usage: model_types.Usage
    latency: float
    cost: float | None
    attempts: int


class EpisodeUsage(NamedTuple):
    """Token usage and reported information that an episode's record contains."""

    outcome: Outcome | None
    steps: Sequence[StepUsage] = ()
    telling: InfoReport | None = None
    extensions: Mapping[str, JsonObject] = {}

    @property
    def requests(self) -> Sequence[StepUsage]:
        """Usage of all steps, including undone steps."""
        members = self.extensions.items()
        undone = [
            step for name, each in members for step in extension.load_extension(name).undone(each)
        ]
        return [*self.steps, *undone]


def totals_of(records: Iterable[EpisodeRecord | EpisodeUsage]) -> UsageTotals:
    """Add up the usage of all requests of a run."""
    kept = 0
    latencies: list[float] = []
    prompt: int | None = 0
    completion: int | None = 0
    cost: float | None = 0.0
    cached: int | None = None
    written: int | None = None
    for record in records:
        for step in record.requests:
            if not step.attempts:
                kept += 1
                continue
            more, made = step.usage.prompt, step.usage.completion
            prompt = None if prompt is None or more is None else prompt + more
            completion = None if completion is None or made is None else completion + made
            cached = add_counts(cached, step.usage.cached)
            written = add_counts(written, step.usage.written)
            latencies.append(step.latency)
            cost = None if cost is None or step.cost is None else cost + step.cost
    return UsageTotals(
        len(latencies),
        prompt,
        completion,
        latencies,
        cost if latencies else None,
        cached_tokens=cached,
        written_tokens=written,
        kept=kept,
    )


def add_counts(known: int | None, more: int | None) -> int | None:
    """Return the sum of two counts; an unknown count is None and changes nothing."""
    return known if more is None else (known or 0) + more


class RequiredInfoFigures(NamedTuple):
    """Counts of reported and required information, in episodes with recorded text."""

    facts: int
    facts_told: int
    turns: int
    turns_told: int
    """Number of turns in which all required facts were reported."""
    waiting: int
    """Number of turns in which a needed value or function is still missing."""
    asked: int
    """Number of turns in which the model asked for the missing value or function."""

    @classmethod
    def of(cls, tellings: Iterable[InfoReport | None]) -> Self | None:
        """Return the sum of the reports of all episodes, or None if no episode has a report."""
        known = [telling for telling in tellings if telling]
        if not known:
            return None
        untold = [{untold.turn for untold in telling.untold} for telling in known]
        facts, turns = sum(t.facts for t in known), sum(t.turns for t in known)
        return cls(
            facts,
            facts - sum(len(telling.untold) for telling in known),
            turns,
            turns - sum(map(len, untold)),
            sum(telling.waiting for telling in known),
            sum(telling.asked for telling in known),
        )

    @property
    def shares(self) -> Mapping[str, float | None]:
        """The share for each column name; None if the denominator is 0."""
        return {
            "facts told": self.facts_told / self.facts if self.facts else None,
            "turns told": self.turns_told / self.turns if self.turns else None,
            "asked": self.asked / self.waiting if self.waiting else None,
        }


class ActCounts(NamedTuple):
    """Number of mistakes of one kind, such as unrequested calls, in judged episodes."""

    acts: int
    episodes: int
    """Number of episodes with at least one mistake of this kind."""
    judged: int

    @property
    def share(self) -> float:
        """Share of episodes with at least one mistake of this kind."""
        return self.episodes / self.judged

    @classmethod
    def of(cls, acts: Sequence[Sequence[str]]) -> Self | None:
        """Count the mistakes and the affected episodes; None if ``acts`` is empty."""
        counts = [*map(len, acts)]
        return cls(sum(counts), sum(map(bool, counts)), len(counts)) if counts else None


class SelectionFigures(NamedTuple):
    """Accuracy of function choice and of arguments."""

    needed: int
    functions: int
    arguments: int
    """Number of needed calls with the right function and right arguments."""
    distractors: int
    episodes: int
    judged: int

    @classmethod
    def of(cls, found: Iterable[SelectionCounts | None]) -> Self | None:
        """Add up the episodes' counts; None if no episode has counts."""
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
        """Share of needed calls that have the right function; None if no call is needed."""
        return self.functions / self.needed if self.needed else None

    @property
    def arguments_right(self) -> float | None:
        """Accuracy of the arguments in calls of the right function."""
        return self.arguments / self.functions if self.functions else None

    @property
    def distractor_calls(self) -> ActCounts:
        """Counts of calls of distractors."""
        return ActCounts(self.distractors, self.episodes, self.judged)


class RedundancyFigures(NamedTuple):
    """Number of redundant calls and number of needed calls, in passed multi-turn episodes."""

    redundant: int
    needed: int

    @classmethod
    def of(cls, record: EpisodeRecord, made: int = 0) -> Self:
        """Count redundant calls; for records without steps, ``made`` is the number of all calls."""
        found = record.verdict and record.verdict.selected
        if record.outcome != "passed" or record.category not in MULTI_TURN or not found:
            return cls(0, 0)
        made = sum(len(step.calls) for step in record.steps) or made
        return cls(max(0, made - found.needed), found.needed if made or record.steps else 0)

    @classmethod
    def sum(cls, parts: Iterable[RedundancyFigures]) -> Self | None:
        """Return the sum of ``parts``; None if the episodes need no call."""
        redundant, needed = map(sum, zip((0, 0), *parts, strict=True))
        return cls(redundant, needed) if needed else None

    @property
    def share(self) -> float:
        """Redundant calls per needed call."""
        return self.redundant / self.needed


class CategoryScore(NamedTuple):
    """Score of a category, or of all categories."""

    name: str
    entries: int
    passed: int
    failed: int
    errors: int
    rate: float | None
    """Share of passed episodes; ``None`` if no episode was judged, or if too many had errors."""
    interval: tuple[float, float] | None
    turns: int
    turns_passed: int
    figures: RunFigures


class TrialScore(NamedTuple):
    """Scores for several trials per entry: pass@k and pass^k."""

    k: int
    any: float
    """pass@k: probability that at least one of k trials passes."""
    all: float
    """pass^k: probability that all k trials pass."""


@dataclass(frozen=True, repr=False)
class RunFigures:
    """Metrics of a run."""

    outcomes: Sequence[EpisodeRecord]
    """One outcome per finished episode."""
    planned: Sequence[Trajectory] = ()
    """Planned entries."""
    totals: UsageTotals | None = None
    """Usage; None if not recorded."""
    allow_errors: bool = False
    """Whether to give a score despite many errors."""
    progress: RunProgress | None = None
    """Finished and planned episodes; None if the plan is unknown."""
    calls: RedundancyFigures | None = None
    """Counts of redundant calls, if known."""

    @property
    def is_unfinished(self) -> bool:
        """Whether planned episodes are missing."""
        return self.progress is not None and self.progress.is_unfinished

    @cached_property
    def errors(self) -> int:
        """Number of episodes with an error that the model did not cause."""
        return sum(outcome.outcome == "error" for outcome in self.outcomes)

    @property
    def bounds(self) -> list[float]:
        """The score if errors count as failed, and the score if errors count as passed."""
        ends: tuple[Outcome, Outcome] = ("failed", "passed")
        errors = [each for each in self.outcomes if each.outcome == "error"]
        both = ([*self.judged, *(each._replace(outcome=end) for each in errors)] for end in ends)
        return [pass_at_1([*self._attempts(outcomes).values()]) for outcomes in both]

    @property
    def scored(self) -> bool:
        """False if too many errors make the score meaningless."""
        return self.allow_errors or self.errors <= MAX_ERROR_SHARE * len(self.outcomes)

    @cached_property
    def judged(self) -> list[EpisodeRecord]:
        """Outcomes of judged episodes; episodes that ended in an error are excluded."""
        return [outcome for outcome in self.outcomes if outcome.outcome != "error"]

    @property
    def turns_passed(self) -> list[dict[str, int]]:
        """Number of multi-turn episodes for each number of passed turns."""
        if not any(outcome.category in MULTI_TURN for outcome in self.outcomes):
            return []
        count = Counter((each.turns_passed, each.outcome) for each in self._multi_turn)
        most = max((turns for turns, _ in count), default=0)
        return [
            {"turns": turns, "failed": count[turns, "failed"], "passed": count[turns, "passed"]}
            for turns in range(most + 1)
        ]

    @cached_property
    def told(self) -> RequiredInfoFigures | None:
        """Metrics of reported information; None if no text is recorded."""
        return RequiredInfoFigures.of(outcome.telling for outcome in self.judged)

    @cached_property
    def latency(self) -> Latency | None:
        """Latency of the requests; None if not recorded."""
        return self.totals.latency if self.totals else None

    @property
    def _multi_turn(self) -> list[EpisodeRecord]:
        return [outcome for outcome in self.judged if outcome.category in MULTI_TURN]

    @cached_property
    def irreversible(self) -> ActCounts | None:
        """Unrequested irreversible calls in multi-turn episodes."""
        verdicts = [outcome.verdict for outcome in self._multi_turn]
        return ActCounts.of([verdict.irreversible for verdict in verdicts if verdict])

    @cached_property
    def hallucinations(self) -> Mapping[str, ActCounts]:
        """Hallucinations of each kind; empty if no episode is judged."""
        made_up = [outcome.verdict.hallucinated for outcome in self.judged if outcome.verdict]
        found = {
            "invented_functions": ActCounts.of([each.functions for each in made_up]),
            "invented_parameters": ActCounts.of([each.parameters for each in made_up]),
            "calls_where_none_fits": ActCounts.of([each.needless for each in made_up]),
        }
        return {name: acts for name, acts in found.items() if acts}

    @cached_property
    def selection(self) -> SelectionFigures | None:
        """Accuracy of function choice; None if not recorded."""
        return SelectionFigures.of(o.verdict and o.verdict.selected for o in self.judged)

    @cached_property
    def redundancy(self) -> RedundancyFigures | None:
        """Redundant calls in passed episodes; None if no calls are recorded."""
        return self.calls or RedundancyFigures.sum(map(RedundancyFigures.of, self._multi_turn))

    @cached_property
    def rates(self) -> dict[str, GroupScore]:
        """Score of each category with judged episodes."""
        judged = by_category(self.judged)
        return {category: self._rate(some) for category, some in judged.items()}

    @cached_property
    def overall(self) -> GroupScore | None:
        """Score of the run: the share of passed trials, averaged over entries.

        ``None`` if no episode was judged, or if too many episodes ended in errors.
        """
        return self._rate(self.judged) if self.scored and self.judged else None

    @cached_property
    def rows(self) -> list[BfclTableRow]:
        """Rows of the score table: score, mean of categories, and BFCL's groups."""
        return score_rows(self.overall, self.rates)

    @property
    def grouped(self) -> bool:
        """Whether to show BFCL's groups; only scored runs with single-turn entries have groups."""
        single = any(entry.category not in MULTI_TURN for entry in self.planned)
        return self.scored and bool(self.judged) and single

    @cached_property
    def scores(self) -> list[CategoryScore]:
        """Score of each planned category, and of all entries if several categories are planned."""
        present, found = by_category(self.planned), by_category(self.outcomes)
        scores = [
            self._score(category, entries, found.get(category, []))
            for category, entries in present.items()
        ]
        if len(present) > 1:
            scores.append(self._score(HEADLINE, self.planned, self.outcomes))
        return scores

    @cached_property
    def tag_scores(self) -> list[CategoryScore]:
        """For each tag, the score of the entries with this tag."""
        tags = sorted({tag for outcome in self.outcomes for tag in outcome.tags})
        of = {tag: [each for each in self.outcomes if tag in each.tags] for tag in tags}
        return [
            self._score_of(tag, mine, len({each.id for each in mine})) for tag, mine in of.items()
        ]

    @cached_property
    def attempts(self) -> list[TrialCounts]:
        """Counts of trials for each judged entry."""
        return [*self.attempts_by_id.values()]

    @cached_property
    def attempts_by_id(self) -> Mapping[str, TrialCounts]:
        """Each entry's number of trials and number of passed trials."""
        return self._attempts(self.judged)

    def complete(self, trials: int) -> list[TrialCounts]:
        """Return the trial counts of the entries that have all trials."""
        return [entry for entry in self.attempts if entry.trials == trials]

    def trial_scores(self, trials: int) -> list[TrialScore]:
        """Return pass@k and pass^k for each ``k`` up to ``trials``."""
        complete = self.complete(trials)
        if trials == 1 or not complete:
            return []
        shares = zip(pass_at_k(complete, trials), pass_hat_k(complete, trials), strict=True)
        return [TrialScore(k, *both) for k, both in enumerate(shares, 1)]

    def _score(
        self, name: str, planned: Sequence[Trajectory], outcomes: Sequence[EpisodeRecord]
    ) -> CategoryScore:
        ids = {trajectory.id for trajectory in planned}
        return self._score_of(name, [each for each in outcomes if each.id in ids], len(ids))

    def _score_of(self, name: str, mine: Sequence[EpisodeRecord], entries: int) -> CategoryScore:
        count = Counter(outcome.outcome for outcome in mine)
        judged = [outcome for outcome in mine if outcome.outcome != "error"]
        rate = self._rate(judged) if judged and self.scored else None
        return CategoryScore(
            name=name,
            entries=entries,
            passed=count["passed"],
            failed=count["failed"],
            errors=count["error"],
            rate=rate and rate.value,
            interval=rate and rate.interval,
            turns=sum(outcome.turns for outcome in judged),
            turns_passed=sum(outcome.turns_passed for outcome in judged),
            figures=RunFigures(mine),
        )

    @cached_property
    def _rated(self) -> list[tuple[Sequence[EpisodeRecord], GroupScore]]:
        return []

    def _rate(self, judged: Sequence[EpisodeRecord]) -> GroupScore:
        # Several tables need the same scores.
        if known := [score for rated, score in self._rated if rated == judged]:
            return known[0]
        attempts = self.attempts if judged == self.judged else [*self._attempts(judged).values()]
        rate, interval = pass_at_1(attempts), cluster_interval(attempts)
        score = GroupScore(rate, interval, len(attempts), ((1.0, attempts),))
        self._rated.append((judged, score))
        return score

    def _attempts(self, judged: Sequence[EpisodeRecord]) -> dict[str, TrialCounts]:
        trials = Counter([outcome.id for outcome in judged])
        passed = Counter([outcome.id for outcome in judged if outcome.outcome == "passed"])
        scenarios = {outcome.id: outcome.scenario for outcome in judged}
        if self.progress and self.progress.until_passed:
            trials, passed = (Counter(dict.fromkeys(each, 1)) for each in (trials, passed))
        return {id: TrialCounts(scenarios[id], count, passed[id]) for id, count in trials.items()}


def by_category(members: Iterable[_Member]) -> dict[str, list[_Member]]:
    """Group outcomes or entries by category, in display order."""
    found: dict[str, list[_Member]] = {category: [] for category in Category}
    for member in members:
        found.setdefault(member.category, []).append(member)
    return {category: some for category, some in found.items() if some}
