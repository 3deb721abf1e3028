"""What statements showed and left, compared: by content, in an order only where one was asked."""

from __future__ import annotations

from typing import Any

import pytest

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.evidence import CallEvidence
from checkers.reasons import Reason
from checkers.verdict import ExecutedTurn
from envs.calls import read_call
from envs.session import Session
from extensions.sql.comparison import check_statements

PETS = {
    "columns": ["id INTEGER PRIMARY KEY", "name TEXT", "kind TEXT", "weight REAL"],
    "rows": [[1, "Rex", "dog", 21.5], [2, "Tom", "cat", 4.0], [3, "Ada", "cat", 3.5]],
}
ALL = "SELECT", "pets"


def statement(sql_keyword: str, table_name: str, **arguments: Any) -> str:
    given = {"sql_keyword": sql_keyword, "table_name": table_name, **arguments}
    return f"sql_execute({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def select(*columns: str, where: Any = ()) -> str:
    return statement("SELECT", "pets", columns=[*columns], conditions=[*where])


def played(*texts: str) -> ExecutedTurn:
    session = Session.load(["Database"], {"Database": {"tables": {"pets": PETS}}})
    calls = tuple(map(read_call, texts))
    results = tuple(session.play(calls))
    return ExecutedTurn(results, session.snapshot(), bool(results), calls)


def check(truth: list[str], given: list[str]) -> CallEvidence | None:
    return check_statements(played(*truth), played(*given))


BY_WEIGHT = select("name", where=["ORDER BY weight"])
INSERT = statement("INSERT INTO", "pets", insert_values=[[4, "Bo", "dog", 9], [5, "Lu", "dog", 8]])
ONE = statement("INSERT INTO", "pets", insert_values=[[5, "Lu", "dog", 8]])
OTHER = statement("INSERT INTO", "pets", columns=["name", "kind", "weight", "id"],
                  insert_values=[["Bo", "dog", "9.0", 4]])  # fmt: skip
CREATE = statement("CREATE", "t", columns=["a INTEGER", "b"])


def create(*columns: str, name: str = "t") -> str:
    return statement("CREATE", name, columns=[*columns])


@pytest.mark.parametrize(
    ("truth", "given"),
    [
        ([select("name", where=["weight < 10"])], [select("name", where=["id > 1"])]),
        ([select("name", "weight")], [select("weight", "name")]),
        ([select("COUNT(*)")], [select("COUNT(id) AS n")]),
        ([select("AVG(weight)")], [select("SUM(weight) / 3")]),
        ([select("*")], [select("id", "name", "kind", "weight")]),
        ([BY_WEIGHT], [select("name", where=["ORDER BY weight + 1"])]),
        ([select("name"), select("kind")], [select("kind"), select("name")]),
        ([INSERT], [ONE, OTHER]),
        ([CREATE], [statement("CREATE TABLE", "T", columns=["A INT", "b TEXT NOT NULL"])]),
    ],
)  # fmt: skip
def test_statements_that_come_to_the_same_pass(truth: list[str], given: list[str]) -> None:
    assert check(truth, given) is None


@pytest.mark.parametrize(
    ("truth", "given", "reason", "said"),
    [
        ([select("name")], [select("kind")], Reason.RESULT_VALUE, "the row ('Rex') is not"),
        ([select("name")], [select("name", "id")], Reason.RESULT_STRUCTURE, "1 columns are exp"),
        ([select("kind")], [select("DISTINCT kind")], Reason.RESULT_VALUE, "row ('cat') is not"),
        ([BY_WEIGHT], [select("name")], Reason.RESULT_VALUE, "order of the rows"),
        ([select("id")], [select("CAST(id AS TEXT)")], Reason.RESULT_VALUE, "the row ('1') is in"),
        ([select("name")], [], Reason.RESULT_COUNT, "1 sets of rows are expected"),
        ([select("name")], [select("name")] * 2, Reason.RESULT_COUNT, "2 were shown"),
        ([select("name"), select("id")], [select("name")] * 2, Reason.RESULT_NO_MATCH, "shows"),
        ([select("name")], [select("absent")], Reason.REFUSED, "no such column"),
        ([INSERT], [ONE], Reason.DATABASE, "the row (4, 'Bo', 'dog', 9) is not in the table"),
        ([ONE], [INSERT], Reason.DATABASE, "but should not be there"),
        ([INSERT], [], Reason.DATABASE, "is not in the table"),
        ([select("name")], [select("name"), ONE], Reason.DATABASE, "but should not be there"),
        ([CREATE], [create("a INTEGER", "b", name="u")], Reason.DATABASE, "'t' is missing"),
        ([CREATE], [create("b", "a INTEGER")], Reason.DATABASE, "the expected columns"),
        ([CREATE], [create("a TEXT", "b")], Reason.DATABASE, "the expected columns"),
        ([CREATE], [create("a INTEGER")], Reason.DATABASE, "the expected columns"),
        ([ONE], [ONE, CREATE], Reason.DATABASE, "the table 't' should not exist"),
    ],
)  # fmt: skip
def test_statements_that_come_to_something_else_fail(
    truth: list[str], given: list[str], reason: Reason, said: str
) -> None:
    found = check(truth, given)
    assert found is not None
    assert found.reason is reason
    assert said in "\n".join(found.lines())


def test_a_truth_that_is_refused_is_no_truth() -> None:
    with pytest.raises(UnjudgeableEntry, match="the ground truth has an invalid statement"):
        check([select("absent")], [select("name")])
