"""Rules EXEC, DETECT and ANSWERS for entries with SQL statements; the statements are executed.

Every ground-truth statement must succeed, must be an allowed answer, and must return or change
rows. The judge should reject every changed statement, for example a statement without one
condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.calls.single_turn_verdict import judge
from checkers.profile import BFCL
from checkers.verdict import ExecutedTurn
from envs.calls import Call
from envs.errors import InvalidArgument
from extensions.authoring.rules import execution
from extensions.authoring.rules.finding import Finding, Severity, brief
from extensions.authoring.rules.mutation_detection import DETECT
from extensions.authoring.rules.replayed_entry import Entry
from extensions.sql.comparison import check_statements
from extensions.sql.sql_text import Token, parse_column, tokens_of
from extensions.sql.sqlite_execution import Cell, SqlTable
from trajectories.call_checker_tasks import make_call_entry
from trajectories.example_steps import to_tool_calls
from trajectories.schema import JudgingMethod

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
"""Maps an SQL token of a condition to the tokens that can replace it."""
_NOT_IN = re.compile(r"\bNOT IN\b", re.IGNORECASE)


class AlteredTruth(NamedTuple):
    """Ground truth with one altered statement."""

    what: str
    """Kind of the alteration."""
    position: int
    call: Call | None
    """The altered statement; None if the statement is omitted."""


def is_executed(entry: Entry) -> bool:
    """Tell whether an entry has SQL statements and a database that can execute them."""
    return _has_database(entry) and not entry.fault


def _has_database(entry: Entry) -> bool:
    trajectory = entry.trajectory
    return trajectory.judged_by is JudgingMethod.STATEMENTS and bool(trajectory.environments)


def check_executed(entry: Entry) -> Iterator[Finding]:
    """Yield statements that fail, have no effect or are not among the allowed answers."""
    if not _has_database(entry):
        return
    if entry.fault:
        yield entry.finding(execution.EXEC, Severity.ERROR, None, "ground_truth", entry.fault)
        return
    findings = [*execution.check_calls(entry)]
    yield from findings
    if findings:
        return
    for step in entry.steps:
        if not (step.result.held.get("rows") or step.result.changed):
            message = "the statement returns no row and changes nothing"
            yield entry.finding(execution.EXEC, Severity.WARNING, 0, step.field, message)
    right = [call for call in entry.calls[0] if isinstance(call, Call)]
    try:
        found = judge(make_call_entry(entry.trajectory), to_tool_calls(right), "fc", BFCL)
    except UnjudgeableEntry:
        return  # ANSWERS reports it.
    if not found.valid and entry.dataset.folder is None:
        message = "the ground-truth calls do not match the allowed answers"
        yield entry.finding(execution.EXEC, Severity.ERROR, None, "expects.answers", message)


def check_detected(entry: Entry) -> Iterator[Finding]:
    """Yield a finding for each altered statement that the judge accepts."""
    if not is_executed(entry) or any(not step.result.ok for step in entry.steps):
        return
    for mutant in mutants(entry):
        if passes(entry, mutant):
            field = f"ground_truth[{mutant.position}]"
            message = f"passes with {mutant.what}: {brief(str(mutant.call), 120)}"
            yield entry.finding(DETECT, Severity.WARNING, 0, field, message)


def passes(entry: Entry, mutant: AlteredTruth) -> bool:
    """Tell whether the judge accepts an altered ground truth."""
    (truth,) = entry.truth
    calls = [*truth.calls]
    calls[mutant.position : mutant.position + 1] = [mutant.call] if mutant.call else []
    session = entry.template.fork()
    results = tuple(session.play(calls))
    outcome = ExecutedTurn(results, session.snapshot(), bool(results), tuple(calls))
    return check_statements(truth, outcome) is None


def mutants(entry: Entry) -> Iterator[AlteredTruth]:
    """Yield the alterations of an entry's statements."""
    for step in entry.steps:
        assert isinstance(step.call, Call)
        tables: Mapping[str, SqlTable] = step.before.snapshot().states["Database"]["tables"]
        yield AlteredTruth("the statement omitted", step.position, None)
        arguments = dict(step.call.kwargs)
        for what, changed in _alter_arguments(arguments, tables):
            given = {name: value for name, value in {**arguments, **changed}.items() if value}
            yield AlteredTruth(what, step.position, Call(step.call.name, (), given))


