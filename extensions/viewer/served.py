"""The pages of the viewer: the same ones that are written as files, which ask for their data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

from checkers.statistics import holm
from checkers.why.diagnosis import Cause, Diagnosis
from runner.analysis.align import Column, align
from runner.analysis.comparison import RunComparison, causes, most_frequent
from runner.analysis.report.align_page import align_json, answers_json
from runner.analysis.report.cards import Shared
from runner.analysis.report.pages import COMPARISON_ASSETS, packed, page, still_page
from runner.analysis.report.parts import parts_of
from runner.analysis.report.run_report import BOUNDS, REPORT_ASSETS, card_json
from runner.analysis.runs import ViewedRun
from runner.analysis.view import WithState
from runner.analysis.writing import Json
from trajectories.errors import DataError
from trajectories.schema import MULTI_TURN, Trajectory

MOST_RUNS = 10
"""How many runs there is room for beside each other."""
RUN_ASSETS = (*REPORT_ASSETS, "served_report.js")
RUNS_ASSETS = ("report.css", "runs.css", "table.js", "runs.js")


def served_page(title: str, assets: Iterable[str]) -> str:
    """Return a page that asks for its data."""
    return page(f"Turnwise: {title}", (), assets, served=True)


def runs_page(folder: str, runs: Sequence[Json], errata: str) -> str:
    """Return the page on the runs of a folder, as a file."""
    shown = {"folder": folder, "errata": errata, "complete": True, "version": 0, "runs": runs}
    return page(f"Turnwise: {folder}", [packed(shown)], RUNS_ASSETS)


def side_by_side(names: Sequence[str], runs: Sequence[ViewedRun]) -> Json:
    """Return what the page shows of the only episodes of runs, all of one entry.

    Raises:
        DataError: There is no verdict on one, or they are not of the same entry.
    """
    episodes = [episode for run in runs for episode in run.episodes]
    trajectory = episodes[0].trajectory
    columns = []
    for name, run, episode in zip(names, runs, episodes, strict=True):
        if len(episode.trajectory.turns) != len(trajectory.turns):
            raise DataError(name, f"is not of the data of {names[0]}: {trajectory.id} is another")
        if episode.examined is None:
            raise DataError(name, f"there is no verdict on {trajectory.id}: {episode.judged.error}")
        columns.append((name, run, episode.examined))
    if trajectory.category not in MULTI_TURN:
        answers = [episode_json(run) for run in runs]
        return answers_json(trajectory.id, trajectory.category.value, names, answers)
    purpose = WithState("to put side by side")
    return align_json(align([Column(name, found.show(purpose)) for name, _, found in columns]))


def comparison_file(names: Sequence[str], shown: Json) -> str:
    """Return the page on two runs, or on more, as a file."""
    title = f"Turnwise: {' and '.join(names)}"
    return page(title, [packed({**shown, "served": None})], COMPARISON_ASSETS)


def episode_json(run: ViewedRun) -> Json:
    """Return what the page shows of the only episode of a run."""
    (episode,) = run.episodes
    return card_json(episode, shared(run), parts_of(run), BOUNDS[0])


def problem_page(problem: str) -> str:
    """Return a page that says why there is no other one."""
    return still_page("Turnwise", "This page cannot be shown", f"<p>{escape(problem)}</p>", ())


def shared(run: ViewedRun) -> Shared:
    """Return what the episodes of a run name by number."""
    return Shared(
        run.source if run.source.definition else None,
        [each.recorded.record for each in run.episodes],
        [each.examined for each in run.episodes if each.examined],
    )


class Flip(NamedTuple):
    """An entry that does not pass as often in all runs."""

    trajectory: Trajectory
    trials: Sequence[Sequence[Diagnosis | None]]
    """By run; of each trial why it failed, None where it passed."""


def several_json(comparisons: Sequence[RunComparison]) -> dict[str, Any]:
    """Return runs beside each other as a JSON object, from what compares all but one with it."""
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


def flips(comparisons: Sequence[RunComparison]) -> Iterator[Flip]:
    """Yield the entries that do not pass as often in all runs, in the data set's order."""
    for entries in zip(*(each.entries for each in comparisons), strict=True):
        trials = [entries[0].first, *(each.second for each in entries)]
        if len({list(each).count(None) / len(each) for each in trials}) > 1:
            yield Flip(entries[0].trajectory, trials)


def _causes(comparisons: Sequence[RunComparison]) -> Iterator[Json]:
    counts = [
        causes(trial for entry in comparisons[0].entries for trial in entry.first),
        *(causes(t for entry in each.entries for t in entry.second) for each in comparisons),
    ]
    for cause in Cause:
        found = [count[cause] for count in counts]
        if any(found):
            yield {"cause": cause.value, "runs": found}


def _flip_json(flip: Flip) -> Json:
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
