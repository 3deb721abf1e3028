"""Measures of rankings: by hand, and NDCG beside scikit-learn's on random rankings."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from extensions.retrieval.measures import measure_scores


def test_by_hand() -> None:
    # Ranked 0, 1, ..., 9; 1 and 7 are needed.
    scores = -np.arange(10.0)[None, :]
    found = measure_scores(scores, range(10), [frozenset({1, 7})])
    gain = 1 / math.log2(3)
    assert found.ndcg_1 == 0
    assert found.ndcg_5 == pytest.approx(gain / (1 + gain))
    assert (found.recall_5, found.recall_10, found.all_in_5) == (0.5, 1.0, 0.0)


def test_documents_of_one_class_are_one() -> None:
    scores = np.array([[5.0, 4.0, 3.0, 2.0]])
    found = measure_scores(scores, [0, 0, 0, 1], [frozenset({1})])
    # The second class, though its document is the fourth.
    assert found.ndcg_5 == pytest.approx(1 / math.log2(3))


def test_a_corpus_of_one_function_is_always_right() -> None:
    found = measure_scores(np.zeros((2, 1)), [0], [frozenset({0})] * 2)
    assert found[:5] == (1.0, 1.0, 1.0, 1.0, 1.0)


def test_ndcg_is_scikit_learns() -> None:
    source = Random(0)
    for _ in range(1000):
        size = source.randint(2, 30)
        scores = np.array([source.sample(range(size), size)], dtype=float)
        needed = frozenset(source.sample(range(size), source.randint(1, size)))
        truth = [[float(i in needed) for i in range(size)]]
        found = measure_scores(scores, range(size), [needed])
        assert found.ndcg_5 == pytest.approx(ndcg_score(truth, scores, k=5))
        assert found.ndcg_1 == pytest.approx(ndcg_score(truth, scores, k=1))
