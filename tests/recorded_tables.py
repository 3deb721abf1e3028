"""Tables of recorded results in ``tests/golden``: one JSON row a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def read_rows(table: Path) -> list[Any]:
    """Return the rows of a table."""
    return [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]


def write_rows(table: Path, rows: Iterable[Any]) -> None:
    """Replace the rows of a table."""
    written = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in [*rows])
    table.write_text(written, encoding="utf-8")
