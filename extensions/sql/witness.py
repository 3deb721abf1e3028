"""The SQL entries that BFCL publishes, each with tables on which its statement does something.

The database is made here, since none is published. Its one table has the columns that the question
and the answer name. Of its rows some meet all conditions of the answer, and each other one misses
them in one column, at a limit where there is one. Two statements that do the same there need not do
so everywhere; that they differ there is plain. What is made has to tell: the statement has to
concern some of the rows and not all.
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
from extensions.sql.sqlite import Cell, SqlTable
from trajectories.bfcl import single_turn
from trajectories.schema import Category, ExpectedCalls, Trajectory

NOT_EXECUTED = "not_executed"
"""Member of the provenance of an SQL entry that says why only its calls are compared."""
FUNCTION = "sql_execute"
"""The environment's name for what BFCL calls ``sql.execute``."""
_QUOTED = re.compile(r"""['"]([A-Za-z_]\w*)['"]""")
_MOST_TRIED = 1_500
_LISTS = ("columns", "conditions", "update_values")


class NoWitness(Exception):
    """There is no such database; the message says why."""


class Witness(NamedTuple):
    """A database, and the statement that is right on it."""

    tables: Mapping[str, SqlTable]
    call: Call


def read_statements(entry: Mapping[str, Any], answers: Any, category: Category) -> Trajectory:
    """Return an entry of SQL with tables that its statement does something to, if there are any.

    BFCL's rules expect one call of it and look at the first answer only.
    """
    trajectory = single_turn(entry, answers, category)
    assert isinstance(trajectory.expects, ExpectedCalls)
    (turn,), answers = trajectory.turns, trajectory.expects.answers[:1]
    expects = replace(trajectory.expects, answers=answers)
    try:
        found = witness(turn.messages[-1].content, answers[0])
    except NoWitness as reason:
        provenance = {**trajectory.provenance, NOT_EXECUTED: str(reason)}
        return replace(trajectory, expects=expects, provenance=provenance)
    return replace(
        trajectory,
        expects=expects,
        environments=("Database",),
        config={"Database": {"tables": found.tables}},
        turns=(replace(turn, ground_truth=(str(found.call),)),),
    )


def witness(question: str, answer: Mapping[str, Mapping[str, Sequence[Any]]]) -> Witness:
    """Make a database for the first of the calls that an answer allows.

    Raises:
        NoWitness: The answer says no such call, or no rows tell what it does.
    """
    (allowed,) = answer.values()
    given = {name: _value(name, values) for name, values in allowed.items()}
    if not (given.get("sql_keyword") and given.get("table_name")):
        raise NoWitness("its answer names no statement and no table")
    call = Call(FUNCTION, (), {name: value for name, value in given.items() if value is not None})
    name = str(given["table_name"])
    if str(given["sql_keyword"]).strip() == "CREATE":
        return _told({}, call)
    columns = _columns(question, given)
    if str(given["sql_keyword"]).startswith("INSERT"):
        rows = given["insert_values"]
        width = len(given.get("columns") or ())
        if not width and len(rows[0]) != len(columns):
            raise NoWitness("neither question nor answer says into which columns it inserts")
        return _told({name: _table(columns, [{}, {}])}, call)
    return _told({name: _table(columns, _rows(name, columns, call))}, call)


def _value(name: str, allowed: Sequence[Any]) -> Any:
    """Return what an answer allows for a parameter first; a value that should be in a list, in one.

    Raises:
        NoWitness: It cannot be told whether they are several values or one list of them.
    """
    options = [option for option in allowed if option != ""]
    if not options:
        return None
    first = options[0]
    if name == "insert_values":
        is_flat = isinstance(first, list) and not isinstance(first[0], list)
        if is_flat and len(options) > 1:
            raise NoWitness("its rows may belong together or stand for each other")
        return [first] if is_flat else first
    if name in _LISTS and not isinstance(first, list):
        if len(options) > 1:
            raise NoWitness(f"its {name} may belong together or stand for each other")
        return [first]
    return first


