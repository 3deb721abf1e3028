"""The tree of a search: which answers are branches, how far in they stand, what it all took."""

from __future__ import annotations

import json

import pytest

from extensions.search.record import SearchRecord, TriedStep, search_of
from extensions.search.search_tree import view_of
from runner.analysis.replayed_runs import replay_run
from runner.analysis.report.run_report import report
from runner.cli import main
from runner.records.episode_record import StepRecord
from runner.records.recorded_run import open_run
from tests.runner.records.made import episode, step
from trajectories.dataset import load_embedded
from trajectories.schema import Category

EPISODE = episode("a", 0, "base", "passed", 1, 1)


def tried(number: int, parent: int | None, became: str, call: str) -> tuple[TriedStep, StepRecord]:
    """Return one answer and its step."""
    made = step(0, [call], ["{}"])._replace(asked=number)
    return TriedStep(parent, became, None if became == "stands" else made, {}), made  # type: ignore[arg-type]


def searched(*answers: tuple[int | None, str, str]):
    """Return an episode of answers: the one before, what became of it, its call."""
    made = [tried(n, *answer) for n, answer in enumerate(answers)]
    tree = [each for each, _ in made]
    search = SearchRecord(len(tree), len(tree), 2, False, 60, 50, tree)
    standing = [s for t, s in made if t.became == "stands"]
    return EPISODE._replace(steps=standing, extensions={"search": search})


def test_what_comes_before_another_answer_at_its_point_is_a_branch():
    found = view_of(
        searched(
            (None, "stands", "a()"),
            (0, "undone", "b()"),
            (1, "undone", "c()"),
            (1, "given_up", "d()"),
            (0, "undone", "e()"),
            (0, "stands", "f()"),
            (5, "stands", "g()"),
        )
    )
    assert found is not None
    assert [(point.depth, point.said) for point in found.points] == [
        *[(0, "a()"), (1, "b()"), (2, "c()"), (1, "d()"), (1, "e()"), (0, "f()"), (0, "g()")]
    ]
    assert found.summary.startswith("7 of at most 60 requests; 7 of 50 steps; 2 branches abandoned")


def test_an_episode_that_was_not_searched_has_no_tree():
    assert view_of(EPISODE) is None


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return a folder with a search in which something was undone."""
    folder = tmp_path_factory.mktemp("searched") / "runs"
    asked = ["search", "--model", "scripted:0.5", "--category", "base", "--limit", "2"]
    assert main([*asked, "--run-dir", str(folder)]) == 0
    return folder / "dfsdt"


@pytest.fixture
def undone(kept):
    """Return the record of an episode with a branch that was undone."""
    return next(each for each in open_run(kept).records if search_of(each).undone)


def test_replay_shows_it_and_all_that_it_took(kept, undone, capsys):
    assert main(["replay", undone.id, "--run", str(kept)]) == 0
    shown = capsys.readouterr().out
    assert f"search: {search_of(undone).requests} of at most 100 requests" in shown
    assert "^ give_up_branch(" in shown
    assert main(["replay", undone.id, "--run", str(kept), "--turn", "1"]) == 0
    part = capsys.readouterr().out
    assert "  turn 1" in part
    assert "  turn 2" not in part
    assert main(["replay", undone.id, "--run", str(kept), "--only-diff"]) == 0
    assert "search:" not in capsys.readouterr().out
    assert main(["replay", undone.id, "--run", str(kept), "--json"]) == 0
    tree = json.loads(capsys.readouterr().out)["search"]["tree"]
    assert len(tree) == search_of(undone).requests
    assert {point["became"] for point in tree} >= {"stands", "undone"}


def test_the_report_has_it(kept, undone):
    run = open_run(kept)
    data = load_embedded([Category.BASE])
    page = "".join(report([replay_run(run, data, run.profile, 20)]))
    assert "searchPart" in page
    assert len(page) > 10_000
