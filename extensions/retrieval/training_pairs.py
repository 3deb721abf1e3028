"""Training pairs: a query with a needed function and with unneeded functions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import cycle, islice
from typing import NamedTuple

from extensions.retrieval import lexical
from extensions.retrieval.corpus import Corpus
from extensions.retrieval.function_texts import make_texts
from extensions.retrieval.queries import Query
from extensions.retrieval.rankings import Ranking


class ContrastExample(NamedTuple):
    """A query, the text of a needed function, and texts of similar, unneeded functions."""

    query: str
    positive: str
    negatives: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """Return the example as a JSON object."""
        return {"query": self.query, "positive": self.positive, "negatives": [*self.negatives]}


def pairs(queries: Sequence[Query], corpus: Corpus, negatives: int) -> Iterator[ContrastExample]:
    """Yield an example for each query and needed function.

    The positive is the document of the needed function. If several documents have the signature of
    this function, the first one is used. The negatives are the unneeded functions with the best
    BM25 ranks. If there are too few, they are repeated.
    """
    texts = make_texts(corpus.functions)
    first: dict[object, int] = {}
    for place, each in enumerate(corpus.functions):
        first.setdefault(each.signature, place)
    places = lexical.order(Ranking(corpus, "bm25").scores([query.words for query in queries]))
    for query, row in zip(queries, places, strict=True):
        others = [texts[p] for p in row if corpus.functions[p].signature not in query.relevant]
        repeated = tuple(islice(cycle(others[:negatives]), negatives))
        for signature in sorted(query.relevant):
            yield ContrastExample(query.words, texts[first[signature]], repeated)


def hash_queries(queries: Iterable[Query]) -> str:
    """Return the hex hash of queries and of the functions that they need."""
    found = [[each.id, each.words, sorted(each.relevant)] for each in queries]
    return sha256(json.dumps(found).encode()).hexdigest()
