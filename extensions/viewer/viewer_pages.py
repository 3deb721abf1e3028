"""Pages of the viewer: the report's pages, with data from the server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from checkers.causes.diagnosis import Cause, Diagnosis
from checkers.statistics import holm
from envs.errors import DataError
from extensions.align.align_page import align_json, answers_json
from extensions.align.alignment import AlignedRun, align
from runner.analysis.comparison import RunComparison, causes, most_frequent
from runner.analysis.episode_output import Json
from runner.analysis.episode_view import MultiTurnRequirement
from runner.analysis.replayed_runs import ReplayedRun
from runner.analysis.report.episode_cards import SharedValues
from runner.analysis.report.page_parts import parts_of
from runner.analysis.report.pages import COMPARISON_ASSETS, packed, page, still_page
from runner.analysis.report.run_report import BOUNDS, card_json, report_assets
from trajectories.schema import MULTI_TURN, Trajectory

MOST_RUNS = 10
"""Maximum number of runs in a comparison."""
_OWN = Path(__file__).parent / "assets"
CHAT_ASSETS = (
    *("report.css", "author.css", _OWN / "chat.css"),
    *("texts.js", "forms.js", _OWN / "chat.js"),
)
RUNS_ASSETS = (
    *("report.css", "scores.css", _OWN / "runs.css"),
    *("table.js", _OWN / "trend.js", _OWN / "runs.js"),
)


def run_assets() -> tuple[str | Path, ...]:
    """Return the styles and scripts of the page of a run."""
    return *report_assets(), _OWN / "served_report.js"


def served_page(title: str, assets: Iterable[str | Path]) -> str:
    """Return a page that loads its data from the server."""
    return page(f"Turnwise: {title}", (), assets, served=True)


def runs_page(folder: str, runs: Sequence[Json], errata: str) -> str:
    """Return the list of a folder's runs as a standalone page."""
    shown = {"folder": folder, "errata": errata, "complete": True, "version": 0, "runs": runs}
    return page(f"Turnwise: {folder}", [packed(shown)], RUNS_ASSETS)


def side_by_side(names: Sequence[str], runs: Sequence[ReplayedRun]) -> Json:
    """Align several runs. Each run must contain one episode; all episodes must have the same entry.

    Raises DataError if an episode has no verdict, or if the entries differ.
    """
    episodes = [episode for run in runs for episode in run.episodes]
    trajectory = episodes[0].trajectory
    columns = []
    for name, run, episode in zip(names, runs, episodes, strict=True):
        if len(episode.trajectory.turns) != len(trajectory.turns):
            message = f"{trajectory.id} differs from the entry in {names[0]}; use the same data set"
            raise DataError(name, message)
        if episode.examined is None:
            raise DataError(name, f"{trajectory.id} has no verdict: {episode.judged.error}")
        columns.append((name, run, episode.examined))
    if trajectory.category not in MULTI_TURN:
        answers = [episode_json(run) for run in runs]
        return answers_json(trajectory.id, trajectory.category.value, names, answers)
    purpose = MultiTurnRequirement("to compare")
    return align_json(align([AlignedRun(name, found.show(purpose)) for name, _, found in columns]))


def comparison_file(names: Sequence[str], shown: Json) -> str:
    """Return the comparison of runs as a standalone page."""
    title = f"Turnwise: {' and '.join(names)}"
    return page(title, [packed({**shown, "served": None})], COMPARISON_ASSETS)


def episode_json(run: ReplayedRun) -> Json:
    """Return the data of a run's only episode."""
    (episode,) = run.episodes
    return card_json(episode, shared(run), parts_of(run), BOUNDS[0])


def problem_page(problem: str) -> str:
    """Return an error page."""
    return still_page("Turnwise", "This page cannot be shown", f"<p>{escape(problem)}</p>", ())


def shared(run: ReplayedRun) -> SharedValues:
    """Return the values that the episodes of a run share, such as prompts."""
    found = SharedValues(run.source if run.source.definition else None)
    for each in run.episodes:
        found.add(each.recorded.record, each.examined)
    return found


class FlippedEntry(NamedTuple):
    """Entry whose pass rate differs between runs."""

    trajectory: Trajectory
    trials: Sequence[Sequence[Diagnosis | None]]
    """One list per run: the diagnosis of each trial, or None if the trial passed."""


def several_json(comparisons: Sequence[RunComparison]) -> dict[str, Any]:
    """Compare several runs with the first run, and return the result as a JSON object."""
    first, data = comparisons[0], comparisons[0].dataset
    corrected = holm([each.overall.p_value for each in comparisons])
    runs = [first.runs[0], *(each.runs[1] for each in comparisons)]
    return {
        "runs": [{"name": run.name, "path": str(run.path)} for run in runs],
        "dataset": {"name": data.name, "version": data.version, "sha256": data.sha256},
        "profile": first.profile.name,
        "entries": first.overall.entries,
        "left_out": [
            first.left_out.only_first,
            *(each.left_out.only_second for each in comparisons),
        ],
        "unjudged": first.left_out.errors,
        "scores": [first.overall.first, *(each.overall.second for each in comparisons)],
        "against": [
            {
                "difference": each.overall.difference,
                "interval": list(each.overall.interval),
                "worse": each.overall.worse,
                "better": each.overall.better,
                "p_value": each.overall.p_value,
                "corrected": p,
            }
            for each, p in zip(comparisons, corrected, strict=True)
        ],
        "categories": {
            category.value: [
                found.first,
                *(each.categories[category].second for each in comparisons),
            ]
            for category, found in first.categories.items()
        },
        "causes": [*_causes(comparisons)],
        "flips": [*map(_flip_json, flips(comparisons))],
    }


def flips(comparisons: Sequence[RunComparison]) -> Iterator[FlippedEntry]:
    """Yield the entries whose pass rate differs between runs."""
    for entries in zip(*(each.entries for each in comparisons), strict=True):
        trials = [entries[0].first, *(each.second for each in entries)]
        if len({list(each).count(None) / len(each) for each in trials}) > 1:
            yield FlippedEntry(entries[0].trajectory, trials)


def _causes(comparisons: Sequence[RunComparison]) -> Iterator[Json]:
    """Yield the causes of failure; ``shares`` has the share of the episodes of each run."""
    runs = [
        [trial for entry in comparisons[0].entries for trial in entry.first],
        *([trial for entry in each.entries for trial in entry.second] for each in comparisons),
    ]
    counts = [causes(trials) for trials in runs]
    for cause in Cause:
        shares = [count[cause] / len(run) for count, run in zip(counts, runs, strict=True)]
        if any(shares):
            yield {"cause": cause.value, "shares": shares}


def _flip_json(flip: FlippedEntry) -> Json:
    return {
        "id": flip.trajectory.id,
        "category": flip.trajectory.category.value,
        "runs": [_trials_json(each) for each in flip.trials],
    }


def _trials_json(trials: Sequence[Diagnosis | None]) -> Json:
    why = most_frequent(trials)
    return {
        "passed": list(trials).count(None),
        "trials": len(trials),
        "diagnosis": why and why.to_json(),
    }
