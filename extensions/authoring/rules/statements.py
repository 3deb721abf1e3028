"""EXEC, DETECT and ANSWERS of SQL statements, which are executed though their calls are compared.

Every statement of the ground truth succeeds and shows or changes something; its answers are its
calls. Each part of it is altered, and the judge should reject what results: another column,
condition, value or table, one part less, or another order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from checkers.calls.documents import CannotJudge
from checkers.calls.judge import judge
from checkers.profile import BFCL
from checkers.verdict import TurnOutcome
from envs.calls import Call
from envs.errors import InvalidArgument
from extensions.authoring.rules import playing
from extensions.authoring.rules.detection import DETECT
from extensions.authoring.rules.entry import Entry
from extensions.authoring.rules.problem import Problem, Severity, brief
from extensions.sql.comparison import check_statements
from extensions.sql.sql_text import Token, parse_column, tokens_of
from extensions.sql.sqlite import Cell, SqlTable
from trajectories.right_step import as_tool_calls
from trajectories.schema import JudgedBy
from trajectories.task import task_of

_OPPOSITES: Mapping[str, Sequence[str]] = {
    "=": ("<>", ">"),
    "<": ("<=", ">"),
    ">": (">=", "<"),
    "<=": ("<", ">="),
    ">=": (">", "<="),
    "between": ("not between",),
    "like": ("not like",),
    "desc": ("asc",),
    "null": ("not null",),
}
"""Signs and words, and what is altered to; of those that a NOT is in front of, it is left out."""
_NOT_IN = re.compile(r"\bNOT IN\b", re.IGNORECASE)


class AlteredTruth(NamedTuple):
    """One statement of the ground truth with something in it altered."""

    what: str
    """What is altered."""
    position: int
    """Which statement."""
    call: Call | None
    """What it becomes; None where it is left out."""


def is_executed(entry: Entry) -> bool:
    """Tell whether an entry is of SQL statements and has a database that can execute them."""
    return _has_database(entry) and not entry.fault


def _has_database(entry: Entry) -> bool:
    of_statements = entry.trajectory.judged_by is JudgedBy.STATEMENTS
    return of_statements and bool(entry.trajectory.environments)


def check_executed(entry: Entry) -> Iterator[Problem]:
    """Yield statements that are refused, that do nothing, or that are not the answers."""
    if not _has_database(entry):
        return
    if entry.fault:
        yield entry.problem(playing.EXEC, Severity.ERROR, None, "ground_truth", entry.fault)
        return
    problems = [*playing.check_calls(entry)]
    yield from problems
    if problems:
        return
    for step in entry.steps:
        if not (step.result.held.get("rows") or step.result.changed):
            message = "it shows no row and changes nothing"
            yield entry.problem(playing.EXEC, Severity.WARNING, 0, step.field, message)
    right = [call for call in entry.calls[0] if isinstance(call, Call)]
    try:
        found = judge(task_of(entry.trajectory), as_tool_calls(right), "fc", BFCL)
    except CannotJudge:
        return  # as ANSWERS says
    if not found.valid and entry.dataset.folder is None:
        message = "the answers do not allow the calls of the ground truth"
        yield entry.problem(playing.EXEC, Severity.ERROR, None, "expects.answers", message)


def check_detected(entry: Entry) -> Iterator[Problem]:
    """Yield alterations of the ground truth that pass."""
    if not is_executed(entry) or any(not step.result.ok for step in entry.steps):
        return
    for mutant in mutants(entry):
        if passes(entry, mutant):
            field = f"ground_truth[{mutant.position}]"
            message = f"passes with {mutant.what}: {brief(str(mutant.call), 120)}"
            yield entry.problem(DETECT, Severity.WARNING, 0, field, message)


def passes(entry: Entry, mutant: AlteredTruth) -> bool:
    """Tell whether the judge accepts a ground truth with an altered statement."""
    (truth,) = entry.truth
    calls = [*truth.calls]
    calls[mutant.position : mutant.position + 1] = [mutant.call] if mutant.call else []
    session = entry.template.fork()
    results = tuple(session.play(calls))
    outcome = TurnOutcome(results, session.snapshot(), bool(results), tuple(calls))
    return check_statements(truth, outcome) is None


def mutants(entry: Entry) -> Iterator[AlteredTruth]:
    """Yield what the statements of an entry become when something in one of them is altered."""
    for step in entry.steps:
        assert isinstance(step.call, Call)
        tables: Mapping[str, SqlTable] = step.before.snapshot().states["Database"]["tables"]
        yield AlteredTruth("it left out", step.position, None)
        arguments = dict(step.call.kwargs)
        for what, changed in _altered(arguments, tables):
            given = {name: value for name, value in {**arguments, **changed}.items() if value}
            yield AlteredTruth(what, step.position, Call(step.call.name, (), given))


def _altered(
    given: Mapping[str, Any], tables: Mapping[str, SqlTable]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what is altered, and the arguments that are other ones then."""
    name = given["table_name"]
    for other in [*[table for table in tables if table != name][:2], f"{name}_2"]:
        yield "another table", {"table_name": other}
    names = [*_columns(tables[name])] if name in tables else []
    columns = [*given.get("columns", ())]
    is_shown = given["sql_keyword"] in ("SELECT", "CREATE")
    for place, column in enumerate(columns):
        if is_shown and len(columns) > 1:
            yield "a column less", {"columns": _without(columns, place)}
        for other in [each for each in names if each not in columns][:2] or [f"{column}2"]:
            yield "another column", {"columns": _with(columns, place, other)}
    for place, text in enumerate(given.get("conditions", ())):
        conditions = [*given["conditions"]]
        yield "a condition less", {"conditions": _without(conditions, place)}
        for what, other in _altered_condition(text, tables.get(name), names):
            yield what, {"conditions": _with(conditions, place, other)}
    for place, value in enumerate(given.get("update_values", ())):
        yield "another value", {"update_values": _with(given["update_values"], place, _next(value))}
    rows = [*given.get("insert_values", ())]
    for place, row in enumerate(rows):
        if len(rows) > 1:
            yield "a row less", {"insert_values": _without(rows, place)}
        for cell, value in enumerate(row):
            changed = _with(row, cell, _next(value))
            yield "another value", {"insert_values": _with(rows, place, changed)}


