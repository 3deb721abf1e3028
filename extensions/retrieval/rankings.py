"""Rankings by the name that a user types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from envs.lazy import lazily
from extensions.retrieval.corpus import Corpus, Described
from trajectories.errors import DataError, did_you_mean, needing

if TYPE_CHECKING:
    from extensions.retrieval import embedded, lexical, local, texts, trained
    from extensions.retrieval.lexical import Ranker
else:
    # Their libraries take a second to load, and not every installation has them.
    embedded = lazily("extensions.retrieval.embedded")
    lexical = lazily("extensions.retrieval.lexical")
    local = lazily("extensions.retrieval.local")
    texts = lazily("extensions.retrieval.texts")
    trained = lazily("extensions.retrieval.trained")

DEFAULT = "default"
LEXICAL: Mapping[str, Callable[[Sequence[Described]], Any]] = {
    DEFAULT: lambda found: lexical.default(found),
    "bm25": lambda found: lexical.Words(texts.own_texts_of(found)),
    "chars": lambda found: lexical.Pieces(texts.texts_of(found)),
    "lsa": lambda found: lexical.Topics(texts.own_texts_of(found)),
}
"""Rankings that follow from the corpus alone."""

_FORMS = (*LEXICAL, "embed:URL#MODEL", "local:PATH", "trained:FOLDER")


class Found(NamedTuple):
    """A function that was found."""

    place: int
    """Where it stands in the corpus, from 0."""
    function: Described
    score: float


class Ranking:
    """The functions of a corpus, ordered by how near they are to a query.

    Args:
        corpus: What is searched.
        by: How, as the user typed it.
        ranker: What ranks; None for what ``by`` names.

    Raises:
        DataError: There is no such ranking, or it cannot be had.
    """

    def __init__(self, corpus: Corpus, by: str = DEFAULT, ranker: Ranker | None = None) -> None:
        self.corpus = corpus
        self.by = by
        with needing("lexical" if by in LEXICAL else "retrieval", by):
            self._ranker: Ranker = ranker or _ranker(corpus, by)

    def scores(self, queries: Sequence[str]) -> Any:
        """Return an array of scores, a row per query and a column per function."""
        return self._ranker.scores(queries)

    def find(self, query: str, limit: int | None = None) -> list[Found]:
        """Return the nearest functions; equals stand in the order of the corpus."""
        return self.find_all([query], limit)[0]

    def find_all(self, queries: Sequence[str], limit: int | None = None) -> list[list[Found]]:
        """Return the nearest functions for each query."""
        if not queries:
            return []
        scores, functions = self.scores(queries), self.corpus.functions
        return [
            [Found(int(i), functions[i], float(row[i])) for i in places[:limit]]
            for row, places in zip(scores, lexical.order(scores), strict=True)
        ]


def _ranker(corpus: Corpus, by: str) -> Any:
    kind, colon, rest = by.partition(":")
    if by in LEXICAL:
        try:
            return LEXICAL[by](corpus.functions)
        except ValueError:
            raise DataError(corpus.name, "its documents hold no words to search") from None
    if not rest or kind not in ("embed", "local", "trained"):
        advice = did_you_mean(by, LEXICAL) if not colon else ""
        raise DataError("--by", f"{by!r} is none of {', '.join(_FORMS)}{advice}")
    if kind == "embed":
        searched = texts.texts_of(corpus.functions)
        with needing("models", by):
            return embedded.connected(rest, searched)
    if kind == "trained":
        return trained.loaded(rest, corpus)
    return local.loaded(rest, texts.texts_of(corpus.functions))
