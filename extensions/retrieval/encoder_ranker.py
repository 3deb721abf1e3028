"""Ranking by an encoder in a local folder; nothing is downloaded.

If the folder has an ONNX file but no PyTorch weights, fastembed loads the encoder; otherwise,
sentence-transformers loads it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from envs.errors import DataError
from extensions.retrieval.encoder import disable_downloads
from extensions.retrieval.lexical import Scores, unit

Encode = Callable[[Sequence[str]], Any]
"""Function that converts texts to a matrix; each row is the vector of a text."""

_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_BATCH = 32


class EncoderRanker:
    """Ranking by the cosine of an encoder's vectors."""

    def __init__(self, encode: Encode, texts: Sequence[str]) -> None:
        self._encode = encode
        self._documents = unit(np.asarray(encode(list(texts)), dtype=np.float32))

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score for each query and document."""
        found = np.asarray(self._encode(list(queries)), dtype=np.float32)
        return unit(found) @ self._documents.T


def load_encoder_ranker(place: str, texts: Sequence[str]) -> EncoderRanker:
    """Load the encoder in a folder, and return a ranking that uses the encoder.

    Raises DataError if the folder holds no encoder.
    """
    folder = Path(place)
    if not folder.is_dir():
        raise DataError(
            "--by", f"local:{place}: the folder does not exist, and nothing is downloaded"
        )
    disable_downloads()
    files = sorted(folder.rglob("*.onnx"))
    only_onnx = bool(files) and not any(any(folder.glob(pattern)) for pattern in _WEIGHTS)
    try:
        encode = _load_fastembed(folder, files[0]) if only_onnx else load_sentence_encoder(folder)
        return EncoderRanker(encode, texts)
    except ModuleNotFoundError:
        raise
    except Exception as error:  # any error of the libraries
        message = " ".join(f"{type(error).__name__}: {error}".split())
        raise DataError(f"local:{place}", f"contains no text encoder: {message:.200}") from None


def load_sentence_encoder(folder: Path) -> Encode:
    """Return an encoder that uses sentence-transformers on the CPU."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)

    def encode(texts: Sequence[str]) -> Any:
        return model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False)

    return encode


def _load_fastembed(folder: Path, file: Path) -> Encode:
    """Return an encoder that uses fastembed, with mean pooling if no pooling file exists."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    config = folder / "1_Pooling" / "config.json"
    pooling = json.loads(config.read_text(encoding="utf-8")) if config.is_file() else {}
    name = f"turnwise/{folder.resolve()}"
    if name.lower() not in {
        str(each["model"]).lower() for each in TextEmbedding.list_supported_models()
    }:
        TextEmbedding.add_custom_model(
            model=name,
            pooling=PoolingType.CLS if pooling.get("pooling_mode_cls_token") else PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(url="file:nowhere"),
            dim=int(pooling.get("word_embedding_dimension", 1)),
            model_file=str(file.relative_to(folder)),
        )
    model = TextEmbedding(name, specific_model_path=str(folder), local_files_only=True)
    return lambda texts: list(model.embed(list(texts), batch_size=_BATCH))
