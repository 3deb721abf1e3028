"""Database environment with one function, which executes an SQL statement.

Tables are plain data. Each statement is parsed (``sql_text.py``) and runs on an SQLite copy
(``sqlite_execution.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from envs.backend import Backend, writes
from envs.errors import AlreadyExists, InvalidArgument, NotFound, ToolError
from extensions.library.bounds import check_count
from extensions.sql import sqlite_execution
from extensions.sql.sql_text import Conditions, FragmentReader, parse_column, quoted
from extensions.sql.sqlite_execution import MAX_COLUMNS, MAX_ROWS, Cell, SqlTable, Statement

_KEYWORDS = ("SELECT", "INSERT", "UPDATE", "DELETE", "CREATE")
_LONGER = {"INSERT INTO": "INSERT", "DELETE FROM": "DELETE", "CREATE TABLE": "CREATE"}
_GOES_WITH = {
    "conditions": ("SELECT", "UPDATE", "DELETE"),
    "insert_values": ("INSERT",),
    "update_values": ("UPDATE",),
}
_MAX_CONDITIONS = 20


class DatabaseConfig(TypedDict, total=False):
    """Initial config of the database."""

    tables: dict[str, SqlTable]
    """By name."""


class Database(Backend):
    """A database of a few tables."""

    Config = DatabaseConfig

    tables: dict[str, SqlTable] = {}

    @writes
    def sql_execute(
        self,
        sql_keyword: str,
        table_name: str,
        columns: list[str] | None = None,
        conditions: list[str | list[str]] | None = None,
        insert_values: list[Any] | None = None,
        update_values: list[Any] | None = None,
    ) -> dict[str, Any]:
        """Execute one SQL statement on one table.

        Args:
            sql_keyword: Kind of statement: SELECT, INSERT INTO, UPDATE, DELETE or CREATE.
            table_name: Name of the table.
            columns: Columns to select, fill or update. For CREATE, columns to declare, such as
                'price REAL'. By default, all columns are selected or filled.
            conditions: Conditions, such as "price > 20". All of them must hold. In a SELECT, GROUP
                BY, HAVING, ORDER BY, LIMIT and OFFSET can follow.
            insert_values: Rows to insert, each a list of values.
            update_values: Values to set, one for each column.

        Returns:
            columns: Column headings of a SELECT.
            rows: Rows of a SELECT.
            changed: Number of inserted, updated or deleted rows.
            created: Name of the created table.

        Examples:
            >>> sql_execute(sql_keyword='SELECT', table_name='pets', columns=['name'],
            ...     conditions=["kind = 'cat'"])
            {"columns": ["name"], "rows": [["Tom"]]}
            >>> sql_execute(sql_keyword='SELECT', table_name='owners')
            {"error": "There is no table 'owners'. There is: pets."}
        """
        keyword = _keyword(sql_keyword)
        given = {"insert_values": insert_values, "update_values": update_values}
        _check_goes(keyword, {"conditions": conditions, **given})
        if keyword == "CREATE":
            return self._create(table_name, columns or [])
        name = self._table(table_name)
        wanted = _flat(conditions or [])
        check_count("conditions", wanted, 0, _MAX_CONDITIONS)
        check_count("columns", columns or [], 0, MAX_COLUMNS)
        texts = [text for table in self.tables.values() for text in table["columns"]]
        reader = FragmentReader(parse_column(text).name for text in texts)
        found = reader.conditions(wanted, only_where=keyword != "SELECT")
        if keyword == "SELECT":
            return self._select(name, columns or ["*"], reader, found)
        if keyword == "INSERT":
            statement = self._insert(name, columns or [], insert_values or [])
        elif keyword == "UPDATE":
            statement = self._update(name, columns or [], update_values or [], found)
        else:
            where = found.piece
            sql = f"DELETE FROM {quoted(name)}{where.sql}"
            statement = Statement(sql, [where.values], name, shows=False)
        done = sqlite_execution.execute(self.tables, statement)
        kept: SqlTable = {"columns": self.tables[name]["columns"], "rows": done.rows}
        self.tables = {**self.tables, name: kept}
        return {"changed": done.changed}

    def _create(self, name: str, columns: Sequence[str]) -> dict[str, Any]:
        known = {table.casefold(): table for table in self.tables}
        if name.casefold() in known:
            raise AlreadyExists(f"The table {known[name.casefold()]!r} already exists.")
        check_count("columns", columns, 1, MAX_COLUMNS)
        made: SqlTable = {"columns": [*columns], "rows": []}
        tables = {**self.tables, name: made}
        sqlite_execution.check(tables)
        self.tables = tables
        return {"created": name}

    def _select(
        self, name: str, columns: Sequence[str], reader: FragmentReader, conditions: Conditions
    ) -> dict[str, Any]:
        shown = [reader.expression(text, "columns") for text in columns]
        rest = conditions.piece
        listed = ", ".join(piece.sql for piece in shown)
        sql = f"SELECT {listed} FROM {quoted(name)}{rest.sql}"
        values = [value for piece in (*shown, rest) for value in piece.values]
        done = sqlite_execution.execute(self.tables, Statement(sql, [values], name, shows=True))
        headings = done.columns
        if len(headings) == len(columns):
            # A column without a name is headed by its expression as given.
            each = zip(headings, shown, columns, strict=True)
            headings = [text.strip() if name == piece.sql else name for name, piece, text in each]
        return {"columns": headings, "rows": done.rows}

    def _insert(self, name: str, columns: Sequence[str], given: Sequence[Any]) -> Statement:
        check_count("insert_values", given, 1, MAX_ROWS)
        rows = [*given] if isinstance(given[0], list) else [[*given]]
        names = [self._column(name, text) for text in columns if text.strip() != "*"]
        width = len(names) or len(self.tables[name]["columns"])
        for row in rows:
            if not isinstance(row, list) or len(row) != width:
                message = f"insert_values must contain lists of {width} values, not {row!r:.100}."
                raise InvalidArgument(message)
            _check_cells("insert_values", row)
        into = f" ({', '.join(map(quoted, names))})" if names else ""
        sql = f"INSERT INTO {quoted(name)}{into} VALUES ({', '.join('?' * width)})"
        return Statement(sql, rows, name, shows=False)

    def _update(
        self, name: str, columns: Sequence[str], given: Sequence[Any], conditions: Conditions
    ) -> Statement:
        names = [self._column(name, text) for text in columns]
        check_count("columns", names, 1, MAX_COLUMNS)
        if len(given) != len(names):
            message = f"update_values has {len(given)} values for {len(names)} columns."
            raise InvalidArgument(message)
        _check_cells("update_values", given)
        sets = ", ".join(f"{quoted(column)} = ?" for column in names)
        where = conditions.piece
        sql = f"UPDATE {quoted(name)} SET {sets}{where.sql}"
        return Statement(sql, [[*given, *where.values]], name, shows=False)

    def _table(self, name: str) -> str:
        for known in self.tables:
            if known.casefold() == name.strip().casefold():
                return known
        there = ", ".join(self.tables)
        there = f"There is: {there}." if there else "The database has no table yet."
        raise NotFound(f"There is no table {name!r:.100}. {there}")

    def _column(self, table: str, name: str) -> str:
        columns = [parse_column(text).name for text in self.tables[table]["columns"]]
        for known in columns:
            if known.casefold() == name.strip().strip('"`').casefold():
                return known
        there = ", ".join(columns)
        raise NotFound(f"{table} has no column {name!r:.100}. Its columns are {there}.")

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the errors in tables, such as an invalid declaration or an exceeded limit."""
        for name, table in config.get("tables", {}).items():
            try:
                sqlite_execution.check({name: table})
            except ToolError as error:
                yield f".tables[{name!r}]", str(error)


