"""The database: what statements do, what they may not do, and where they end."""

from __future__ import annotations

from typing import Any

import pytest

from envs.calls import Call
from envs.registry import check_config
from envs.results import Result
from envs.session import Session
from extensions.sql.sqlite_execution import MAX_ROWS

COLUMNS = ["id INTEGER PRIMARY KEY", "title TEXT", "price REAL", "note"]
ROWS = [[1, "Dune", 9.5, None], [2, "Emma", 7.0, "worn"], [3, "Ulysses", 12.0, "new"]]
BOOKS = {"columns": COLUMNS, "rows": ROWS}


def session(**tables: Any) -> Session:
    """Return a database with books and more."""
    config = {"Database": {"tables": {"books": BOOKS, **tables}}}
    return Session.load(["Database"], config, checks_arguments=True)


def execute(live: Session, sql_keyword: str, table_name: str, **arguments: Any) -> Result:
    given = {"sql_keyword": sql_keyword, "table_name": table_name, **arguments}
    return live.call(Call("sql_execute", (), given))


def select(*columns: str, where: Any = (), live: Session | None = None) -> Any:
    """Return the rows of a SELECT, or why it is refused."""
    given = execute(live or session(), "SELECT", "books", columns=[*columns], conditions=[*where])
    return given.value["rows"] if given.error is None else given.error.message


@pytest.mark.parametrize(
    ("columns", "where", "rows"),
    [
        (["title"], ["price > 7"], [["Dune"], ["Ulysses"]]),
        ([], ["id = 2"], [ROWS[1]]),
        (["*"], ["id = '2'"], [ROWS[1]]),
        (["COUNT(*)", "SUM(price)"], [], [[3, 28.5]]),
        (["title"], ["ORDER BY price DESC LIMIT 2"], [["Ulysses"], ["Dune"]]),
        (["title"], [["price > 7"], ["id < 3"]], [["Dune"]]),
        (["title"], ["note IS NULL"], [["Dune"]]),
        (["title"], ["price > (SELECT AVG(price) FROM books)"], [["Ulysses"]]),
        (["strftime('%Y', '2024-05-01')"], ["id = 1"], [["2024"]]),
        (["title"], ["title LIKE 'd%'"], [["Dune"]]),
    ],
)
def test_what_a_select_shows(columns: list[str], where: list[Any], rows: list[Any]) -> None:
    assert select(*columns, where=where) == rows


def test_headings_are_names_and_expressions_as_they_were_given() -> None:
    given = execute(session(), "select ", "BOOKS", columns=["TITLE", "COUNT(*)", "id AS n"])
    assert given.value["columns"] == ["title", "COUNT(*)", "n"]


def test_rows_are_inserted_changed_and_deleted() -> None:
    live = session()
    added = execute(live, "INSERT INTO", "books", columns=["title"], insert_values=[["X"], ["Y"]])
    assert added.value == {"changed": 2}
    assert select("id", "title", where=["id > 3"], live=live) == [[4, "X"], [5, "Y"]]
    arguments = {"columns": ["price", "note"], "update_values": [1.5, None]}
    assert execute(live, "UPDATE", "books", conditions=["id > 3"], **arguments).changed
    assert select("price", where=["note IS NULL"], live=live) == [[9.5], [1.5], [1.5]]
    assert execute(live, "DELETE", "books", conditions=["id < 5"]).value == {"changed": 4}
    assert live.backends["Database"].tables["books"]["rows"] == [[5, "Y", 1.5, None]]  # type: ignore[attr-defined]


def test_a_table_is_made_and_filled() -> None:
    live = session()
    assert (
        execute(live, "CREATE", "notes", columns=["day", "text TEXT"]).value["created"] == "notes"
    )
    assert execute(live, "INSERT", "notes", insert_values=["2024-05-01", 5]).ok
    assert execute(live, "SELECT", "notes").value["rows"] == [["2024-05-01", "5"]]


def test_what_the_model_gives_as_a_value_is_a_value() -> None:
    live = session()
    text = "'); DROP TABLE books; --"
    assert execute(live, "UPDATE", "books", columns=["note"], update_values=[text]).ok
    assert select("note", where=["id = 1"], live=live) == [[text]]


def test_a_refused_statement_changes_nothing() -> None:
    live = session()
    before = live.snapshot()
    refused = execute(live, "INSERT", "books", columns=["id"], insert_values=[[7], [1]])
    assert not refused.ok
    assert "UNIQUE" in refused.text
    assert live.snapshot() == before


HOSTILE = [
    (["load_extension('x')"], [], "may not use the function load_extension"),
    (["randomblob(1000000000)"], [], "may not use the function randomblob"),
    (["printf('%.*c', 100000000, 'x')"], [], "may not use the function printf"),
    (["random()"], [], "may not use the function random"),
    (["CURRENT_TIMESTAMP"], [], "may not use the function current_timestamp"),
    (["date('now')"], [], "cannot use the current day"),
    (["date()"], [], "cannot use the current day"),
    (["strftime('%Y')"], [], "cannot use the current day"),
    (["title"], ["id IN (SELECT count(*) FROM sqlite_master)"], "may not use the table sqlite_m"),
    (["(SELECT name FROM pragma_table_info('books'))"], [], "may not use"),
    (["CAST('a' AS BLOB)"], [], "bytes or an infinite number"),
    (["9e999"], [], "bytes or an infinite number"),
    (["abs(-9223372036854775808)"], [], "integer overflow"),
    (["title"], ["id = 1; DELETE FROM books"], "not contain ';'"),
    (["title"], ["id = 1) UNION SELECT sql FROM sqlite_master --"], "must have matching brackets"),
    (["title"], ["(" * 500 + "1" + ")" * 500], "SQLite says"),
    (["title"], ["absent = 1"], "no such column: absent. books has id, title, price, note."),
    (["title"], ["id = 1"] * 21, "The length of conditions must be"),
    (["\ud800"], [], r"not contain '\ud800'"),
    (["title"], ["title = '\ud800'"], "A database cannot hold"),
]