def _columns(question: str, given: Mapping[str, Any]) -> list[str]:
    """Return the columns that question and answer name, in that order."""
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
    """Yield the column that each condition begins with, and what follows.

    Raises:
        NoWitness: A condition cannot be read.
    """
    for text in given.get("conditions") or ():
        try:
            found = [*tokens_of(text, "conditions")]
        except InvalidArgument as error:
            raise NoWitness(f"its statement is refused: {error}") from None
        if found and found[0].kind == "word":
            yield found[0].text, found[1:]


def _rows(name: str, columns: Sequence[str], call: Call) -> list[dict[str, Cell]]:
    """Return rows of the columns that conditions test: some that meet them and some that do not.

    Raises:
        NoWitness: None is found that meets them.
    """
    tested: dict[str, list[Cell]] = {}
    for column, found in _conditions(call.kwargs):
        near = [each for token in found for each in _near(token)]
        tested.setdefault(column.casefold(), []).extend(near)
    if not tested:
        return [{}, {}]
    known = {column.casefold(): column for column in columns}
    choices = [dict.fromkeys(near) for near in tested.values()]
    tried = [dict(zip(tested, row, strict=True)) for row in islice(product(*choices), _MOST_TRIED)]
    rows = [{known[column]: value for column, value in row.items()} for row in tried]
    arguments = {
        "sql_keyword": "SELECT",
        "table_name": name,
        "conditions": call.kwargs["conditions"],
    }
    shown = _made({name: _table(columns, rows)}, Call(FUNCTION, (), arguments))
    if not shown.ok:
        raise NoWitness(f"its statement is refused: {shown.held['error']}")
    meeting = [dict(zip(shown.held["columns"], row, strict=True)) for row in shown.held["rows"]]
    if not meeting:
        raise NoWitness("no row is found that meets its conditions")
    right = {known[column]: meeting[0][known[column]] for column in tested}
    missing = [
        {**right, known[column]: value}
        for column, near in tested.items()
        for value in dict.fromkeys(near)
        if value != right[known[column]]
    ]
    return [right, *missing, right]


def _near(token: Token) -> list[Cell]:
    """Return the value that a token stands for, one that is less and one that is more."""
    if token.kind in ("text", "either"):
        text = token.text[1:-1]
        return [text, text[:-1], f"{text}x"]
    if token.kind == "number":
        number = float(token.text) if "." in token.text else int(token.text)
        return [number, number - 1, number + 1]
    return []


def _table(columns: Sequence[str], rows: Sequence[Mapping[str, Cell]]) -> SqlTable:
    """Return a table in which what no condition tests is another text in every row."""
    filled = [
        [row.get(column, f"{column} {number}") for column in columns]
        for number, row in enumerate(rows, 1)
    ]
    # NUMERIC takes a text that is a number for that number, as people do who write '95' for 95.
    return {"columns": [f"{quoted(column)} NUMERIC" for column in columns], "rows": filled}


def _told(tables: Mapping[str, SqlTable], call: Call) -> Witness:
    """Return a database and a statement that concerns some of its rows.

    Raises:
        NoWitness: The statement is refused, or concerns none or all of them.
    """
    result = _made(tables, call)
    if not result.ok:
        raise NoWitness(f"its statement is refused: {result.held['error']}")
    done = result.held
    size = sum(len(table["rows"]) for table in tables.values())
    concerned = len(done["rows"]) if "rows" in done else done.get("changed", 1)
    tests = bool(call.kwargs.get("conditions"))
    if not concerned or (tests and concerned >= size):
        raise NoWitness("no rows are found that tell what its conditions do")
    return Witness(tables, call)


def _made(tables: Mapping[str, SqlTable], call: Call) -> Result:
    config = {Database.__name__: {"tables": tables}}
    session = Session.load([Database.__name__], config, checks_config=False, checks_arguments=True)
    return session.call(call)
