"""One SQL statement on an in-memory SQLite database that is made for it, within fixed bounds.

The database is made from tables as values and thrown away; what is left of it are values again. An
authorizer lets a statement read the tables, change the one that it names, and call the functions
listed here. The steps that it takes are counted, and rows and texts are bounded.
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
from envs.lazy import lazily
from extensions.sql.sql_text import parse_column, quoted

if TYPE_CHECKING:
    import sqlite3
else:
    # Few entries ask for it, and there are Pythons without it.
    sqlite3 = lazily("sqlite3")

Cell = str | int | float | None
"""A value in a table."""
Rows = list[list[Cell]]


class SqlTable(TypedDict):
    """A table as a value."""

    columns: list[str]
    """Declarations, such as ``title TEXT`` or ``id INTEGER PRIMARY KEY``."""
    rows: Rows


MOST_TABLES = 20
MOST_COLUMNS = 40
MOST_ROWS = 2_000
"""Of a table, and of what a statement shows."""
LONGEST = 2_000
"""Characters of a text, bytes of a row."""
_STEPS = 300_000
"""Steps of SQLite's machine that a statement may take; to look at a row takes about ten."""
_SLICE = 1_000
_LONGEST_PATTERN = 50

_FUNCTIONS = re.compile(
    "abs|avg|coalesce|count|date|datetime|group_concat|ifnull|iif|julianday|length|like|lower|ltrim"
    "|max|min|nullif|round|rtrim|sign|strftime|substr|substring|sum|time|total|trim|upper"
)
_CLOCKS = ("date", "datetime", "julianday", "strftime", "time")
_OF_NOW = re.compile(r"\s*(?:now|localtime|utc|subsec(?:ond)?)\s*", re.IGNORECASE)


class Statement(NamedTuple):
    """A statement that is ready to be executed."""

    sql: str
    values: Sequence[Sequence[Cell]]
    """The values of its placeholders, once for each time that it is executed."""
    table: str
    shows: bool
    """Whether it shows rows and changes nothing; where not, it changes the table."""


class Done(NamedTuple):
    """What a statement led to."""

    columns: list[str]
    """Headings of what it shows; none where it changes."""
    rows: Rows
    """What it shows; or all rows of the table that it changed."""
    changed: int
    """How many rows it inserted, changed or deleted."""


def execute(tables: Mapping[str, SqlTable], statement: Statement) -> Done:
    """Execute a statement on a database that is made from tables.

    Raises:
        InvalidArgument: A value is none that SQLite takes.
        Refused: SQLite, the authorizer or a bound refuses it.
    """
    with _database(tables) as database:
        warden = _Warden(statement, [*tables])
        database.set_authorizer(warden.judge)
        database.set_progress_handler(warden.step, _SLICE)
        try:
            return _done(database, statement)
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise Refused(warden.explained(error, tables)) from None
        except (OverflowError, UnicodeEncodeError):
            raise InvalidArgument("A number or a text is none that a database can hold.") from None


def check(tables: Mapping[str, SqlTable]) -> None:
    """Check that there can be a database of tables.

    Raises:
        InvalidArgument: A declaration cannot be read, or SQLite does not take a value.
        Refused: There is too much, or the rows do not fit.
    """
    with _database(tables):
        pass


@contextmanager
def _database(tables: Mapping[str, SqlTable]) -> Iterator[sqlite3.Connection]:
    """Give a database with these tables and rows.

    Raises:
        InvalidArgument: A declaration cannot be read.
        Refused: There is too much, or the rows do not fit.
    """
    if len(tables) > MOST_TABLES:
        raise Refused(f"The database would have {len(tables)} tables: at most {MOST_TABLES}.")
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
        (sqlite3.SQLITE_LIMIT_LENGTH, LONGEST),
        (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
        (sqlite3.SQLITE_LIMIT_COLUMN, 2 * MOST_COLUMNS),
        (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 4),
        (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 60),
        (sqlite3.SQLITE_LIMIT_FUNCTION_ARG, 20),
        (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _LONGEST_PATTERN),
    ):
        database.setlimit(limit, most)
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute("PRAGMA trusted_schema = OFF")
    for name in _CLOCKS:
        database.create_function(name, -1, partial(_moment, name, plain), deterministic=True)


