"""A run at a glance: what it scored, why its episodes failed, what it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import quantiles
from typing import Any

from checkers.score import wilson
from checkers.trials import Attempts, cluster_interval, pass_at_1, pass_at_k, pass_hat_k
from runner.report.requests import Json
from runner.report.viewing import Viewed
from runner.runs.summary import MOST_ERRORS, totals_of
from trajectories.schema import Category


def overview(episodes: Sequence[Viewed]) -> Json:
    """Return the figures of a run; with too many errors there is no score among them."""
    errors = sum(episode.outcome == "error" for episode in episodes)
    scored = errors <= MOST_ERRORS * len(episodes)
    present = [c for c in Category if any(e.trajectory.category is c for e in episodes)]
    scores = [
        _score(category, [e for e in episodes if e.trajectory.category is category], scored)
        for category in present
    ]
    if len(present) > 1:
        scores.append(_score("all", episodes, scored))
    return {
        "scores": scores,
        "outcomes": Counter(episode.outcome for episode in episodes),
        "causes": Counter(e.diagnosis.cause for e in episodes if e.diagnosis).most_common(),
        "turns_passed": _turns_passed(episodes),
        "trials": _trials(episodes) if scored else [],
        "disagreeing": sum(_recorded_otherwise(episode) is not None for episode in episodes),
        "usage": _usage([episode.record for episode in episodes if "steps" in episode.record]),
    }


def row(episode: Viewed) -> Json:
    """Return what the table of episodes shows of one."""
    verdict, divergence, diagnosis = episode.verdict, episode.divergence, episode.diagnosis
    model = episode.examined and episode.examined.model
    used = totals_of([dict(episode.record)])
    failure = None if episode.error else verdict.failure
    return {
        "id": episode.trajectory.id,
        "trial": episode.recorded.trial,
        "category": episode.trajectory.category,
        "outcome": episode.outcome,
        "recorded": _recorded_otherwise(episode),
        "reason": failure and failure.reason,
        "failed_turn": verdict.failed_turn,
        "cause": diagnosis and diagnosis.cause,
        "cause_at": diagnosis and [diagnosis.turn, diagnosis.step],
        "detail": episode.error or (diagnosis and diagnosis.detail),
        "turns": verdict.turns,
        "turns_passed": verdict.turns_passed,
        "divergence": divergence and [divergence.turn, divergence.step, divergence.call],
        "steps": sum(len(turn.steps) for turn in model.turns) if model else 0,
        "calls": sum(len(turn.calls) for turn in model.turns) if model else 0,
        "cost": used.cost,
        "latency": sum(used.latencies) if used.latencies else None,
    }


def _recorded_otherwise(episode: Viewed) -> str | None:
    """Return the outcome that was recorded, where executing the calls again gives another one."""
    recorded = episode.record.get("outcome", episode.outcome)
    return None if recorded == episode.outcome else recorded


def _score(name: str, episodes: Sequence[Viewed], scored: bool) -> Json:
    judged = [episode for episode in episodes if episode.outcome != "error"]
    outcomes = Counter(episode.outcome for episode in episodes)
    attempts = _attempts(judged)
    return {
        "name": name,
        "entries": len({episode.trajectory.id for episode in episodes}),
        "passed": outcomes["passed"],
        "failed": outcomes["failed"],
        "errors": outcomes["error"],
        "rate": pass_at_1(attempts) if attempts and scored else None,
        "interval": _interval(judged, attempts) if attempts and scored else None,
        "turns": sum(episode.verdict.turns for episode in judged),
        "turns_passed": sum(episode.verdict.turns_passed for episode in judged),
    }


def _attempts(judged: Iterable[Viewed]) -> list[Attempts]:
    trials: dict[str, list[Viewed]] = {}
    for episode in judged:
        trials.setdefault(episode.trajectory.id, []).append(episode)
    return [
        Attempts(same[0].trajectory.base, len(same), sum(e.outcome == "passed" for e in same))
        for same in trials.values()
    ]


def _interval(judged: Sequence[Viewed], attempts: Sequence[Attempts]) -> tuple[float, float]:
    """Return a 95% interval: Wilson's where episodes are independent, else from the clusters."""
    if len(judged) == len({entry.cluster for entry in attempts}):
        return wilson(sum(entry.passed for entry in attempts), len(judged))
    return cluster_interval(attempts)


def _turns_passed(episodes: Sequence[Viewed]) -> list[Json]:
    """Return by number of passed turns how many episodes failed after them, and how many passed."""
    judged = Counter((e.verdict.turns_passed, e.outcome) for e in episodes if e.outcome != "error")
    most = max((turns for turns, _ in judged), default=0)
    return [
        {"turns": turns, "failed": judged[turns, "failed"], "passed": judged[turns, "passed"]}
        for turns in range(most + 1)
    ]


def _trials(episodes: Sequence[Viewed]) -> list[Json]:
    """Return pass@k and pass^k over the entries that have all trials; empty for one trial."""
    trials = max((episode.recorded.trial for episode in episodes), default=0) + 1
    judged = _attempts(episode for episode in episodes if episode.outcome != "error")
    complete = [entry for entry in judged if entry.trials == trials]
    if trials == 1 or not complete:
        return []
    return [
        {"k": k, "any": pass_at_k(complete, k), "all": pass_hat_k(complete, k)}
        for k in range(1, trials + 1)
    ]


def _usage(records: Sequence[Mapping[str, Any]]) -> Json | None:
    """Return what the requests of a run used, or None where that is not recorded."""
    if not records:
        return None
    totals = totals_of(map(dict, records))
    cuts = quantiles(totals.latencies, n=20) if len(totals.latencies) > 1 else None
    return {
        "requests": totals.requests,
        "prompt_tokens": totals.prompt_tokens,
        "completion_tokens": totals.completion_tokens,
        "cost": totals.cost,
        "p50": cuts and cuts[9],
        "p95": cuts and cuts[18],
    }
