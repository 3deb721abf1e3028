"""How good a ranking is: what of it is relevant, and how far in front that stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import ndcg_score

from extensions.retrieval.lexical import Scores, ranks


class Measures(NamedTuple):
    """Means over queries, from 0 to 1."""

    ndcg_1: float
    ndcg_5: float
    recall_5: float
    recall_10: float
    all_in_5: float
    """The share of queries all of whose functions are among the first five."""
    queries: int

    def to_json(self) -> dict[str, float]:
        """Return the measures as a JSON object, rounded to what a table has."""
        return {name: round(value, 5) for name, value in self._asdict().items()}


def measured(
    scores: Scores, classes: Sequence[int], relevant: Sequence[frozenset[int]]
) -> Measures:
    """Return how good scores are.

    Documents of one class are one: it stands where the first of them does.

    Args:
        scores: A row per query, a column per document.
        classes: The class of each document, from 0; each has one.
        relevant: The classes that each query needs, at least one.
    """
    places = class_ranks(scores, classes)
    wanted = np.zeros(places.shape, dtype=bool)
    for row, needed in enumerate(relevant):
        wanted[row, list(needed)] = True
    number = wanted.sum(axis=1)
    first = {k: (wanted & (places <= k)).sum(axis=1) for k in (5, 10)}
    return Measures(
        ndcg(wanted, places, 1),
        ndcg(wanted, places, 5),
        float(np.mean(first[5] / number)),
        float(np.mean(first[10] / number)),
        float(np.mean(first[5] == number)),
        len(relevant),
    )


def class_ranks(scores: Scores, classes: Sequence[int]) -> Any:
    """Return the rank of each class, from 1, by the first of its documents."""
    found = ranks(scores)
    best = np.full((scores.shape[0], max(classes) + 1), scores.shape[1] + 1)
    for column, kind in enumerate(classes):
        best[:, kind] = np.minimum(best[:, kind], found[:, column])
    return ranks(-best)


def ndcg(wanted: Any, places: Any, k: int) -> float:
    """Return the mean normalised discounted cumulative gain of the first k."""
    if wanted.shape[1] == 1:
        return 1.0
    return float(ndcg_score(wanted, -places, k=k))
