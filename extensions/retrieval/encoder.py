"""Configuration and training schedule of an encoder.

This module needs no extra library.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from envs.errors import DataError
from trajectories.jsonl import parse_object, read_text

SMALL: dict[str, Any] = {
    "model_type": "bert",
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 512,
    "max_position_embeddings": 512,
}
"""Transformers configuration of the default encoder."""


class TrainingSchedule(NamedTuple):
    """Hyperparameters of a training."""

    epochs: int
    batch: int
    rate: float
    tokens: int
    """Maximum length of a text."""
    seed: int


def disable_downloads() -> None:
    """Forbid downloads; call this function before the libraries are loaded."""
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_DATASETS_OFFLINE="1")
    os.environ.update(TOKENIZERS_PARALLELISM="false")


def read_configuration(what: str) -> dict[str, Any]:
    """Return the configuration of a new encoder: ``small``, or the content of a file.

    Raises DataError if the file does not exist or cannot be read.
    """
    if what == "small":
        return SMALL
    if not Path(what).is_file():
        raise DataError("--encoder", f"{what!r} must be `small`, or an existing file or folder")
    return parse_object(read_text(Path(what)), what)


def hash_encoder(what: str) -> str:
    """Return the hex hash of an untrained encoder.

    The hash covers the files of a folder, or else the configuration.

    Raises DataError if the encoder does not exist.
    """
    folder, found = Path(what), sha256()
    if not folder.is_dir():
        return sha256(json.dumps(read_configuration(what), sort_keys=True).encode()).hexdigest()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = sha256(path.read_bytes()).hexdigest()
            found.update(json.dumps([path.relative_to(folder).as_posix(), content]).encode())
    return found.hexdigest()
