"""A ranking that was trained; behind a gate: what was not trained keeps its lexical rank."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from envs.lazy import lazily
from extensions.retrieval import lexical
from extensions.retrieval.corpus import Corpus, Signature
from extensions.retrieval.definition import EVALUATION, Kind, defined
from extensions.retrieval.lexical import Ranker, Scores
from extensions.retrieval.texts import own_texts_of, texts_of
from trajectories.errors import DataError

if TYPE_CHECKING:
    from extensions.retrieval import linear, local
else:
    linear = lazily("extensions.retrieval.linear")
    local = lazily("extensions.retrieval.local")


class Gated:
    """Trained functions in the order of a trained ranking, on the ranks that they have lexically.

    Args:
        corpus: What is ranked.
        trained: The functions that some query of the training needed.
        ranker: The trained ranking; what it says of other functions counts nothing.
    """

    def __init__(self, corpus: Corpus, trained: frozenset[Signature], ranker: Ranker) -> None:
        self._lexical = lexical.default(corpus.functions)
        self._ranker = ranker
        known = [place for place, f in enumerate(corpus.functions) if f.signature in trained]
        self._known = np.asarray(known, dtype=np.int64)

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score per query and document: the inverted rank."""
        places = lexical.ranks(self._lexical.scores(queries))
        # A query of which the trained ranking knows nothing is ranked lexically, too.
        told = self._ranker.scores(queries)[:, self._known]
        order = np.take(self._known, lexical.order(told))
        free = np.sort(places[:, self._known], axis=1)
        gated = places.copy()
        np.put_along_axis(gated, order, free, axis=1)
        silent = ~told.any(axis=1)
        gated[silent] = places[silent]
        return 1.0 / gated


def checkpoint(folder: Path, number: int) -> Path:
    """Return where a training keeps what was learned by the end of an epoch."""
    return folder / "epochs" / str(number)


def ranker_of(kind: Kind, folder: Path, corpus: Corpus) -> Ranker:
    """Return the ranking of a checkpoint, without the gate.

    Raises:
        DataError: The folder holds none.
    """
    if kind == "linear":
        return linear.Projected(linear.Layer.load(folder), own_texts_of(corpus.functions))
    return local.loaded(str(folder), texts_of(corpus.functions))


def loaded(place: str, corpus: Corpus) -> Gated:
    """Return the ranking of a training that is over.

    Raises:
        DataError: There is none in the folder, or no function of the corpus was trained.
    """
    folder = Path(place)
    definition = defined(folder)
    if not (folder / EVALUATION).is_file():
        raise DataError(place, f"is not over: turnwise retrieve train {place} --resume")
    if definition.signatures.isdisjoint(each.signature for each in corpus.functions):
        known = ", ".join(f"{each.corpus} ({each.corpus_sha256[:12]})" for each in definition.data)
        message = f"was trained for {known}, and for none of {corpus.name} ({corpus.sha256[:12]})"
        raise DataError(place, message)
    last = checkpoint(folder, definition.settings.epochs)
    ranker = ranker_of(definition.settings.kind, last, corpus)
    return Gated(corpus, definition.signatures, ranker)
