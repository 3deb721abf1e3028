"""What a run came to: four outcomes, scores, cost and latency, as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import quantiles
from typing import Any, NamedTuple

from checkers.score import wilson
from checkers.trials import (
    Attempts,
    cluster_interval,
    pass_at_1,
    pass_at_k,
    pass_hat_k,
    sampling_error,
)
from runner.evaluate import Judged
from runner.runs.store import Record
from runner.table import table
from trajectories.schema import Category, Trajectory

MOST_ERRORS = 0.02
"""Share of errors above which a score says more about the harness than about the model."""


class Outcome(NamedTuple):
    """What is needed of one episode's record to sum a run up."""

    id: str
    trial: int
    category: str
    outcome: str
    turns: int
    turns_passed: int


class Totals(NamedTuple):
    """What a run used."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    latencies: Sequence[float]
    """Seconds of every request that was answered."""
    cost: float | None
    """US dollars; None where a price is unknown."""


def outcome_of_judged(judged: Judged) -> Outcome:
    """Return what became of an episode that needed no model."""
    verdict = judged.verdict
    if verdict is None:
        return Outcome(judged.id, 0, judged.category, "error", 0, 0)
    result = "passed" if verdict.valid else "failed"
    return Outcome(judged.id, 0, judged.category, result, verdict.turns, verdict.turns_passed)


def outcome_of(record: Record) -> Outcome:
    """Return what a record says of its episode."""
    verdict = record["verdict"] or {}
    return Outcome(
        record["id"],
        record["trial"],
        record["category"],
        record["outcome"],
        verdict.get("turns", 0),
        verdict.get("turns_passed", 0),
    )


def totals_of(records: Iterable[Record]) -> Totals:
    """Add up what the requests of a run used."""
    steps = [step for record in records for step in record.get("steps", ())]
    costs = [step["cost"] for step in steps]
    return Totals(
        len(steps),
        sum(step["usage"]["prompt"] or 0 for step in steps),
        sum(step["usage"]["completion"] or 0 for step in steps),
        [step["latency"] for step in steps],
        None if not costs or None in costs else sum(costs),
    )


def summary(
    outcomes: Sequence[Outcome],
    planned: Sequence[Trajectory],
    trials: int,
    population: int,
    *,
    allow_errors: bool,
) -> Iterator[str]:
    """Yield the lines that sum a run up.

    Args:
        outcomes: One per finished episode.
        planned: The entries of the run.
        trials: How often each was to be done.
        population: How many entries the run was sampled from.
        allow_errors: Whether a score is given however many errors there were.
    """
    errors = sum(outcome.outcome == "error" for outcome in outcomes)
    shown = allow_errors or errors <= MOST_ERRORS * max(1, len(outcomes))
    rows = [
        ["category", "entries", "passed", "failed", "errors", "not run", "score", "95%", "turns"]
    ]
    present = [c for c in Category if any(t.category is c for t in planned)]
    for category in present:
        some = [t for t in planned if t.category is category]
        rows.append(_row(category, outcomes, some, trials, shown))
    if len(present) > 1:
        rows.append(_row("all", outcomes, planned, trials, shown))
    yield table(rows)
    if errors:
        yield from _bounds(outcomes, errors, shown)
    judged = [o for o in outcomes if o.outcome != "error"]
    attempts = _attempts(judged, planned)
    if shown and attempts and population > len(planned):
        margin = sampling_error(pass_at_1(attempts), len(planned), population)
        yield f"a sample of {len(planned)} of {population}: the sample adds ±{100 * margin:.1f}%"
    if shown and trials > 1:
        yield from _trial_lines(attempts, trials)


def usage_lines(totals: Totals) -> Iterator[str]:
    """Yield the lines on tokens, cost and latency."""
    cost = "unknown" if totals.cost is None else f"${totals.cost:.4f}"
    yield (
        f"{totals.requests} requests, {totals.prompt_tokens} tokens in, "
        f"{totals.completion_tokens} out, cost {cost}"
    )
    if len(totals.latencies) > 1:
        cuts = quantiles(totals.latencies, n=20)
        yield f"latency of a request: p50 {cuts[9]:.3f} s, p95 {cuts[18]:.3f} s"


def _row(
    name: str,
    outcomes: Sequence[Outcome],
    planned: Sequence[Trajectory],
    trials: int,
    shown: bool,
) -> list[str]:
    ids = {trajectory.id for trajectory in planned}
    mine = [outcome for outcome in outcomes if outcome.id in ids]
    count = Counter(outcome.outcome for outcome in mine)
    judged = [outcome for outcome in mine if outcome.outcome != "error"]
    attempts = _attempts(judged, planned)
    score, interval = "-", "-"
    if shown and attempts:
        low, high = _interval(judged, attempts)
        score = f"{100 * pass_at_1(attempts):.1f}%"
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


def _interval(judged: Sequence[Outcome], attempts: Sequence[Attempts]) -> tuple[float, float]:
    """Return a 95% interval: Wilson's where entries are independent, else from the clusters."""
    if len(judged) == len({entry.cluster for entry in attempts}):
        return wilson(sum(outcome.outcome == "passed" for outcome in judged), len(judged))
    return cluster_interval(attempts)


def _attempts(judged: Sequence[Outcome], planned: Sequence[Trajectory]) -> list[Attempts]:
    clusters = {trajectory.id: trajectory.base for trajectory in planned}
    trials: Counter[str] = Counter(outcome.id for outcome in judged)
    passed: Counter[str] = Counter(o.id for o in judged if o.outcome == "passed")
    return [Attempts(clusters[id], count, passed[id]) for id, count in trials.items()]


def _bounds(outcomes: Sequence[Outcome], errors: int, shown: bool) -> Iterator[str]:
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
