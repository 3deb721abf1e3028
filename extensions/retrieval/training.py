"""Training of an encoder or layer. The training writes these files into its folder.

    training.json     settings, data hashes and versions
    base/             initial encoder
    epochs/N/         model after epoch N
    curves.jsonl      loss and measures per epoch
    state/            temporary checkpoints
    evaluation.json   comparison with other rankings

A resumed training writes the same bytes as an uninterrupted training.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from importlib.metadata import version
from itertools import starmap
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from envs.errors import DataError, require_extra
from envs.lazy_modules import lazy_module
from extensions.retrieval.corpus import Corpus
from extensions.retrieval.evaluation import QuerySet, measure
from extensions.retrieval.learner import Epoch, Learner
from extensions.retrieval.queries import QuerySplit, SplitKind, parts
from extensions.retrieval.rankings import DEFAULT, Ranking
from extensions.retrieval.training_definition import (
    EVALUATION,
    FILE,
    Kind,
    TrainingData,
    TrainingDefinition,
    TrainingSettings,
    load_definition,
)
from runner.records.durable_files import (
    LOCK_FILE,
    LineFile,
    lock_folder,
    report_write_errors,
    unfinished_path,
    write_whole,
)
from runner.records.json_codec import read, to_json_value

if TYPE_CHECKING:
    from extensions.retrieval import (
        encoder,
        encoder_training,
        function_texts,
        gated_ranker,
        linear,
        training_pairs,
    )
    from extensions.retrieval.lexical import Ranker
    from extensions.retrieval.measures import RankingMeasures
else:
    # Their libraries take seconds to load.
    encoder = lazy_module("extensions.retrieval.encoder")
    encoder_training = lazy_module("extensions.retrieval.encoder_training")
    linear = lazy_module("extensions.retrieval.linear")
    training_pairs = lazy_module("extensions.retrieval.training_pairs")
    function_texts = lazy_module("extensions.retrieval.function_texts")
    gated_ranker = lazy_module("extensions.retrieval.gated_ranker")

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


class RankingScores(NamedTuple):
    """Measures of one ranking on one query set."""

    queries: str
    held_out: bool
    """Whether the queries were held out of the training."""
    by: str
    measures: RankingMeasures

    def to_json(self) -> dict[str, object]:
        """Return the scores as a JSON object."""
        about = {"queries": self.queries, "held_out": self.held_out, "by": self.by}
        return {**about, **self.measures.to_json()}


Report = Callable[[Epoch, "RankingMeasures"], None]
"""Callback after each epoch; it also gets the measures on the first held-out query set."""


class Training:
    """Training in a folder. Raises DataError if the queries cannot be split."""

    def __init__(self, folder: Path, settings: TrainingSettings, sets: Sequence[QuerySet]) -> None:
        self.folder = folder
        self._settings = settings
        self._parts = [*zip(sets, _split(settings, sets), strict=True)]
        queries = [query for _, part in self._parts for query in part.training]
        self._trained = frozenset(signature for query in queries for signature in query.relevant)

    def begin(self) -> None:
        """Create the folder and write the definition.

        Raises DataError if the folder is not empty or cannot be written.
        """
        definition = self._define()
        with report_write_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            if any(self.folder.iterdir()):
                raise DataError(str(self.folder), "is not empty; name a new folder or add --resume")
        write_whole(self.folder / FILE, _encode(to_json_value(definition)))

    def learn(self, report: Report) -> list[RankingScores]:
        """Train the remaining epochs and return the evaluation.

        Raises DataError if the folder holds another training, or cannot be written.
        """
        with closing(lock_folder(self.folder)):
            change = load_definition(self.folder).difference(self._define())
            if change is not None:
                raise DataError(str(self.folder), f"was started with another definition: {change}")
            with require_extra(EXTRA[self._settings.kind], "retrieve train"):
                self._resume(report)
            found = list(self._evaluate())
            write_whole(self.folder / EVALUATION, _encode([to_json_value(each) for each in found]))
            with report_write_errors(self.folder):
                shutil.rmtree(self.folder / STATE, ignore_errors=True)
                (self.folder / LOCK_FILE).unlink(missing_ok=True)
            return found

    def _define(self) -> TrainingDefinition:
        settings = self._settings
        with require_extra(EXTRA[settings.kind], "retrieve train"):
            start = encoder.hash_encoder(settings.encoder) if settings.encoder else None
            data = tuple(starmap(_describe, self._parts))
            software = {name: version(name) for name in _LIBRARIES[settings.kind]}
        software |= {"python": platform.python_version(), "machine": platform.machine()}
        # The number of threads changes the order of sums, and so their rounding.
        software["threads"] = os.environ.get("OMP_NUM_THREADS") or str(os.cpu_count())
        return TrainingDefinition(settings, data, start, software, sorted(self._trained))

    def _resume(self, report: Report) -> None:
        with closing(LineFile(self.folder / CURVES)) as curves:
            done = [read(Epoch, line.value, line.where) for line in curves.mended()]
            self._remove_unfinished(len(done))
            if len(done) == self._settings.epochs:
                return
            learner = self._make_learner()

            def after(epoch: Epoch) -> None:
                if not isfinite(epoch.loss):
                    message = f"the loss of epoch {epoch.number} is not a number; lower --rate"
                    raise DataError(str(self.folder), message)
                self._write_folder(
                    gated_ranker.checkpoint_folder(self.folder, epoch.number), learner.save
                )
                found = self._measure_epoch(epoch.number)
                line = {**to_json_value(epoch), **found.to_json()}
                curves.append(json.dumps(line).encode() + b"\n")
                report(epoch, found)

            learner.learn(done[-1] if done else None, after)

    def _remove_unfinished(self, done: int) -> None:
        with report_write_errors(self.folder):
            for path in gated_ranker.checkpoint_folder(self.folder, 0).parent.glob("*"):
                if not path.name.isdecimal() or int(path.name) > done:
                    shutil.rmtree(path)

    def _write_folder(self, folder: Path, write: Callable[[Path], None]) -> None:
        part = unfinished_path(folder)
        with report_write_errors(folder):
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            write(part)
            part.replace(folder)

    def _make_learner(self) -> Learner:
        settings, state = self._settings, self.folder / STATE
        if settings.kind == "linear":
            return linear.LayerTraining(
                [*self._make_examples()],
                dim=settings.dim or 0,
                rate=settings.rate,
                batch=settings.batch,
                seed=settings.seed,
                epochs=settings.epochs,
                state=state,
            )
        schedule = encoder.TrainingSchedule(
            settings.epochs, settings.batch, settings.rate, settings.tokens or 0, settings.seed
        )
        encoder.disable_downloads()
        base, found = self.folder / BASE, [*self.pairs()]
        if not base.is_dir():
            texts = [text for pair in found for text in (pair.query, pair.positive)]
            start = settings.encoder or ""
            self._write_folder(
                base, lambda part: encoder_training.make(start, texts, schedule, part)
            )
        return encoder_training.EncoderTraining(base, found, schedule, state)

    def _make_examples(self) -> Iterator[linear.QueryExamples]:
        for query_set, part in self._parts:
            places: dict[object, list[int]] = {}
            for place, each in enumerate(query_set.corpus.functions):
                places.setdefault(each.signature, []).append(place)
            needed = [[p for s in sorted(q.relevant) for p in places[s]] for q in part.training]
            texts = function_texts.make_own_texts(query_set.corpus.functions)
            if part.training:
                yield linear.QueryExamples([query.words for query in part.training], texts, needed)

    def pairs(self, negatives: int | None = None) -> Iterator[training_pairs.ContrastExample]:
        """Yield the training pairs of an encoder."""
        number = self._settings.negatives if negatives is None else negatives
        for query_set, part in self._parts:
            if part.training:
                yield from training_pairs.pairs(part.training, query_set.corpus, number or 0)

    def _load_ranker(self, epoch: int, corpus: Corpus) -> Ranker:
        folder = gated_ranker.checkpoint_folder(self.folder, epoch)
        return gated_ranker.load_checkpoint_ranker(self._settings.kind, folder, corpus)

    def _measure_epoch(self, number: int) -> RankingMeasures:
        """Measure an epoch's model on the first query set that has held-out queries."""
        query_set, part = next(each for each in self._parts if each[1].held_out)
        alone = self._load_ranker(number, query_set.corpus)
        ranker = gated_ranker.GatedRanker(query_set.corpus, self._trained, alone)
        return measure(Ranking(query_set.corpus, TRAINED, ranker), part.held_out)

    def _evaluate(self) -> Iterator[RankingScores]:
        for query_set, part in self._parts:
            if not part.held_out:
                continue
            corpus = query_set.corpus
            alone = self._load_ranker(self._settings.epochs, corpus)
            gated = gated_ranker.GatedRanker(corpus, self._trained, alone)
            rankers = {"bm25": None, DEFAULT: None, TRAINED: gated, ALONE: alone}
            for by, ranker in rankers.items():
                found = measure(Ranking(corpus, by, ranker), part.held_out)
                yield RankingScores(query_set.name, self._settings.split is not None, by, found)


def _split(settings: TrainingSettings, sets: Sequence[QuerySet]) -> list[QuerySplit]:
    if settings.split is None:
        return [QuerySplit(each.queries, each.queries) for each in sets]
    return parts(
        [(each.queries, each.corpus) for each in sets],
        SplitKind(settings.split),
        fold=settings.fold,
        folds=settings.folds,
        seed=settings.split_seed,
    )


def _describe(query_set: QuerySet, part: QuerySplit) -> TrainingData:
    return TrainingData(
        query_set.name,
        query_set.corpus.name,
        corpus_sha256=query_set.corpus.sha256,
        documents=query_set.corpus.size,
        training=len(part.training),
        training_sha256=training_pairs.hash_queries(part.training),
        held_out=len(part.held_out),
        held_out_sha256=training_pairs.hash_queries(part.held_out),
    )


def _encode(value: object) -> list[bytes]:
    return [json.dumps(value, indent=2).encode() + b"\n"]
