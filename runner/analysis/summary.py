"""What a run came to: four outcomes, scores, cost and latency, as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import mean, quantiles, stdev
from typing import Any, NamedTuple, Self, TypeVar

from checkers.groups import Rate
from checkers.groups import table as field_table
from checkers.statistics import (
    Attempts,
    cluster_interval,
    pass_at_1,
    pass_at_k,
    pass_hat_k,
    sampling_error,
)
from runner.analysis import group_table
from runner.episodes.evaluate import Judged
from runner.records.record import EpisodeRecord, Outcome
from runner.show.table import table
from trajectories.schema import MULTI_TURN, Category, Trajectory

MOST_ERRORS = 0.02
"""Share of errors above which a score says more about the harness than about the model."""


_Member = TypeVar("_Member", EpisodeRecord, Trajectory)


class Totals(NamedTuple):
    """What a run used."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    latencies: Sequence[float]
    """Seconds of every request that was answered."""
    cost: float | None
    """US dollars; None where a price is unknown."""

    @property
    def cost_per_1000(self) -> float | None:
        """US dollars of 1,000 requests; None where a price is unknown."""
        return None if self.cost is None else 1000 * self.cost / self.requests


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
        cuts = quantiles(latencies, n=20, method="inclusive")
        return cls(mean(latencies), stdev(latencies), cuts[9], cuts[18])


def record_of(judged: Judged) -> EpisodeRecord:
    """Return what became of an episode that needed no model."""
    verdict = judged.verdict
    outcome: Outcome = "error" if verdict is None else "passed" if verdict.valid else "failed"
    return EpisodeRecord(judged.id, 0, judged.category, outcome, verdict, judged.error)


def totals_of(records: Iterable[EpisodeRecord]) -> Totals:
    """Add up what the requests of a run used."""
    steps = [step for record in records for step in record.steps]
    costs = [step.cost for step in steps]
    return Totals(
        len(steps),
        sum(step.usage.prompt or 0 for step in steps),
        sum(step.usage.completion or 0 for step in steps),
        [step.latency for step in steps],
        None if not costs or None in costs else sum(filter(None, costs)),
    )


def summary(
    outcomes: Sequence[EpisodeRecord],
    planned: Sequence[Trajectory],
    trials: int,
    population: int,
    *,
    allow_errors: bool,
    field: bool = False,
) -> Iterator[str]:
    """Yield the lines that sum a run up.

    Args:
        outcomes: One per finished episode.
        planned: The entries of the run.
        trials: How often each was to be done.
        population: How many entries the run was sampled from.
        allow_errors: Whether a score is given however many errors there were.
        field: Whether BFCL's figures stand beside ours in the table of groups.
    """
    errors = sum(outcome.outcome == "error" for outcome in outcomes)
    shown = allow_errors or not too_many_errors(outcomes)
    rows = [
        ["category", "entries", "passed", "failed", "errors", "not run", "score", "95%", "turns"]
    ]
    present, found = _by_category(planned), _by_category(outcomes)
    for category, entries in present.items():
        rows.append(_row(category, found.get(category, []), entries, trials, shown))
    if len(present) > 1:
        rows.append(_row("all", outcomes, planned, trials, shown))
    yield table(rows)
    if errors:
        yield from _bounds(outcomes, errors, shown)
    clusters = _clusters(planned)
    attempts = attempts_of(_judged(outcomes), clusters)
    if shown and attempts and population > len(planned):
        margin = sampling_error(pass_at_1(attempts), len(planned), population)
        yield f"a sample of {len(planned)} of {population}: the sample adds ±{100 * margin:.1f}%"
    if shown and trials > 1:
        yield from _trial_lines(attempts, trials)
    if shown and attempts and not present.keys() <= set(MULTI_TURN):
        yield ""
        yield from group_table.lines(field_table(rates_of(outcomes, clusters)), field=field)


def too_many_errors(outcomes: Sequence[EpisodeRecord]) -> bool:
    """Tell whether a score would say more about the harness than about the model."""
    errors = sum(outcome.outcome == "error" for outcome in outcomes)
    return errors > MOST_ERRORS * len(outcomes)


def rates_of(
    outcomes: Iterable[EpisodeRecord], clusters: Mapping[str, str] | None = None
) -> dict[str, Rate]:
    """Return the score of each category of which something was judged.

    Args:
        outcomes: Errors among them do not count.
        clusters: What entries share, by entry; by default those of a category share nothing.
    """
    judged = _by_category(_judged(outcomes))
    return {category: rate_of(some, clusters or {}) for category, some in judged.items()}


