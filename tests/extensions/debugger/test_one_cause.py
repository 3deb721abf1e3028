"""The cause of a failure on every surface: one sentence and one place."""

from __future__ import annotations

import json
from random import Random

import pytest

pytest.importorskip("textual")

from extensions.align.alignment import AlignedRun, align, document
from extensions.align.alignment import lines as align_lines
from extensions.debugger import views
from extensions.debugger.breakpoints import stops
from extensions.debugger.stepper import Stepper
from runner.analysis.episode_output import EpisodeJsonRenderer, EpisodeTextRenderer
from runner.analysis.episode_view import EpisodePart
from runner.analysis.frames import load_runs
from runner.analysis.replayed_runs import dataset_of, replay_run
from runner.analysis.report.run_report import about_run, outline, row
from runner.cli import main
from runner.records.episode_record import call_text
from runner.records.recorded_run import open_run
from runner.records.run_definition import DatasetReference
from tests.extensions.viewer.viewing import viewing
from tests.planted_faults import KINDS, plant
from tests.planted_faults import dataset_of as entries_of
from tests.runner.analysis.replayed_runs import RunDefinition, write_run
from tests.runner.analysis.report.making import unpacked
from tests.runner.records.made import ASKED, defining
from trajectories.schema import Category

NUMBER = 50
SINGLE = ("missing_url", "nested_call_in_parts", "acted_instead_of_asking")
"""Kinds of entries of other categories."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write a run of failing episodes, drawn by chance."""
    random, dataset = Random(31), entries_of(Category.BASE)
    kinds, ids = [kind for kind in KINDS if kind not in SINGLE], [*dataset.trajectories]
    found = {}
    while len(found) < NUMBER:
        id = random.choice(ids)
        episode = plant(random.choice(kinds), dataset, id, random)
        if id not in found and episode is not None:
            found[id] = episode
    data = DatasetReference(dataset.name, dataset.version, dataset.sha256)
    made: RunDefinition = defining()._replace(dataset=data, settings=ASKED._replace(mode="fc"))
    records = [
        each.examined.recorded.record._replace(outcome="failed", verdict=each.examined.verdict)
        for each in found.values()
    ]
    return write_run(tmp_path_factory.mktemp("runs") / "planted", made, *records)


@pytest.fixture(scope="module")
def run(folder):
    """Execute the run again."""
    source = open_run(folder)
    dataset = dataset_of(source, None, print)
    from checkers.profile import STRICT

    replayed = replay_run(source, dataset, STRICT, 20)
    return replayed._replace(episodes=[*replayed.episodes])


