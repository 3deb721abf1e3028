"""Rankings that need no training: words by BM25, pieces of words, and both by their ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import bm25s
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer

from extensions.retrieval.corpus import Described
from extensions.retrieval.texts import own_texts_of, parted, texts_of, words

Scores = Any
"""An array of floats, a row per query and a column per document; higher is nearer."""

K1, B = 2.0, 0.75
_PIECES = (4, 6)
_FUSED_FROM = 20
"""What is added to a rank, from 1, before it is inverted."""
_TOPICS = 64


class Ranker(Protocol):
    """Says how near each document of a corpus is to a query."""

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score per query and document."""
        ...


class Words:
    """BM25 as Lucene has it, over stems."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._size = len(texts)
        found = [words(text) for text in texts]
        self._index: Any = None
        if any(found):
            self._index = bm25s.BM25(method="lucene", k1=K1, b=B)
            self._index.index(found, show_progress=False)

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score per query and document."""
        return np.stack([self._of(words(query)) for query in queries])

    def _of(self, query: list[str]) -> Scores:
        known = self._index.vocab_dict if self._index is not None else {}
        query = [word for word in query if word in known]
        if not query:
            return np.zeros(self._size, dtype=np.float32)
        return self._index.get_scores(query)


class Pieces:
    """The cosine of the TF-IDF vectors of four to six characters of a word."""

    def __init__(self, texts: Sequence[str]) -> None:
        # Each word is taken to pieces once, not wherever it stands: that takes half the time.
        whole = CountVectorizer(analyzer=_split, dtype=np.float32)
        counted = whole.fit_transform(texts)
        self._pieces = CountVectorizer(analyzer="char_wb", ngram_range=_PIECES, dtype=np.float32)
        parts = self._pieces.fit_transform(whole.get_feature_names_out())
        self._weights = TfidfTransformer(sublinear_tf=True)
        self._documents = self._weights.fit_transform(counted @ parts).T.tocsr()

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score per query and document."""
        found = self._weights.transform(self._pieces.transform(map(parted, queries)))
        return (found @ self._documents).toarray()


def _split(text: str) -> list[str]:
    return parted(text).lower().split()


class Topics:
    """The cosine in a space of few dimensions that explains which words stand together (LSA)."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._vectorizer = TfidfVectorizer(analyzer=words, sublinear_tf=True)
        found = self._vectorizer.fit_transform(texts)
        self._topics = TruncatedSVD(max(1, min(_TOPICS, *found.shape)), random_state=0)
        self._documents = unit(self._topics.fit_transform(found))

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score per query and document."""
        found = self._topics.transform(self._vectorizer.transform(queries))
        return unit(found) @ self._documents.T


class Fused:
    """Several rankings as one, by the sum of inverted ranks."""

    def __init__(self, rankers: Sequence[Ranker]) -> None:
        self._rankers = rankers

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score per query and document; all are 0 where none of them found anything."""
        found = [ranker.scores(queries) for ranker in self._rankers]
        somewhere = np.any([each.any(axis=1) for each in found], axis=0)
        return fused(found) * somewhere[:, None]


def default(functions: Sequence[Described]) -> Fused:
    """Return the ranking that is used where none is named: words and pieces of words."""
    return Fused([Words(own_texts_of(functions)), Pieces(texts_of(functions))])


def fused(scores: Sequence[Scores]) -> Scores:
    """Return the sum of the inverted ranks that documents have by several scores."""
    return sum(1.0 / (_FUSED_FROM + ranks(each)) for each in scores)


def order(scores: Scores) -> Scores:
    """Return the documents of each row, nearest first; equals in the order of the corpus."""
    return np.argsort(-scores, axis=1, kind="stable")


def ranks(scores: Scores) -> Scores:
    """Return the rank of each document, from 1."""
    found = np.empty(scores.shape, dtype=np.int64)
    np.put_along_axis(found, order(scores), np.arange(1, scores.shape[1] + 1)[None, :], axis=1)
    return found


def unit(vectors: Scores) -> Scores:
    """Return vectors of length 1; those of length 0 stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths == 0, 1, lengths)
