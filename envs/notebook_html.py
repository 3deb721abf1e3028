"""HTML tables for notebooks; all strings are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_MAX_TEXT_CHARS = 300
_MAX_ROWS = 50


def table(heading: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> str:
    """Return an HTML table of at most 50 rows, with long strings cut."""
    found = list(rows)
    shown = [
        *found[:_MAX_ROWS],
        *([(f"and {len(found) - _MAX_ROWS} more",)] if len(found) > _MAX_ROWS else []),
    ]
    caption = f"<caption>{_cell(title)}</caption>" if title else ""
    head = "".join(f"<th>{_cell(text)}</th>" for text in heading)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(t)}</td>' for t in row)}</tr>" for row in shown)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    shown = text if len(text) <= _MAX_TEXT_CHARS else f"{text[: _MAX_TEXT_CHARS - 3]}..."
    # Unprintable characters hide or reorder text; a notebook's file cannot hold lone surrogates.
    return escape("".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in shown))
