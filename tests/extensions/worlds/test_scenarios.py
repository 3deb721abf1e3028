"""Entries of the four worlds: built by the author's kit, sound, and failed by agents that skip."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from extensions.authoring.making.build import texts
from extensions.authoring.making.scenarios import read_scenarios, written
from extensions.worlds import shop
from runner.cli import main
from trajectories.schema import MULTI_TURN, Category

HOME = Path(shop.__file__).parent
SCENARIOS = read_scenarios(HOME / "scenarios")
WORLDS = ("shop", "calendar", "hotel", "bank")
MADE = (Category.BASE, Category.MISSING_PARAMETER, Category.MISSING_FUNCTION)


def test_each_world_has_six_scenarios_in_three_categories():
    assert Counter(each.name.partition("_")[0] for each in SCENARIOS) == dict.fromkeys(WORLDS, 6)
    for each in SCENARIOS:
        assert None not in (each.missing_parameter, each.missing_function), each.name


def test_the_data_are_those_that_the_kit_makes():
    made = texts(SCENARIOS)
    for category in MULTI_TURN:
        text = made[f"{category}.jsonl"]
        if category not in MADE:
            assert text == ""
            continue
        assert (HOME / "data" / f"{category}.jsonl").read_text(encoding="utf-8") == text
    for each in SCENARIOS:
        file = HOME / "scenarios" / f"{each.name}.json"
        assert file.read_text(encoding="utf-8") == written(each)


@pytest.mark.parametrize(("model", "passed"), [("oracle", 72), ("null", 0)])
def test_the_oracle_passes_all_entries_and_silence_none(model, passed, capsys):
    assert main(["eval", "--model", model, "--dataset", "worlds"]) == 0
    out = capsys.readouterr().out
    [total] = [line for line in out.splitlines() if line.startswith("all")]
    assert total.split()[1:3] == ["72", str(passed)]


@pytest.mark.slow
def test_no_rule_finds_a_mistake(capsys):
    assert main(["dataset", "validate", "worlds"]) == 0
    out = capsys.readouterr().out
    assert "warning" not in out.partition("rule ")[0]
    assert " error " not in out.partition("rule ")[0]
