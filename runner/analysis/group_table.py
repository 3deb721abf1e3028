"""BFCL's table as lines of text: of one run with intervals, of several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checkers.groups import Row
from runner.show.table import table

_FIELD = "BFCL's"
"""Heading of the figures in which what was not run counts as 0."""
_ABREAST = 8
"""Runs that there is room for in 100 columns."""


def lines(rows: Sequence[Row], *, field: bool) -> Iterator[str]:
    """Yield the lines of one run's table.

    Args:
        rows: The table.
        field: Whether BFCL's figures are to stand beside ours.
    """
    [field] = _with_overall([rows], [field])
    shown = [row for (row,) in worth_showing([rows])]
    cells = [[_label(row), *_scored(row), _field(row)] for row in shown]
    heading = ["group", "score", "95%", "entries", _FIELD]
    yield table([row if field else row[:-1] for row in [heading, *cells]])
    yield from notes([rows], [field])


def lines_of_several(tables: Sequence[Sequence[Row]], fields: Sequence[bool]) -> Iterator[str]:
    """Yield the lines of several runs' tables, in columns that are numbered from 1.

    Args:
        tables: At least one.
        fields: Of which of them BFCL's overall figure is to stand below ours.
    """
    fields = _with_overall(tables, fields)
    across = worth_showing(tables)
    for first in range(0, len(tables), _ABREAST):
        columns = slice(first, first + _ABREAST)
        numbers = [str(number) for number in range(1, len(tables) + 1)][columns]
        cells = [[_label(rows[0]), *map(_score, rows[columns])] for rows in across]
        if any(fields):
            pairs = zip(tables[columns], fields[columns], strict=True)
            figures = [_field(rows[0]) if field else "-" for rows, field in pairs]
            cells.insert(1, [f"overall, {_FIELD}", *figures])
        yield table([["group", *numbers], *cells])
        yield ""
    yield from notes(tables, fields)


def worth_showing(tables: Sequence[Sequence[Row]]) -> list[tuple[Row, ...]]:
    """Return the lines of tables, side by side, but for what is in a group that none has run."""
    run = {row.path for rows in tables for row in rows if row.rate}
    return [rows for rows in zip(*tables, strict=True) if run & {rows[0].path, rows[0].path[:-1]}]


def notes(tables: Sequence[Sequence[Row]], fields: Sequence[bool]) -> Iterator[str]:
    """Yield what there is to know of sums of which something was not run."""
    counted = [rows for rows in worth_showing(tables) if len(rows[0].path) > 1]
    if any(row.rate is None for rows in counted for row in rows):
        yield "what was not run is left out of a sum, and the weights of the rest are scaled up"
    if any(len({row.rate is None for row in rows}) > 1 for rows in counted):
        yield "sums of runs of which not the same was run do not compare"
    if any(fields):
        yield f"{_FIELD} is the same sum with what was not run as 0"


def _with_overall(tables: Sequence[Sequence[Row]], fields: Sequence[bool]) -> list[bool]:
    """Return of which tables BFCL's figures are shown: of those that count for it."""
    pairs = zip(tables, fields, strict=True)
    return [field and rows[0].rate is not None for rows, field in pairs]


def _label(row: Row) -> str:
    return "  " * (len(row.path) - 1) + row.name


def _score(row: Row) -> str:
    return _percent(row.rate.value) if row.rate else "not run"


def _field(row: Row) -> str:
    return "" if row.field is None else _percent(row.field)


def _scored(row: Row) -> list[str]:
    if row.rate is None:
        return ["not run", "", ""]
    low, high = row.rate.interval
    return [_score(row), f"{_percent(low)} to {_percent(high)}", str(row.rate.entries)]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
