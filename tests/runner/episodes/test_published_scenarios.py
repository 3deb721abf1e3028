"""Failures that BFCL's article on several turns describes: each has its cause."""

from __future__ import annotations

import json

import pytest

from tests.runner.commands.running import run as run_command

FUEL = {
    "id": "fuel_0",
    "category": "base",
    "environments": ["VehicleControlAPI"],
    "config": {"VehicleControlAPI": {"fuelLevel": 5.0}},
    "turns": [
        {
            "messages": [{"role": "user", "content": "Fill the tank up completely, please."}],
            "ground_truth": ["displayCarStatus(option='fuel')", "fillFuelTank(fuelAmount=45.0)"],
        }
    ],
}
FOLDER = {
    "id": "folder_0",
    "category": "base",
    "environments": ["GorillaFileSystem"],
    "config": {
        "GorillaFileSystem": {
            "root": {
                "workspace": {
                    "type": "directory",
                    "contents": {"alex": {"type": "directory", "contents": {}}},
                }
            }
        }
    },
    "turns": [
        {
            "messages": [{"role": "user", "content": "Make a folder Projects in workspace."}],
            "ground_truth": ["pwd()", "mkdir(dir_name='Projects')"],
        }
    ],
}


@pytest.mark.parametrize(
    ("entry", "steps", "cause"),
    [
        (
            FUEL,
            ["[fillFuelTank(fuelAmount=50)]", "The tank is too full. How much should I add?"],
            "acted_without_looking at turn 1, step 1, call 1: fillFuelTank(fuelAmount=50) was "
            "refused; displayCarStatus(option='fuel') was never called",
        ),
        (
            FUEL,
            ["[fillFuelTank(fuelAmount=40)]", "Done."],
            "wrong_argument at turn 1, step 1, call 1: fillFuelTank: fuelAmount should be 45.0, "
            "but is 40",
        ),
        (
            FOLDER,
            ["[cd(folder='alex')]", "[ls()]", "[mkdir(dir_name='Projects')]", "Done."],
            "extra_call at turn 1, step 1, call 1: an unneeded call changed the effect of other "
            "calls: cd(folder='alex')",
        ),
    ],
)
def test_a_scenario_has_its_cause(tmp_path, capsys, entry, steps, cause):
    data, result = tmp_path / "data.jsonl", tmp_path / "result.jsonl"
    data.write_text(json.dumps(entry), encoding="utf-8")
    result.write_text(json.dumps({"id": entry["id"], "result": [steps]}), encoding="utf-8")
    assert run_command("episodes", str(result), "--dataset", str(data)) == 0
    assert f"failed: {cause}" in capsys.readouterr().out
