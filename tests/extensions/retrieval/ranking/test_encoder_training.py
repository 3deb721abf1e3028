"""Training an encoder: made here or from a folder, its bytes, what is killed, what is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envs.errors import DataError
from extensions.retrieval.corpus_files import load_corpus
from extensions.retrieval.rankings import Ranking
from extensions.retrieval.training import ALONE, TRAINED
from tests.extensions.retrieval.ranking.training_runs import (
    WORDS,
    files,
    material,
    train,
    train_until,
)
from tests.runner.commands.running import run

pytest.importorskip("torch")
pytest.importorskip("accelerate")
pytest.importorskip("datasets")
pytestmark = [pytest.mark.dense, pytest.mark.filterwarnings("ignore")]

SHORT = ("--epochs", 2, "--batch", 4, "--folds", 2, "--fold", 1, "--negatives", 1, "--tokens", 32)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A configuration of an encoder of one layer."""
    path = tmp_path / "tiny.json"
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    more = {"intermediate_size": 32, "max_position_embeddings": 40}
    path.write_text(json.dumps({"model_type": "bert", **size, **more}), encoding="utf-8")
    return path


def test_the_same_seed_gives_the_same_bytes_killed_or_not(
    tmp_path: Path,
    tiny: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = (*material(tmp_path), *SHORT, "--encoder", tiny)
    train(tmp_path / "one", *words)
    assert "loss" not in capsys.readouterr().out
    found = files(tmp_path / "one")
    assert {"training.json", "curves.jsonl", "evaluation.json"} <= {*found}
    assert {path.split("/")[0] for path in found if "/" in path} == {"base", "epochs"}
    assert found["base/model.safetensors"] != found["epochs/1/model.safetensors"]
    assert found["epochs/1/model.safetensors"] != found["epochs/2/model.safetensors"]
    by = [each["by"] for each in json.loads(found["evaluation.json"])]
    assert by == ["bm25", "default", TRAINED, ALONE]
    for epoch in (1, 2):
        folder = tmp_path / f"killed{epoch}"
        train_until(folder, epoch, words, monkeypatch)
        assert train(folder, "--resume") == 0
        assert files(folder) == found
    train(tmp_path / "other", *words, "--seed", 1)
    other = files(tmp_path / "other")
    assert other["epochs/2/model.safetensors"] != found["epochs/2/model.safetensors"]


def test_a_checkpoint_is_trained_further(
    tmp_path: Path, tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (*material(tmp_path), *SHORT, "--split", "none", "--epochs", 30, "--rate", 0.01)
    train(tmp_path / "one", *words, "--encoder", tiny)
    begun = tmp_path / "one" / "epochs" / "30"
    capsys.readouterr()
    train(tmp_path / "two", *words, "--encoder", begun, "--epochs", 1, "--json")
    found = {each["by"]: each["ndcg_5"] for each in json.loads(capsys.readouterr().out)}
    assert found[TRAINED] > found["default"] + 0.05
    # The encoder can be used without the gate, and the training as a whole behind it.
    corpus = load_corpus(str(tmp_path / "tools.jsonl"), None, print)
    alone = Ranking(corpus, f"local:{tmp_path / 'two' / 'epochs' / '1'}")
    assert len(alone.find("the car needs petrol")) == len(WORDS)
    by = f"trained:{tmp_path / 'two'}"
    assert run("retrieve evaluate", *words[:4], "--by", by, "--json") == 0
    [again] = json.loads(capsys.readouterr().out)
    assert again["ndcg_5"] == found[TRAINED]
    (begun / "config.json").write_text("{}")
    with pytest.raises(DataError, match="another definition: encoder_sha256 is"):
        train(tmp_path / "two", "--resume")


@pytest.mark.parametrize("text", ["{}", '{"model_type": "nothing"}', '{"model_type": 3}', "[]"])
def test_what_is_no_configuration_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError):
        train(tmp_path / "run", *material(tmp_path), *SHORT, "--encoder", path)


def test_a_folder_without_an_encoder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "void").mkdir()
    with pytest.raises(DataError, match="is not a text encoder"):
        train(tmp_path / "run", *material(tmp_path), *SHORT, "--encoder", tmp_path / "void")
