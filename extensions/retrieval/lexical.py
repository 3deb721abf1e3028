"""Rankings without training: BM25, character n-grams, topics, and fusion by rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import bm25s
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer

from extensions.retrieval.corpus import DescribedFunction
from extensions.retrieval.function_texts import make_own_texts, make_texts, split_names, words

Scores = Any
"""Array of floats, with a row per query and a column per document; a high score means a similar
document."""

K1, B = 2.0, 0.75
_PIECES = (4, 6)
_FUSED_FROM = 20
"""Constant of reciprocal rank fusion, which is added to each rank."""
_TOPICS = 64


class Ranker(Protocol):
    """Ranking of the documents of a corpus."""

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score for each query and document."""
        ...


class WordRanker:
    """Ranking by BM25 (Lucene's variant) on word stems."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._size = len(texts)
        found = [words(text) for text in texts]
        self._index: Any = None
        if any(found):
            self._index = bm25s.BM25(method="lucene", k1=K1, b=B)
            self._index.index(found, show_progress=False)

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score for each query and document."""
        return np.stack([self._score(words(query)) for query in queries])

    def _score(self, query: list[str]) -> Scores:
        known = self._index.vocab_dict if self._index is not None else {}
        query = [word for word in query if word in known]
        if not query:
            return np.zeros(self._size, dtype=np.float32)
        return self._index.get_scores(query)


class SubwordRanker:
    """Ranking by cosine similarity of TF-IDF vectors of character n-grams (4 to 6 characters)."""

    def __init__(self, texts: Sequence[str]) -> None:
        # Each distinct word is split into n-grams once, which halves the time.
        whole = CountVectorizer(
            analyzer=lambda text: split_names(text).lower().split(), dtype=np.float32
        )
        counted = whole.fit_transform(texts)
        self._pieces = CountVectorizer(analyzer="char_wb", ngram_range=_PIECES, dtype=np.float32)
        parts = self._pieces.fit_transform(whole.get_feature_names_out())
        self._weights = TfidfTransformer(sublinear_tf=True)
        self._documents = self._weights.fit_transform(counted @ parts).T.tocsr()

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score for each query and document."""
        found = self._weights.transform(self._pieces.transform(map(split_names, queries)))
        return (found @ self._documents).toarray()


class TopicRanker:
    """Ranking by cosine similarity in a low-dimensional space (latent semantic analysis, LSA)."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._vectorizer = TfidfVectorizer(analyzer=words, sublinear_tf=True)
        found = self._vectorizer.fit_transform(texts)
        self._topics = TruncatedSVD(max(1, min(_TOPICS, *found.shape)), random_state=0)
        self._documents = unit(self._topics.fit_transform(found))

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score for each query and document."""
        found = self._topics.transform(self._vectorizer.transform(queries))
        return unit(found) @ self._documents.T


class FusedRanker:
    """Fusion of several rankings by the sum of reciprocal ranks."""

    def __init__(self, rankers: Sequence[Ranker]) -> None:
        self._rankers = rankers

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score for each query and document; a query without a match has only zeros."""
        found = [ranker.scores(queries) for ranker in self._rankers]
        is_found = np.any([each.any(axis=1) for each in found], axis=0)
        return fuse_ranks(found) * is_found[:, None]


def default(functions: Sequence[DescribedFunction]) -> FusedRanker:
    """Return the default ranking: words and character n-grams."""
    return FusedRanker(
        [WordRanker(make_own_texts(functions)), SubwordRanker(make_texts(functions))]
    )


def fuse_ranks(scores: Sequence[Scores]) -> Scores:
    """Combine several score arrays by reciprocal rank fusion."""
    return sum(1.0 / (_FUSED_FROM + rank_documents(each)) for each in scores)


def order(scores: Scores) -> Scores:
    """Return the indices of the documents from the best score to the worst."""
    return np.argsort(-scores, axis=1, kind="stable")


def rank_documents(scores: Scores) -> Scores:
    """Return the rank of each document; the first rank is 1."""
    found = np.empty(scores.shape, dtype=np.int64)
    np.put_along_axis(found, order(scores), np.arange(1, scores.shape[1] + 1)[None, :], axis=1)
    return found


def unit(vectors: Scores) -> Scores:
    """Return the vectors scaled to length 1; zero vectors stay unchanged."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths == 0, 1, lengths)
