"""Definition of a training: all settings that determine the trained weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from envs.errors import DataError
from extensions.retrieval.corpus import Signature
from runner.records.json_codec import read, to_json_value
from trajectories.jsonl import parse_object, read_text

FORMAT = 1
FILE, EVALUATION = "training.json", "evaluation.json"

Kind = Literal["linear", "encoder"]
"""Linear layer on hashed words, or encoder of sentence-transformers."""


class TrainingSettings(NamedTuple):
    """Settings that the user chose."""

    kind: Kind
    queries: Sequence[str]
    corpus: str | None
    dataset: str | None
    epochs: int
    batch: int
    rate: float
    seed: int
    dim: int | None
    """Number of dimensions of a linear layer's vectors."""
    encoder: str | None
    """Initial encoder: ``small``, a configuration file or a checkpoint folder."""
    negatives: int | None
    """Number of hard negatives (similar but unneeded functions) in each training pair."""
    tokens: int | None
    """Maximum length of a text."""
    split: str | None
    """Kind of split, such as ``instruction``. None means that no query is held out."""
    fold: int
    folds: int
    split_seed: int


class TrainingData(NamedTuple):
    """Names, hashes and sizes of the queries and of the searched corpus."""

    queries: str
    corpus: str
    corpus_sha256: str
    documents: int
    training: int
    training_sha256: str
    held_out: int
    held_out_sha256: str


class TrainingDefinition(NamedTuple):
    """All inputs that determine the trained weights."""

    settings: TrainingSettings
    data: Sequence[TrainingData]
    encoder_sha256: str | None
    """Hash of the encoder before the training."""
    software: Mapping[str, str]
    trained: Sequence[Sequence[Any]]
    """Name and parameter names of each function that a training query needs."""
    format: int = FORMAT

    @property
    def signatures(self) -> frozenset[Signature]:
        """Functions that the training queries need."""
        return frozenset((str(name), tuple(map(str, names))) for name, names in self.trained)

    def difference(self, other: TrainingDefinition) -> str | None:
        """Describe the first difference from another definition; None if they are equal."""
        for path, one, two in (
            *_pair_members("settings", self.settings, other.settings),
            *(
                each
                for mine, yours in zip(self.data, other.data, strict=False)
                for each in _pair_members(mine.queries, mine, yours)
            ),
            ("encoder_sha256", self.encoder_sha256, other.encoder_sha256),
            *((name, text, other.software.get(name)) for name, text in self.software.items()),
        ):
            if one != two:
                return f"{path} is {two!r:.60}, but was {one!r:.60}"
        return (
            None if to_json_value(self) == to_json_value(other) else "the trained functions differ"
        )


def _pair_members(where: str, one: Any, two: Any) -> Iterator[tuple[str, Any, Any]]:
    second = to_json_value(two)
    for name, value in to_json_value(one).items():
        yield f"{where}.{name}", value, second[name]


def load_definition(folder: Path) -> TrainingDefinition:
    """Return the definition of the training in a folder.

    Raises DataError if the folder contains no training run, or a run in another format.
    """
    path = folder / FILE
    if not path.is_file():
        raise DataError(str(folder), f"contains no training run: {FILE} is missing")
    value = parse_object(read_text(path), str(path))
    if value.get("format") != FORMAT:
        raise DataError(str(path), f"has format {value.get('format')!r:.20}, not {FORMAT}")
    return read(TrainingDefinition, value, str(path))
