"""Databases for BFCL's SQL entries, which BFCL publishes without a database.

Each database has one table, with the columns that the question and the answer name. Two rows
meet all conditions of the answer. In each other row, one of the tested columns has a slightly
different value. The statement must affect some rows, but not all. Statements with equal results on
this database can still have different results on other data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Any, NamedTuple

from envs.calls import Call
from envs.errors import InvalidArgument
from envs.results import Result
from envs.session import Session
from extensions.sql.database import Database
from extensions.sql.sql_text import Token, quoted, tokens_of
from extensions.sql.sqlite_execution import Cell, SqlTable
from trajectories.bfcl_reader import read_single_turn
from trajectories.schema import Category, ExpectedCalls, Trajectory

NOT_EXECUTED = "not_executed"
"""Provenance field that explains why no database was built for the entry."""
FUNCTION = "sql_execute"
"""Name of ``sql.execute`` in the environment."""
_QUOTED = re.compile(r"""['"]([A-Za-z_]\w*)['"]""")
_MAX_TRIED = 1_500
_LISTS = ("columns", "conditions", "update_values")


class WitnessError(Exception):
    """No database can be built for an entry."""


class WitnessDatabase(NamedTuple):
    """Tables of a database, and the expected call."""

    tables: Mapping[str, SqlTable]
    call: Call


def read_statements(entry: Mapping[str, Any], answers: Any, category: Category) -> Trajectory:
    """Return an SQL entry, with a database if one can be built.

    Like BFCL, use only the first answer, which is one call.
    """
    trajectory = read_single_turn(entry, answers, category)
    assert isinstance(trajectory.expects, ExpectedCalls)
    (turn,), answers = trajectory.turns, trajectory.expects.answers[:1]
    expects = replace(trajectory.expects, answers=answers)
    try:
        found = witness(turn.messages[-1].content, answers[0])
    except WitnessError as reason:
        provenance = {**trajectory.provenance, NOT_EXECUTED: str(reason)}
        return replace(trajectory, expects=expects, provenance=provenance)
    return replace(
        trajectory,
        expects=expects,
        environments=("Database",),
        config={"Database": {"tables": found.tables}},
        turns=(replace(turn, ground_truth=(str(found.call),)),),
    )


def witness(question: str, answer: Mapping[str, Mapping[str, Sequence[Any]]]) -> WitnessDatabase:
    """Build a database for a correct call. Each parameter has its first accepted value.

    Raises WitnessError if the answer has no complete call, or if the call would affect no rows.
    """
    (allowed,) = answer.values()
    given = {name: _value(name, values) for name, values in allowed.items()}
    if not (given.get("sql_keyword") and given.get("table_name")):
        raise WitnessError("the answer must name the statement and the table")
    call = Call(FUNCTION, (), {name: value for name, value in given.items() if value is not None})
    name = str(given["table_name"])
    if str(given["sql_keyword"]).strip() == "CREATE":
        return _build_witness({}, call)
    columns = _columns(question, given)
    if str(given["sql_keyword"]).startswith("INSERT"):
        rows = given["insert_values"]
        width = len(given.get("columns") or ())
        if not width and len(rows[0]) != len(columns):
            raise WitnessError("question and answer do not name the columns of the inserted values")
        return _build_witness({name: _table(columns, [{}, {}])}, call)
    return _build_witness({name: _table(columns, _rows(name, columns, call))}, call)


def _value(name: str, allowed: Sequence[Any]) -> Any:
    """Return the first allowed value of a parameter; the value of a list parameter is a list.

    Raises WitnessError if the values of a list parameter are ambiguous.
    """
    options = [option for option in allowed if option != ""]
    if not options:
        return None
    first = options[0]
    if name == "insert_values":
        is_flat = isinstance(first, list) and not isinstance(first[0], list)
        if is_flat and len(options) > 1:
            raise WitnessError(
                "it is unclear whether the lists are alternatives or rows of one answer"
            )
        return [first] if is_flat else first
    if name in _LISTS and not isinstance(first, list):
        if len(options) > 1:
            raise WitnessError(
                f"it is unclear whether the {name} are alternatives or items of one list"
            )
        return [first]
    return first


