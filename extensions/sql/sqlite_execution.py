"""Execution of one SQL statement on a temporary in-memory SQLite database, within limits.

The database is built from plain tables, and results are plain rows. An authorizer allows three
actions: reading any table, changing the table of the statement, and calling listed functions.
Steps, rows and strings are limited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from typing_extensions import TypedDict

from envs.errors import InvalidArgument, Refused
from envs.lazy_modules import lazy_module
from extensions.sql.sql_text import parse_column, quoted

if TYPE_CHECKING:
    import sqlite3
else:
    # Few entries need SQLite, and some Pythons lack it.
    sqlite3 = lazy_module("sqlite3")

Cell = str | int | float | None
"""Value in a table."""
Rows = list[list[Cell]]


class SqlTable(TypedDict):
    """A table as plain data."""

    columns: list[str]
    """Declarations, such as ``title TEXT`` or ``id INTEGER PRIMARY KEY``."""
    rows: Rows


MAX_TABLES = 20
MAX_COLUMNS = 40
MAX_ROWS = 2_000
"""Maximum number of rows of a table or a result."""
MAX_TEXT_CHARS = 2_000
"""Maximum number of characters of a string, and of bytes of a row."""
_STEPS = 300_000
"""Maximum number of SQLite steps of a statement. Reading a row takes about ten steps."""
_SLICE = 1_000
_MAX_PATTERN_CHARS = 50

_FUNCTIONS = re.compile(
    "abs|avg|coalesce|count|date|datetime|group_concat|ifnull|iif|julianday|length|like|lower|ltrim"
    "|max|min|nullif|round|rtrim|sign|strftime|substr|substring|sum|time|total|trim|upper"
)
_CLOCKS = ("date", "datetime", "julianday", "strftime", "time")
_OF_NOW = re.compile(r"\s*(?:now|localtime|utc|subsec(?:ond)?)\s*", re.IGNORECASE)


class Statement(NamedTuple):
    """Statement to execute."""

    sql: str
    values: Sequence[Sequence[Cell]]
    """Values of the placeholders, one row for each execution of the statement."""
    table: str
    shows: bool
    """Whether the statement returns rows (true) or changes the table (false)."""


class StatementResult(NamedTuple):
    """Result of a statement."""

    columns: list[str]
    """Column headings of the returned rows; empty if the statement changes the table."""
    rows: Rows
    """Returned rows, or all rows of the table if the statement changes the table."""
    changed: int
    """Number of rows inserted, changed or deleted."""


def execute(tables: Mapping[str, SqlTable], statement: Statement) -> StatementResult:
    """Execute a statement on a database built from tables.

    Raises:
        InvalidArgument: SQLite cannot store a value.
        Refused: SQLite, the authorizer or a limit refuses the statement.
    """
    with _database(tables) as database:
        authorizer = _Authorizer(statement, [*tables])
        database.set_authorizer(authorizer.authorize)
        database.set_progress_handler(authorizer.step, _SLICE)
        try:
            return _run(database, statement)
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise Refused(authorizer.explain(error, tables)) from None
        except (OverflowError, UnicodeEncodeError):
            raise InvalidArgument("A database cannot hold this number or string.") from None


def check(tables: Mapping[str, SqlTable]) -> None:
    """Check that SQLite can hold the tables.

    Raises:
        InvalidArgument: A declaration is invalid, or SQLite cannot store a value.
        Refused: A limit is exceeded, or rows do not match the columns.
    """
    with _database(tables):
        pass


@contextmanager
def _database(tables: Mapping[str, SqlTable]) -> Iterator[sqlite3.Connection]:
    """Open a temporary database with the tables (see ``check``)."""
    if len(tables) > MAX_TABLES:
        raise Refused(f"The database would have {len(tables)} tables: at most {MAX_TABLES}.")
    database, plain = [sqlite3.connect(":memory:", isolation_level=None) for _ in range(2)]
    try:
        _bound(database, plain)
        for name, table in tables.items():
            _make(database, name, table)
        yield database
    finally:
        database.close()
        plain.close()


def _bound(database: sqlite3.Connection, plain: sqlite3.Connection) -> None:
    for limit, most in (
        (sqlite3.SQLITE_LIMIT_LENGTH, MAX_TEXT_CHARS),
        (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
        (sqlite3.SQLITE_LIMIT_COLUMN, 2 * MAX_COLUMNS),
        (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 4),
        (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 60),
        (sqlite3.SQLITE_LIMIT_FUNCTION_ARG, 20),
        (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _MAX_PATTERN_CHARS),
    ):
        database.setlimit(limit, most)
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute("PRAGMA trusted_schema = OFF")
    for name in _CLOCKS:
        database.create_function(name, -1, partial(_moment, name, plain), deterministic=True)


def _make(database: sqlite3.Connection, name: str, table: SqlTable) -> None:
    columns = [parse_column(text) for text in table["columns"]]
    if not 1 <= len(columns) <= MAX_COLUMNS:
        raise Refused(
            f"{name} would have {len(columns)} columns; it must have between 1 and {MAX_COLUMNS}."
        )
    if len(table["rows"]) > MAX_ROWS:
        raise Refused(f"{name} would have {len(table['rows'])} rows: at most {MAX_ROWS}.")
    declared = ", ".join(column.declaration for column in columns)
    if any(len(row) != len(columns) for row in table["rows"]):
        raise Refused(f"{name}: each row must have {len(columns)} values, one for each column.")
    try:
        database.execute(f"CREATE TABLE {quoted(name)} ({declared})")
        places = ", ".join("?" * len(columns))
        database.executemany(f"INSERT INTO {quoted(name)} VALUES ({places})", table["rows"])
    except sqlite3.Error as error:
        raise Refused(f"{name} cannot be created: {error}.") from None
    except (OverflowError, UnicodeEncodeError):
        raise InvalidArgument(f"{name} has a value that a database cannot hold.") from None


def _run(database: sqlite3.Connection, statement: Statement) -> StatementResult:
    if statement.shows:
        cursor = database.execute(statement.sql, statement.values[0])
        rows = _read(cursor.fetchmany(MAX_ROWS + 1))
        if len(rows) > MAX_ROWS:
            raise Refused(f"The statement shows more than {MAX_ROWS} rows: narrow it down.")
        return StatementResult([heading[0] for heading in cursor.description], rows, 0)
    before = database.total_changes
    for values in statement.values:
        database.execute(statement.sql, values)
    changed = database.total_changes - before
    database.set_authorizer(None)
    left = database.execute(f"SELECT * FROM {quoted(statement.table)} LIMIT {MAX_ROWS + 1}")
    rows = _read(left.fetchall())
    if len(rows) > MAX_ROWS:
        raise Refused(f"{statement.table} would have more than {MAX_ROWS} rows.")
    return StatementResult([], rows, changed)


def _read(rows: Sequence[Sequence[Any]]) -> Rows:
    """Return rows as JSON values. Raises Refused if a value has no JSON form."""
    for row in rows:
        for cell in row:
            if isinstance(cell, bytes) or (isinstance(cell, float) and not isfinite(cell)):
                raise Refused(
                    "The statement returns bytes or an infinite number, which cannot be shown."
                )
    return [[*row] for row in rows]


class _Authorizer:
    """SQLite authorizer: it decides which actions a statement may use, and stores a refusal."""

    def __init__(self, statement: Statement, tables: Sequence[str]) -> None:
        self._statement = statement
        self._tables = {name.casefold() for name in tables}
        self._left = _STEPS // _SLICE
        self._refused = ""

    def authorize(
        self, action: int, first: str | None, second: str | None, _: str | None, __: str | None
    ) -> int:
        changes = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)
        named, table = (first or "").casefold(), self._statement.table
        used = f"this operation. Allowed: read tables and change {table}"
        if action == sqlite3.SQLITE_SELECT:
            fits = True
        elif action == sqlite3.SQLITE_READ:
            fits, used = named in self._tables, f"the table {first}"
        elif action == sqlite3.SQLITE_FUNCTION:
            fits = _FUNCTIONS.fullmatch((second or "").casefold()) is not None
            used = f"the function {second}"
        else:
            may_change = action in changes and not self._statement.shows
            fits = may_change and named == self._statement.table.casefold()
        self._refused = self._refused or ("" if fits else used)
        return sqlite3.SQLITE_OK if fits else sqlite3.SQLITE_DENY

    def step(self) -> bool:
        """Count a batch of SQLite steps. At the step limit, return True to interrupt SQLite."""
        self._left -= 1
        return self._left < 0

    def explain(self, error: Exception, tables: Mapping[str, SqlTable]) -> str:
        if self._left < 0:
            return f"The statement takes more than {_STEPS} steps: simplify it."
        if self._refused:
            return f"The statement may not use {self._refused:.100}."
        said = str(error)
        if said.startswith("user-defined function"):  # one of ours
            return "Date functions cannot use the current day: write the day, such as '2024-05-01'."
        if said.startswith("no such column"):
            columns = tables[self._statement.table]["columns"]
            names = ", ".join(parse_column(text).name for text in columns)
            return f"SQLite says: {said:.200}. {self._statement.table} has {names}."
        return f"SQLite says: {said:.200}."


def _moment(name: str, plain: sqlite3.Connection, *args: Cell) -> Any:
    """Return the result of a date function of SQLite."""
    timed = args[1:2] if name == "strftime" else args[:1]
    if not timed or len(args) > 6 or any(_OF_NOW.fullmatch(str(arg)) for arg in args):
        raise ValueError("the current day is not known")
    places = ", ".join("?" * len(args))
    return plain.execute(f"SELECT {name}({places})", args).fetchone()[0]
