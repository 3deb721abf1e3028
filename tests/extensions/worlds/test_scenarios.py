"""Entries of the four worlds: built by the author's kit, sound, and failed by agents that skip."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from envs.calls import Call
from extensions.authoring.making.build import texts
from extensions.authoring.making.long_context import MIN_CHARS, count_read
from extensions.authoring.making.maker_helpers import start
from extensions.authoring.making.scenarios import read_scenarios, written
from extensions.worlds import shop
from runner.cli import main
from trajectories.dataset import load_path
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import MULTI_TURN, Category, Tier

HOME = Path(shop.__file__).parent
SCENARIOS = read_scenarios(HOME / "scenarios")
WORLDS = ("shop", "calendar", "hotel", "bank")


def test_each_world_has_six_scenarios_in_five_categories():
    short = [each for each in SCENARIOS if each.base.tier is not Tier.EXPERT]
    assert Counter(each.name.partition("_")[0] for each in short) == dict.fromkeys(WORLDS, 6)
    for each in short:
        assert None not in (each.missing_parameter, each.missing_function), each.name
        assert not each.not_long, each.name


def test_items_change_between_the_turns_of_the_expert_scenarios():
    long = [each for each in SCENARIOS if each.base.tier is Tier.EXPERT]
    assert {each.name.split("_")[1] for each in long} == {*WORLDS}
    assert len(long) == 6
    for each in long:
        assert len(each.turns) >= 12
        session = start(each.base)
        waited, changed = False, 0
        for turn in each.base.turns:
            for call in read_truth_calls(turn):
                before = len(session.notices)
                assert session.call(call).ok
                waited |= isinstance(call, Call) and call.name == "wait"
                changed += len(session.notices) > before
            before = len(session.notices)
            session.end_turn()
            changed += len(session.notices) > before
        assert waited, each.name
        assert changed >= 2, each.name


@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_data_are_those_that_the_kit_makes(few):
    # Long contexts take half a second each.
    chosen = [SCENARIOS[0], SCENARIOS[-1]] if few else SCENARIOS
    made = texts(chosen)
    for category in MULTI_TURN:
        lines = (HOME / "data" / f"{category}.jsonl").read_text(encoding="utf-8").splitlines()
        there = {json.loads(line)["id"]: line for line in lines}
        # Of the six long scenarios, only those of the bank have variants, and these wait only.
        missing = {Category.BASE: 0, Category.MISSING_PARAMETER: 4, Category.MISSING_FUNCTION: 4}
        assert len(there) == len(SCENARIOS) - missing.get(category, 6)
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


@pytest.mark.parametrize(("model", "passed"), [("oracle", 130), ("null", 0)])
def test_the_oracle_passes_all_entries_and_silence_none(model, passed, capsys):
    assert main(["eval", "--model", model, "--dataset", "worlds"]) == 0
    out = capsys.readouterr().out
    [total] = [line for line in out.splitlines() if line.startswith("all")]
    assert total.split()[1:3] == ["130", str(passed)]


@pytest.mark.slow
def test_no_rule_finds_a_mistake(capsys):
    assert main(["dataset", "validate", "worlds"]) == 0
    out = capsys.readouterr().out
    assert "warning" not in out.partition("rule ")[0]
    assert " error " not in out.partition("rule ")[0]
