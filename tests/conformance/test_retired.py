"""What the retired sets are altered to, and judged both ways on made-up data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkers.profile import BFCL
from runner.extension import bfcl_readers
from tests.conformance import retired
from trajectories.dataset import load_bfcl
from trajectories.schema import Category

RECORDED = "unused_datasets/possible_answer/BFCL_v4_rest.json"


def test_the_truth_comes_first_and_every_argument_is_changed(bfcl_folder: Path) -> None:
    [entry] = load_bfcl(
        bfcl_folder, [Category.EXEC_SIMPLE], readers=bfcl_readers()
    ).trajectories.values()
    kinds = [(kind, retired.as_step(calls)) for kind, calls in retired.altered(entry)]
    assert kinds[0] == ("truth", [{"math_factorial": '{"n": 4}'}])
    others = [step for kind, step in kinds if kind == "other value"]
    assert [{"math_factorial": '{"n": 5}'}] in others
    assert ("one less", []) in kinds


def test_made_up_sets_agree(bfcl_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    members = ["country", "countryCode", "region", "regionName", "city", "zip", "lat", "lon"]
    members += ["timezone", "isp", "org", "as", "query", "status"]
    line = {"id": "rest_0", "ground_truth": json.dumps(dict.fromkeys(members))}
    (bfcl_folder / RECORDED).write_text(json.dumps(line) + "\n")
    assert retired.run(bfcl_folder) == 0
    output = capsys.readouterr().out
    assert "retired exec_simple: 1 entries; " in output
    assert "1 truth right by calls" in output
    assert "of 1 answers of the fixture 1 are of the type that was recorded" in output
    (bfcl_folder / RECORDED).write_text(json.dumps({**line, "ground_truth": "[1]"}) + "\n")
    assert retired.run(bfcl_folder) == 1


def test_a_verdict_that_is_another_one_is_a_difference(
    bfcl_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Wrong:
        valid = False

    monkeypatch.setattr(retired, "run_recorded", lambda *_: Wrong)
    [entry] = load_bfcl(
        bfcl_folder, [Category.EXEC_SIMPLE], readers=bfcl_readers()
    ).trajectories.values()
    assert BFCL.results.compares_structure_deeply is False
    data = load_bfcl(bfcl_folder, [Category.EXEC_SIMPLE], readers=bfcl_readers())
    assert retired._compared(data, Category.EXEC_SIMPLE, [entry]) > 0
    assert "DIFFERENT exec_simple_0 truth" in capsys.readouterr().out