@pytest.mark.parametrize(("columns", "where", "why"), HOSTILE)
def test_a_hostile_select_is_refused(columns: list[str], where: list[str], why: str) -> None:
    assert why in select(*columns, where=where)


LARGE = {"columns": ["a", "b"], "rows": [[n, "x" * 400] for n in range(1_000)]}


@pytest.mark.parametrize(
    "column",
    [
        "(SELECT count(*) FROM large u, large v, large w)",
        "(SELECT count(*) FROM large u, large v WHERE u.b || v.b || u.b LIKE '%x%x%x%x%x%xy')",
        "(SELECT max(s) FROM (SELECT u.b || v.b || u.a AS s FROM large u, large v ORDER BY s))",
        "(SELECT count(DISTINCT u.b || v.b || u.a || v.a) FROM large u, large v)",
        "(SELECT group_concat(u.b) FROM large u, large v)",
    ],
)
def test_what_has_no_end_is_ended(column: str) -> None:
    assert select(column, live=session(large=LARGE)).endswith("steps: simplify it.")


def test_rows_and_texts_are_bounded() -> None:
    live = session(large=LARGE)
    many = execute(live, "SELECT", "large", conditions=["a < 3", "OR EXISTS (SELECT 1)"])
    assert many.ok
    assert len(many.value["rows"]) == 1_000
    rows = [[n, "x"] for n in range(MAX_ROWS - 900)]
    full = execute(live, "INSERT", "large", insert_values=rows)
    assert "would have more than 2000 rows" in full.text
    million = execute(live, "INSERT", "large", insert_values=[[0, ""]] * 1_000_000)
    assert "The length of insert_values must be from 1 to 2000, not 1000000" in million.text
    long = execute(live, "UPDATE", "large", columns=["b"], update_values=["x" * 3_000])
    assert "too big" in long.text


@pytest.mark.parametrize(
    ("keyword", "table", "arguments", "why"),
    [
        ("ATTACH", "x", {}, "sql_keyword is 'ATTACH'"),
        ("PRAGMA", "x", {}, "sql_keyword is 'PRAGMA'"),
        ("DROP", "books", {}, "sql_keyword is 'DROP'"),
        ("SELECT; DROP", "books", {}, "sql_keyword is 'SELECT; DROP'"),
        ("SELECT", "sqlite_master", {}, "There is no table 'sqlite_master'. There is: books."),
        ("SELECT", "books b, books c", {}, "There is no table"),
        ("SELECT", "books", {"update_values": [1]}, "update_values cannot be combined with SELECT"),
        ("SELECT", "books", {"columns": "title"}, "columns"),
        ("DELETE", "books", {"insert_values": [[1]]}, "cannot be combined with DELETE"),
        ("CREATE", "t", {"conditions": ["id = 1"]}, "conditions cannot be combined with CREATE"),
        ("CREATE", "Books", {"columns": ["id"]}, "The table 'books' already exists"),
        ("CREATE", "t", {}, "The length of columns must be"),
        ("CREATE", "t", {"columns": ["a", "A"]}, "duplicate column name"),
        ("CREATE", "sqlite_t", {"columns": ["a"]}, "reserved"),
        ("CREATE", "t", {"columns": ["a TEXT); DROP TABLE books; --"]}, "declares no column"),
        ("INSERT", "books", {"insert_values": [[1, 2]]}, "must contain lists of 4 values"),
        ("INSERT", "books", {"columns": ["x"], "insert_values": [[1]]}, "books has no column 'x'"),
        (
            "INSERT",
            "books",
            {"columns": ["id"], "insert_values": [[{}]]},
            "strings, numbers or null",
        ),
        (
            "INSERT",
            "books",
            {"columns": ["id"], "insert_values": [[2**70]]},
            "A database cannot hold",
        ),
        ("INSERT", "books", {}, "The length of insert_values must be"),
        ("UPDATE", "books", {"columns": ["id"], "update_values": []}, "0 values for 1 columns"),
        ("UPDATE", "books", {}, "The length of columns must be"),
    ],
)
def test_a_statement_that_cannot_be(
    keyword: str, table: str, arguments: dict[str, Any], why: str
) -> None:
    assert why in execute(session(), keyword, table, **arguments).text


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({"columns": ["id THING"], "rows": []}, "declares no column"),
        ({"columns": ["id"], "rows": [[1, 2]]}, "each row must have 1 values"),
        ({"columns": ["id PRIMARY KEY"], "rows": [[1], [1]]}, "UNIQUE constraint failed"),
        ({"columns": [], "rows": []}, "would have 0 columns"),
        ({"columns": ["id"], "rows": [[1]] * 2_001}, "would have 2001 rows"),
    ],
)
def test_a_config_with_a_table_that_cannot_be(table: Any, why: str) -> None:
    (problem,) = check_config(["Database"], {"Database": {"tables": {"t": table}}})
    assert problem.path == "$.Database.tables['t']"
    assert why in problem.message


def test_too_many_tables_are_refused() -> None:
    tables = {f"t{n}": {"columns": ["a"], "rows": []} for n in range(20)}
    live = session(**tables)
    assert "21 tables: at most 20" in execute(live, "SELECT", "books").text
