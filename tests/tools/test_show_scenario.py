from __future__ import annotations

import json

import pytest

from extensions.authoring.making.scenarios import SCENARIOS
from tools import show_scenario

NAME = "files_ticket_disk_pressure"


def test_a_scenario_is_shown_with_its_results_and_variants(capsys):
    assert show_scenario.main([NAME]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"base_{NAME}: plain\n")
    assert "turn 0: " in out
    assert "CHANGES; missing in the user message" in out
    assert "made: base, miss_param, miss_func, long_context, composite\n" in out


@pytest.fixture
def entry():
    return json.loads((SCENARIOS / f"{NAME}.json").read_text(encoding="utf-8"))


def shown(tmp_path, capsys, entry):
    path = tmp_path / f"{NAME}.json"
    path.write_text(json.dumps(entry), encoding="utf-8")
    status = show_scenario.main([str(path)])
    return status, capsys.readouterr().out


def test_what_cannot_be_made_says_why(tmp_path, capsys, entry):
    entry["missing_function"]["functions"] = ["pwd"]
    status, out = shown(tmp_path, capsys, entry)
    assert status == 0
    assert "miss_func: CANNOT BE MADE: " in out


def test_a_world_is_counted_beside_what_is_written_by_hand(tmp_path, capsys, entry):
    count = len(entry["config"]["TicketAPI"]["ticket_queue"])
    status, out = shown(tmp_path, capsys, {**entry, "world": {"seed": 3, "items": 40}})
    assert status == 0
    assert f"ticket_queue {count + 40} ({count} by hand)" in out


def test_a_bad_file_is_one_line(tmp_path, capsys, entry):
    status, out = shown(tmp_path, capsys, {**entry, "turns": []})
    assert status == 1
    assert out.count("\n") == 2
    assert "$.turns: must have at least one turn" in out
