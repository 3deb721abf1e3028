"""Training and held-out parts of runs and of transcripts."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
import turnwise

from envs.errors import DataError
from extensions.retrieval.corpus import load_full_corpus
from extensions.splits.feature import PARTS, SplitFeature, SplitPart
from extensions.splits.fold import Fold
from runner.data.dataset_choice import load_dataset
from tests.runner.commands.running import run as run_command

FOLDER, VEHICLE = "GorillaFileSystem", "VehicleControlAPI"


def idle(messages, tools):
    """Answer without a call."""
    return "Done."


def entries(part, kind, categories="base", **more):
    """Return the entries of a part."""
    data = load_dataset(categories=categories)
    return SplitFeature(SplitPart(part, Fold(kind, **more))).entries(data).trajectories


def lines(path: Path) -> list[dict]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


functions = cache(load_full_corpus)


def backends_of(ids, data):
    """Return the backends of the functions that entries need."""
    homes = functions().by_name
    texts = [text for id in ids for turn in data[id].turns for text in turn.ground_truth]
    return {homes[text.partition("(")[0]].backend for text in texts}


def test_training_and_test_entries_share_no_scenario():
    parts = [{each.base for each in entries(part, "instruction").values()} for part in PARTS]
    assert all(parts)
    assert not parts[0] & parts[1]
    assert len(parts[0] | parts[1]) == len(load_dataset(categories="base").trajectories)


def test_each_scenario_is_held_out_by_one_fold():
    held = [{*entries("test", "instruction", fold=fold, folds=3)} for fold in range(3)]
    everything = {*load_dataset(categories="base").trajectories}
    assert set.union(*held) == everything
    assert sum(map(len, held)) == len(everything)


def test_training_and_test_entries_share_no_backend():
    data = load_dataset(categories="base").trajectories
    trained, tested = (backends_of(entries(part, "tool"), data) for part in ("train", "test"))
    assert trained
    assert tested
    assert not trained & tested


def test_the_fold_does_not_depend_on_the_loaded_categories():
    wide = entries("test", "instruction", "base,miss_param")
    assert {*entries("test", "instruction", "base")} == {
        id for id, entry in wide.items() if entry.category == "base"
    }


def test_eval_runs_the_part_and_resumes_only_the_same_part(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text("def idle(messages, tools):\n    return 'Done.'\n")
    monkeypatch.syspath_prepend(tmp_path)
    asked = ["--model", "python:agent:idle", "--category", "base", "--limit", "2"]
    runs = []
    for kind in ("instruction", "tool", "category"):
        runs.append(tmp_path / kind)
        assert run_command("eval", *asked, "--split", f"{kind}:test", "--run-dir", runs[-1]) == 0
    assert (
        "split tool:test, fold 0 of 5: 19 of 267 entries; 2 held out: " in capsys.readouterr().err
    )
    definition = json.loads((runs[1] / "run.json").read_text(encoding="utf-8"))
    assert '"splits": {"part": "test", "fold": {"kind": "tool"' in json.dumps(definition)
    assert {line["id"] for line in lines(runs[1] / "episodes.jsonl")} <= {*entries("test", "tool")}
    with pytest.raises(DataError, match=r"extensions\.splits\.part was 'test' and is now 'train'"):
        run_command("eval", *asked, "--split", "tool:train", "--resume", runs[1])
    assert run_command("table", *runs) == 0
    table = capsys.readouterr().out
    assert all(f"python:agent:idle ({run.name})" in table for run in runs)


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--split", "tool"], "--split: 'tool' must be one of instruction:test, instruction:train"),
        (["--split", "tools:test"], "--split: 'tools:test' must be one of "),
        (["--fold", "1"], "--fold: needs --split"),
        (
            ["--split", "tool:test", "--fold", "9"],
            "--fold: the last fold of the split tool has the number 4; 9 is",
        ),
        (
            ["--split", "category:test", "--fold", "1"],
            "--split: category:test, fold 1 of 5: this part has no entries; choose another --fold",
        ),
    ],
)
def test_a_part_that_cannot_be_run_is_refused(flags, complaint):
    with pytest.raises(DataError) as refused:
        run_command("eval", "--model", "oracle", "--category", "base", *flags)
    assert str(refused.value).startswith(complaint)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run in which an idle agent fails the entries of two backends and of several scenarios."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    data = load_dataset(categories="base").trajectories
    wanted = ({FOLDER}, {VEHICLE})
    chosen = [id for id in data if backends_of([id], data) in wanted]
    turnwise.evaluate(idle, categories="base", ids=chosen, run_dir=folder)
    return folder


def export(run, *flags, output):
    """Export failed transcripts, which need no model."""
    return run_command("export", run, "--format", "openai-messages", *flags, "-o", output)


def test_exported_parts_share_no_scenario_and_agree_with_eval(run, tmp_path):
    held = []
    for fold in (0, 1, 0):
        folder = tmp_path / str(len(held))
        asked = ["--split", "instruction", "--folds", "2", "--fold", fold]
        assert export(run, *asked, output=folder) == 0
        parts = [
            {line["metadata"]["id"] for line in lines(folder / name)}
            for name in ("train.jsonl", "held_out.jsonl")
        ]
        assert not parts[0] & parts[1]
        assert parts[1] <= {*entries("test", "instruction", folds=2, fold=fold)}
        held.append(parts[1])
    assert held[0] == held[2]
    assert not held[0] & held[1]


def test_exported_parts_of_backends_share_no_function(run, tmp_path, capsys):
    data = load_dataset(categories="base").trajectories
    folder = tmp_path / "out"
    assert export(run, "--split", "tool", "--fold", "4", output=folder) == 0
    trained, tested = (
        backends_of([line["metadata"]["id"] for line in lines(folder / name)], data)
        for name in ("train.jsonl", "held_out.jsonl")
    )
    assert (trained, tested) == ({VEHICLE}, {FOLDER})
    assert f"held out: {FOLDER}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--format", "bfcl", "--split", "tool"], "--split: is for --format openai-messages,"),
        (["--fold", "1"], "--fold: needs --split: add it"),
        (["--folds", "2"], "--folds: needs --split: add it"),
        (["--split-seed", "2"], "--split-seed: needs --split: add it"),
        (
            ["--split", "instruction", "--fold", "99"],
            "--fold: the last fold of the split instruction has the number 4; 99 is too large",
        ),
        (
            ["--split", "instruction", "--folds", "1"],
            "--split: instruction: fold 0 of 1 has no training episodes",
        ),
    ],
)
def test_an_export_that_cannot_be_split_is_refused(run, tmp_path, flags, complaint):
    with pytest.raises(DataError) as refused:
        export(run, *flags, output=tmp_path / "out")
    assert str(refused.value).startswith(complaint)
    assert not (tmp_path / "out").exists()
