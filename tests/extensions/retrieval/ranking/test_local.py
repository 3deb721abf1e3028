"""Encoders in a folder: one made from a configuration, and what is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.errors import DataError
from extensions.retrieval.corpus import Corpus
from extensions.retrieval.function_texts import make_texts
from extensions.retrieval.rankings import Ranking


@pytest.mark.dense
@pytest.mark.filterwarnings("ignore")
def test_an_encoder_made_from_a_configuration_ranks(tmp_path: Path, shop: Corpus) -> None:
    torch = pytest.importorskip("torch")
    sentence_transformers = pytest.importorskip("sentence_transformers")
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(0)
    tokenizer = BertWordPieceTokenizer()
    tokenizer.train_from_iterator(make_texts(shop.functions), vocab_size=200)
    base = tmp_path / "base"
    base.mkdir()
    tokenizer.save_model(str(base))
    BertTokenizerFast.from_pretrained(str(base)).save_pretrained(base)
    size = {"hidden_size": 32, "intermediate_size": 64, "max_position_embeddings": 64}
    config = BertConfig(vocab_size=200, num_hidden_layers=1, num_attention_heads=2, **size)
    BertModel(config).save_pretrained(base)
    from sentence_transformers import models as modules

    word = modules.Transformer(str(base), max_seq_length=64)
    pooling = modules.Pooling(word.get_word_embedding_dimension())
    made = sentence_transformers.SentenceTransformer(modules=[word, pooling], device="cpu")
    made.save(str(tmp_path / "encoder"))
    ranking = Ranking(shop, f"local:{tmp_path / 'encoder'}")
    for place, text in enumerate(make_texts(shop.functions)):
        assert ranking.find(text, 1)[0].place == place
    again = Ranking(shop, f"local:{tmp_path / 'encoder'}")
    assert (again.scores(["book"]) == ranking.scores(["book"])).all()


def test_what_is_no_folder_is_refused(shop: Corpus, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the folder does not exist, and nothing is downloaded"):
        Ranking(shop, "local:all-MiniLM-L6-v2")
    with pytest.raises(DataError, match="the folder does not exist"):
        Ranking(shop, f"local:{tmp_path / 'nowhere'}")


@pytest.mark.dense
@pytest.mark.filterwarnings("ignore")
def test_a_folder_without_an_encoder_is_refused(shop: Corpus, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    with pytest.raises(DataError, match="contains no text encoder"):
        Ranking(shop, f"local:{tmp_path}")
