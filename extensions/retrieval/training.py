"""A training as a folder: what defines it, a checkpoint and a line for each epoch, what came of it.

    training.json     settings, data with their hashes, versions: what the bytes follow from
    base/             an encoder before the first epoch
    epochs/N/         what was learned by the end of epoch N
    curves.jsonl      loss and measures after each epoch
    state/            what is needed to go on; gone when the training is over
    evaluation.json   beside BM25 and the default; there when the training is over

Killed at any moment and resumed, it comes to the same bytes.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from envs.lazy import lazily
from extensions.retrieval.corpus import Corpus
from extensions.retrieval.definition import (
    EVALUATION,
    FILE,
    Data,
    Definition,
    Kind,
    Recipe,
    defined,
)
from extensions.retrieval.epochs import Epoch, Learner
from extensions.retrieval.evaluating import Division, QuerySet, measure
from extensions.retrieval.queries import Parts, Unseen
from extensions.retrieval.rankings import DEFAULT, Ranking
from runner.records.codec import read, written
from runner.records.files import LOCK_FILE, LineFile, locked, unfinished, write_whole, writing
from trajectories.errors import DataError, needing

if TYPE_CHECKING:
    from extensions.retrieval import encoder, encoder_training, linear, pairs, texts, trained
    from extensions.retrieval.lexical import Ranker
    from extensions.retrieval.measures import Measures
else:
    # What they need takes seconds to load.
    encoder = lazily("extensions.retrieval.encoder")
    encoder_training = lazily("extensions.retrieval.encoder_training")
    linear = lazily("extensions.retrieval.linear")
    pairs = lazily("extensions.retrieval.pairs")
    texts = lazily("extensions.retrieval.texts")
    trained = lazily("extensions.retrieval.trained")

BASE, CURVES, STATE = "base", "curves.jsonl", "state"
TRAINED, ALONE = "trained", "trained, no gate"
EXTRA: Mapping[Kind, str] = {"linear": "lexical", "encoder": "training"}

_LIBRARIES: Mapping[Kind, Sequence[str]] = {
    "linear": ("bm25s", "numpy", "scikit-learn", "scipy", "snowballstemmer"),
    "encoder": (
        *("accelerate", "bm25s", "datasets", "numpy", "sentence-transformers", "snowballstemmer"),
        *("tokenizers", "torch", "transformers"),
    ),
}


class Evaluated(NamedTuple):
    """How well one ranking finds what some queries need."""

    queries: str
    held_out: bool
    """Whether the training has not seen these queries."""
    by: str
    measures: Measures

    def to_json(self) -> dict[str, object]:
        """Return it as a JSON object."""
        about = {"queries": self.queries, "held_out": self.held_out, "by": self.by}
        return {**about, **self.measures.to_json()}


Report = Callable[[Epoch, "Measures"], None]
"""Told of each epoch, and how well what is held out of the first queries is found by then."""


class Training:
    """A training and its folder.

    Args:
        folder: Where it is or will be.
        settings: What the user chose.
        sets: The queries of the settings.

    Raises:
        DataError: The queries cannot be divided.
    """

    def __init__(self, folder: Path, settings: Recipe, sets: Sequence[QuerySet]) -> None:
        self.folder = folder
        self._settings = settings
        self._sets = sets
        self._parts = _divided(settings, sets)
        needed = {s for part in self._parts for query in part.training for s in query.relevant}
        self._trained = frozenset(needed)

    def begin(self) -> None:
        """Make the folder and say in it what is trained.

        Raises:
            DataError: There is something already, or it cannot be written.
        """
        definition = self._definition()
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            if any(self.folder.iterdir()):
                raise DataError(str(self.folder), "is not empty: name a new folder, or --resume")
        write_whole(self.folder / FILE, _as_file(written(definition)))

    def learn(self, report: Report) -> list[Evaluated]:
        """Go through the epochs that are left; return what came of it all.

        Raises:
            DataError: The folder is of another training, or cannot be written.
        """
        lock = locked(self.folder)
        try:
            change = defined(self.folder).difference(self._definition())
            if change is not None:
                raise DataError(str(self.folder), f"began otherwise: {change}")
            with needing(EXTRA[self._settings.kind], "turnwise retrieve train"):
                self._go_on(report)
            found = list(self._evaluated())
            write_whole(self.folder / EVALUATION, _as_file([written(each) for each in found]))
            with writing(self.folder):
                shutil.rmtree(self.folder / STATE, ignore_errors=True)
                (self.folder / LOCK_FILE).unlink(missing_ok=True)
            return found
        finally:
            lock.close()

    def _definition(self) -> Definition:
        settings = self._settings
        with needing(EXTRA[settings.kind], "turnwise retrieve train"):
            began = encoder.hash_of(settings.encoder) if settings.encoder else None
            data = tuple(map(_data, self._sets, self._parts))
            software = {name: version(name) for name in _LIBRARIES[settings.kind]}
        software |= {"python": platform.python_version(), "machine": platform.machine()}
        # Sums come out otherwise where they are divided among more threads.
        software["threads"] = os.environ.get("OMP_NUM_THREADS") or str(os.cpu_count())
        return Definition(settings, data, began, software, sorted(self._trained))

    def _go_on(self, report: Report) -> None:
        curves = LineFile(self.folder / CURVES)
        try:
            done = [read(Epoch, line.value, line.where) for line in curves.mended()]
            self._forget(len(done))
            if len(done) == self._settings.epochs:
                return
            learner = self._learner()

            def after(epoch: Epoch) -> None:
                if not isfinite(epoch.loss):
                    message = f"the loss of epoch {epoch.number} is no number: lower --rate"
                    raise DataError(str(self.folder), message)
                self._whole(trained.checkpoint(self.folder, epoch.number), learner.save)
                found = self._measured(epoch.number)
                line = {**written(epoch), **found.to_json()}
                curves.append(json.dumps(line).encode() + b"\n")
                report(epoch, found)

            learner.learn(done[-1] if done else None, after)
        finally:
            curves.close()

    def _forget(self, done: int) -> None:
        """Remove what an epoch left behind that did not come to its end."""
        with writing(self.folder):
            for path in trained.checkpoint(self.folder, 0).parent.glob("*"):
                if not path.name.isdecimal() or int(path.name) > done:
                    shutil.rmtree(path)

    def _whole(self, folder: Path, write: Callable[[Path], None]) -> None:
        """Write a folder that has its name only when all of it is there."""
        part = unfinished(folder)
        with writing(folder):
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            write(part)
            part.replace(folder)

    def _learner(self) -> Learner:
        settings, state = self._settings, self.folder / STATE
        if settings.kind == "linear":
            return linear.LayerTraining(
                [*self._examples()],
                dim=settings.dim or 0,
                rate=settings.rate,
                batch=settings.batch,
                seed=settings.seed,
                epochs=settings.epochs,
                state=state,
            )
        schedule = encoder.Schedule(
            settings.epochs, settings.batch, settings.rate, settings.tokens or 0, settings.seed
        )
        encoder.offline()
        base, found = self.folder / BASE, [*self.pairs()]
        if not base.is_dir():
            said = [text for pair in found for text in (pair.query, pair.positive)]
            self._whole(
                base,
                lambda part: encoder_training.make(settings.encoder or "", said, schedule, part),
            )
        return encoder_training.EncoderTraining(base, found, schedule, state)

    def _examples(self) -> Iterator[linear.Examples]:
        for asked, part in zip(self._sets, self._parts, strict=True):
            places: dict[object, list[int]] = {}
            for place, each in enumerate(asked.corpus.functions):
                places.setdefault(each.signature, []).append(place)
            needed = [[p for s in sorted(q.relevant) for p in places[s]] for q in part.training]
            said = texts.own_texts_of(asked.corpus.functions)
            if part.training:
                yield linear.Examples([query.words for query in part.training], said, needed)

    def pairs(self, negatives: int | None = None) -> Iterator[pairs.Contrast]:
        """Yield what an encoder is trained with."""
        number = self._settings.negatives if negatives is None else negatives
        for asked, part in zip(self._sets, self._parts, strict=True):
            if part.training:
                yield from pairs.pairs(part.training, asked.corpus, number or 0)

    def _alone(self, number: int, corpus: Corpus) -> Ranker:
        folder = trained.checkpoint(self.folder, number)
        return trained.ranker_of(self._settings.kind, folder, corpus)

    def _measured(self, number: int) -> Measures:
        """Return how well what is held out of the first set that has some is found by an epoch."""
        asked, part = next(self._measurable())
        ranker = trained.Gated(asked.corpus, self._trained, self._alone(number, asked.corpus))
        return measure(Ranking(asked.corpus, TRAINED, ranker), part.held_out)

    def _measurable(self) -> Iterator[tuple[QuerySet, Parts]]:
        yield from (each for each in zip(self._sets, self._parts, strict=True) if each[1].held_out)

    def _evaluated(self) -> Iterator[Evaluated]:
        for asked, part in self._measurable():
            corpus = asked.corpus
            alone = self._alone(self._settings.epochs, corpus)
            rankings = {
                "bm25": Ranking(corpus, "bm25"),
                DEFAULT: Ranking(corpus),
                TRAINED: Ranking(corpus, TRAINED, trained.Gated(corpus, self._trained, alone)),
                ALONE: Ranking(corpus, ALONE, alone),
            }
            for by, ranking in rankings.items():
                found = measure(ranking, part.held_out)
                yield Evaluated(asked.name, self._settings.split is not None, by, found)


def _divided(settings: Recipe, sets: Sequence[QuerySet]) -> list[Parts]:
    """Return what is trained with and what is measured: where nothing is held out, the same."""
    if settings.split is None:
        return [Parts(each.queries, each.queries) for each in sets]
    kind = Unseen(settings.split)
    return Division(kind, settings.fold, settings.folds, settings.split_seed).of_all(sets)


def _data(asked: QuerySet, part: Parts) -> Data:
    return Data(
        asked.name,
        asked.corpus.name,
        corpus_sha256=asked.corpus.sha256,
        documents=asked.corpus.size,
        training=len(part.training),
        training_sha256=pairs.hash_of(part.training),
        held_out=len(part.held_out),
        held_out_sha256=pairs.hash_of(part.held_out),
    )


def _as_file(value: object) -> list[bytes]:
    return [json.dumps(value, indent=2).encode() + b"\n"]
