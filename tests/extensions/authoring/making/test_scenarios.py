from __future__ import annotations

import json

import pytest

from envs.errors import DataError
from extensions.authoring.making.scenarios import read_scenario, read_scenarios, written
from trajectories.record_validation import to_json
from trajectories.schema import DifficultyLabel, Tier

ENTRY = {
    "id": "base_small",
    "environments": ["MessageAPI"],
    "config": {"MessageAPI": {"current_user": "USR001"}},
    "turns": [
        {
            "messages": [{"role": "user", "content": "Who is there? My name is Ärmel."}],
            "ground_truth": ["list_users()"],
            "accepts": [{"call": "list_users()", "instead": ["get_message_stats()"]}],
        }
    ],
    "missing_parameter": {"turn": 0, "without": "Send it.", "answer": "To Ann."},
    "missing_function": {"turn": 0, "functions": ["list_users"]},
    "provenance": {"author": "Turnwise"},
}


def file(folder, entry, name="small"):
    path = folder / f"{name}.json"
    path.write_text(json.dumps(entry), encoding="utf-8")
    return path


def turn(**changes):
    return {"turns": [{**ENTRY["turns"][0], **changes}]}


def test_a_scenario_is_its_base_and_how_variants_are_made(tmp_path):
    scenario = read_scenario(file(tmp_path, ENTRY))
    assert (scenario.name, scenario.base.id, scenario.notes.base) == (
        "small",
        "base_small",
        "base_small",
    )
    assert scenario.base.turns[0].ground_truth == ("list_users()",)
    assert scenario.base.provenance == {"author": "Turnwise"}
    assert scenario.notes.missing_parameter.answer == "To Ann."
    assert scenario.notes.missing_function.functions == ("list_users",)


def test_labels_make_a_scenario_hard(tmp_path):
    plain, hard = (
        read_scenario(file(tmp_path, {**ENTRY, "labels": labels})).base
        for labels in ([], ["recovery", "lasting"])
    )
    assert (plain.tier, hard.tier) == (Tier.PLAIN, Tier.HARD)
    assert hard.labels == (DifficultyLabel.RECOVERY, DifficultyLabel.LASTING)
    assert "labels" not in to_json(plain)
    assert to_json(hard)["labels"] == ["recovery", "lasting"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"remark": "x"}, r"small\.json: \$\.remark: "),
        ({"id": "base_other"}, r"small\.json: \$\.id: must be base_small, like the file name"),
        ({"labels": ["odd"]}, r"small\.json: \$\.labels\[0\]: input should be 'precondition'"),
        ({"labels": ["recovery", "recovery"]}, r"small\.json: \$\.labels: contains duplicates"),
        ({"world": {"seed": 1, "items": 0}}, r"small\.json: \$\.world\.items: "),
        ({"turns": []}, r"small\.json: \$\.turns: must have at least one turn"),
        (
            turn(accepts=[{"call": "f()", "instead": ["g()"]}]),
            r"\$\.turns\[0\]\.accepts\[0\]\.call",
        ),
        (turn(ground_truth=["ls("], accepts=[]), r"\.ground_truth\[0\]: .*not valid Python"),
        (turn(ground_truth=['f(a="b")'], accepts=[]), r"ground_truth\[0\]: write f\(a='b'\)"),
        (turn(tels=[]), r"\$\.turns\[0\]\.tels"),
        (
            {"missing_function": {"turn": "first", "functions": []}},
            r"\$\.missing_function\.turn",
        ),
        ({"missing_parameter": {"turn": 1, "answer": "x"}}, r"\$\.missing_parameter\.without"),
    ],
)
def test_what_is_not_of_the_form_is_refused_with_its_place(tmp_path, change, complaint):
    with pytest.raises(DataError, match=complaint):
        read_scenario(file(tmp_path, {**ENTRY, **change}))


def test_a_file_that_is_no_json_is_refused(tmp_path):
    path = tmp_path / "small.json"
    path.write_text("{\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"small\.json: is not valid JSON"):
        read_scenario(path)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match="contains no scenario"):
        read_scenarios(tmp_path)


def test_scenarios_come_in_the_order_of_their_names(tmp_path):
    for name in ("b", "a"):
        file(tmp_path, {**ENTRY, "id": f"base_{name}"}, name)
    assert [scenario.id for scenario in read_scenarios(tmp_path)] == ["base_a", "base_b"]


def test_a_scenario_is_read_as_it_is_written(tmp_path):
    scenario = read_scenario(file(tmp_path, ENTRY))
    text = written(scenario)
    assert "Ärmel" in text
    (tmp_path / "small.json").write_text(text, encoding="utf-8")
    assert read_scenario(tmp_path / "small.json") == scenario
