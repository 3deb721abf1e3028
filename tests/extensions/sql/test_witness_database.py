"""Databases for published SQL statements: what is made, and where nothing honest can be."""

from __future__ import annotations

from typing import Any

import pytest

from checkers.evidence import CallEvidence
from checkers.verdict import ExecutedTurn
from envs.calls import Call
from envs.session import Session
from extensions.sql.comparison import check_statements
from extensions.sql.witness_database import FUNCTION, WitnessDatabase, WitnessError, witness

QUESTION = "Of the table 'pets' with 'name', 'kind' and \"weight\": do something."


def made(keyword: str, question: str = QUESTION, **allowed: Any) -> WitnessDatabase:
    answer = {"sql_keyword": [keyword], "table_name": ["pets"], **allowed}
    return witness(question, {"sql.execute": answer})


def played(found: WitnessDatabase, call: Call) -> ExecutedTurn:
    session = Session.load(["Database"], {"Database": {"tables": found.tables}})
    result = session.call(call)
    return ExecutedTurn((result,), session.snapshot(), True, (call,))


def differs(found: WitnessDatabase, **changed: Any) -> CallEvidence | None:
    """Return what the judge says of the right statement with other arguments."""
    given = {**found.call.kwargs, **changed}
    other = Call(FUNCTION, (), {name: value for name, value in given.items() if value})
    return check_statements(played(found, found.call), played(found, other))


def test_a_select_is_told_from_its_neighbours() -> None:
    found = made("SELECT", columns=[["name"]], conditions=[["weight > 5", "kind = 'dog'"]])
    right = [*found.call.kwargs["conditions"]]
    assert differs(found) is None
    assert differs(found, conditions=[*reversed(right)]) is None
    assert differs(found, conditions=["weight > '5' AND kind = \"dog\""]) is None
    for wrong in (
        right[:1], right[1:], [], ["weight >= 5", right[1]], ["weight < 5", right[1]],
        ["weight > 6", right[1]], ["weight > 4", right[1]], [right[0], "kind = 'dogx'"],
        [right[0], "kind <> 'dog'"], [right[0], f"OR {right[1]}"],
    ):  # fmt: skip
        assert differs(found, conditions=wrong) is not None, wrong
    assert differs(found, columns=["kind"]) is not None
    assert differs(found, columns=["name", "kind"]) is not None


@pytest.mark.parametrize("keyword", ["UPDATE", "DELETE"])
def test_changes_are_told_from_their_neighbours(keyword: str) -> None:
    values = {"columns": [["name"]], "update_values": [["Rex"]]} if keyword == "UPDATE" else {}
    found = made(keyword, conditions=[["weight <= 5"]], **values)
    assert differs(found) is None
    for wrong in (["weight < 5"], ["weight = 5"], ["weight > 5"], []):
        assert differs(found, conditions=wrong) is not None, wrong
    if values:
        assert differs(found, columns=["kind"]) is not None
        assert differs(found, update_values=["Max"]) is not None


def test_inserted_texts_that_are_numbers_are_these_numbers() -> None:
    found = made("INSERT INTO", insert_values=[["Rex", "dog", "21.5"]])
    assert differs(found, insert_values=[["Rex", "dog", 21.5]]) is None
    assert differs(found, insert_values=[["Rex", "dog", 21]]) is not None


def test_a_table_is_made_without_one_before() -> None:
    found = made("CREATE", columns=[["name", "kind"]])
    assert found.tables == {}
    assert differs(found, columns=["name TEXT", "kind TEXT"]) is None
    assert differs(found, columns=["kind", "name"]) is not None


def test_one_value_that_should_be_in_a_list_is_put_in_one() -> None:
    assert made("SELECT", columns=["*"]).call.kwargs["columns"] == ["*"]


@pytest.mark.parametrize(
    ("allowed", "why"),
    [
        (
            {"columns": ["name", "kind"]},
            "it is unclear whether the columns are alternatives or items of one list",
        ),
        (
            {"conditions": ["name = 'a'", "kind = 'b'"]},
            "it is unclear whether the conditions are alternatives or items of one list",
        ),
        ({"conditions": [["name = Rex"]]}, "the statement is refused: SQLite says: no such column"),
        ({"conditions": [["name = 'Rex"]]}, "a quote that is not closed"),
        ({"conditions": [["weight > 5", "weight < 5"]]}, "no row meets"),
        ({"conditions": [["1 = 1"]]}, "some rows, but not all rows"),
        ({"table_name": [""]}, "the answer must name the statement and the table"),
    ],
)
def test_where_nothing_tells_the_reason_is_named(allowed: dict[str, Any], why: str) -> None:
    with pytest.raises(WitnessError) as caught:
        made("SELECT", **allowed)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (
            [["a", 1, 2], ["b", 1, 2]],
            "it is unclear whether the lists are alternatives or rows of one answer",
        ),
        ([["a", 1]], "do not name the columns of the inserted values"),
    ],
)
def test_rows_that_cannot_be_told_are_not_inserted(values: list[Any], why: str) -> None:
    with pytest.raises(WitnessError) as caught:
        made("INSERT", insert_values=values)
    assert why in str(caught.value)