def _altered_condition(
    text: str, table: SqlTable | None, names: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield what is altered in a condition, and what becomes of it."""
    found = [*tokens_of(text, "conditions")]
    about = next((names.index(token.text) for token in found if token.text in names), None)
    cells = (
        sorted({row[about] for row in table["rows"]} - {None}, key=_order)
        if (table and about is not None)
        else []
    )
    if _NOT_IN.search(text):
        yield "another condition", _NOT_IN.sub("IN", text)
    for place, token in enumerate(found):
        for other in _OPPOSITES.get(token.text.lower(), ()):
            yield "another condition", _joined(found, place, other)
        if token.text.lower() == "in" and not _NOT_IN.search(text):
            yield "another condition", _joined(found, place, "not in")
        if token.text in names:
            for other in [each for each in names if each != token.text][:2]:
                yield "another column in a condition", _joined(found, place, other)
        if token.kind in ("text", "number"):
            for cell in _neighbours(_value(token), cells):
                yield "another value in a condition", _joined(found, place, _literal(cell))


def _neighbours(value: Cell, cells: Sequence[Cell]) -> list[Cell]:
    """Return the values of a column in front of and behind one; without any, the next number."""
    alike = [cell for cell in cells if isinstance(cell, str) == isinstance(value, str)]
    before = [cell for cell in alike if _order(cell) < _order(value)][-1:]
    behind = [cell for cell in alike if _order(cell) > _order(value)][:1]
    return [*before, *behind] or [_next(value)]


def _order(cell: Cell) -> tuple[bool, float, str]:
    return (True, 0, cell) if isinstance(cell, str) else (False, cell or 0, "")


def _value(token: Token) -> Cell:
    if token.kind == "text":
        return token.text[1:-1].replace("''", "'")
    return float(token.text) if "." in token.text else int(token.text)


def _literal(cell: Cell) -> str:
    quoted = str(cell).replace("'", "''")
    return f"'{quoted}'" if isinstance(cell, str) else str(cell)


def _next(value: Cell) -> Cell:
    return f"{value}x" if isinstance(value, str) else (value or 0) + 1


def _joined(tokens: Sequence[Token], place: int, text: str) -> str:
    return " ".join(_with([token.text for token in tokens], place, text))


def _with(values: Sequence[Any], place: int, value: object) -> list[Any]:
    return [*values[:place], value, *values[place + 1 :]]


def _without(values: Sequence[Any], place: int) -> list[Any]:
    return [*values[:place], *values[place + 1 :]]


def _columns(table: SqlTable) -> Iterator[str]:
    """Yield the names of a table's columns, but of what declares none, as EXEC says."""
    for text in table["columns"]:
        with suppress(InvalidArgument):
            yield parse_column(text).name


def said_in(fragment: object, entry: Entry) -> list[str | float]:
    """Return what an expression takes from outside of SQL: texts, numbers, names of columns."""
    tables = entry.trajectory.config["Database"]["tables"].values()
    names = {name for table in tables for name in _columns(table)}
    try:
        found = [*tokens_of(str(fragment), "conditions")]
    except InvalidArgument:
        return []
    values: list[str | float] = []
    for token in found:
        if token.kind in ("text", "number"):
            value = _value(token)
            values.append(value if isinstance(value, (str, float)) else int(value or 0))
        elif token.text in names:
            values.append(token.text)
    return values
