"""Proof that the embedded SQL entries are sound: what is right passes, all else fails."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import trajectories
from envs.tool import parameters
from extensions.authoring.rules.replayed_entry import Entry
from extensions.authoring.rules.statements import check_detected, check_executed, mutants, passes
from extensions.sql.database import Database
from trajectories.dataset import Dataset, load_embedded
from trajectories.record_validation import to_json
from trajectories.schema import Category, Trajectory

FILE = Path(trajectories.__file__).parent / "data" / "sql.jsonl"


@cache
def dataset() -> Dataset:
    return load_embedded([Category.SQL])


def entries() -> list[Trajectory]:
    return [*dataset().trajectories.values()]


def entry_of(trajectory: Trajectory) -> Entry:
    return Entry(dataset(), trajectory)


def test_there_are_sixty_of_all_kinds_in_canonical_lines() -> None:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    assert lines == [json.dumps(to_json(t), ensure_ascii=False) for t in entries()]
    calls = [[step.call.kwargs for step in entry_of(t).steps] for t in entries()]
    assert len(entries()) == 60
    assert sum(len(each) > 1 for each in calls) >= 5
    used = [call["sql_keyword"] for each in calls for call in each]
    for keyword in ("SELECT", "INSERT INTO", "UPDATE", "DELETE", "CREATE"):
        assert used.count(keyword) >= 5
    tables = {name for t in entries() for name in t.config["Database"]["tables"]}
    assert len(tables) >= 15


def test_the_right_statements_do_something_and_are_the_answers() -> None:
    for entry in entries():
        assert [str(p) for p in check_executed(entry_of(entry))] == [], entry.id


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_whatever_is_altered_is_noticed(every: int) -> None:
    for entry in entries()[::every]:
        found = [*mutants(entry_of(entry))]
        assert len(found) >= 3, entry.id
        assert [m for m in found if passes(entry_of(entry), m)] == [], entry.id


def test_there_are_as_many_alterations_as_are_said() -> None:
    assert sum(len([*mutants(entry_of(t))]) for t in entries()) > 850


def test_rows_of_equal_rank_never_decide() -> None:
    """Rows that stand the other way round in their tables are shown in the same order."""
    for entry in entries():
        tables = entry.config["Database"]["tables"]
        turned = {name: {**table, "rows": table["rows"][::-1]} for name, table in tables.items()}
        other = replace(entry, config={"Database": {"tables": turned}})
        (truth,), (again,) = entry_of(entry).truth, entry_of(other).truth
        for step, one, two in zip(entry_of(entry).steps, truth.results, again.results, strict=True):
            ordered = any("ORDER BY" in text for text in step.call.kwargs.get("conditions", ()))
            rows = [result.held.get("rows", []) for result in (one, two)]
            assert (
                rows[0] == rows[1]
                if ordered
                else sorted(map(repr, rows[0])) == sorted(map(repr, rows[1]))
            )


def test_all_have_the_one_function_of_the_database() -> None:
    for entry in entries():
        assert entry.documents == entries()[0].documents, entry.id
        (document,) = entry.documents or ()
        assert document["name"] == "sql.execute", entry.id
        known = [each.name for each in parameters(Database.TOOLS["sql_execute"])]
        assert sorted(document["parameters"]["properties"]) == sorted(known), entry.id


def changed(text: str, **config: Any) -> Entry:
    """Return the first entry with another ground truth."""
    first = entries()[0]
    (turn,) = first.turns
    return entry_of(replace(first, turns=(replace(turn, ground_truth=(text,)),), **config))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sql_execute(sql_keyword='SELECT', table_name='films')", "There is no table 'films'"),
        (
            "sql_execute(sql_keyword='SELECT', table_name='books', conditions=['year > 3000'])",
            "the statement returns no row and changes nothing",
        ),
        (
            "sql_execute(sql_keyword='SELECT', table_name='books', columns=['title'])",
            "the ground-truth calls do not match the allowed answers",
        ),
    ],
)
def test_a_ground_truth_that_does_not_do_is_found(text: str, message: str) -> None:
    assert any(message in problem.message for problem in check_executed(changed(text)))


def test_an_alteration_that_nothing_tells_is_found() -> None:
    text = (
        "sql_execute(sql_keyword='SELECT', table_name='books', conditions=['year > 2', 'id > 0'])"
    )
    found = [problem.message for problem in check_detected(changed(text))]
    assert any(message.startswith("passes with one condition fewer") for message in found)
