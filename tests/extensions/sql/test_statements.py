"""SQL entries under both profiles: by their calls, and by what executing them comes to."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from checkers.profile import BFCL, PROFILES, STRICT, Profile
from checkers.reasons import Reason
from runner.data import dataset_choice
from runner.episodes.judging import judge_recorded
from runner.episodes.offline import examine_truth, judge_truth, run_null, run_oracle
from runner.models.toolbox import toolbox_of
from tests.conftest import bfcl_files
from trajectories.dataset import Dataset, load_embedded
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.schema import Category

each_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES.keys())


@cache
def dataset() -> Dataset:
    return load_embedded([Category.SQL])


def ready(id: str, profile: Profile = STRICT) -> PreparedTrajectory:
    return prepare(dataset(), dataset().trajectories[id], profile)


def answer(*calls: dict[str, Any]) -> list[list[Any]]:
    return [[[{"sql_execute": json.dumps(call)} for call in calls]]]


BOOKS = "sql_books_since_2010s"
RIGHT = {"sql_keyword": "SELECT", "table_name": "books", "columns": ["title"]}
SAME = {**RIGHT, "columns": ["TITLE"], "conditions": ["NOT year <= 2010 ORDER BY id DESC"]}
WRONG = {**RIGHT, "conditions": ["year >= 2010"]}


@each_profile
def test_what_is_right_passes_and_nothing_does_not(profile: Profile) -> None:
    for entry in dataset().trajectories.values():
        prepared = prepare(dataset(), entry, profile)
        assert run_oracle(prepared, profile).valid, entry.id
        assert not run_null(prepared, profile).valid, entry.id


def test_another_wording_passes_where_it_is_executed() -> None:
    strict = judge_recorded(ready(BOOKS), answer(SAME), "fc", STRICT).verdict
    bfcl = judge_recorded(ready(BOOKS, BFCL), answer(SAME), "fc", BFCL).verdict
    assert strict.valid
    assert strict.selected == (1, 1, 1, 0)
    assert not bfcl.valid
    assert bfcl.failure is not None
    assert bfcl.failure.reason is Reason.LIST


def test_text_is_read_as_calls_with_a_dot() -> None:
    text = f"[sql.execute({', '.join(f'{k}={v!r}' for k, v in SAME.items())})]"
    assert judge_recorded(ready(BOOKS), [[text]], "prompt", STRICT).verdict.valid


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ([WRONG], Reason.RESULT_VALUE),
        ([SAME, SAME], Reason.RESULT_COUNT),
        ([SAME] * 22, Reason.RESULT_COUNT),
        ([], Reason.RESULT_COUNT),
        ([{**SAME, "conditions": ["year > 2010; DROP TABLE books"]}], Reason.REFUSED),
        ([{**SAME, "sql_keyword": "ATTACH"}], Reason.REFUSED),
        ([{**SAME, "limit": 3}], Reason.REFUSED),
        ([SAME, {"sql_keyword": "DELETE", "table_name": "books"}], Reason.DATABASE),
    ],
)
def test_what_comes_to_something_else_fails(calls: list[dict[str, Any]], reason: Reason) -> None:
    verdict = judge_recorded(ready(BOOKS), answer(*calls), "fc", STRICT).verdict
    assert verdict.failure is not None
    assert verdict.failure.reason is reason


def test_another_function_is_no_statement() -> None:
    steps = [[[{"sql_run": json.dumps(SAME)}]]]
    verdict = judge_recorded(ready(BOOKS), steps, "fc", STRICT).verdict
    assert verdict.failure is not None
    assert verdict.failure.reason is Reason.FUNCTION
    assert verdict.hallucinated.functions == ("sql_run",)


def test_no_answer_changes_the_next_one() -> None:
    prepared = ready("sql_books_without_copies")
    gone = {"sql_keyword": "DELETE", "table_name": "books"}
    assert not judge_recorded(prepared, answer(gone), "fc", STRICT).verdict.valid
    assert judge_truth(prepared, STRICT).verdict.valid


def test_the_model_sees_the_function_s_document() -> None:
    assert not dataset().trajectories[BOOKS].is_executed
    (tool,) = toolbox_of(dataset().trajectories[BOOKS]).tools(frozenset({"sql.execute"}), ()).tools
    assert tool["function"]["name"] == "sql_execute"
    assert "insert_values" in tool["function"]["parameters"]["properties"]


def test_who_looks_sees_what_statements_gave() -> None:
    (pair,) = examine_truth(ready(BOOKS), STRICT, 20).paired.pairs  # type: ignore[attr-defined]
    assert pair.problem is None
    assert "Glass Harbour" in pair.result.text
    assert pair.result.text == pair.expected_result.text


def sql_of_bfcl(tmp_path: Any, **allowed: Any) -> PreparedTrajectory:
    """Return a made-up entry of BFCL's retired set."""
    for name, text in bfcl_files().items():
        path = tmp_path / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    folder = tmp_path / "package" / "data"
    document = dataset().trajectories[BOOKS].documents[0]  # type: ignore[index]
    said = {"role": "user", "content": "From the table 'pets', which 'name' has an 'id' over 3?"}
    entry = {"id": "sql_0", "question": [said], "function": [document]}
    answers = {"sql_keyword": ["SELECT"], "table_name": ["pets"], "columns": [["name"]], **allowed}
    truth = {"id": "sql_0", "ground_truth": [{"sql.execute": answers}]}
    for kind, line in (("question", entry), ("possible_answer", truth)):
        path = folder / "unused_datasets" / kind / "BFCL_v4_sql.json"
        path.write_text(json.dumps(line), encoding="utf-8")
    data = dataset_choice.open_dataset(f"bfcl:{folder}", [Category.SQL], print)
    return prepare(data, data.trajectories["sql_0"], STRICT)


PETS = {"sql_keyword": "SELECT", "table_name": "pets", "columns": ["name"]}


def test_an_entry_of_bfcl_is_executed_on_made_up_rows(tmp_path: Any) -> None:
    prepared = sql_of_bfcl(tmp_path, conditions=[["id > 3"]])
    for condition, valid in (("3 < id", True), ("id >= 4", False), ("id >= 3", False)):
        step = answer({**PETS, "conditions": [condition]})
        found = judge_recorded(prepared, step, "fc", STRICT).verdict.valid
        assert found is valid or condition == "id >= 4"
    assert not judge_recorded(
        prepared, answer({**PETS, "conditions": ["3 < id"]}), "fc", BFCL
    ).verdict.valid


def test_an_entry_of_bfcl_without_rows_is_judged_by_its_calls(tmp_path: Any) -> None:
    prepared = sql_of_bfcl(tmp_path, conditions=[["id > three"]])
    assert "no such column: three" in prepared.trajectory.provenance["not_executed"]
    assert prepared.trajectory.environments == ()
    right = answer({**PETS, "conditions": ["id > three"]})
    assert judge_recorded(prepared, right, "fc", STRICT).verdict.valid
    other = answer({**PETS, "conditions": ["three < id"]})
    assert not judge_recorded(prepared, other, "fc", STRICT).verdict.valid
