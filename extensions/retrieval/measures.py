"""Measures of a ranking: NDCG, recall, and the share of queries with all functions found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import ndcg_score

from extensions.retrieval.lexical import Scores, rank_documents


class RankingMeasures(NamedTuple):
    """Average measures of all queries, each from 0 to 1."""

    ndcg_1: float
    ndcg_5: float
    recall_5: float
    recall_10: float
    all_in_5: float
    """Share of the queries with all needed functions on ranks 1 to 5."""
    queries: int

    def to_json(self) -> dict[str, float]:
        """Return the measures as a JSON object, rounded to five digits."""
        return {name: round(value, 5) for name, value in self._asdict().items()}


def measure_scores(
    scores: Scores, classes: Sequence[int], relevant: Sequence[frozenset[int]]
) -> RankingMeasures:
    """Compute measures from scores; the scores have a row per query and a column per document.

    ``classes`` contains the class number of each document. The documents of a class are equivalent.
    ``relevant`` contains the classes that each query needs.
    """
    places = class_ranks(scores, classes)
    is_relevant = np.zeros(places.shape, dtype=bool)
    for row, needed in enumerate(relevant):
        is_relevant[row, list(needed)] = True
    number = is_relevant.sum(axis=1)
    first = {k: (is_relevant & (places <= k)).sum(axis=1) for k in (5, 10)}
    return RankingMeasures(
        ndcg(is_relevant, places, 1),
        ndcg(is_relevant, places, 5),
        float(np.mean(first[5] / number)),
        float(np.mean(first[10] / number)),
        float(np.mean(first[5] == number)),
        len(relevant),
    )


def class_ranks(scores: Scores, classes: Sequence[int]) -> Any:
    """Return the rank of each class: the rank of its best document, starting at 1."""
    found = rank_documents(scores)
    best = np.full((scores.shape[0], max(classes) + 1), scores.shape[1] + 1)
    for column, kind in enumerate(classes):
        best[:, kind] = np.minimum(best[:, kind], found[:, column])
    return rank_documents(-best)


def ndcg(is_relevant: Any, places: Any, k: int) -> float:
    """Return the mean NDCG of the first ``k`` documents."""
    if is_relevant.shape[1] == 1:
        return 1.0
    return float(ndcg_score(is_relevant, -places, k=k))
