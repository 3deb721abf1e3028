"""What defines a training: all that its bytes follow from, and where they stand in its folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from extensions.retrieval.corpus import Signature
from runner.records.codec import read, written
from trajectories.errors import DataError
from trajectories.jsonl import parse_object, read_text

FORMAT = 1
FILE, EVALUATION = "training.json", "evaluation.json"

Kind = Literal["linear", "encoder"]
"""What is trained: a linear layer on hashed words, or an encoder of sentence-transformers."""


class Recipe(NamedTuple):
    """What the user chose."""

    kind: Kind
    queries: Sequence[str]
    corpus: str | None
    dataset: str | None
    epochs: int
    batch: int
    rate: float
    seed: int
    dim: int | None
    """Numbers of a vector of a linear layer."""
    encoder: str | None
    """What an encoder begins as: ``small``, a configuration, or a checkpoint."""
    negatives: int | None
    """Functions that BM25 finds and that are not needed, for each pair."""
    tokens: int | None
    """Of a text, at most."""
    split: str | None
    """What queries that are held out do not share with the others; None to hold out none."""
    fold: int
    folds: int
    split_seed: int


class Data(NamedTuple):
    """Queries of one name, and their corpus."""

    queries: str
    corpus: str
    corpus_sha256: str
    documents: int
    training: int
    training_sha256: str
    held_out: int
    held_out_sha256: str


class Definition(NamedTuple):
    """All that the bytes of a training follow from."""

    settings: Recipe
    data: Sequence[Data]
    encoder_sha256: str | None
    """Of what an encoder begins as."""
    software: Mapping[str, str]
    trained: Sequence[Sequence[Any]]
    """Name and parameter names of each function that a query of the training needs."""
    format: int = FORMAT

    @property
    def signatures(self) -> frozenset[Signature]:
        """The functions that a query of the training needs."""
        return frozenset((str(name), tuple(map(str, names))) for name, names in self.trained)

    def difference(self, other: Definition) -> str | None:
        """Say in what another definition differs first, None where in nothing."""
        for path, one, two in (
            *_pairs("settings", self.settings, other.settings),
            *(
                each
                for mine, yours in zip(self.data, other.data, strict=False)
                for each in _pairs(mine.queries, mine, yours)
            ),
            ("encoder_sha256", self.encoder_sha256, other.encoder_sha256),
            *((name, text, other.software.get(name)) for name, text in self.software.items()),
        ):
            if one != two:
                return f"{path} is {two!r:.60}, was {one!r:.60}"
        return None if written(self) == written(other) else "the functions are not the same"


def _pairs(where: str, one: Any, two: Any) -> Iterator[tuple[str, Any, Any]]:
    then = written(two)
    for name, value in written(one).items():
        yield f"{where}.{name}", value, then[name]


def defined(folder: Path) -> Definition:
    """Return what defines the training in a folder.

    Raises:
        DataError: There is none in it, or one of another version.
    """
    path = folder / FILE
    if not path.is_file():
        raise DataError(str(folder), f"holds no training: there is no {FILE} in it")
    value = parse_object(read_text(path), str(path))
    if value.get("format") != FORMAT:
        raise DataError(str(path), f"is of format {value.get('format')!r:.20}, not {FORMAT}")
    return read(Definition, value, str(path))
