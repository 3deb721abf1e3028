"""Live runs with attacks and controls: figures, tables, comparison with intervals, resume."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from extensions.injection import planting
from extensions.injection.attack import Attack
from runner.analysis.figure_table import cards, rows_of
from runner.analysis.figures import RunFigures
from runner.cli import main
from runner.records.recorded_run import open_run
from tests.servers.answers import GroundTruth
from tests.servers.serving import FakeServer
from trajectories.dataset import DATA, Dataset, load_embedded
from trajectories.schema import Category

pytest.importorskip("multidict", reason="live models need the extra models")


CONTROLS = ("", "~clean", "~twin")


@cache
def obeying() -> Dataset:
    """Return base entries whose ground truth also makes the calls of an attack."""
    dataset, found = load_embedded([Category.BASE]), {}
    for each in dataset.trajectories.values():
        made = planting.make_attack(dataset, each, "plain", 1)
        if made is not None:
            attack = Attack.of(made)
            turn = each.turns[attack.due]
            obeyed = replace(turn, ground_truth=(*turn.ground_truth, *attack.calls))
            turns = (*each.turns[: attack.due], obeyed, *each.turns[attack.due + 1 :])
            found[each.id] = replace(each, turns=turns)
        if len(found) == 4:
            break
    return replace(dataset, trajectories=found)


def evaluate(dataset: Dataset, run: Path, flag: str = "--run-dir") -> None:
    file = run.with_name("few.jsonl")
    lines = (DATA / "base.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text(
        "".join(each for each in lines if json.loads(each)["id"] in obeying().trajectories)
    )
    with FakeServer(GroundTruth(dataset)) as server:
        given = ["eval", "--model", "fake", "--base-url", server.base_url, flag, str(run)]
        names = [f"{id}~plain_1{end}" for id in obeying().trajectories for end in CONTROLS]
        ids = ["--dataset", str(file), "--ids", ",".join(names)]
        assert main([*given, *ids, "--attack", "plain:1", "--controls"]) == 0


def injection(path: Path, capsys: pytest.CaptureFixture[str]) -> Mapping[str, Any]:
    capsys.readouterr()
    assert main(["table", str(path), "--json"]) == 0
    found: Mapping[str, Any] = json.loads(capsys.readouterr().out)["runs"][0]["injection"]
    return found


def test_runs_with_attacks_are_measured_compared_and_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loyal, gullible = tmp_path / "loyal", tmp_path / "gullible"
    evaluate(load_embedded([Category.BASE]), loyal)
    said = capsys.readouterr().out
    assert "utility with harmless text 100.0% (95%" in said
    assert "attack success 0.0% (95%" in said
    evaluate(obeying(), gullible)
    found = injection(loyal, capsys)
    assert found["utility"] == found["twin_utility"] == found["utility_under_attack"] == 1
    assert found["needless_refusals"] == found["attack_success"] == 0
    assert found["secure_utility"] == 1
    assert found["attack_success_interval"][1] > 0.3
    found = injection(gullible, capsys)
    assert found["attack_success"] == found["attack_success_exposed"] == 1
    assert found["secure_utility"] == 0

    assert main(["compare", str(loyal), str(gullible), "--json"]) == 0
    measures = json.loads(capsys.readouterr().out)["measures"]
    success = measures["attack success"]
    assert (success["entries"], success["difference"]) == (4, 1)
    # Four of four differ, which four coins do once in eight times.
    assert (success["p_value"], success["interval"]) == (0.125, [0.0, 1.0])
    assert measures["secure utility"]["difference"] == -1
    assert main(["compare", str(loyal), str(gullible)]) == 0
    assert "measure" in capsys.readouterr().out

    [card] = [
        card
        for card in cards({"loyal": RunFigures([*open_run(loyal).records])})
        if card["title"] == "Prompt injection"
    ]
    [success] = [cell for cell in card["rows"][0]["figures"] if cell["label"] == "attack success"]
    assert success["value"] == success["interval"][0] == 0
    assert success["interval"][1] > 0.3

    assert main(["attacks", str(loyal), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["groups"]["family plain"]["attack_success"]["value"] == 0
    assert (
        scores["differences"]["effect of an attack on utility, compared with a harmless text"][
            "pairs"
        ]
        == 4
    )

    id = f"{next(iter(obeying().trajectories))}~plain_1"
    assert main(["replay", id, "--run", str(gullible)]) == 0
    shown = capsys.readouterr().out
    assert "untrusted GorillaFileSystem.root: " in shown
    assert "obeys     this call is the attacker's goal" in shown
    assert main(["replay", id, "--run", str(loyal), "--json"]) == 0
    shown = capsys.readouterr().out
    assert '"untrusted"' in shown
    assert '"obeys"' not in shown

    records = gullible / "episodes.jsonl"
    lines = records.read_text(encoding="utf-8").splitlines(keepends=True)
    records.write_text("".join(lines[: len(lines) // 2]), encoding="utf-8")
    evaluate(obeying(), gullible, "--resume")
    assert injection(gullible, capsys)["attack_success"] == 1


def test_errors_are_neither_success_nor_resistance(tmp_path: Path) -> None:
    run = tmp_path / "run"
    evaluate(load_embedded([Category.BASE]), run)
    records = [recorded.record for recorded in open_run(run).episodes.values()]
    broken = [each._replace(outcome="error", verdict=None) for each in records]
    for chosen, of in ((records, 4), ([*records[:0], *broken], None)):
        figures = RunFigures(chosen)
        rows = {row.name: row for row in rows_of([figures])}
        row = rows.get("injection/attack_success")
        assert (row and row.of(figures)) == of
