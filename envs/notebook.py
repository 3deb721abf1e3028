"""What a notebook shows of a value: a small table, in which every text is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_LONGEST = 300
"""Characters of a cell."""
_MOST = 50
"""Rows."""


def table(heading: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> str:
    """Return an HTML table of texts; long ones are cut off, and so are rows beyond the first 50."""
    found = list(rows)
    shown = [*found[:_MOST], *([(f"and {len(found) - _MOST} more",)] if len(found) > _MOST else [])]
    caption = f"<caption>{_cell(title)}</caption>" if title else ""
    head = "".join(f"<th>{_cell(text)}</th>" for text in heading)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(t)}</td>' for t in row)}</tr>" for row in shown)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    # Half of a surrogate pair has no bytes in a notebook's file.
    return html.escape(shown.encode("utf-8", "backslashreplace").decode())
