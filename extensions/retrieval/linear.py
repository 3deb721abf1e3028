"""Linear layer that maps queries and function texts into one vector space, without torch.

Features are hashed words and character n-grams, weighted by TF-IDF. One matrix, initially a random
projection, maps the features to few dimensions. The loss is the softmax over all functions that
training queries need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer

from envs.errors import DataError
from extensions.retrieval.function_texts import split_names, words
from extensions.retrieval.learner import Epoch
from extensions.retrieval.lexical import Scores, unit
from runner.records.durable_files import write_whole

FILE = "layer.npz"

_HASHED = 1 << 14
"""Number of hash buckets for words, and number of separate buckets for character n-grams."""
_PIECES = (3, 5)
_TEMPERATURE = 0.05
_BETAS = 0.9, 0.999
_EPSILON = 1e-8

Array = Any


def features(texts: Sequence[str]) -> Any:
    """Return the logarithms of word and n-gram counts as a sparse matrix, with one row per text."""
    shared = {"n_features": _HASHED, "alternate_sign": False, "norm": None, "dtype": np.float32}
    pieces = {"analyzer": "char_wb", "ngram_range": _PIECES}
    by_word = HashingVectorizer(analyzer=words, **shared)
    by_piece = HashingVectorizer(preprocessor=lambda t: split_names(t).lower(), **pieces, **shared)
    found = sparse.hstack([by_word.transform(texts), by_piece.transform(texts)], format="csr")
    found.data = np.log1p(found.data)
    return found


class LinearLayer(NamedTuple):
    """Trained layer."""

    weights: Array
    """Inverse document frequency of each feature."""
    rows: Array
    """Features that occur in the training texts, in ascending order. All other features are
    ignored."""
    matrix: Array
    """Matrix with one vector for each feature in ``rows``."""

    def weighted(self, texts: Sequence[str]) -> Any:
        """Return a sparse matrix of weighted features, with one row per text."""
        found, halves = features(texts), []
        for half in (slice(None, _HASHED), slice(_HASHED, None)):
            # Words and n-grams have equal weight, although there are more n-grams.
            part = found[:, half].multiply(self.weights[half]).tocsr()
            length = np.sqrt(np.asarray(part.multiply(part).sum(axis=1)).ravel())
            halves.append(sparse.diags_array(1 / np.where(length == 0, 1, length)) @ part)
        return sparse.hstack(halves, format="csr").astype(np.float32)[:, self.rows]

    def vectors(self, texts: Sequence[str]) -> Array:
        """Return one row per text: a unit vector, or zeros for a text without known features."""
        return unit(self.weighted(texts) @ self.matrix.astype(np.float32))

    def save(self, folder: Path) -> None:
        """Write the layer into a folder."""
        _write(folder / FILE, self._replace(matrix=self.matrix.astype(np.float16))._asdict())

    @classmethod
    def load(cls, folder: Path) -> LinearLayer:
        """Read a layer from a folder. Raises DataError if the folder contains no layer."""
        found = cls(**_read(folder / FILE, cls._fields))
        fits = (
            found.weights.shape == (2 * _HASHED,)
            and found.matrix.ndim == 2
            and found.rows.shape == found.matrix.shape[:1]
            and found.rows.dtype.kind == "i"
            and all(0 <= place < 2 * _HASHED for place in found.rows)
            and all(np.isfinite(part).all() for part in (found.weights, found.matrix))
        )
        if not fits:
            raise DataError(
                str(folder / FILE), "is not a layer of this version; train the layer again"
            )
        return found


class QueryExamples(NamedTuple):
    """Queries for one corpus, and the needed documents of each query."""

    queries: Sequence[str]
    texts: Sequence[str]
    needed: Sequence[Sequence[int]]
    """Indexes into ``texts``, at least one per query."""


class LayerTraining:
    """Layer training that can be resumed.

    ``rate`` is the step size of Adam. ``batch`` is the number of queries per step. ``state`` is the
    folder of the checkpoints.
    """

    def __init__(
        self,
        examples: Sequence[QueryExamples],
        *,
        dim: int,
        rate: float,
        batch: int,
        seed: int,
        epochs: int,
        state: Path,
    ) -> None:
        self._rate, self._batch, self._seed = rate, batch, seed
        self._epochs, self._state = epochs, state
        texts = [text for each in examples for text in (*each.queries, *each.texts)]
        having = np.bincount(features(texts).indices, minlength=2 * _HASHED)
        weights = (np.log((1 + len(texts)) / (1 + having)) + 1).astype(np.float32)
        rows = np.flatnonzero(having).astype(np.int32)
        start = np.random.default_rng([seed, 0]).standard_normal((len(rows), dim))
        self._layer = LinearLayer(weights, rows, (start / np.sqrt(dim)).astype(np.float32))
        self._first = np.zeros_like(self._layer.matrix)
        self._second = np.zeros_like(self._layer.matrix)
        self._steps = 0
        self._sets = [_FeatureSet.of(self._layer, each) for each in examples]

    def learn(self, last: Epoch | None, after: Callable[[Epoch], None]) -> None:
        """Train the remaining epochs; call ``after`` at the end of each epoch."""
        if last is not None:
            self._resume(self._state_file(last.number))
        for number in range(last.number + 1 if last else 1, self._epochs + 1):
            loss = self._train_epoch(number)
            self._save_state(self._state_file(number))
            after(Epoch(number, self._steps, round(loss, 6)))
            self._state_file(number - 1).unlink(missing_ok=True)

    def save(self, folder: Path) -> None:
        """Write the current layer into a folder."""
        self._layer.save(folder)

    def _state_file(self, number: int) -> Path:
        return self._state / f"{number}.npz"

    def _train_epoch(self, number: int) -> float:
        chance = np.random.default_rng([self._seed, number])
        batches = []
        for each in self._sets:
            order = chance.permutation(each.queries.shape[0])
            starts = range(0, len(order), self._batch)
            batches += [(each, order[start : start + self._batch]) for start in starts]
        total = 0.0
        for place in chance.permutation(len(batches)):
            total += self._step(*batches[place])
        return total / float(sum(each.queries.shape[0] for each in self._sets))

    def _step(self, examples: _FeatureSet, chosen: Array) -> float:
        loss, gradient = examples.slope(self._layer.matrix, chosen)
        self._steps += 1
        one, two = _BETAS
        self._first += (1 - one) * (gradient - self._first)
        self._second += (1 - two) * (gradient * gradient - self._second)
        mean = self._first / (1 - one**self._steps)
        spread = np.sqrt(self._second / (1 - two**self._steps))
        self._layer.matrix[...] -= (self._rate * mean / (spread + _EPSILON)).astype(np.float32)
        return loss

    def _save_state(self, path: Path) -> None:
        parts = {"matrix": self._layer.matrix, "first": self._first, "second": self._second}
        _write(path, {**parts, "steps": np.asarray(self._steps)})

    def _resume(self, path: Path) -> None:
        found = _read(path, ("matrix", "first", "second", "steps"))
        shape = self._first.shape
        shapes = {"matrix": shape, "first": shape, "second": shape, "steps": ()}
        if any(found[name].shape != wanted for name, wanted in shapes.items()):
            raise DataError(
                str(path), "is a checkpoint of a different training; start a new training"
            )
        self._layer.matrix[...] = found["matrix"]
        self._first, self._second = found["first"], found["second"]
        self._steps = int(found["steps"])


class _FeatureSet(NamedTuple):
    """Feature matrices of examples."""

    queries: Any
    documents: Any
    """Features of the needed documents."""
    target: Array
    """Target distribution per query: equal shares for the needed documents, 0 for others."""

    @classmethod
    def of(cls, layer: LinearLayer, examples: QueryExamples) -> _FeatureSet:
        known = sorted({place for places in examples.needed for place in places})
        column = {place: number for number, place in enumerate(known)}
        target = np.zeros((len(examples.queries), len(known)), dtype=np.float32)
        for row, places in enumerate(examples.needed):
            target[row, [column[place] for place in places]] = 1 / len(places)
        texts = [examples.texts[place] for place in known]
        return cls(layer.weighted(examples.queries), layer.weighted(texts), target)

    def slope(self, matrix: Array, chosen: Array) -> tuple[float, Array]:
        queries, target = self.queries[chosen], self.target[chosen]
        query_units, query_length = _unit(queries @ matrix)
        text_units, text_length = _unit(self.documents @ matrix)
        scores = query_units @ text_units.T / _TEMPERATURE
        scores -= scores.max(axis=1, keepdims=True)
        chance = np.exp(scores)
        chance /= chance.sum(axis=1, keepdims=True)
        loss = -float((target * np.log(chance + 1e-12)).sum())
        push = (chance - target) / (_TEMPERATURE * len(chosen))
        by_query = _project(push @ text_units, query_units) / query_length
        by_text = _project(push.T @ query_units, text_units) / text_length
        return loss, queries.T @ by_query + self.documents.T @ by_text


def _unit(vectors: Array) -> tuple[Array, Array]:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    length = np.where(length == 0, 1, length)
    return vectors / length, length


def _project(push: Array, along: Array) -> Array:
    return push - along * (push * along).sum(axis=1, keepdims=True)


class LayerRanker:
    """Ranking by the cosine of a layer's vectors."""

    def __init__(self, layer: LinearLayer, texts: Sequence[str]) -> None:
        self._layer = layer
        self._documents = layer.vectors(texts)

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score for each query and document."""
        return self._layer.vectors(queries) @ self._documents.T


def _write(path: Path, parts: dict[str, Array]) -> None:
    whole = BytesIO()
    np.savez(whole, **parts)
    write_whole(path, [whole.getvalue()])


def _read(path: Path, names: Sequence[str]) -> dict[str, Array]:
    try:
        content = path.read_bytes()
        with ZipFile(BytesIO(content)) as packed:
            # A layer is not compressed, so a small file cannot fill the memory.
            if sum(each.file_size for each in packed.infolist()) > len(content):
                raise ValueError("its arrays are compressed")
        with np.load(BytesIO(content), allow_pickle=False) as found:
            arrays = {name: found[name] for name in names}
        if any(array.dtype.kind not in "fi" for array in arrays.values()):
            raise ValueError("its arrays contain no numbers")
        return arrays
    except Exception as error:  # a damaged archive raises errors of many types
        message = " ".join(f"{type(error).__name__}: {error}".split())
        raise DataError(str(path), f"contains no layer: {message:.200}") from None
