"""Command ``turnwise retrieve query``: finds the functions that match a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from extensions.retrieval.commands.options import (
    CORPUS_NOTES,
    METHOD_NOTES,
    CorpusOptions,
    RankingOption,
)
from extensions.retrieval.corpus_files import load_corpus
from extensions.retrieval.rankings import FoundFunction, Ranking, mask_ranking
from runner.commands import DONE
from runner.commands.common_options import JsonOption, note
from runner.commands.options import argument, option, positive
from runner.show.terminal import cut_to_terminal, say, say_json

EXAMPLE = 'turnwise retrieve query "cancel my flight and tell Ada" -k 3'

NOTES = f"{CORPUS_NOTES}\n{METHOD_NOTES}"

_MAX_LINE_CHARS = 80


@dataclass(frozen=True, kw_only=True)
class Options(CorpusOptions, RankingOption, JsonOption):
    """Options for the query and the number of functions."""

    text: str = argument("request in a user's words", "TEXT")
    k: int = option("number of functions", "N", default=5, read=positive, flags=("-k",))


def run(options: Options) -> int:
    """Print the functions that match a text best."""
    corpus = load_corpus(options.corpus or "own", options.dataset, note)
    found = Ranking(corpus, options.by).find(options.text, options.k)
    if found and not any(function.score for function in found):
        note(f"no function of {corpus.name} matches the text; its first functions follow")
    if options.json:
        say_json(
            {"query": options.text, "by": mask_ranking(options.by), "found": [*_as_json(found)]}
        )
        return DONE
    for rank, (_, function, score) in enumerate(found, start=1):
        description = " ".join(str(function.document["description"]).split())
        head = f"{rank:>3}  {score:.4f}  {function.name} ({function.backend})"
        say(f"{head}: {cut_to_terminal(description, _MAX_LINE_CHARS)}")
    say(f"{corpus.size} functions of {corpus.name}; ranked by {mask_ranking(options.by)}")
    return DONE


def _as_json(found: Sequence[FoundFunction]) -> Iterator[dict[str, object]]:
    for rank, (place, function, score) in enumerate(found, start=1):
        yield {
            "rank": rank,
            "name": function.name,
            "backend": function.backend,
            "score": round(score, 6),
            "place": place,
            "document": function.document,
        }
