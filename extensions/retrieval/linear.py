"""A small linear layer: words and pieces of words, made into vectors that queries share with texts.

Features are logarithms of counts, hashed, times their inverse document frequency. One matrix, which
begins as a random projection, leads from them to a space of few dimensions; it is trained by the
softmax over all functions that some query of the training needs. Needs no torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer

from extensions.retrieval.epochs import Epoch
from extensions.retrieval.lexical import Scores, unit
from extensions.retrieval.texts import parted, words
from runner.records.files import write_whole
from trajectories.errors import DataError

FILE = "layer.npz"

_HASHED = 1 << 14
"""Places that words have, and as many that pieces have."""
_PIECES = (3, 5)
_TEMPERATURE = 0.05
_BETAS = 0.9, 0.999
_EPSILON = 1e-8

Array = Any


def features(texts: Sequence[str]) -> Any:
    """Return the logarithms of the counts of words and pieces, a sparse row for each text."""
    shared = {"n_features": _HASHED, "alternate_sign": False, "norm": None, "dtype": np.float32}
    by_word = HashingVectorizer(analyzer=words, **shared)
    by_piece = HashingVectorizer(
        analyzer="char_wb", ngram_range=_PIECES, preprocessor=_plain, **shared
    )
    found = sparse.hstack([by_word.transform(texts), by_piece.transform(texts)], format="csr")
    found.data = np.log1p(found.data)
    return found


def _plain(text: str) -> str:
    return parted(text).lower()


class Layer(NamedTuple):
    """What a training leaves behind."""

    weights: Array
    """The inverse document frequency of each feature."""
    rows: Array
    """The features that a text of the training has, ascending; others count nothing."""
    matrix: Array
    """Where each of those leads to, a row each."""

    def weighted(self, texts: Sequence[str]) -> Any:
        """Return what the matrix is multiplied with, a sparse row for each text."""
        found, halves = features(texts), []
        for half in (slice(None, _HASHED), slice(_HASHED, None)):
            # Words and pieces count alike, however many more pieces there are.
            part = found[:, half].multiply(self.weights[half]).tocsr()
            length = np.sqrt(np.asarray(part.multiply(part).sum(axis=1)).ravel())
            halves.append(sparse.diags_array(1 / np.where(length == 0, 1, length)) @ part)
        return sparse.hstack(halves, format="csr").astype(np.float32)[:, self.rows]

    def vectors(self, texts: Sequence[str]) -> Array:
        """Return vectors of length 1, a row each; of length 0 where nothing is known of a text."""
        return unit(self.weighted(texts) @ self.matrix.astype(np.float32))

    def save(self, folder: Path) -> None:
        """Write the layer into a folder."""
        _write(folder / FILE, self._replace(matrix=self.matrix.astype(np.float16))._asdict())

    @classmethod
    def load(cls, folder: Path) -> Layer:
        """Read a layer.

        Raises:
            DataError: There is none in the folder.
        """
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
            raise DataError(str(folder / FILE), "is no layer of this version")
        return found


class Examples(NamedTuple):
    """Queries of one corpus, and which of its documents each needs."""

    queries: Sequence[str]
    texts: Sequence[str]
    needed: Sequence[Sequence[int]]
    """Places of documents, at least one for each query."""


class LayerTraining:
    """A layer on its way.

    Args:
        examples: What it learns from.
        dim: Numbers of a vector.
        rate: How far a step of Adam goes.
        batch: Queries of a step.
        seed: Of where it begins, and of the order of the queries.
        epochs: How often it sees every query.
        state: A folder for what is needed to go on.
    """

    def __init__(
        self,
        examples: Sequence[Examples],
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
        self._layer = Layer(weights, rows, (start / np.sqrt(dim)).astype(np.float32))
        self._first = np.zeros_like(self._layer.matrix)
        self._second = np.zeros_like(self._layer.matrix)
        self._steps = 0
        self._sets = [_Set.of(self._layer, each) for each in examples]

    def learn(self, last: Epoch | None, after: Callable[[Epoch], None]) -> None:
        """Go through the epochs after the last one; call ``after`` when each is over."""
        if last is not None:
            self._go_on(self._kept(last.number))
        for number in range(last.number + 1 if last else 1, self._epochs + 1):
            loss = self._epoch(number)
            self._keep(self._kept(number))
            after(Epoch(number, self._steps, round(loss, 6)))
            self._kept(number - 1).unlink(missing_ok=True)

    def save(self, folder: Path) -> None:
        """Write the layer as it is."""
        self._layer.save(folder)

    def _kept(self, number: int) -> Path:
        return self._state / f"{number}.npz"

    def _epoch(self, number: int) -> float:
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

    def _step(self, examples: _Set, chosen: Array) -> float:
        loss, gradient = examples.slope(self._layer.matrix, chosen)
        self._steps += 1
        one, two = _BETAS
        self._first += (1 - one) * (gradient - self._first)
        self._second += (1 - two) * (gradient * gradient - self._second)
        mean = self._first / (1 - one**self._steps)
        spread = np.sqrt(self._second / (1 - two**self._steps))
        self._layer.matrix[...] -= (self._rate * mean / (spread + _EPSILON)).astype(np.float32)
        return loss

    def _keep(self, path: Path) -> None:
        parts = {"matrix": self._layer.matrix, "first": self._first, "second": self._second}
        _write(path, {**parts, "steps": np.asarray(self._steps)})

    def _go_on(self, path: Path) -> None:
        found = _read(path, ("matrix", "first", "second", "steps"))
        if any(found[name].shape != self._first.shape for name in ("matrix", "first", "second")):
            raise DataError(str(path), "is of another training")
        self._layer.matrix[...] = found["matrix"]
        self._first, self._second = found["first"], found["second"]
        self._steps = int(found["steps"])


class _Set(NamedTuple):
    """Examples as features."""

    queries: Any
    documents: Any
    """Only those that some query needs."""
    wanted: Array
    """For each query the share of each document in what it needs."""

    @classmethod
    def of(cls, layer: Layer, examples: Examples) -> _Set:
        known = sorted({place for places in examples.needed for place in places})
        column = {place: number for number, place in enumerate(known)}
        wanted = np.zeros((len(examples.queries), len(known)), dtype=np.float32)
        for row, places in enumerate(examples.needed):
            wanted[row, [column[place] for place in places]] = 1 / len(places)
        texts = [examples.texts[place] for place in known]
        return cls(layer.weighted(examples.queries), layer.weighted(texts), wanted)

    def slope(self, matrix: Array, chosen: Array) -> tuple[float, Array]:
        """Return the loss of some queries, and which way it grows."""
        queries, wanted = self.queries[chosen], self.wanted[chosen]
        asked, asked_length = _unit(queries @ matrix)
        told, told_length = _unit(self.documents @ matrix)
        scores = asked @ told.T / _TEMPERATURE
        scores -= scores.max(axis=1, keepdims=True)
        chance = np.exp(scores)
        chance /= chance.sum(axis=1, keepdims=True)
        loss = -float((wanted * np.log(chance + 1e-12)).sum())
        push = (chance - wanted) / (_TEMPERATURE * len(chosen))
        by_query = _across(push @ told, asked) / asked_length
        by_text = _across(push.T @ asked, told) / told_length
        return loss, queries.T @ by_query + self.documents.T @ by_text


def _unit(vectors: Array) -> tuple[Array, Array]:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    length = np.where(length == 0, 1, length)
    return vectors / length, length


def _across(push: Array, along: Array) -> Array:
    """Return what of a push is across vectors of length 1: the rest would only change lengths."""
    return push - along * (push * along).sum(axis=1, keepdims=True)


class Projected:
    """The cosine of the vectors that a layer makes of texts."""

    def __init__(self, layer: Layer, texts: Sequence[str]) -> None:
        self._layer = layer
        self._documents = layer.vectors(texts)

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score per query and document."""
        return self._layer.vectors(queries) @ self._documents.T


def _write(path: Path, parts: dict[str, Array]) -> None:
    whole = BytesIO()
    np.savez(whole, **parts)
    write_whole(path, [whole.getvalue()])


def _read(path: Path, names: Sequence[str]) -> dict[str, Array]:
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as found:
            return {name: found[name] for name in names}
    except (OSError, ValueError, KeyError, BadZipFile, EOFError) as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise DataError(str(path), f"holds no layer: {said:.200}") from None
