"""Training a linear layer: what it learns, the gate, its folder, what is killed, bad input."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from random import Random

import numpy as np
import pytest

from envs.errors import DataError
from extensions.retrieval import lexical, linear
from extensions.retrieval.commands.train import Options
from extensions.retrieval.corpus import Corpus
from extensions.retrieval.evaluation import QuerySet, load_query_set
from extensions.retrieval.gated_ranker import GatedRanker
from extensions.retrieval.rankings import Ranking
from extensions.retrieval.training import ALONE, TRAINED, Training
from runner.cli import main
from tests.extensions.retrieval.ranking.training_runs import files, material, train, train_until
from tests.runner.commands.running import run

Captured = pytest.CaptureFixture[str]
SMALL = ("--epochs", 3, "--dim", 32, "--batch", 4, "--folds", 2, "--fold", 1)


def exec_options(**changes: object) -> Options:
    options = {"folder": Path(), "queries": "exec", "epochs": 3, "dim": 64, **changes}
    return Options(**options)  # type: ignore[arg-type]


def learned(folder: Path, options: Options, asked: QuerySet) -> dict[str, float]:
    """Return NDCG@5 by ranking."""
    training = Training(folder, options.settings, [asked])
    training.begin()
    return {each.by: each.measures.ndcg_5 for each in training.learn(lambda *_: None)}


@pytest.fixture(scope="module")
def executable() -> QuerySet:
    return load_query_set("exec", None, None, print)


def test_it_learns_what_words_do_not_say(tmp_path: Path, executable: QuerySet) -> None:
    found = learned(tmp_path / "run", exec_options(split="none"), executable)
    assert found[TRAINED] > found["default"] + 0.05
    assert found["default"] > found["bm25"] > 0.6


def test_on_unseen_functions_it_is_as_good_as_words(tmp_path: Path, executable: QuerySet) -> None:
    for split in ("tool", "category"):
        found = learned(tmp_path / split, exec_options(split=split, epochs=1), executable)
        assert found[TRAINED] >= found["default"] - 0.01


def test_random_labels_teach_nothing(tmp_path: Path, executable: QuerySet) -> None:
    labels = [query.relevant for query in executable.queries]
    Random(0).shuffle(labels)
    queries = [q._replace(relevant=r) for q, r in zip(executable.queries, labels, strict=True)]
    asked = executable._replace(queries=tuple(queries))
    found = learned(tmp_path / "run", exec_options(), asked)
    assert found[ALONE] < 0.15


def test_the_gate_moves_trained_functions_only(shop: Corpus) -> None:
    queries = ["book a flight", "a message for a friend", "cancel it", "nothing of that"]

    class Reversed:
        def scores(self, queries: list[str]) -> object:
            return np.tile(np.arange(1.0, 5.0), (len(queries), 1))

    trained = frozenset(shop.functions[place].signature for place in (0, 2, 3))
    before = lexical.rank_documents(Ranking(shop).scores(queries))
    after = lexical.rank_documents(GatedRanker(shop, trained, Reversed()).scores(queries))
    assert (before[:, 1] == after[:, 1]).all()
    assert (after[:, 3] < after[:, 2]).all()
    assert (after[:, 2] < after[:, 0]).all()


def test_the_gate_leaves_queries_of_which_nothing_is_known(shop: Corpus) -> None:
    class Silent:
        def scores(self, queries: list[str]) -> object:
            return np.zeros((len(queries), 4))

    everything = frozenset(each.signature for each in shop.functions)
    gated = GatedRanker(shop, everything, Silent()).scores(["cancel a booking"])
    assert (
        lexical.order(gated).tolist()
        == lexical.order(Ranking(shop).scores(["cancel a booking"])).tolist()
    )


def test_a_training_is_a_folder(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "run"
    assert train(folder, *material(tmp_path), *SMALL, "--seed", 7) == 0
    said = capsys.readouterr()
    assert [line for line in said.err.splitlines() if "epoch 3 of 3: loss" in line]
    assert said.out.splitlines()[-1] == f"--by trained:{folder}"
    found = files(folder)
    layers = {f"epochs/{number}/layer.npz" for number in (1, 2, 3)}
    assert {*found} == {"training.json", "curves.jsonl", "evaluation.json", *layers}
    definition = json.loads(found["training.json"])
    assert definition["settings"]["seed"] == 7
    assert definition["software"]["numpy"] == np.__version__
    [data] = definition["data"]
    assert data["training"] + data["held_out"] == 14
    assert all(len(data[name]) == 64 for name in data if name.endswith("sha256"))
    curves = [json.loads(line) for line in found["curves.jsonl"].splitlines()]
    assert [each["number"] for each in curves] == [1, 2, 3]
    assert curves[-1]["loss"] < curves[0]["loss"]
    by = [each["by"] for each in json.loads(found["evaluation.json"])]
    assert by == ["bm25", "default", TRAINED, ALONE]


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    words = (*material(tmp_path), *SMALL)
    for name in ("one", "two"):
        train(tmp_path / name, *words)
    train(tmp_path / "other", *words, "--seed", 1)
    one, two, other = (files(tmp_path / name) for name in ("one", "two", "other"))
    assert one == two
    assert one["epochs/3/layer.npz"] != other["epochs/3/layer.npz"]


@pytest.mark.parametrize("epoch", [1, 2, 3])
def test_what_was_killed_goes_on_to_the_same_bytes(
    tmp_path: Path, epoch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (*material(tmp_path), *SMALL)
    train(tmp_path / "whole", *words)
    folder = tmp_path / "killed"
    train_until(folder, epoch, words, monkeypatch)
    if epoch == 2:
        with (folder / "curves.jsonl").open("a", encoding="utf-8") as file:
            file.write('{"number": 2, "st')
    with pytest.raises(DataError, match="is unfinished; run turnwise retrieve train"):
        run("retrieve query", "x", *words[2:4], "--by", f"trained:{folder}")
    assert train(folder, "--resume") == 0
    assert files(folder) == files(tmp_path / "whole")
    # Once more changes nothing, and the same options may be given again.
    assert train(folder, *words, "--resume") == 0
    assert files(folder) == files(tmp_path / "whole")


def test_a_trained_ranking_is_used_by_its_folder(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "run"
    words = material(tmp_path)
    train(folder, *words, *SMALL, "--epochs", 20, "--split", "none", "--json")
    evaluated = json.loads(capsys.readouterr().out)
    by = f"trained:{folder}"
    assert run("retrieve evaluate", *words, "--by", by, "--json") == 0
    [found] = json.loads(capsys.readouterr().out)
    [then] = [each for each in evaluated if each["by"] == TRAINED]
    assert found["ndcg_5"] == then["ndcg_5"]
    assert run("retrieve query", "fuel for the road", *words[2:], "--by", by, "-k", 1) == 0
    assert "fill_tank" in capsys.readouterr().out


def test_a_run_offers_what_a_trained_ranking_finds(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "run"
    train(folder, "--queries", "own", "--epochs", 1, "--dim", 16, "--folds", 40)
    capsys.readouterr()
    words = ("--model", "oracle", "--category", "base", "--limit", 3, "--retrieve", "backends=2")
    assert run("eval", *words, "--retrieve-by", f"trained:{folder}") == 0
    assert f"ranking trained:{folder}" in capsys.readouterr().out
    shutil.rmtree(folder)
    with pytest.raises(DataError, match="contains no training"):
        run("eval", *words, "--retrieve-by", f"trained:{folder}")


def test_another_corpus_is_refused_with_both_hashes(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = material(tmp_path)
    train(folder, *words, *SMALL, "--epochs", 1)
    then = json.loads((folder / "training.json").read_text())["data"][0]["corpus_sha256"]
    with pytest.raises(DataError, match=rf"{then[:12]}.*, not for own \([0-9a-f]{{12}}\)"):
        run("retrieve query", "x", "--by", f"trained:{folder}")


def test_pairs_can_be_had(tmp_path: Path) -> None:
    words = material(tmp_path)
    out = tmp_path / "pairs.jsonl"
    train(tmp_path / "run", *words, *SMALL, "--split", "none", "--export-pairs", out)
    pairs = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(pairs) == 14
    for pair in pairs:
        assert len(pair["negatives"]) == 2
        assert pair["positive"] not in pair["negatives"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--negatives", "2"), "needs --encoder: add it, or leave"),
        (("--tokens", "64"), "needs --encoder: add it, or leave"),
        (("--encoder", "small", "--dim", "8"), "cannot be combined with --encoder"),
        (("--encoder", "/nowhere"), "must be `small`, or an existing file or folder"),
        (("--epochs", "0"), "is not a whole number from 1 to 1e18"),
        (("--rate", "nan"), "is not a number between 0 and 1"),
        (("--rate", "-1"), "is not a number between 0 and 1"),
        (("--split", "words"), "invalid choice"),
        (("--fold", "7"), "is too large"),
        (("--queries", "nobody"), "use a run folder, a file or one of own, exec"),
        (("--queries", "exec,"), "has an empty name; remove"),
        (("--resume",), "contains no training"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path, words: tuple[str, ...], why: str, capsys: Captured
) -> None:
    more = () if "--queries" in words else ("--queries", "exec")
    status: object
    try:
        status = main(["retrieve", "train", str(tmp_path / "run"), *more, *words])
    except SystemExit as ended:
        status = ended.code
    said = capsys.readouterr()
    assert status == 2
    assert said.out == ""
    assert why in said.err
    assert said.err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_pairs_that_cannot_be_written_leave_nothing(tmp_path: Path) -> None:
    words = (*material(tmp_path), *SMALL, "--export-pairs", tmp_path / "no" / "pairs.jsonl")
    with pytest.raises(DataError, match="cannot be written"):
        train(tmp_path / "run", *words)
    assert not (tmp_path / "run").exists()


def test_a_loss_that_is_no_number_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = (*material(tmp_path), *SMALL)
    with monkeypatch.context() as patch:
        patch.setattr(linear.LayerTraining, "_train_epoch", lambda *_: float("nan"))
        with pytest.raises(DataError, match="the loss of epoch 1 is not a number; lower --rate"):
            train(tmp_path / "run", *words)
    # Nothing of it stays.
    assert train(tmp_path / "run", *words, "--resume") == 0


def test_what_is_there_stays(tmp_path: Path) -> None:
    words = (*material(tmp_path), *SMALL)
    with pytest.raises(DataError, match="is not empty"):
        train(tmp_path, *words)
    train(tmp_path / "run", *words)
    with pytest.raises(DataError, match="is not empty"):
        train(tmp_path / "run", *words)


def test_a_training_goes_on_as_it_began(tmp_path: Path) -> None:
    words = (*material(tmp_path), *SMALL)
    folder = tmp_path / "run"
    train(folder, *words)
    with pytest.raises(DataError, match="is 9 now, but was 3 at the start"):
        train(folder, "--resume", "--epochs", 9)
    asked = tmp_path / "asked.jsonl"
    asked.write_text(asked.read_text().replace("petrol", "water"), encoding="utf-8")
    with pytest.raises(DataError, match=r"another definition: .*_sha256 is "):
        train(folder, "--resume")


def compressed() -> bytes:
    """Return an archive of few bytes that fills much memory."""
    content = BytesIO()
    np.savez_compressed(content, weights=np.zeros(10_000_000), rows=np.zeros(1), matrix=np.zeros(1))
    return content.getvalue()


def damaged_layers() -> Iterator[bytes]:
    """Yield layers with changed bytes."""
    content, random = BytesIO(), Random(1)
    np.savez(content, weights=np.ones(40), rows=np.zeros(3), matrix=np.ones((3, 3)))
    for _ in range(500):
        changed = bytearray(content.getvalue())
        for _ in range(3):
            changed[random.randrange(len(changed))] = random.randrange(256)
        yield bytes(changed)


def test_no_damage_to_a_layer_raises_another_error(tmp_path: Path) -> None:
    path = tmp_path / linear.FILE
    path.write_bytes(compressed())
    with pytest.raises(DataError, match="contains no layer: ValueError: its arrays are compressed"):
        linear.LinearLayer.load(tmp_path)
    for content in damaged_layers():
        path.write_bytes(content)
        with pytest.raises(DataError):
            linear.LinearLayer.load(tmp_path)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", b"no archive"])
def test_a_damaged_layer_is_refused(tmp_path: Path, damage: bytes) -> None:
    folder = tmp_path / "run"
    words = material(tmp_path)
    train(folder, *words, *SMALL)
    (folder / "epochs" / "3" / "layer.npz").write_bytes(damage)
    with pytest.raises(DataError, match="contains no layer"):
        run("retrieve query", "x", *words[2:], "--by", f"trained:{folder}")
    (folder / "training.json").write_text('{"format": 2}')
    with pytest.raises(DataError, match="has format 2, not 1"):
        run("retrieve query", "x", *words[2:], "--by", f"trained:{folder}")