def test_fifty_episodes_have_one_sentence_in_the_list(folder, run, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "5000")
    assert main(["episodes", str(folder), "--failed"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert main(["episodes", str(folder), "--json"]) == 0
    documents = json.loads(capsys.readouterr().out)["episodes"]
    assert len(run.episodes) == len(lines) == len(documents) == NUMBER
    for episode, line, each in zip(run.episodes, lines, documents, strict=True):
        found = episode.examined.diagnosis
        assert line.split("failed: ", 1)[1] == found.sentence
        assert each["sentence"] == found.sentence
        assert (each["turn"], each["step"], each["call"]) == found[2:5]


def test_fifty_episodes_have_one_sentence_in_a_replay(run):
    for episode in run.episodes:
        examined, found = episode.examined, episode.examined.diagnosis
        shown = [line.text for line in examined.show(EpisodeTextRenderer("run"))]
        assert shown[-1] == f"cause: {found.sentence}"
        document = examined.show(EpisodeJsonRenderer("run"))["diagnosis"]
        assert document == found.to_json()
        assert document["sentence"] == found.sentence


def test_only_diff_shows_the_call_that_the_cause_names(run):
    for episode in run.episodes:
        examined, found = episode.examined, episode.examined.diagnosis
        part = EpisodePart(only_diff=True)
        shown = [line.text for line in examined.show(EpisodeTextRenderer("run", part))]
        [mark] = [line for line in shown if line.startswith("> ")]
        assert f"turn {found.turn + 1}" in shown
        if found.call is None:
            assert mark == "> end of the turn: cause of the failure"
        else:
            traced = examined.model.turns[found.turn].steps[found.step][found.call]
            assert mark.startswith(f"> step {found.step + 1}  {call_text(traced.call)[:100]}")
        turns = examined.show(EpisodeJsonRenderer("run", part))["turns"]
        [turn] = [turn for turn in turns if turn["turn"] == found.turn]
        calls = [(step["step"], call) for step in turn["steps"] for call in step["calls"]]
        marked = [(number, call["call"]) for number, call in calls if call["diverges"]]
        assert marked == ([] if found.call is None else [(found.step, call_text(traced.call))])


def test_fifty_episodes_have_one_sentence_side_by_side(run):
    for episode in run.episodes:
        found = episode.examined.diagnosis
        aligned = align([AlignedRun("a", episode.examined), AlignedRun("b", episode.examined)])
        assert [*align_lines(aligned, 80)][2].text == f"     cause: {found.sentence}"
        assert document(aligned)["runs"][0]["diagnosis"]["sentence"] == found.sentence


def test_fifty_episodes_have_one_sentence_on_pages(run):
    rows = about_run(run, map(outline, run.episodes), ())["rows"]
    for episode, shown in zip(run.episodes, rows, strict=True):
        found = episode.examined.diagnosis
        assert shown == {**row(episode), "note": "", "tags": []}
        assert (shown["sentence"], shown["where"]) == (found.sentence, str(found.place))
        steps = len(episode.examined.model.turns[found.turn].steps)
        step = steps if found.step is None else found.step
        assert shown["place"] == [found.turn, step, found.call]


def test_fifty_episodes_have_one_sentence_in_the_viewer_and_in_the_report(folder, run, tmp_path):
    page = tmp_path / "report.html"
    assert main(["report", str(folder), "-o", str(page)]) == 0
    [[reported], *_] = unpacked(page.read_text(encoding="utf-8"))
    with viewing(folder.parent) as viewer:
        rows = viewer.data("run/planted")["rows"]
        opened = [viewer.data(f"run/planted?id={row['id']}&trial=0")["rows"][0] for row in rows]
    names = ("sentence", "where", "place", "cause")
    told = [
        [[row[name] for name in names] for row in each] for each in (reported["rows"], rows, opened)
    ]
    assert told[0] == told[1] == told[2]
    found = [episode.examined.diagnosis for episode in run.episodes]
    assert [row[:2] for row in told[0]] == [[each.sentence, str(each.place)] for each in found]


def test_fifty_episodes_have_one_sentence_in_data_frames(folder, run):
    for episode, kept in zip(run.episodes, load_runs(folder).episodes, strict=True):
        found = episode.examined.diagnosis
        assert kept["sentence"] == found.sentence
        assert [kept[f"cause_{name}"] for name in ("turn", "step", "call")] == [*found[2:5]]


def test_one_command_shows_the_sentence_and_json_agrees(folder, run, capsys):
    for episode in run.episodes[:5]:
        found = episode.examined.diagnosis
        of = episode.trajectory.id, "--run", str(folder)
        assert main(["replay", *of]) == 0
        assert capsys.readouterr().out.splitlines()[-1] == f"cause: {found.sentence}"
        assert main(["replay", *of, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["diagnosis"] == found.to_json()


def test_fifty_episodes_have_one_sentence_in_the_debugger(run):
    for episode in run.episodes:
        found = episode.examined.diagnosis
        stepper = Stepper(episode.examined)
        assert stepper.go_to_divergence() == ""
        assert stepper.moment.place == found.place
        assert f"FAILED: {found.sentence[:300]}" in views.heading(stepper, "run").plain
        assert f"cause of the failure\n{found.sentence}\n" in views.call_view(stepper).plain


def test_breakpoints_stop_at_the_place_of_the_cause(run):
    for episode in run.episodes:
        [stop] = stops(episode.examined, [], ["divergence"])
        assert stop.moment.place == episode.examined.place
        assert str(stop).startswith(str(episode.examined.diagnosis.place))
