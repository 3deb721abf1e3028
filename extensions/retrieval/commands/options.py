"""Options that the commands ``turnwise retrieve ...`` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from envs.errors import DataError
from extensions.retrieval.rankings import DEFAULT
from runner.commands.options import option

if TYPE_CHECKING:
    from extensions.retrieval.measures import RankingMeasures

MEASURES = ("ndcg_1", "ndcg_5", "recall_5", "recall_10", "all_in_5")
METHODS = "ranking: default, bm25, chars, lsa, embed:URL#MODEL, local:PATH or trained:FOLDER"
METHOD_NOTES = """\
rankings:
  default         bm25 and chars, merged by rank
  chars           character n-grams
  embed:URL#MODEL an OpenAI-compatible embedding server
  local:PATH      a model folder of sentence-transformers or fastembed
  trained:FOLDER  a result of turnwise retrieve train
"""
CORPUS_NOTES = """\
corpora:
  own             the 128 functions of the eight backends
  all             the functions of every environment
  bfcl            BFCL's documents of the eight backends
  bfcl-single     the functions of BFCL's single turns
  FILE            function documents or tools (JSON, JSON lines), or OpenAPI
  MCP             an MCP server: .py, .js, mcp:PROGRAM, or a file with mcpServers
"""


@dataclass(frozen=True, kw_only=True)
class CorpusOptions:
    """Corpus."""

    corpus: str | None = option(
        "corpus to search (default: the corpus of the queries, or `own`)", "NAME"
    )
    dataset: str | None = option("BFCL's data (default: bfcl)", "bfcl[:FOLDER]")


@dataclass(frozen=True, kw_only=True)
class RankingOption:
    """Ranking."""

    by: str = option(METHODS, "METHOD", default=DEFAULT)


def split_names(option: str, text: str) -> list[str]:
    """Return the names in a comma-separated list. Raises DataError if a name is empty."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise DataError(option, f"{text!r} has an empty name; remove the extra comma")
    return names


def mean_row(found: Sequence[Mapping[str, Any]], by: str) -> list[str]:
    """Return a table row of one ranking: the mean of each measure over the query sets."""
    mine = [each for each in found if each["by"] == by]
    return [f"{100 * fmean(each[name] for each in mine):.1f}" for name in MEASURES]


def measures_row(measures: RankingMeasures) -> list[str]:
    """Return a table row with the five measures as percentages."""
    return [f"{100 * value:.1f}" for value in measures[:5]]