def _make(database: sqlite3.Connection, name: str, table: SqlTable) -> None:
    columns = [parse_column(text) for text in table["columns"]]
    if not 1 <= len(columns) <= MOST_COLUMNS:
        raise Refused(f"{name} would have {len(columns)} columns: give 1 to {MOST_COLUMNS}.")
    if len(table["rows"]) > MOST_ROWS:
        message = f"{name} would have {len(table['rows'])} rows: at most {MOST_ROWS}."
        raise Refused(message)
    declared = ", ".join(column.declaration for column in columns)
    if any(len(row) != len(columns) for row in table["rows"]):
        raise Refused(f"{name}: a row has not the {len(columns)} values that there are columns.")
    try:
        database.execute(f"CREATE TABLE {quoted(name)} ({declared})")
        places = ", ".join("?" * len(columns))
        database.executemany(f"INSERT INTO {quoted(name)} VALUES ({places})", table["rows"])
    except sqlite3.Error as error:
        raise Refused(f"{name} cannot be made: {error}.") from None
    except (OverflowError, UnicodeEncodeError):
        raise InvalidArgument(f"{name} has a value that no database can hold.") from None


def _done(database: sqlite3.Connection, statement: Statement) -> Done:
    if statement.shows:
        cursor = database.execute(statement.sql, statement.values[0])
        rows = _read(cursor.fetchmany(MOST_ROWS + 1))
        if len(rows) > MOST_ROWS:
            raise Refused(f"It shows more than {MOST_ROWS} rows: narrow it down.")
        return Done([heading[0] for heading in cursor.description], rows, 0)
    before = database.total_changes
    for values in statement.values:
        database.execute(statement.sql, values)
    changed = database.total_changes - before
    database.set_authorizer(None)
    left = database.execute(f"SELECT * FROM {quoted(statement.table)} LIMIT {MOST_ROWS + 1}")
    rows = _read(left.fetchall())
    if len(rows) > MOST_ROWS:
        raise Refused(f"{statement.table} would have more than {MOST_ROWS} rows.")
    return Done([], rows, changed)


def _read(rows: Sequence[Sequence[Any]]) -> Rows:
    """Return rows as values that JSON has.

    Raises:
        Refused: One is none.
    """
    for row in rows:
        for cell in row:
            if isinstance(cell, bytes) or (isinstance(cell, float) and not isfinite(cell)):
                raise Refused("It gives bytes or a number without end: neither can be shown.")
    return [[*row] for row in rows]


class _Warden:
    """Decides what one statement may do, and keeps what it refused."""

    def __init__(self, statement: Statement, tables: Sequence[str]) -> None:
        self._statement = statement
        self._tables = {name.casefold() for name in tables}
        self._left = _STEPS // _SLICE
        self._refused = ""

    def judge(
        self, action: int, first: str | None, second: str | None, _: str | None, __: str | None
    ) -> int:
        """Answer SQLite's question whether the statement may do something."""
        changes = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)
        named, used = (first or "").casefold(), "what it does besides"
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
        """Count a slice of steps; true ends the statement."""
        self._left -= 1
        return self._left < 0

    def explained(self, error: Exception, tables: Mapping[str, SqlTable]) -> str:
        """Say why the statement was refused."""
        if self._left < 0:
            return f"The statement takes more than {_STEPS} steps: make it simpler."
        if self._refused:
            return f"The statement may not use {self._refused:.100}."
        said = str(error)
        if said.startswith("user-defined function"):  # one of ours
            return "Functions of dates know no present: name the day, such as '2024-05-01'."
        if said.startswith("no such column"):
            columns = tables[self._statement.table]["columns"]
            names = ", ".join(parse_column(text).name for text in columns)
            return f"SQLite says: {said:.200}. {self._statement.table} has {names}."
        return f"SQLite says: {said:.200}."


def _moment(name: str, plain: sqlite3.Connection, *args: Cell) -> Any:
    """Return what SQLite's function of dates gives, of a moment that is named."""
    timed = args[1:2] if name == "strftime" else args[:1]
    if not timed or len(args) > 6 or any(_OF_NOW.fullmatch(str(arg)) for arg in args):
        raise ValueError("the present is not known")
    places = ", ".join("?" * len(args))
    return plain.execute(f"SELECT {name}({places})", args).fetchone()[0]