def _alter_arguments(
    given: Mapping[str, Any], tables: Mapping[str, SqlTable]
) -> Iterator[tuple[str, dict[str, Any]]]:
    name = given["table_name"]
    for other in [*[table for table in tables if table != name][:2], f"{name}_2"]:
        yield "another table", {"table_name": other}
    names = [*_columns(tables[name])] if name in tables else []
    columns = [*given.get("columns", ())]
    is_shown = given["sql_keyword"] in ("SELECT", "CREATE")
    for place, column in enumerate(columns):
        if is_shown and len(columns) > 1:
            yield "one column fewer", {"columns": _remove_at(columns, place)}
        for other in [each for each in names if each not in columns][:2] or [f"{column}2"]:
            yield "another column", {"columns": _replace_at(columns, place, other)}
    for place, text in enumerate(given.get("conditions", ())):
        conditions = [*given["conditions"]]
        yield "one condition fewer", {"conditions": _remove_at(conditions, place)}
        for what, other in _alter_condition(text, tables.get(name), names):
            yield what, {"conditions": _replace_at(conditions, place, other)}
    for place, value in enumerate(given.get("update_values", ())):
        yield (
            "another value",
            {"update_values": _replace_at(given["update_values"], place, _next(value))},
        )
    rows = [*given.get("insert_values", ())]
    for place, row in enumerate(rows):
        if len(rows) > 1:
            yield "one row fewer", {"insert_values": _remove_at(rows, place)}
        for cell, value in enumerate(row):
            changed = _replace_at(row, cell, _next(value))
            yield "another value", {"insert_values": _replace_at(rows, place, changed)}


def _alter_condition(
    text: str, table: SqlTable | None, names: Sequence[str]
) -> Iterator[tuple[str, str]]:
    found = [*tokens_of(text, "conditions")]
    about = next((names.index(token.text) for token in found if token.text in names), None)
    cells = (
        sorted({row[about] for row in table["rows"]} - {None}, key=_sort_key)
        if (table and about is not None)
        else []
    )
    if _NOT_IN.search(text):
        yield "another condition", _NOT_IN.sub("IN", text)
    for place, token in enumerate(found):
        for other in _OPPOSITES.get(token.text.lower(), ()):
            yield "another condition", _join_with(found, place, other)
        if token.text.lower() == "in" and not _NOT_IN.search(text):
            yield "another condition", _join_with(found, place, "not in")
        if token.text in names:
            for other in [each for each in names if each != token.text][:2]:
                yield "another column in a condition", _join_with(found, place, other)
        if token.kind in ("text", "number"):
            for cell in _neighbours(_parse_literal(token), cells):
                yield (
                    "another value in a condition",
                    _join_with(found, place, _format_literal(cell)),
                )


def _neighbours(value: Cell, cells: Sequence[Cell]) -> list[Cell]:
    """Return the next smaller and the next larger cell, or a new value."""
    alike = [cell for cell in cells if isinstance(cell, str) == isinstance(value, str)]
    before = [cell for cell in alike if _sort_key(cell) < _sort_key(value)][-1:]
    behind = [cell for cell in alike if _sort_key(cell) > _sort_key(value)][:1]
    return [*before, *behind] or [_next(value)]


def _sort_key(cell: Cell) -> tuple[bool, float, str]:
    return (True, 0, cell) if isinstance(cell, str) else (False, cell or 0, "")


def _parse_literal(token: Token) -> Cell:
    if token.kind == "text":
        return token.text[1:-1].replace("''", "'")
    return float(token.text) if "." in token.text else int(token.text)


def _format_literal(cell: Cell) -> str:
    quoted = str(cell).replace("'", "''")
    return f"'{quoted}'" if isinstance(cell, str) else str(cell)


def _next(value: Cell) -> Cell:
    return f"{value}x" if isinstance(value, str) else (value or 0) + 1


def _join_with(tokens: Sequence[Token], place: int, text: str) -> str:
    return " ".join(_replace_at([token.text for token in tokens], place, text))


def _replace_at(values: Sequence[Any], place: int, value: object) -> list[Any]:
    return [*values[:place], value, *values[place + 1 :]]


def _remove_at(values: Sequence[Any], place: int) -> list[Any]:
    return [*values[:place], *values[place + 1 :]]


def _columns(table: SqlTable) -> Iterator[str]:
    for text in table["columns"]:
        with suppress(InvalidArgument):
            yield parse_column(text).name


def extract_values(fragment: object, entry: Entry) -> list[str | float]:
    """Return the strings, numbers and column names in an SQL expression."""
    tables = entry.trajectory.config.get("Database", {}).get("tables", {})
    names: set[str] = set()
    with suppress(AttributeError, KeyError, TypeError):  # another rule reports a wrong config
        names = {name for table in tables.values() for name in _columns(table)}
    try:
        found = [*tokens_of(str(fragment), "conditions")]
    except InvalidArgument:
        return []
    values: list[str | float] = []
    for token in found:
        if token.kind in ("text", "number"):
            value = _parse_literal(token)
            values.append(value if isinstance(value, (str, float)) else int(value or 0))
        elif token.text in names:
            values.append(token.text)
    return values
