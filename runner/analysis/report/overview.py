"""A run at a glance: what it scored, why its episodes failed, what it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from checkers.profile import BFCL
from runner.analysis.figure_lines import errata_line
from runner.analysis.figures import RunFigures, totals_of, usage_json
from runner.analysis.report.requests import Json
from runner.analysis.report.scores_page import groups
from runner.analysis.report.viewing import Viewed, ViewedRun
from trajectories.schema import JudgedBy


def overview(episodes: Sequence[Viewed]) -> Json:
    """Return the figures of a run; with too many errors there is no score among them."""
    figures = _figures(episodes)
    trials = max((episode.recorded.trial for episode in episodes), default=0) + 1
    return {
        "scores": [score._asdict() for score in figures.scores],
        "outcomes": Counter(outcome.outcome for outcome in figures.outcomes),
        "causes": Counter(e.diagnosis.cause for e in episodes if e.diagnosis).most_common(),
        "turns_passed": _turns_passed(
            [e for e in episodes if e.trajectory.judged_by is JudgedBy.STATE]
        ),
        "trials": [score._asdict() for score in figures.trial_scores(trials) if figures.scored],
        "disagreeing": sum(_recorded_otherwise(episode) is not None for episode in episodes),
        "usage": usage_json(totals_of(episode.record for episode in episodes)),
    }


def group_scores(run: ViewedRun) -> Json | None:
    """Return BFCL's table; None of a run without single turns, or with too many errors."""
    figures = _figures(run.episodes)
    return groups([figures.rates], [run.profile is BFCL]) if figures.grouped else None


def mended_scores(run: ViewedRun) -> Json | None:
    """Return the scores as errata have them, to stand beside those as published."""
    if run.mend is None:
        return None
    figures = run.mend.figures(_figures(run.episodes))
    scores = [score._asdict() for score in figures.scores]
    return {"errata": errata_line(run.mend.readings), "scores": scores}


def _figures(episodes: Sequence[Viewed]) -> RunFigures:
    """Return the figures of what executing the episodes again gives."""
    trajectories = {episode.trajectory.id: episode.trajectory for episode in episodes}
    return RunFigures([episode.judged for episode in episodes], list(trajectories.values()))


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
