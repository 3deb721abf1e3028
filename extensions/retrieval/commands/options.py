"""What the commands ``turnwise retrieve ...`` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from extensions.retrieval.rankings import DEFAULT
from runner.commands.options import option
from trajectories.errors import DataError

if TYPE_CHECKING:
    from extensions.retrieval.measures import Measures

METHODS = (
    "default (bm25 and chars, by ranks), bm25, chars (pieces of words), lsa, embed:URL#MODEL (an "
    "OpenAI-compatible server of embeddings), local:PATH (a folder that sentence-transformers or "
    "fastembed reads) or trained:FOLDER (of turnwise retrieve train)"
)


@dataclass(frozen=True, kw_only=True)
class CorpusOptions:
    """Corpus."""

    corpus: str | None = option(
        "what is searched: own (the 128 functions of the eight backends), all (of every "
        "environment), bfcl (BFCL's documents of the eight), bfcl-single (of its single turns), a "
        "file of function documents or tools (JSON, JSON lines), an OpenAPI file (JSON, YAML), or "
        "an MCP server by its path: .py, .js, mcp:PROGRAM, or a file with mcpServers (default: "
        "own, or what the queries are about)",
        "NAME",
    )
    dataset: str | None = option("where BFCL's data are (default: bfcl)", "bfcl[:FOLDER]")


@dataclass(frozen=True, kw_only=True)
class ByOption:
    """Ranking."""

    by: str = option(METHODS, "METHOD", default=DEFAULT)


def listed(option: str, text: str) -> list[str]:
    """Return the names between commas.

    Raises:
        DataError: One is empty.
    """
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise DataError(option, f"{text!r} has an empty name between commas")
    return names


def measures_row(measures: Measures) -> list[str]:
    """Return the five measures as percentages."""
    return [f"{100 * value:.1f}" for value in measures[:5]]
