"""What a ranking is trained with: queries beside functions that they need and that they do not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from extensions.retrieval import lexical
from extensions.retrieval.corpus import Corpus
from extensions.retrieval.queries import Query
from extensions.retrieval.rankings import Ranking
from extensions.retrieval.texts import texts_of


class Contrast(NamedTuple):
    """A query, the text of a function that it needs, and such as only seem to be what it needs."""

    query: str
    positive: str
    negatives: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """Return the pair as a JSON object."""
        return {"query": self.query, "positive": self.positive, "negatives": [*self.negatives]}


def pairs(queries: Sequence[Query], corpus: Corpus, negatives: int) -> Iterator[Contrast]:
    """Yield a pair for each query and function that it needs.

    Args:
        queries: What is trained with.
        corpus: Where their functions are; of several documents of one the first is taken.
        negatives: How many functions that BM25 finds, and that are not needed, each has; a corpus
            that has fewer repeats them.
    """
    texts = texts_of(corpus.functions)
    first: dict[object, int] = {}
    for place, each in enumerate(corpus.functions):
        first.setdefault(each.signature, place)
    places = lexical.order(Ranking(corpus, "bm25").scores([query.words for query in queries]))
    for query, row in zip(queries, places, strict=True):
        others: list[str] = []
        for place in row:
            if len(others) == negatives:
                break
            if corpus.functions[place].signature not in query.relevant:
                others.append(texts[place])
        if others:
            others = [others[number % len(others)] for number in range(negatives)]
        for signature in sorted(query.relevant):
            yield Contrast(query.words, texts[first[signature]], tuple(others))


def hash_of(queries: Iterable[Query]) -> str:
    """Return the hash of queries and of what they need, in hex."""
    found = [[each.id, each.words, sorted(each.relevant)] for each in queries]
    return sha256(json.dumps(found).encode()).hexdigest()
