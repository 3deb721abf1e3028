"""The figures that docs/retrieval.md gives: BFCL's to a tenth of a point, ours at least so high."""

from __future__ import annotations

import pytest

from checkers.profile import BFCL as AS_BFCL
from extensions.retrieval.evaluation import load_query_set, measure
from extensions.retrieval.policy import Retrieval, RetrievalPolicy, measure_ceiling
from extensions.retrieval.rankings import Ranking
from runner.data import dataset_choice
from runner.episodes.judging import evaluate
from runner.episodes.offline import run_oracle
from trajectories.schema import Category

BFCL = {
    ("bfcl", "bm25"): (62.5, 70.6, 80.4, 88.4, 70.6),
    ("bfcl", "default"): (63.6, 72.7, 82.3, 88.8, 72.4),
    ("bfcl-single", "bm25"): (64.6, 76.4, 86.8, 91.8, 84.7),
    ("bfcl-single", "default"): (65.6, 77.2, 86.9, 92.8, 85.0),
}
"""NDCG@1, NDCG@5, recall@5, recall@10, all in 5, as percentages."""
OWN = {("own", "bm25"): 51, ("own", "default"): 54, ("exec", "default"): 75}
"""NDCG@5 that our own data, which grow, do not fall below."""


def notify(_: str) -> None:
    pass


@pytest.mark.parametrize(("queries", "by"), BFCL)
def test_figures_of_bfcls_data(bfcl_data: str, queries: str, by: str) -> None:
    asked = load_query_set(queries, None, bfcl_data, notify)
    found = measure(Ranking(asked.corpus, by), asked.queries)
    shown = tuple(round(100 * value, 1) for value in found[:5])
    assert shown == pytest.approx(BFCL[queries, by], abs=0.1)
    assert found.queries == {"bfcl": 731, "bfcl-single": 2351}[queries]


@pytest.mark.parametrize(("queries", "by"), OWN)
def test_figures_of_our_data(queries: str, by: str) -> None:
    asked = load_query_set(queries, None, None, notify)
    found = measure(Ranking(asked.corpus, by), asked.queries)
    assert 100 * found.ndcg_5 >= OWN[queries, by]


def test_bfcls_single_turns_have_as_many_documents_as_the_figures_say(bfcl_data: str) -> None:
    corpus = load_query_set("bfcl-single", None, bfcl_data, notify).corpus
    assert corpus.size == 2405
    assert len({each.signature for each in corpus.functions}) == 1527


CEILINGS = {
    "top=10": (84.0, 54.0, 19.3),
    "top=10+needs": (88.5, 61.5, 21.5),
    "top=40": (95.5, 86.0, 62.7),
    "backends=1": (90.8, 72.0, 23.9),
    "backends=3": (97.5, 91.0, 37.6),
}
"""Turns and entries of BFCL's base that are offered all they need, and functions a turn."""


@pytest.mark.parametrize("policy", CEILINGS)
def test_ceilings_of_bfcls_data_are_what_the_oracle_reaches(bfcl_data: str, policy: str) -> None:
    data = dataset_choice.open_dataset(bfcl_data, [Category.BASE], notify)
    retrieval = Retrieval(RetrievalPolicy.named(policy))
    narrowed, _ = retrieval.narrowed(data, data.trajectories, data.folder)
    found = measure_ceiling(narrowed, data.trajectories)
    shares = 100 * found.turns_covered / found.turns, 100 * len(found.covered) / found.entries
    assert (*shares, found.offered) == pytest.approx(CEILINGS[policy], abs=0.1)
    records = evaluate(
        narrowed,
        narrowed.trajectories.values(),
        AS_BFCL,
        lambda prepared: run_oracle(prepared, AS_BFCL),
    )
    assert {record.id for record in records if record.outcome == "passed"} == found.covered
