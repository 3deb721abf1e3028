"""Fragments of SQL: what becomes of them, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.errors import InvalidArgument
from extensions.sql.sql_text import DeclaredColumn, FragmentReader, parse_column, tokens_of

READER = FragmentReader(["id", "Title", "order"])


def where(*texts: str) -> tuple[str, tuple[str, ...]]:
    """Return what conditions become in a SELECT."""
    piece = READER.conditions(texts, only_where=False).piece
    return " ".join(piece.sql.split()), piece.values


@pytest.mark.parametrize(
    ("texts", "sql", "values"),
    [
        (["id = 3"], 'WHERE ("id" = 3)', ()),
        (["WHERE id=3"], 'WHERE ("id" = 3)', ()),
        (["title = 'O''Neil; --'"], 'WHERE ("Title" = ?)', ("O'Neil; --",)),
        (['title = "Dune"'], 'WHERE ("Title" = ?)', ("Dune",)),
        (['"TITLE" = `id`'], 'WHERE ("Title" = "id")', ()),
        (["order = 1"], 'WHERE ("order" = 1)', ()),
        (["id > 1", "OR id < 0"], 'WHERE ("id" > 1) OR ("id" < 0)', ()),
        (["AND id > 1", "id < 9"], 'WHERE ("id" > 1) AND ("id" < 9)', ()),
        (
            ["LIMIT 2", "id > 1 ORDER  BY title DESC", "group by id"],
            'WHERE ("id" > 1) GROUP BY "id" ORDER BY "Title" DESC LIMIT 2',
            (),
        ),
        (
            ["id IN (SELECT id FROM x WHERE y = 'z' ORDER BY id LIMIT 1)"],
            'WHERE ("id" IN ( SELECT "id" FROM x WHERE y = ? ORDER BY "id" LIMIT 1 ))',
            ("z",),
        ),
        ([], "", ()),
        ([" "], "", ()),
    ],
)
def test_conditions_become_one_piece_with_bound_texts(
    texts: list[str], sql: str, values: tuple[str, ...]
) -> None:
    assert where(*texts) == (sql, values)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("id = 1; DROP TABLE books", "not contain ';'"),
        ("id = 1 -- and more", "not contain '--'"),
        ("id = 1 /* and more */", "not contain '/*'"),
        ("id = 1) OR (1 = 1", "must have matching brackets"),
        ("(id = 1", "must have matching brackets"),
        ("id = 1 UNION SELECT title", "has the word UNION"),
        ("id IN (WITH RECURSIVE a AS (SELECT 1) SELECT 1)", "has the word WITH"),
        ("id = (DELETE FROM books)", "has the word DELETE"),
        ("PRAGMA user_version", "has the word PRAGMA"),
        ("title = 'open", "must not contain a quote that is not closed"),
        ("id = ?", "not contain '?'"),
        ("id = :name", "not contain ':'"),
        ("id = 1\0", r"not contain '\x00'"),
        ("OR", "OR has no expression after it"),
        ("ORDER BY", "Use ORDER BY once, only in a SELECT"),
        ("id = " + "1" * 10_000, "The length of conditions must be"),
    ],
)
def test_what_is_no_condition_is_refused(text: str, why: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        where(text)
    assert why in str(caught.value)


def test_what_follows_conditions_stands_once_and_in_a_select_only() -> None:
    with pytest.raises(InvalidArgument, match="Use LIMIT once, only in a SELECT"):
        where("LIMIT 1", "LIMIT 2")
    with pytest.raises(InvalidArgument, match="Use ORDER BY once, only in a SELECT"):
        READER.conditions(["id = 1 ORDER BY id"], only_where=True)


@pytest.mark.parametrize("text", ["id FROM books", "", "id ORDER BY id", "id; id", "LIMIT 1"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        READER.expression(text, "columns")


def test_an_expression_may_be_a_column_by_its_name_alone() -> None:
    assert FragmentReader(["Two words"]).expression(" two WORDS ", "columns").sql == '"Two words"'


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("id", DeclaredColumn("id", "", False, False, False)),
        ("id INTEGER PRIMARY KEY", DeclaredColumn("id", "INTEGER", True, False, False)),
        (
            "id bigint primary key autoincrement",
            DeclaredColumn("id", "INTEGER", True, False, False),
        ),
        ("name VARCHAR(20) NOT NULL UNIQUE", DeclaredColumn("name", "TEXT", False, True, True)),
        ("price DOUBLE  PRECISION", DeclaredColumn("price", "REAL", False, False, False)),
        ("day DATE NULL", DeclaredColumn("day", "NUMERIC", False, False, False)),
        ('"Two words" TEXT', DeclaredColumn("Two words", "TEXT", False, False, False)),
        ("code NOT NULL", DeclaredColumn("code", "", False, True, False)),
    ],
)
def test_a_column_is_declared(text: str, column: DeclaredColumn) -> None:
    assert parse_column(text) == column


@pytest.mark.parametrize(
    "text", ["", "id THING", "id TEXT); DROP TABLE x", "id TEXT DEFAULT 1", "PRIMARY KEY (id)", "1"]
)
def test_what_declares_no_column_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="declares no column"):
        parse_column(text)


@given(st.text(max_size=60))
def test_no_text_of_a_fragment_reaches_the_statement(text: str) -> None:
    try:
        piece = READER.conditions([f"id = 1 AND {text}"], only_where=True).piece
    except InvalidArgument:
        return
    for sign in (";", "--", "/*", "'"):
        assert sign not in piece.sql
    assert piece.sql.count("(") == piece.sql.count(")")


@given(st.text(alphabet="'\"`[]ab1.;-/*() ", max_size=200))
def test_reading_ends_whatever_the_text(text: str) -> None:
    try:
        found = [*tokens_of(text, "conditions")]
    except InvalidArgument:
        return
    assert "".join(token.text for token in found).replace(" ", "") == text.replace(" ", "")
