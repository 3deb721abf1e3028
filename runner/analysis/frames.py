"""Conversion of runs to rows for data frames.

Rows are plain dictionaries, which ``pandas.DataFrame(runs.episodes)`` accepts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from checkers.calls.call_entry import ComparisonKind
from checkers.calls.call_pairs import CallPair
from checkers.causes.answer_patterns import classify_answer
from envs.calls import Call
from envs.errors import DataError, require_type
from runner.analysis.episode_view import EpisodeMoment, view
from runner.analysis.figures import totals_of
from runner.analysis.replayed_runs import ReplayedEpisode, dataset_of, replay_run, resolve_rules
from runner.data.dataset_choice import Notify
from runner.episodes.rejudged_episode import RejudgedMultiTurn, RejudgedSingleTurn
from runner.records.annotations import NOTHING
from runner.records.episode_record import RecordedEpisode, call_text
from runner.records.recorded_run import Run, is_run, open_run
from runner.records.run_catalog import run_folders
from trajectories.schema import FACTS, Trajectory

Row = dict[str, Any]


@dataclass(frozen=True)
class RunFrames:
    """Episodes and calls of runs, as rows for data frames."""

    episodes: Sequence[Row]
    """One row per episode, in the order of the runs."""
    calls: Sequence[Row]
    """One row per executed call. Turns, steps and calls are numbered from 0."""

    def __repr__(self) -> str:
        """Return the number of rows in each table."""
        return f"RunFrames({len(self.episodes)} episodes, {len(self.calls)} calls)"


def load_runs(
    *paths: str | PathLike[str], dataset: str | None = None, notify: Notify = lambda _: None
) -> RunFrames:
    """Return the episodes and calls of runs as rows for data frames.

    All episodes are executed again to find the causes of failures, which takes a few milliseconds
    per episode.

    Args:
        paths: Run folders, folders that contain run folders, or result files.
        dataset: Name or path of the data set (default: each run's own).
        notify: Called with warnings, such as a changed data set.

    Raises:
        DataError: A path holds no run, a run cannot be read, or its data set is missing.
    """
    require_type("dataset", dataset, None, str, described="a name or path of a data set")
    episodes: list[Row] = []
    calls: list[Row] = []
    for path in paths:
        require_type("paths", path, str, PathLike, described="names or paths of runs")
        for source in _sources(Path(path)):
            data = dataset_of(source, dataset, notify)
            profile, limit = resolve_rules(source, data)
            for each in replay_run(source, data, profile, limit).episodes:
                key = {
                    "run": source.path.name,
                    "id": each.trajectory.id,
                    "trial": each.recorded.trial,
                }
                made = [*each.examined.show(_CallRowRenderer())] if each.examined else []
                about = data.name, profile.name, len(made)
                episodes.append(_episode_row(key, source, each, *about))
                calls += ({**key, **call} for call in made)
    return RunFrames(episodes, calls)


def _sources(path: Path) -> Iterator[Run]:
    folders = [*run_folders(path)] if path.is_dir() and not is_run(path) else []
    if not path.exists():
        raise DataError(str(path), "does not exist")
    yield from map(open_run, folders or [path])


def _episode_row(
    key: Row, source: Run, episode: ReplayedEpisode, dataset: str, profile: str, calls: int
) -> Row:
    trajectory, recorded, judged, examined = episode
    record, verdict = recorded.record, judged.verdict
    found = examined.diagnosis if examined else None
    failure = verdict and verdict.failure
    needed = verdict.selected.needed if verdict and verdict.selected else None
    used = totals_of([record])
    annotation = source.annotations.get(record.key, NOTHING)
    of_run = source.annotations.get(None, NOTHING)
    return {
        **key,
        "model": source.definition.model if source.definition else source.name,
        "dataset": dataset,
        "profile": profile,
        "created": source.note.get("created"),
        "category": trajectory.category.value,
        "labels": ",".join(trajectory.labels),
        "outcome": judged.outcome,
        "passed": None if judged.outcome == "error" else judged.outcome == "passed",
        "error": judged.error,
        "reason": failure and failure.reason.value,
        "failed_turn": verdict and verdict.failed_turn,
        "turns": len(trajectory.turns),
        "turns_passed": judged.turns_passed,
        "answer_without_call": _classify_answer(trajectory, recorded),
        "cause": found and found.cause.value,
        "sub_reason": found and found.sub_reason,
        "cause_turn": found and found.turn,
        "cause_step": found and found.step,
        "cause_call": found and found.call,
        "detail": found and found.detail,
        "sentence": found and found.sentence,
        "needed_calls": needed,
        "calls": calls,
        "redundant_calls": max(0, calls - needed)
        if judged.outcome == "passed" and needed
        else None,
        "requests": used.requests or None,
        "prompt_tokens": used.prompt_tokens if used.requests else None,
        "completion_tokens": used.completion_tokens if used.requests else None,
        "latency_seconds": sum(used.latencies) if used.requests else None,
        "cost_usd": used.cost,
        "tags": ",".join(annotation.tags),
        "note": annotation.note,
        "run_tags": ",".join(of_run.tags),
        "run_note": of_run.note,
    }


def _classify_answer(trajectory: Trajectory, recorded: RecordedEpisode) -> str | None:
    if FACTS[trajectory.category].calls is not ComparisonKind.IRRELEVANCE:
        return None
    step = recorded.turns[0][-1] if recorded.turns and recorded.turns[0] else ""
    return classify_answer(step) if isinstance(step, str) else None


class _CallRowRenderer:
    def turns(self, examined: RejudgedMultiTurn) -> Iterator[Row]:
        for turn in view(examined):
            for moment in turn.moments:
                if moment.traced is not None:
                    yield _call_row(moment)

    def pairs(self, examined: RejudgedSingleTurn) -> Iterator[Row]:
        made = [pair for pair in examined.paired.pairs if pair.call is not None]
        for number, pair in enumerate(made):
            yield _pair_row(number, pair)


def _call_row(moment: EpisodeMoment) -> Row:
    assert moment.traced is not None
    call, result, _ = moment.traced
    place = moment.place
    return {
        "turn": place.turn,
        "step": place.step,
        "call": place.call,
        "function": call.name if isinstance(call, Call) else None,
        "text": call_text(call),
        "ok": result.ok,
        "result": result.observation,
        "changes": len(moment.changes),
        "diverges": moment.diverges,
    }


def _pair_row(number: int, pair: CallPair) -> Row:
    call, result = pair.call, pair.result
    assert call is not None
    return {
        "turn": 0,
        "step": 0,
        "call": number,
        "function": call.name if isinstance(call, Call) else None,
        "text": call_text(call),
        "ok": result.ok if result else True,
        "result": result.text if result else None,
        "changes": 0,
        "diverges": pair.problem is not None,
    }