def _columns(question: str, given: Mapping[str, Any]) -> list[str]:
    values = {str(value) for row in given.get("insert_values") or () for value in row}
    values |= {str(value) for value in given.get("update_values") or ()}
    named = [text for text in given.get("columns") or () if text != "*"]
    tested = []
    for column, rest in _conditions(given):
        tested.append(column)
        values |= {token.text.strip("'\"") for token in rest}
    said = [name for name in _QUOTED.findall(question) if name not in values]
    found: dict[str, str] = {}
    for name in (*said, *named, *tested):
        if name.casefold() != str(given["table_name"]).casefold():
            found.setdefault(name.casefold(), name)
    return [*found.values()]


def _conditions(given: Mapping[str, Any]) -> Iterator[tuple[str, list[Token]]]:
    """Yield the column of each condition, and the tokens after the column.

    Raises WitnessError if a condition cannot be parsed.
    """
    for text in given.get("conditions") or ():
        try:
            found = [*tokens_of(text, "conditions")]
        except InvalidArgument as error:
            raise WitnessError(f"the statement is refused: {error}") from None
        if found and found[0].kind == "word":
            yield found[0].text, found[1:]


def _rows(name: str, columns: Sequence[str], call: Call) -> list[dict[str, Cell]]:
    """Return rows that meet all conditions, and rows that do not.

    Raises WitnessError if no row meets the conditions.
    """
    tested: dict[str, list[Cell]] = {}
    for column, found in _conditions(call.kwargs):
        near = [each for token in found for each in _near(token)]
        tested.setdefault(column.casefold(), []).extend(near)
    if not tested:
        return [{}, {}]
    known = {column.casefold(): column for column in columns}
    choices = [dict.fromkeys(near) for near in tested.values()]
    tried = [dict(zip(tested, row, strict=True)) for row in islice(product(*choices), _MAX_TRIED)]
    rows = [{known[column]: value for column, value in row.items()} for row in tried]
    arguments = {
        "sql_keyword": "SELECT",
        "table_name": name,
        "conditions": call.kwargs["conditions"],
    }
    shown = _execute({name: _table(columns, rows)}, Call(FUNCTION, (), arguments))
    if not shown.ok:
        raise WitnessError(f"the statement is refused: {shown.held['error']}")
    meeting = [dict(zip(shown.held["columns"], row, strict=True)) for row in shown.held["rows"]]
    if not meeting:
        raise WitnessError("no row meets the conditions")
    right = {known[column]: meeting[0][known[column]] for column in tested}
    missing = [
        {**right, known[column]: value}
        for column, near in tested.items()
        for value in dict.fromkeys(near)
        if value != right[known[column]]
    ]
    return [right, *missing, right]


def _near(token: Token) -> list[Cell]:
    if token.kind in ("text", "either"):
        text = token.text[1:-1]
        return [text, text[:-1], f"{text}x"]
    if token.kind == "number":
        number = float(token.text) if "." in token.text else int(token.text)
        return [number, number - 1, number + 1]
    return []


def _table(columns: Sequence[str], rows: Sequence[Mapping[str, Cell]]) -> SqlTable:
    """Return a table; a column without given values has a different string in every row."""
    filled = [
        [row.get(column, f"{column} {number}") for column in columns]
        for number, row in enumerate(rows, 1)
    ]
    # NUMERIC converts the text '95' to the number 95.
    return {"columns": [f"{quoted(column)} NUMERIC" for column in columns], "rows": filled}


def _build_witness(tables: Mapping[str, SqlTable], call: Call) -> WitnessDatabase:
    """Return the tables and the call as a witness database.

    Raises WitnessError if the statement is refused, if the statement affects no row, or if all rows
    meet the conditions.
    """
    result = _execute(tables, call)
    if not result.ok:
        raise WitnessError(f"the statement is refused: {result.held['error']}")
    done = result.held
    size = sum(len(table["rows"]) for table in tables.values())
    concerned = len(done["rows"]) if "rows" in done else done.get("changed", 1)
    tests = bool(call.kwargs.get("conditions"))
    if not concerned or (tests and concerned >= size):
        raise WitnessError("the call must affect some rows, but not all rows")
    return WitnessDatabase(tables, call)


def _execute(tables: Mapping[str, SqlTable], call: Call) -> Result:
    config = {Database.__name__: {"tables": tables}}
    session = Session.load([Database.__name__], config, checks_config=False, checks_arguments=True)
    return session.call(call)
