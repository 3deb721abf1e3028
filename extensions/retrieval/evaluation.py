"""Evaluation of retrieval: queries with a corpus, and the quality of a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from envs.errors import DataError, require_extra
from envs.lazy_modules import lazy_module
from extensions.retrieval.corpus import Corpus, Signature
from extensions.retrieval.corpus_files import load_corpus
from extensions.retrieval.queries import Query, load_queries, match_queries
from extensions.retrieval.rankings import Ranking
from runner.data.dataset_choice import Notify

if TYPE_CHECKING:
    from extensions.retrieval import measures
    from extensions.retrieval.measures import RankingMeasures
else:
    measures = lazy_module("extensions.retrieval.measures")

_ABOUT = {"own": "own", "exec": "all", "bfcl": "bfcl", "bfcl-single": "bfcl-single"}
"""Default corpus of each built-in query set."""


class QuerySet(NamedTuple):
    """A named list of queries with the corpus to search."""

    name: str
    corpus: Corpus
    queries: tuple[Query, ...]


def load_query_set(name: str, corpus: str | None, dataset: str | None, notify: Notify) -> QuerySet:
    """Load a query set with the given corpus, or else with its default corpus.

    Raises DataError if a name is unknown, or if every query needs a missing function.
    """
    searched = load_corpus(corpus or _ABOUT.get(name, "all"), dataset, notify)
    found, left_out = match_queries(searched, load_queries(name, dataset, notify))
    for line in left_out:
        notify(f"{name}: {line}")
    if not found:
        message = f"no query of {name} fits the corpus {searched.name}; choose another --corpus"
        raise DataError("--queries", message)
    return QuerySet(name, searched, tuple(found))


def measure(ranking: Ranking, queries: Sequence[Query]) -> RankingMeasures:
    """Measure the quality of a ranking. Documents with the same signature count as one document."""
    places: dict[Signature, int] = {}
    classes = [places.setdefault(each.signature, len(places)) for each in ranking.corpus.functions]
    relevant = [frozenset(places[s] for s in query.relevant) for query in queries]
    with require_extra("lexical", ranking.by):
        scores = ranking.scores([query.words for query in queries])
        return measures.measure_scores(scores, classes, relevant)
