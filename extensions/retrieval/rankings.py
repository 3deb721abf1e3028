"""Rankings by name, such as ``bm25``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from envs.errors import DataError, require_extra, suggest_name
from envs.lazy_modules import lazy_module
from extensions.retrieval.corpus import Corpus, DescribedFunction
from runner.records.secret_finder import redact_address

if TYPE_CHECKING:
    from extensions.retrieval import (
        embedding_ranker,
        encoder_ranker,
        function_texts,
        gated_ranker,
        lexical,
    )
    from extensions.retrieval.lexical import Ranker
else:
    # Their libraries are optional and take a second to load.
    embedding_ranker = lazy_module("extensions.retrieval.embedding_ranker")
    lexical = lazy_module("extensions.retrieval.lexical")
    encoder_ranker = lazy_module("extensions.retrieval.encoder_ranker")
    function_texts = lazy_module("extensions.retrieval.function_texts")
    gated_ranker = lazy_module("extensions.retrieval.gated_ranker")

DEFAULT = "default"
LEXICAL: Mapping[str, Callable[[Sequence[DescribedFunction]], Any]] = {
    DEFAULT: lambda found: lexical.default(found),
    "bm25": lambda found: lexical.WordRanker(function_texts.make_own_texts(found)),
    "chars": lambda found: lexical.SubwordRanker(function_texts.make_texts(found)),
    "lsa": lambda found: lexical.TopicRanker(function_texts.make_own_texts(found)),
}
"""Rankings that need no model or server."""

_FORMS = (*LEXICAL, "embed:URL#MODEL", "local:PATH", "trained:FOLDER")


class FoundFunction(NamedTuple):
    """Search result."""

    place: int
    """Index in the corpus, starting at 0."""
    function: DescribedFunction
    score: float


class Ranking:
    """Order of a corpus's functions by similarity to a query.

    ``by`` is the name that the user types, such as ``bm25``. If ``ranker`` is given, ``by`` is only
    a label.

    Raises DataError if the ranking is unknown or cannot be used.
    """

    def __init__(self, corpus: Corpus, by: str = DEFAULT, ranker: Ranker | None = None) -> None:
        self.corpus = corpus
        self.by = by
        with require_extra("lexical" if by in LEXICAL else "retrieval", by):
            self._ranker: Ranker = ranker or _load_ranker(corpus, by)

    def scores(self, queries: Sequence[str]) -> Any:
        """Return the scores as an array with a row per query and a column per function."""
        return self._ranker.scores(queries)

    def find(self, query: str, limit: int | None = None) -> list[FoundFunction]:
        """Return the functions with the highest scores; equal scores keep the corpus order."""
        return self.find_all([query], limit)[0]

    def find_all(
        self, queries: Sequence[str], limit: int | None = None
    ) -> list[list[FoundFunction]]:
        """Return a list per query: the functions with the highest scores."""
        if not queries:
            return []
        scores, functions = self.scores(queries), self.corpus.functions
        return [
            [FoundFunction(int(i), functions[i], float(row[i])) for i in places[:limit]]
            for row, places in zip(scores, lexical.order(scores), strict=True)
        ]


def mask_ranking(by: str) -> str:
    """Return the name of a ranking without the secrets in the address of its server."""
    kind, colon, place = by.partition(":")
    url, mark, model = place.rpartition("#")
    return f"{kind}{colon}{redact_address(url)}{mark}{model}" if kind == "embed" else by


def _load_ranker(corpus: Corpus, by: str) -> Any:
    kind, colon, rest = by.partition(":")
    if by in LEXICAL:
        try:
            return LEXICAL[by](corpus.functions)
        except ValueError:
            raise DataError(corpus.name, "the documents contain no words to search") from None
    if not rest or kind not in ("embed", "local", "trained"):
        advice = suggest_name(by, LEXICAL) if not colon else ""
        raise DataError("--by", f"{by!r} is not one of {', '.join(_FORMS)}{advice}")
    if kind == "embed":
        searched = function_texts.make_texts(corpus.functions)
        with require_extra("models", by):
            return embedding_ranker.connect_ranker(rest, searched)
    if kind == "trained":
        return gated_ranker.load_trained_ranker(rest, corpus)
    return encoder_ranker.load_encoder_ranker(rest, function_texts.make_texts(corpus.functions))