def rate_of(judged: Sequence[EpisodeRecord], clusters: Mapping[str, str]) -> Rate:
    """Return a score with its interval: Wilson's where trials are independent, else from clusters.

    Args:
        judged: At least one.
        clusters: What entries share, by entry; one that is not in it shares nothing.
    """
    attempts = attempts_of(judged, clusters)
    if len(judged) == len({entry.cluster for entry in attempts}):
        return Rate.of(sum(entry.passed for entry in attempts), len(judged))
    return Rate(pass_at_1(attempts), cluster_interval(attempts), len(attempts))


def attempts_of(judged: Sequence[EpisodeRecord], clusters: Mapping[str, str]) -> list[Attempts]:
    """Return the trials of each entry.

    Args:
        judged: What became of them, without errors.
        clusters: What entries share, by entry; one that is not in it shares nothing.
    """
    trials = Counter(outcome.id for outcome in judged)
    passed = Counter(o.id for o in judged if o.outcome == "passed")
    return [Attempts(clusters.get(id, id), count, passed[id]) for id, count in trials.items()]


def usage_lines(totals: Totals) -> Iterator[str]:
    """Yield the lines on tokens, cost and latency."""
    cost = "unknown"
    if totals.cost is not None:
        cost = f"${totals.cost:.4f}, ${totals.cost_per_1000:.4f} per 1,000 requests"
    yield (
        f"{totals.requests} requests, {totals.prompt_tokens} tokens in, "
        f"{totals.completion_tokens} out, cost {cost}"
    )
    latency = Latency.of(totals.latencies)
    if latency:
        yield (
            f"latency of a request: mean {latency.mean:.3f} s, standard deviation "
            f"{latency.deviation:.3f} s, p50 {latency.p50:.3f} s, p95 {latency.p95:.3f} s"
        )


def _row(
    name: str,
    outcomes: Sequence[EpisodeRecord],
    planned: Sequence[Trajectory],
    trials: int,
    shown: bool,
) -> list[str]:
    clusters = _clusters(planned)
    mine = [outcome for outcome in outcomes if outcome.id in clusters]
    count = Counter(outcome.outcome for outcome in mine)
    judged = _judged(mine)
    score, interval = "-", "-"
    if shown and judged:
        rate = rate_of(judged, clusters)
        low, high = rate.interval
        score = f"{100 * rate.value:.1f}%"
        interval = f"{100 * low:.1f}% to {100 * high:.1f}%"
    return [
        name,
        str(len(planned)),
        str(count["passed"]),
        str(count["failed"]),
        str(count["error"]),
        str(len(planned) * trials - len(mine)),
        score,
        interval,
        f"{sum(o.turns_passed for o in judged)} of {sum(o.turns for o in judged)}",
    ]


def _by_category(members: Iterable[_Member]) -> dict[str, list[_Member]]:
    """Return outcomes or entries by category, in the order in which categories are shown."""
    found: dict[str, list[_Member]] = {category: [] for category in Category}
    for member in members:
        found.setdefault(member.category, []).append(member)
    return {category: some for category, some in found.items() if some}


def _clusters(planned: Iterable[Trajectory]) -> dict[str, str]:
    """Return by entry what it shares with those that are made from the same scenario."""
    return {trajectory.id: trajectory.base for trajectory in planned}


def _judged(outcomes: Iterable[EpisodeRecord]) -> list[EpisodeRecord]:
    return [outcome for outcome in outcomes if outcome.outcome != "error"]


def _bounds(outcomes: Sequence[EpisodeRecord], errors: int, shown: bool) -> Iterator[str]:
    passed, total = sum(o.outcome == "passed" for o in outcomes), len(outcomes)
    low, high = 100 * passed / total, 100 * (passed + errors) / total
    yield (
        f"{errors} of {total} episodes ended in an error that is not the model's; the score of all "
        f"is {low:.1f}% if these were failures, {high:.1f}% if they were passes"
    )
    if not shown:
        yield (
            f"no score is given with more than {100 * MOST_ERRORS:.0f}% errors: do them again with "
            "--only errors, or see --allow-errors"
        )


def _trial_lines(attempts: Sequence[Attempts], trials: int) -> Iterator[str]:
    complete = [entry for entry in attempts if entry.trials == trials]
    if not complete:
        return
    low, high = cluster_interval(complete)
    yield (
        f"pass@1 {100 * pass_at_1(complete):.1f}% ({100 * low:.1f}% to {100 * high:.1f}%), "
        f"over {len(complete)} entries with all {trials} trials"
    )
    rows: Mapping[str, Any] = {"pass@k": pass_at_k, "pass^k": pass_hat_k}
    for name, function in rows.items():
        figures = [f"k={k} {100 * function(complete, k):.1f}%" for k in range(1, trials + 1)]
        yield f"{name}: {', '.join(figures)}"
