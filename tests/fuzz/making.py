"""The folder in which forms are tried, with what does not change beside it."""

from __future__ import annotations

from pathlib import Path

from extensions.export.transcripts import export_bfcl
from runner.records.recorded_run import read_run
from tests.conftest import bfcl_files
from tests.fuzz.benchmark_forms import benchmark_forms
from tests.fuzz.forms import FORMAT_1, Form, forms
from tests.fuzz.more_forms import more_forms
from tests.fuzz.reply_forms import reply_forms


def made(work: Path) -> dict[str, Form]:
    """Return the forms by name, after making what their commands find beside the changed files."""
    export_bfcl(read_run(FORMAT_1 / "run"), work / "results")
    for name, text in bfcl_files().items():
        path = work / "bfcl" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return {**forms(work), **more_forms(work), **reply_forms(), **benchmark_forms()}
