"""Comparison of executed SQL statements with the ground truth, by returned rows and final database.

The statements of the model must return the same sets of rows as the ground truth, and the final
databases must be equal. Row order matters only after ORDER BY. The names of calculated columns,
such as ``COUNT(*)``, are not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.calls.single_turn_verdict import find_unmatched
from checkers.evidence import CallEvidence
from checkers.reasons import Reason
from checkers.verdict import ExecutedTurn
from envs.calls import Call
from envs.state import Snapshot, cut, cut_repr
from extensions.sql.database import Database, is_ordered
from extensions.sql.sql_text import DeclaredColumn, parse_column
from extensions.sql.sqlite_execution import Cell, SqlTable

MAX_DIFFERENCES = 20
"""Number of statements that a model may make in addition to the expected statements."""

_MAX_SHOWN = 100
"""Maximum number of characters of a row in a message."""

Row = tuple[str | None, ...]
"""Row of normalized values, as strings. Equal values have equal strings."""


def check_statements(truth: ExecutedTurn, given: ExecutedTurn) -> CallEvidence | None:
    """Compare the returned rows and the final database with the ground truth.

    Raises UnjudgeableEntry if a statement of the ground truth was refused.
    """
    for expected in truth.results:
        if not expected.ok:
            raise UnjudgeableEntry(f"the ground truth has an invalid statement: {expected.text}")
    for result in given.results:
        if not result.ok:
            return CallEvidence(Reason.REFUSED, f"the call is refused: {result.text[:500]}")
    return _check_shown(truth, given) or _check_left(truth.snapshot, given.snapshot)


def _check_shown(truth: ExecutedTurn, given: ExecutedTurn) -> CallEvidence | None:
    pairs = zip(truth.calls, truth.results, strict=True)
    wanted = [(_in_order(call), result) for call, result in pairs if "rows" in result.held]
    shown = [result for result in given.results if "rows" in result.held]
    if len(wanted) != len(shown):
        message = f"{len(wanted)} sets of rows are expected, but {len(shown)} were shown"
        made = str(len(shown))
        return CallEvidence(Reason.RESULT_COUNT, message, expected=len(wanted), actual=made)

    def failure(one: int, other: int) -> CallEvidence | None:
        ordered, expected = wanted[one]
        return _check_rows(expected.held, shown[other].held, ordered=ordered)

    left = find_unmatched(len(wanted), len(shown), lambda *both: failure(*both) is None)
    if left is None:
        return None
    causes = tuple([cause for n in range(len(shown)) if (cause := failure(left, n))])
    if len(causes) == 1:
        return causes[0]
    message = f"no other statement shows the expected rows: {wanted[left][1].text[:200]}"
    return CallEvidence(Reason.RESULT_NO_MATCH, message, causes=causes)


def _in_order(call: object) -> bool:
    return isinstance(call, Call) and is_ordered(call.kwargs.get("conditions") or ())


def _check_rows(
    expected: Mapping[str, Any], actual: Mapping[str, Any], *, ordered: bool
) -> CallEvidence | None:
    """Compare the rows of two results; columns with equal names may be in another order."""
    there = expected["columns"]
    places = _places(there, actual["columns"])
    if places is None:
        message = f"{len(there)} columns are expected, but {len(actual['columns'])} were shown"
        return _differs(Reason.RESULT_STRUCTURE, message, there, actual["columns"])
    right = [_row(row) for row in expected["rows"]]
    rows = [_row([row[place] for place in places]) for row in actual["rows"]]
    if Counter(right) != Counter(rows):
        return _row_differs("the shown rows", right, rows)
    if ordered and right != rows:
        message = "the order of the rows is wrong"
        return _differs(Reason.RESULT_VALUE, message, expected["rows"], actual["rows"])
    return None


def _places(expected: Sequence[str], actual: Sequence[str]) -> Sequence[int] | None:
    """Return the actual position of each expected column; None if the column counts differ."""
    if len(expected) != len(actual):
        return None
    headings = [[name.casefold() for name in names] for names in (expected, actual)]
    if len({*headings[0]}) < len(expected) or {*headings[0]} != {*headings[1]}:
        return range(len(actual))
    return [headings[1].index(name) for name in headings[0]]


def _row(cells: Sequence[Cell]) -> Row:
    return tuple([_cell(cell) for cell in cells])


def _cell(cell: Cell) -> str | None:
    """Return a normalized value; numbers that differ by rounding are equal."""
    if isinstance(cell, (int, float)):
        whole = int(cell) == cell and abs(cell) < 1e15
        return str(int(cell)) if whole else f"{cell:.9g}"
    return None if cell is None else f"'{cell}"


def _check_left(expected: Snapshot, actual: Snapshot) -> CallEvidence | None:
    """Compare two databases; column types are compared only if the ground truth declares them."""
    wanted, there = _tables(expected), _tables(actual)
    for name in {**wanted, **there}:
        one, other = wanted.get(name), there.get(name)
        if one is None or other is None:
            message = f"the table {name!r:.100} {'is missing' if one else 'should not exist'}"
            return _differs(Reason.DATABASE, message, one and one["columns"], None)
        if one == other:
            continue
        if not _declared_alike(one["columns"], other["columns"]):
            message = f"the table {name!r:.100} does not have the expected columns"
            return _differs(Reason.DATABASE, message, one["columns"], other["columns"])
        rows = [[_row(row) for row in table["rows"]] for table in (one, other)]
        if Counter(rows[0]) != Counter(rows[1]):
            what = f"the table {name!r:.100}"
            return _row_differs(what, *rows)._replace(reason=Reason.DATABASE)
    return None


def _tables(snapshot: Snapshot) -> dict[str, SqlTable]:
    tables: Mapping[str, SqlTable] = snapshot.states[Database.__name__]["tables"]
    return {name.casefold(): table for name, table in tables.items()}


def _declared_alike(expected: Sequence[str], actual: Sequence[str]) -> bool:
    if len(expected) != len(actual):
        return False
    pairs = zip(map(parse_column, expected), map(parse_column, actual), strict=True)
    return all(_fits(one, other) for one, other in pairs)


def _fits(expected: DeclaredColumn, actual: DeclaredColumn) -> bool:
    if expected.name.casefold() != actual.name.casefold():
        return False
    return not expected.affinity or expected[1:] == actual[1:]


def _row_differs(where: str, expected: Sequence[Row], actual: Sequence[Row]) -> CallEvidence:
    """Return evidence that names the first missing row and the first unexpected row."""
    missing = next(_beyond(expected, actual), None)
    surplus = next(_beyond(actual, expected), None)
    said = [f"{_shown(missing)} is not in {where}"] if missing else []
    said += [f"{_shown(surplus)} is in {where}, but should not be there"] if surplus else []
    return CallEvidence(Reason.RESULT_VALUE, "; ".join(said))


def _beyond(some: Sequence[Row], others: Sequence[Row]) -> Iterator[Row]:
    left = Counter(others)
    for row in some:
        if left[row] == 0:
            yield row
        left[row] -= 1


def _shown(row: Row) -> str:
    cells = ["NULL" if cell is None else f"{cell}'" if cell[0] == "'" else cell for cell in row]
    return f"the row ({cut(', '.join(cells), _MAX_SHOWN)})"


def _differs(reason: Reason, message: str, expected: object, actual: object) -> CallEvidence:
    given = None if actual is None else cut_repr(actual)
    return CallEvidence(reason, message, expected=expected, actual=given)
