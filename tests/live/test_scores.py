"""One run has one score: the same figures wherever a run of any kind is shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import turnwise

from extensions.viewer.run_cache import RunCache
from runner.analysis.report.run_report import about_run
from runner.cli import main
from runner.rollouts.evaluation import Evaluation
from tests.extensions.viewer.viewing import viewing
from tests.live.running import Ended, says, spoiled
from tests.runner.analysis.report.making import unpacked
from tests.servers.serving import Answerer, FakeServer

pytest_plugins = ["tests.live.run_fixtures"]

SCENARIOS = (
    "--ids",
    "base_files_band_setlist,base_files_grandfather_recipes,"
    "miss_param_files_band_setlist,miss_param_files_grandfather_recipes",
)
MORE = ("--category", "base,miss_param", "--concurrency", "2")

Say = Callable[..., str]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Run a command and return what it prints."""

    def run(*words: object, status: int = 0) -> str:
        capsys.readouterr()
        assert main([*map(str, words)]) == status
        return capsys.readouterr().out

    return run


class Shown(NamedTuple):
    """Where a run is, and the line with its score that the command printed that made it."""

    folder: Path
    line: str | None


def line_of(out: str) -> str:
    """Return the line with the score."""
    return next(text.strip() for text in out.splitlines() if text.strip().startswith("score "))


def agent(messages: list[Any], tools: list[Any]) -> str:
    """Answer without a call."""
    return "Done."


def live(run: Callable[..., Ended], folder: Path, *more: str) -> Shown:
    """Run a live model."""
    return Shown(folder, line_of(run(*SCENARIOS, *MORE, *more).out))


def recorded(run: Callable[..., Ended], folder: Path, say: Say) -> Shown:
    """Run a live model, and return its result files."""
    live(run, folder)
    target = folder.parent / "exported"
    say("export", folder, "--format", "bfcl", "-o", target)
    return Shown(target, line_of(say("score", target)))


def own_agent(folder: Path) -> Shown:
    """Run an agent from Python."""
    made: Evaluation = turnwise.evaluate(agent, categories="base", limit=4, run_dir=folder)
    assert made.score is not None
    return Shown(folder, None)


def searched(folder: Path, say: Say) -> Shown:
    """Run a search that repeats entries until they pass."""
    options = ("--model", "scripted:0.4", "--category", "base", "--limit", "4", "--repeat", "3")
    say("search", *options, "--run-dir", folder)
    return Shown(folder / "react-at-n", None)


KINDS: Mapping[str, Callable[[Callable[..., Ended], Path, Say], Shown]] = {
    "recorded": recorded,
    "live": lambda run, folder, _: live(run, folder),
    "trials": lambda run, folder, _: live(run, folder, "--trials", "2"),
    "unfinished": lambda run, folder, _: live(run, folder, "--max-requests", "14"),
    "search": lambda _, folder, say: searched(folder, say),
    "own agent": lambda _run, folder, _say: own_agent(folder),
}


@pytest.mark.parametrize("kind", KINDS)
def test_score_and_interval_are_the_same_on_all_surfaces(
    kind: str,
    run: Callable[..., Ended],
    server: FakeServer,
    truth: Answerer,
    openings: Mapping[str, str],
    folder: Path,
    say: Say,
) -> None:
    server.answer = spoiled(truth, {"base_files_band_setlist": says("No.")}, openings)
    made = KINDS[kind](run, folder, say)
    [table] = json.loads(say("table", made.folder, "--json"))["runs"]
    score = {name: table[name] for name in ("score", "interval", "entries", "done", "unfinished")}
    assert score["score"] is not None
    assert score["unfinished"] is (kind == "unfinished")
    first = table["table"][0]
    assert [first["score"], first["interval"]] == [score["score"], score["interval"]]
    # The page of the run in the report and the viewer.
    opened = RunCache().whole(made.folder)
    shown = about_run(opened.run, opened.outlines.values(), [])["overview"]
    total = shown["scores"][-1]
    assert [total["rate"], list(total["interval"])] == [score["score"], score["interval"]]
    lines = [line_of(say("table", made.folder)), shown["headline"]]
    assert {*lines, made.line or lines[0]} == {lines[0]}
    assert ("the run is unfinished" in lines[0]) is score["unfinished"]
    page = folder.parent / "report.html"
    say("report", made.folder, "-o", page)
    [[reported], *_] = unpacked(page.read_text(encoding="utf-8"))
    assert reported["overview"]["headline"] == lines[0]
    assert reported["overview"]["scores"][-1]["rate"] == score["score"]
    if kind == "recorded":
        return
    # The lists of `runs` and the viewer.
    [listed] = json.loads(say("runs", made.folder, "--json"))["runs"]
    assert {name: listed[name] for name in score} == score
    assert lines[0].split()[1] in say("runs", made.folder)
    with viewing(made.folder.parent) as viewer:
        # The page of a run waits for the first scan of the folder.
        overview = viewer.data(f"run/{made.folder.name}")["overview"]
        listed = {run["name"]: run for run in viewer.data("runs")["runs"]}[made.folder.name]
    assert [listed["score"], listed["interval"]] == [score["score"], score["interval"]]
    assert (overview["headline"], overview["scores"][-1]) == (
        lines[0],
        reported["overview"]["scores"][-1],
    )
