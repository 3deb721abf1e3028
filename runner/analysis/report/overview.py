"""A run at a glance: what it scored, why its episodes failed, what it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from checkers.profile import BFCL
from checkers.statistics import pass_at_k, pass_hat_k
from runner.analysis.report.groups import groups
from runner.analysis.report.requests import Json
from runner.analysis.report.viewing import Viewed, ViewedRun
from runner.analysis.summary import (
    MOST_ERRORS,
    Latency,
    attempts_of,
    rate_of,
    rates_of,
    totals_of,
)
from runner.records.record import EpisodeRecord
from trajectories.schema import MULTI_TURN, Category, JudgedBy


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
        "turns_passed": _turns_passed(
            [e for e in episodes if e.trajectory.judged_by is JudgedBy.STATE]
        ),
        "trials": _trials(episodes) if scored else [],
        "disagreeing": sum(_recorded_otherwise(episode) is not None for episode in episodes),
        "usage": _usage([episode.record for episode in episodes]),
    }


def group_scores(run: ViewedRun) -> Json | None:
    """Return BFCL's table; None of a run without single turns, or with too many errors."""
    outcomes = _outcomes(run.episodes)
    errors = len(run.episodes) - len(outcomes)
    only_multi_turn = all(outcome.category in MULTI_TURN for outcome in outcomes)
    if only_multi_turn or errors > MOST_ERRORS * len(run.episodes):
        return None
    rates = rates_of(outcomes, _clusters(run.episodes))
    return groups([rates], [run.profile is BFCL])


def row(episode: Viewed) -> Json:
    """Return what the table of episodes shows of one."""
    verdict, divergence, diagnosis = episode.verdict, episode.divergence, episode.diagnosis
    steps, calls = _steps_and_calls(episode)
    used = totals_of([episode.record])
    failure = None if episode.error else verdict.failure
    return {
        "id": episode.trajectory.id,
        "trial": episode.recorded.trial,
        "category": episode.trajectory.category,
        "outcome": episode.outcome,
        "recorded": _recorded_otherwise(episode),
        "reason": failure and failure.reason,
        "meaning": failure and failure.reason.meaning,
        "failed_turn": verdict.failed_turn,
        "cause": diagnosis and diagnosis.cause,
        "cause_at": diagnosis and [diagnosis.turn, diagnosis.step],
        "detail": episode.error or (diagnosis and diagnosis.detail),
        "turns": verdict.turns,
        "turns_passed": verdict.turns_passed,
        "divergence": divergence and [divergence.turn, divergence.step, divergence.call],
        "steps": steps,
        "calls": calls,
        "cost": used.cost,
        "latency": sum(used.latencies) if used.latencies else None,
    }


def _recorded_otherwise(episode: Viewed) -> str | None:
    """Return the outcome that was recorded, where executing the calls again gives another one."""
    recorded = episode.record.outcome or episode.outcome
    return None if recorded == episode.outcome else recorded


def _score(name: str, episodes: Sequence[Viewed], scored: bool) -> Json:
    counts = Counter(episode.outcome for episode in episodes)
    judged = _outcomes(episodes)
    rate = rate_of(judged, _clusters(episodes)) if judged and scored else None
    return {
        "name": name,
        "entries": len({episode.trajectory.id for episode in episodes}),
        "passed": counts["passed"],
        "failed": counts["failed"],
        "errors": counts["error"],
        "rate": rate and rate.value,
        "interval": rate and rate.interval,
        "turns": sum(outcome.turns for outcome in judged),
        "turns_passed": sum(outcome.turns_passed for outcome in judged),
    }


def _outcomes(episodes: Iterable[Viewed]) -> list[EpisodeRecord]:
    """Return what became of episodes, but for those that ended in an error."""
    return [
        EpisodeRecord(
            episode.trajectory.id,
            episode.recorded.trial,
            episode.trajectory.category,
            episode.outcome,
            episode.verdict,
            None,
        )
        for episode in episodes
        if episode.outcome != "error"
    ]


def _clusters(episodes: Iterable[Viewed]) -> dict[str, str]:
    """Return by entry what it shares with those that are made from the same scenario."""
    return {episode.trajectory.id: episode.trajectory.base for episode in episodes}


def _steps_and_calls(episode: Viewed) -> tuple[int, int]:
    """Return how many steps with calls and calls there are; a single turn has at most one step."""
    examined = episode.examined
    if examined and examined.answer:
        calls = sum(pair.call is not None for pair in examined.answer.pairs)
        return min(1, calls), calls
    turns = examined.model.turns if examined and examined.model else ()
    return sum(len(turn.steps) for turn in turns), sum(len(turn.calls) for turn in turns)


def _turns_passed(episodes: Sequence[Viewed]) -> list[Json]:
    """Return by number of passed turns how many episodes failed after them, and how many passed."""
    if not episodes:
        return []
    judged = Counter((e.verdict.turns_passed, e.outcome) for e in episodes if e.outcome != "error")
    most = max((turns for turns, _ in judged), default=0)
    return [
        {"turns": turns, "failed": judged[turns, "failed"], "passed": judged[turns, "passed"]}
        for turns in range(most + 1)
    ]


def _trials(episodes: Sequence[Viewed]) -> list[Json]:
    """Return pass@k and pass^k over the entries that have all trials; empty for one trial."""
    trials = max((episode.recorded.trial for episode in episodes), default=0) + 1
    attempts = attempts_of(_outcomes(episodes), _clusters(episodes))
    complete = [entry for entry in attempts if entry.trials == trials]
    if trials == 1 or not complete:
        return []
    return [
        {"k": k, "any": pass_at_k(complete, k), "all": pass_hat_k(complete, k)}
        for k in range(1, trials + 1)
    ]


def _usage(records: Sequence[EpisodeRecord]) -> Json | None:
    """Return what the requests of a run used, or None where that is not recorded."""
    totals = totals_of(records)
    if not totals.requests:
        return None
    latency = Latency.of(totals.latencies)
    return {
        "requests": totals.requests,
        "prompt_tokens": totals.prompt_tokens,
        "completion_tokens": totals.completion_tokens,
        "cost": totals.cost,
        "p50": latency and latency.p50,
        "p95": latency and latency.p95,
    }
