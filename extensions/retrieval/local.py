"""A ranking by an encoder in a folder on this machine; nothing is ever downloaded.

A folder with an ONNX file and without PyTorch weights is read by fastembed, any other by
sentence-transformers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from extensions.retrieval.encoder import offline
from extensions.retrieval.lexical import Scores, unit
from trajectories.errors import DataError

Encode = Callable[[Sequence[str]], Any]
"""Makes a vector of each text, a row each."""

_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_BATCH = 32


class Encoded:
    """The cosine of the vectors of an encoder."""

    def __init__(self, encode: Encode, texts: Sequence[str]) -> None:
        self._encode = encode
        self._documents = unit(np.asarray(encode(list(texts)), dtype=np.float32))

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score per query and document."""
        found = np.asarray(self._encode(list(queries)), dtype=np.float32)
        return unit(found) @ self._documents.T


def loaded(place: str, texts: Sequence[str]) -> Encoded:
    """Return the ranking of an encoder.

    Raises:
        DataError: The folder holds none.
    """
    folder = Path(place)
    if not folder.is_dir():
        raise DataError("--by", f"local:{place}: there is no such folder, and none is downloaded")
    offline()
    files = sorted(folder.rglob("*.onnx"))
    only_onnx = bool(files) and not any(any(folder.glob(pattern)) for pattern in _WEIGHTS)
    try:
        encode = _by_fastembed(folder, files[0]) if only_onnx else by_sentences(folder)
        return Encoded(encode, texts)
    except ModuleNotFoundError:
        raise
    except Exception as error:  # whatever the libraries make of a stranger's folder
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise DataError(f"local:{place}", f"holds no encoder of texts: {said:.200}") from None


def by_sentences(folder: Path) -> Encode:
    """Return what encodes with sentence-transformers, on the CPU."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)

    def encode(texts: Sequence[str]) -> Any:
        return model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False)

    return encode


def _by_fastembed(folder: Path, file: Path) -> Encode:
    """Return what encodes with fastembed; pooling is the mean unless the folder says otherwise."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    said = folder / "1_Pooling" / "config.json"
    pooling = json.loads(said.read_text(encoding="utf-8")) if said.is_file() else {}
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