def is_ordered(conditions: Sequence[str | Sequence[str]]) -> bool:
    """Tell whether valid conditions contain ORDER BY."""
    return FragmentReader(()).conditions(_flat(conditions), only_where=False).orders


def _keyword(given: str) -> str:
    words = " ".join(given.upper().split())
    keyword = _LONGER.get(words, words)
    if keyword not in _KEYWORDS:
        there = "use SELECT, INSERT INTO, UPDATE, DELETE or CREATE."
        raise InvalidArgument(f"sql_keyword is {given!r:.60}: {there}")
    return keyword


def _flat(conditions: Sequence[str | Sequence[str]]) -> list[str]:
    """Return all conditions in one flat list."""
    nested = [[each] if isinstance(each, str) else [*each] for each in conditions]
    return [text for texts in nested for text in texts]


def _check_goes(keyword: str, given: Mapping[str, Sequence[Any] | None]) -> None:
    """Raise InvalidArgument if an argument does not fit the SQL keyword."""
    for parameter, values in given.items():
        if values and keyword not in _GOES_WITH[parameter]:
            raise InvalidArgument(f"{parameter} cannot be combined with {keyword}: leave it out.")


def _check_cells(parameter: str, cells: Sequence[Cell]) -> None:
    for cell in cells:
        if not isinstance(cell, (str, int, float, type(None))):
            kinds = "strings, numbers or null"
            raise InvalidArgument(f"{parameter} must contain {kinds}, not {cell!r:.100}.")
