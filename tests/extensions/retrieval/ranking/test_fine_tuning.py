"""The example that fine-tunes a toy model: exported files load in TRL, and the loss falls."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from runner.cli import main

pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = [pytest.mark.dense, pytest.mark.filterwarnings("ignore")]

EXAMPLE = Path(__file__).parents[2] / "examples" / "fine_tune.py"


def test_a_tiny_model_learns_from_what_was_exported(tmp_path: Path) -> None:
    runs, training = tmp_path / "runs", tmp_path / "training"
    asked = ["search", "--model", "scripted:0.1", "--category", "base", "--limit", "20"]
    assert main([*asked, "--run-dir", str(runs)]) == 0
    exported = ["export", str(runs / "dfsdt"), "--format", "trl", "--split", "instruction"]
    assert main([*exported, "--output", str(training)]) == 0
    spec = spec_from_file_location("fine_tune", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = module_from_spec(spec)
    spec.loader.exec_module(example)
    before, first, *_, last, after = example.fine_tune(training, tmp_path / "model", steps=20)
    assert last < 0.8 * first
    assert after < 0.8 * before
