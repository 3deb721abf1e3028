"""Rows of runs as CSV and Parquet files."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from envs.errors import require_extra
from envs.lazy_modules import lazy_module
from runner.analysis.figure_lines import csv_cell, csv_text
from runner.analysis.frames import Row, RunFrames
from runner.records.durable_files import write_files

if TYPE_CHECKING:
    import pandas
else:
    # Only Parquet needs it.
    pandas = lazy_module("pandas")

TableFormat = Literal["csv", "parquet"]


def write_frames(frames: RunFrames, form: TableFormat, folder: Path) -> list[Path]:
    """Write ``episodes`` and ``calls`` as files in a folder, and return their paths.

    Raises DataError if a library is missing, or a file cannot be written.
    """
    tables = {"episodes": frames.episodes, "calls": frames.calls}
    files = {folder / f"{name}.{form}": [_encoded(form, rows)] for name, rows in tables.items()}
    write_files(files)
    return [*files]


def _encoded(form: TableFormat, rows: Sequence[Row]) -> bytes:
    # A model's text may contain lone surrogates, which UTF-8 cannot encode.
    plain = [
        {
            name: value.encode("utf-8", "backslashreplace").decode()
            if isinstance(value, str)
            else value
            for name, value in row.items()
        }
        for row in rows
    ]
    if form == "parquet":
        with require_extra("frames", "--format parquet"):
            file = BytesIO()
            pandas.DataFrame(plain).to_parquet(file, index=False)
            return file.getvalue()
    cells = [[csv_cell(v) if isinstance(v, str) else v for v in row.values()] for row in plain]
    return csv_text([[*plain[0]] if plain else [], *cells]).encode()
