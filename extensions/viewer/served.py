"""The pages of the viewer: the same ones that are written as files, which ask for their data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from runner.analysis.align import Column, align
from runner.analysis.report.align_page import align_json, answers_json
from runner.analysis.report.cards import Shared
from runner.analysis.report.pages import COMPARISON_ASSETS, packed, page, still_page
from runner.analysis.report.parts import parts_of
from runner.analysis.report.run_report import BOUNDS, REPORT_ASSETS, about_run, card_json
from runner.analysis.runs import ViewedRun
from runner.analysis.view import WithState
from runner.analysis.writing import Json
from trajectories.errors import DataError
from trajectories.schema import MULTI_TURN

RUNS_ASSETS = ("report.css", "runs.css", "table.js", "runs.js")


def served_page(title: str, assets: Iterable[str]) -> str:
    """Return a page that asks for its data."""
    return page(f"Turnwise: {title}", (), assets, served=True)


def served_report(name: str) -> str:
    """Return the page on a run."""
    return served_page(name, (*REPORT_ASSETS, "served_report.js"))


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


def index_json(run: ViewedRun) -> Json:
    """Return what the page shows of a run besides its episodes."""
    return {**about_run(run, None, parts_of(run)), "first_pack": 2}


def episode_json(run: ViewedRun) -> Json:
    """Return what the page shows of the only episode of a run."""
    (episode,) = run.episodes
    return card_json(episode, _shared(run), parts_of(run), BOUNDS[0])


def shared_json(run: ViewedRun) -> Json:
    """Return what the only episode of a run names by number."""
    return _shared(run).to_json(BOUNDS[0])


def problem_page(problem: str) -> str:
    """Return a page that says why there is no other one."""
    return still_page("Turnwise", "This page cannot be shown", f"<p>{escape(problem)}</p>", ())


def _shared(run: ViewedRun) -> Shared:
    return Shared(
        run.source if run.source.definition else None,
        [each.recorded.record for each in run.episodes],
        [each.examined for each in run.episodes if each.examined],
    )
