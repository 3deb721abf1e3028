"""The notebook's cells, run as a program; ``make test-docs`` executes it in a kernel."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.source import ROOT

CELLS = json.loads((ROOT / "examples" / "first_steps.ipynb").read_text(encoding="utf-8"))["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]


def test_its_cells_run_in_their_order(tmp_path):
    command = [sys.executable, "-W", "error", "-c", "\n\n".join(CODE)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert '"error"' not in done.stdout
    assert done.stdout.splitlines()[-1] == "1.0 0.75"


def test_it_is_kept_without_what_was_printed():
    made = [cell for cell in CELLS if cell["cell_type"] == "code"]
    assert len(made) >= 6
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in made)
    assert not any(cell["metadata"] for cell in CELLS)
