"""The training recipe with a tiny model: exported files load in TRL, and the loss falls."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from runner.cli import main

pytest.importorskip("torch")
pytest.importorskip("trl")
pytest.importorskip("peft")
pytestmark = [pytest.mark.dense, pytest.mark.filterwarnings("ignore")]

EXAMPLE = Path(__file__).parents[4] / "examples" / "fine_tune.py"


@pytest.fixture
def example() -> ModuleType:
    """The example as a module."""
    spec = spec_from_file_location("fine_tune", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_the_adapters_of_the_best_epoch_are_kept(example: ModuleType, tmp_path: Path) -> None:
    runs, training, output = tmp_path / "runs", tmp_path / "training", tmp_path / "model"
    asked = ["search", "--model", "scripted:0.1", "--category", "base", "--limit", "20"]
    assert main([*asked, "--run-dir", str(runs)]) == 0
    exported = ["export", str(runs / "dfsdt"), "--format", "trl", "--split", "instruction"]
    assert main([*exported, "--output", str(training)]) == 0
    tokenizer = example.tokenizer_of(example.transcripts(training, output)["train"])
    model = example.model_for(tokenizer)
    before, *epochs, kept = example.fine_tune(training, output, model, tokenizer, example.TINY)
    assert len(epochs) == example.TINY["num_train_epochs"]
    assert min(epochs) < before
    assert kept == pytest.approx(min(epochs), abs=1e-3)
    assert (output / "adapter_model.safetensors").is_file()


def test_the_published_settings_are_valid(example: ModuleType, tmp_path: Path) -> None:
    settings = {**example.PUBLISHED, "use_cpu": True, "bf16": False}
    found = example.SFTConfig(output_dir=str(tmp_path), **settings)
    assert found.get_warmup_steps(1000) == 40
