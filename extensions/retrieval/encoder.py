"""What an encoder begins as, and how it is trained: all that is known without its libraries."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from trajectories.errors import DataError
from trajectories.jsonl import parse_object, read_text

SMALL: dict[str, Any] = {
    "model_type": "bert",
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 512,
    "max_position_embeddings": 512,
}
"""The encoder that is made where none is named: a configuration as transformers reads it."""


class Schedule(NamedTuple):
    """How an encoder is trained."""

    epochs: int
    batch: int
    rate: float
    tokens: int
    """Of a text, at most."""
    seed: int


def offline() -> None:
    """Keep the libraries, before they are loaded, from fetching what they think that they lack."""
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_DATASETS_OFFLINE="1")
    os.environ.update(TOKENIZERS_PARALLELISM="false")


def configuration(what: str) -> dict[str, Any]:
    """Return the configuration of an encoder that is made: ``small``, or what a file holds.

    Raises:
        DataError: It is neither.
    """
    if what == "small":
        return SMALL
    if not Path(what).is_file():
        raise DataError("--encoder", f"{what!r} is not small, nor a configuration, nor a folder")
    return parse_object(read_text(Path(what)), what)


def hash_of(what: str) -> str:
    """Return the hash of what a training begins with, in hex: of files or of a configuration.

    Raises:
        DataError: There is no such encoder.
    """
    folder, found = Path(what), sha256()
    if not folder.is_dir():
        return sha256(json.dumps(configuration(what), sort_keys=True).encode()).hexdigest()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = sha256(path.read_bytes()).hexdigest()
            found.update(json.dumps([path.relative_to(folder).as_posix(), content]).encode())
    return found.hexdigest()
