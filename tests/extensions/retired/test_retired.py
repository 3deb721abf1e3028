"""BFCL's retired executable sets: how their entries are read, and what in them is no entry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from runner.extension import bfcl_readers
from trajectories import bfcl_reader
from trajectories.schema import (
    Category,
    ExpectedResults,
    JudgingMethod,
    Message,
    ResultCheck,
    Trajectory,
)

QUESTIONS = "unused_datasets/question/BFCL_v4_exec_simple.json"
ANSWERS = "unused_datasets/possible_answer/BFCL_v4_exec_simple.json"


def loaded(folder: Path, category: Category) -> Trajectory:
    """Return the only trajectory of a category."""
    [trajectory] = bfcl_reader.load(folder, category, bfcl_readers())
    return trajectory


def change(folder: Path, file: str, **members: Any) -> None:
    """Change members of the only line of a file."""
    line = json.loads((folder / file).read_text())
    (folder / file).write_text(json.dumps({**line, **members}) + "\n")


def test_an_entry_has_the_documents_that_it_brings_and_our_functions(bfcl_folder: Path) -> None:
    entry = loaded(bfcl_folder, Category.EXEC_SIMPLE)
    assert entry.environments == ("RetiredNumbers",)
    assert entry.turns[0].messages == (Message("user", "Do it."),)
    assert isinstance(entry.expects, ExpectedResults)
    assert entry.expects.functions == ("math_factorial",)
    assert entry.expects.checks == (ResultCheck(),)
    assert entry.documents is not None
    assert entry.documents[0]["description"] == "Do it."
    assert entry.is_executed
    assert entry.judged_by is JudgingMethod.RESULTS


def test_arithmetic_in_the_ground_truth_is_worked_out(bfcl_folder: Path) -> None:
    assert loaded(bfcl_folder, Category.EXEC_SIMPLE).turns[0].ground_truth == (
        "math_factorial(n=4)",
    )


def test_the_ground_truth_of_rest_is_the_request(bfcl_folder: Path) -> None:
    entry = loaded(bfcl_folder, Category.REST)
    assert entry.id == "rest_0"
    assert entry.environments == ("RestClient",)
    assert entry.turns[0].ground_truth == ("requests.get(url='http://ip-api.com/json')",)
    assert isinstance(entry.expects, ExpectedResults)
    assert entry.expects.checks == (ResultCheck("structure"),)
    assert entry.functions == ("requests.get",)


@pytest.mark.parametrize(
    ("word", "by"),
    [("exact_match", "exact"), ("real_time_match", "tolerance"), ("structural_match", "structure")],
)
def test_how_results_are_compared_is_said_by_the_answer(
    bfcl_folder: Path, word: str, by: str
) -> None:
    # A word more than calls changes nothing: one entry has one.
    change(bfcl_folder, ANSWERS, execution_result_type=[word, "exact_match"])
    expects = loaded(bfcl_folder, Category.EXEC_SIMPLE).expects
    assert isinstance(expects, ExpectedResults)
    assert [check.by for check in expects.checks] == [by]
    assert expects.checks[0].tolerance == 0.2


@pytest.mark.parametrize(
    ("file", "members"),
    [
        (ANSWERS, {"execution_result_type": ["another_match"]}),
        (ANSWERS, {"execution_result_type": []}),
        (ANSWERS, {"ground_truth": ["math_factorial(n="]}),
        (ANSWERS, {"ground_truth": [5]}),
        (ANSWERS, {"ground_truth": 5}),
        (ANSWERS, {"id": "another"}),
        (QUESTIONS, {"function": [{"name": "f"}]}),
        (QUESTIONS, {"function": 5}),
        (QUESTIONS, {"question": []}),
        (QUESTIONS, {"question": [[{"role": "user"}]]}),
    ],
)
def test_what_is_no_entry_is_refused_with_its_place(
    bfcl_folder: Path, file: str, members: dict[str, Any]
) -> None:
    change(bfcl_folder, file, **members)
    with pytest.raises(DataError, match=r"exec_simple\.json:1: is not an entry"):
        loaded(bfcl_folder, Category.EXEC_SIMPLE)


def test_a_line_of_answers_without_an_id_is_refused(bfcl_folder: Path) -> None:
    (bfcl_folder / ANSWERS).write_text("{}\n")
    with pytest.raises(DataError, match=r"exec_simple\.json:1: has no 'id'"):
        loaded(bfcl_folder, Category.EXEC_SIMPLE)


def test_what_nobody_has_is_offered_and_refused(bfcl_folder: Path) -> None:
    document = {"name": "no_such", "description": "?", "parameters": {"properties": {}}}
    question = json.loads((bfcl_folder / QUESTIONS).read_text())
    change(bfcl_folder, QUESTIONS, function=[*question["function"], document])
    entry = loaded(bfcl_folder, Category.EXEC_SIMPLE)
    assert entry.environments == ("RetiredNumbers",)
    assert entry.functions == ("math_factorial", "no_such")


def test_a_name_with_a_dot_may_be_written_with_an_underscore(bfcl_folder: Path) -> None:
    entry = loaded(bfcl_folder, Category.REST)
    assert entry.offered((), 0) == {"requests.get", "requests_get"}
