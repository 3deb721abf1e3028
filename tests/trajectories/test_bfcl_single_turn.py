from __future__ import annotations

import json

import pytest

from trajectories import bfcl
from trajectories.bfcl import files, load
from trajectories.errors import DataError
from trajectories.schema import SINGLE_TURN, Category, Message

CATEGORIES = [category for category in bfcl.CATEGORIES if category in SINGLE_TURN]
each = pytest.mark.parametrize("category", CATEGORIES)


@each
def test_an_entry_is_a_trajectory_of_one_turn_with_its_own_functions(bfcl_folder, category):
    (trajectory,) = load(bfcl_folder, category)
    assert (trajectory.id, trajectory.category) == (f"{category}_0", category)
    assert trajectory.environments == ()
    (turn,) = trajectory.turns
    assert turn.messages == (Message("user", "Wait five seconds."),)
    assert [function["name"] for function in trajectory.expects.functions] == ["wait"]
    answered = len(files(category)) == 2
    assert trajectory.expects.answers == (({"wait": {"n": [5]}},) if answered else ())


@each
def test_the_language_is_that_of_the_category(bfcl_folder, category):
    (trajectory,) = load(bfcl_folder, category)
    expected = {Category.SIMPLE_JAVA: "java", Category.SIMPLE_JAVASCRIPT: "javascript"}
    assert trajectory.expects.language == expected.get(category, "python")


@pytest.mark.parametrize(
    "change",
    [
        {"question": []},
        {"question": [[{"role": "user"}]]},
        {"function": [{"description": "No name."}]},
        {"function": None},
        {"id": "simple_python_1"},
    ],
)
def test_an_entry_of_another_form_is_named_by_file_and_line(bfcl_folder, change):
    path = bfcl_folder / files(Category.SIMPLE_PYTHON)[0]
    entry = {**json.loads(path.read_text(encoding="utf-8")), **change}
    path.write_text(json.dumps(entry), encoding="utf-8")
    with pytest.raises(DataError, match=f"{path.name}:1: is not an entry of this data set"):
        list(load(bfcl_folder, Category.SIMPLE_PYTHON))


def test_a_missing_file_is_named(bfcl_folder):
    (bfcl_folder / files(Category.MULTIPLE)[1]).unlink()
    with pytest.raises(DataError, match=r"possible_answer/BFCL_v4_multiple\.json"):
        list(load(bfcl_folder, Category.MULTIPLE))
