"""Ranking that reorders the trained functions; all other functions keep their lexical rank."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from envs.errors import DataError
from envs.lazy_modules import lazy_module
from extensions.retrieval import lexical
from extensions.retrieval.corpus import Corpus, Signature
from extensions.retrieval.function_texts import make_own_texts, make_texts
from extensions.retrieval.lexical import Ranker, Scores
from extensions.retrieval.training_definition import EVALUATION, Kind, load_definition

if TYPE_CHECKING:
    from extensions.retrieval import encoder_ranker, linear
else:
    linear = lazy_module("extensions.retrieval.linear")
    encoder_ranker = lazy_module("extensions.retrieval.encoder_ranker")


class GatedRanker:
    """Ranking that reorders only functions with training data; others keep their lexical rank."""

    def __init__(self, corpus: Corpus, trained: frozenset[Signature], ranker: Ranker) -> None:
        self._lexical = lexical.default(corpus.functions)
        self._ranker = ranker
        known = [place for place, f in enumerate(corpus.functions) if f.signature in trained]
        self._known = np.asarray(known, dtype=np.int64)

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return the score of each document for each query."""
        places = lexical.rank_documents(self._lexical.scores(queries))
        # A query without any trained score keeps its lexical ranking.
        trained = self._ranker.scores(queries)[:, self._known]
        order = np.take(self._known, lexical.order(trained))
        free = np.sort(places[:, self._known], axis=1)
        gated = places.copy()
        np.put_along_axis(gated, order, free, axis=1)
        silent = ~trained.any(axis=1)
        gated[silent] = places[silent]
        return 1.0 / gated


def checkpoint_folder(folder: Path, number: int) -> Path:
    """Return the folder of the model at the end of an epoch."""
    return folder / "epochs" / str(number)


def load_checkpoint_ranker(kind: Kind, folder: Path, corpus: Corpus) -> Ranker:
    """Load the model of a checkpoint, and return its ranking of all functions.

    Raises DataError if the folder holds no model.
    """
    if kind == "linear":
        return linear.LayerRanker(linear.LinearLayer.load(folder), make_own_texts(corpus.functions))
    return encoder_ranker.load_encoder_ranker(str(folder), make_texts(corpus.functions))


def load_trained_ranker(place: str, corpus: Corpus) -> GatedRanker:
    """Return the ranking of a finished training.

    Raises DataError if the training is missing or unfinished, or if no function of the corpus was
    trained.
    """
    folder = Path(place)
    definition = load_definition(folder)
    if not (folder / EVALUATION).is_file():
        raise DataError(place, f"is unfinished; run turnwise retrieve train {place} --resume")
    if definition.signatures.isdisjoint(each.signature for each in corpus.functions):
        known = ", ".join(f"{each.corpus} ({each.corpus_sha256[:12]})" for each in definition.data)
        message = f"was trained for {known}, not for {corpus.name} ({corpus.sha256[:12]})"
        raise DataError(place, message)
    last = checkpoint_folder(folder, definition.settings.epochs)
    ranker = load_checkpoint_ranker(definition.settings.kind, last, corpus)
    return GatedRanker(corpus, definition.signatures, ranker)
