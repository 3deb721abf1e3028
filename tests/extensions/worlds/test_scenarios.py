"""Entries of the four worlds: built by the author's kit, sound, and failed by agents that skip."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from extensions.authoring.making.build import texts
from extensions.authoring.making.long_context import MIN_CHARS, count_read
from extensions.authoring.making.scenarios import read_scenarios, written
from extensions.worlds import shop
from runner.cli import main
from trajectories.dataset import load_path
from trajectories.schema import MULTI_TURN, Category

HOME = Path(shop.__file__).parent
SCENARIOS = read_scenarios(HOME / "scenarios")
WORLDS = ("shop", "calendar", "hotel", "bank")


def test_each_world_has_six_scenarios_in_five_categories():
    assert Counter(each.name.partition("_")[0] for each in SCENARIOS) == dict.fromkeys(WORLDS, 6)
    for each in SCENARIOS:
        assert None not in (each.missing_parameter, each.missing_function), each.name
        assert not each.not_long, each.name


@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_data_are_those_that_the_kit_makes(few):
    # Long contexts take half a second each.
    chosen = SCENARIOS[:2] if few else SCENARIOS
    made = texts(chosen)
    for category in MULTI_TURN:
        lines = (HOME / "data" / f"{category}.jsonl").read_text(encoding="utf-8").splitlines()
        there = {json.loads(line)["id"]: line for line in lines}
        assert len(there) == len(SCENARIOS)
        for line in made[f"{category}.jsonl"].splitlines():
            assert there[json.loads(line)["id"]] == line
    for each in SCENARIOS:
        file = HOME / "scenarios" / f"{each.name}.json"
        assert file.read_text(encoding="utf-8") == written(each)


@pytest.mark.parametrize("world", WORLDS)
def test_long_contexts_are_long(world):
    dataset = load_path(HOME / "data", [Category.LONG_CONTEXT])
    for entry in dataset.trajectories.values():
        if world in entry.id:
            assert entry.long_context is not None
            assert count_read(entry, entry.long_context) >= MIN_CHARS
            assert count_read(entry, replace(entry.long_context, items=1)) < MIN_CHARS / 10


@pytest.mark.parametrize(("model", "passed"), [("oracle", 120), ("null", 0)])
def test_the_oracle_passes_all_entries_and_silence_none(model, passed, capsys):
    assert main(["eval", "--model", model, "--dataset", "worlds"]) == 0
    out = capsys.readouterr().out
    [total] = [line for line in out.splitlines() if line.startswith("all")]
    assert total.split()[1:3] == ["120", str(passed)]


@pytest.mark.slow
def test_no_rule_finds_a_mistake(capsys):
    assert main(["dataset", "validate", "worlds"]) == 0
    out = capsys.readouterr().out
    assert "warning" not in out.partition("rule ")[0]
    assert " error " not in out.partition("rule ")[0]
