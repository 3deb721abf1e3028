"""The notebooks of the examples, executed by a Jupyter kernel."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.source import ROOT


@pytest.mark.parametrize(
    ("name", "kind", "count"),
    [("first_steps", "text/html", 3), ("data_frames", "image/png", 3)],
)
def test_it_runs_and_shows_its_outputs(tmp_path: Path, name: str, kind: str, count: int) -> None:
    notebook = nbformat.read(ROOT / "examples" / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum(kind in output.get("data", {}) for output in shown) >= count
    assert not any(output.output_type == "error" for output in shown)
