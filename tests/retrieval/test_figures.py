"""The figures that docs/retrieval.md gives: BFCL's to a tenth of a point, ours at least so high."""

from __future__ import annotations

import pytest

from runner.retrieval.evaluating import asked_of, measure
from runner.retrieval.rankings import Ranking

BFCL = {
    ("bfcl", "bm25"): (62.1, 70.2, 79.8, 87.9, 70.0),
    ("bfcl", "default"): (64.4, 72.5, 81.9, 88.1, 72.1),
    ("bfcl-single", "bm25"): (65.2, 76.8, 86.9, 92.0, 84.7),
    ("bfcl-single", "default"): (67.5, 78.2, 87.3, 93.0, 85.4),
}
"""NDCG@1, NDCG@5, recall@5, recall@10, all in 5, as percentages."""
OWN = {("own", "bm25"): 55, ("own", "default"): 58, ("exec", "default"): 85}
"""NDCG@5 that our own data, which grow, do not fall below."""


def notify(_: str) -> None:
    pass


@pytest.mark.parametrize(("queries", "by"), BFCL)
def test_figures_of_bfcls_data(bfcl_data: str, queries: str, by: str) -> None:
    asked = asked_of(queries, None, bfcl_data, notify)
    found = measure(Ranking(asked.corpus, by), asked.queries)
    shown = tuple(round(100 * value, 1) for value in found[:5])
    assert shown == pytest.approx(BFCL[queries, by], abs=0.1)
    assert found.queries == {"bfcl": 731, "bfcl-single": 2351}[queries]


@pytest.mark.parametrize(("queries", "by"), OWN)
def test_figures_of_our_data(queries: str, by: str) -> None:
    asked = asked_of(queries, None, None, notify)
    found = measure(Ranking(asked.corpus, by), asked.queries)
    assert 100 * found.ndcg_5 >= OWN[queries, by]


def test_bfcls_single_turns_have_as_many_documents_as_the_figures_say(bfcl_data: str) -> None:
    corpus = asked_of("bfcl-single", None, bfcl_data, notify).corpus
    assert corpus.size == 2405
    assert len({each.signature for each in corpus.functions}) == 1527
