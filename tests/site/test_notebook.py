"""The notebook of the examples, executed by a Jupyter kernel."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tests.source import ROOT


def test_it_runs_and_shows_tables(tmp_path: Path) -> None:
    notebook = nbformat.read(ROOT / "examples" / "first_steps.ipynb", as_version=4)
    nbformat.validate(notebook)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    tables = [output for output in shown if "text/html" in output.get("data", {})]
    assert len(tables) >= 3
    assert not any(output.output_type == "error" for output in shown)
