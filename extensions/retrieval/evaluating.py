"""Queries and the corpus that they are looked for in, and how well a ranking finds them there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from envs.lazy import lazily
from extensions.retrieval.corpus import Corpus, Signature
from extensions.retrieval.queries import Parts, Query, Unseen, found_in, needed, parts
from extensions.retrieval.rankings import Ranking
from extensions.retrieval.reading import corpus_named
from runner.data.choose import Notify
from trajectories.errors import DataError, needing

if TYPE_CHECKING:
    from extensions.retrieval import measures
    from extensions.retrieval.measures import Measures
else:
    measures = lazily("extensions.retrieval.measures")

_ABOUT = {"own": "own", "exec": "all", "bfcl": "bfcl", "bfcl-single": "bfcl-single"}
"""What the queries of a name are looked for in, where nobody says."""


class QuerySet(NamedTuple):
    """Queries of one name, and what they are looked for in."""

    name: str
    corpus: Corpus
    queries: tuple[Query, ...]


class Division(NamedTuple):
    """How queries are divided into those trained on and those held out."""

    kind: Unseen
    fold: int = 0
    folds: int = 5
    seed: int = 0

    def of(self, asked: QuerySet) -> Parts:
        """Return the two parts of one set; it raises what ``parts`` does."""
        [found] = self.of_all([asked])
        return found

    def of_all(self, asked: Sequence[QuerySet]) -> list[Parts]:
        """Return the two parts of each set; it raises what ``parts`` does."""
        sets = [(each.queries, each.corpus) for each in asked]
        return parts(sets, self.kind, fold=self.fold, folds=self.folds, seed=self.seed)


def asked_of(name: str, corpus: str | None, dataset: str | None, notify: Notify) -> QuerySet:
    """Return the queries of a name with their corpus: the one named, else the one they are about.

    Raises:
        DataError: There is none of a name, or the corpus has nothing that they need.
    """
    searched = corpus_named(corpus or _ABOUT.get(name, "all"), dataset, notify)
    found, left_out = found_in(searched, needed(name, dataset, notify))
    for line in left_out:
        notify(f"{name}: {line}")
    if not found:
        raise DataError("--queries", f"{searched.name} has no function that {name} needs")
    return QuerySet(name, searched, tuple(found))


def measure(ranking: Ranking, queries: Sequence[Query]) -> Measures:
    """Return how well a ranking finds what queries need; documents of one signature are one."""
    places: dict[Signature, int] = {}
    classes = [places.setdefault(each.signature, len(places)) for each in ranking.corpus.functions]
    relevant = [frozenset(places[s] for s in query.relevant) for query in queries]
    with needing("lexical", ranking.by):
        scores = ranking.scores([query.words for query in queries])
        return measures.measured(scores, classes, relevant)
