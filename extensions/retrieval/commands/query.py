"""The command ``turnwise retrieve query``: the functions that a text asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from envs.state import cut
from extensions.retrieval.commands.options import ByOption, CorpusOptions
from extensions.retrieval.rankings import Found, Ranking
from extensions.retrieval.reading import corpus_named
from runner.commands import DONE
from runner.commands.options import argument, option, positive
from runner.commands.shared import JsonOption, note
from runner.show.terminal import say, say_json

EXAMPLE = 'turnwise retrieve query "cancel my flight and tell Ada" -k 3'

_LONGEST = 80


@dataclass(frozen=True, kw_only=True)
class Options(CorpusOptions, ByOption, JsonOption):
    """What is asked for."""

    text: str = argument("what somebody wants, in words", "TEXT")
    k: int = option("how many functions", "N", default=5, read=positive, flags=("-k",))


def run(options: Options) -> int:
    """Print the functions nearest to a text."""
    corpus = corpus_named(options.corpus or "own", options.dataset, note)
    found = Ranking(corpus, options.by).find(options.text, options.k)
    if found and not any(function.score for function in found):
        note(f"nothing of the text is in {corpus.name}, whose first functions these are")
    if options.json:
        say_json({"query": options.text, "by": options.by, "found": [*_as_json(found)]})
        return DONE
    for rank, (_, function, score) in enumerate(found, start=1):
        told = " ".join(str(function.document["description"]).split())
        head = f"{rank:>3}  {score:.4f}  {function.name} ({function.backend})"
        say(f"{head}: {cut(told, _LONGEST)}")
    say(f"{corpus.size} functions of {corpus.name}; ranked by {options.by}")
    return DONE


def _as_json(found: Sequence[Found]) -> Iterator[dict[str, object]]:
    for rank, (place, function, score) in enumerate(found, start=1):
        yield {
            "rank": rank,
            "name": function.name,
            "backend": function.backend,
            "score": round(score, 6),
            "place": place,
            "document": function.document,
        }
