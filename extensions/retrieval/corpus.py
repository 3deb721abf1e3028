"""Corpora: collections of function documents that retrieval searches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from envs.registry import BACKENDS, names
from extensions.retired.retired_sets import OF_THESE_ONLY
from runner.models.toolbox import Document, bfcl_documents, own_documents
from trajectories.dataset import load_bfcl
from trajectories.schema import FACTS, SINGLE_TURN, Trajectory

Signature = tuple[str, tuple[str, ...]]
"""Name and sorted parameter names; documents with equal signatures describe one function."""

_DOMAINS = {
    "people": ("MessageAPI", "TwitterAPI", "TicketAPI"),
    "money": ("TradingBot", "FinanceTools", "MarketQuotes", "RetiredErrands"),
    "places": ("TravelAPI", "VehicleControlAPI", "GeographyTools"),
    "texts": ("GorillaFileSystem", "TextTools"),
    "numbers": ("MathAPI", "NumberTools", "CalendarTools", "RetiredNumbers", "RetiredShapes"),
}
DOMAINS = {backend: domain for domain, backends in _DOMAINS.items() for backend in backends}
"""Topic of each backend. Backends of one topic form a group."""


def signature(document: Document) -> Signature:
    """Return the name of a document and its sorted parameter names."""
    return str(document["name"]), tuple(sorted(document["parameters"].get("properties") or {}))


class DescribedFunction(NamedTuple):
    """Function document and the backend that it belongs to."""

    backend: str
    """Name of the environment or server to which the function belongs."""
    document: Document

    @property
    def name(self) -> str:
        """Function name."""
        return str(self.document["name"])

    @property
    def group(self) -> str:
        """Topic of the backend."""
        return DOMAINS.get(self.backend, self.backend)

    @property
    def signature(self) -> Signature:
        """Name and sorted parameter names."""
        return signature(self.document)


@dataclass(frozen=True)
class Corpus:
    """Function documents, at least one. Documents with equal scores are ranked in corpus order."""

    name: str
    functions: tuple[DescribedFunction, ...]
    notes: tuple[str, ...] = ()
    """One line for each omitted function."""

    @property
    def size(self) -> int:
        """Number of documents."""
        return len(self.functions)

    @cached_property
    def sha256(self) -> str:
        """Hex hash of all documents and their backends."""
        text = json.dumps([(f.backend, f.document) for f in self.functions], sort_keys=True)
        return sha256(text.encode()).hexdigest()

    @cached_property
    def by_name(self) -> Mapping[str, DescribedFunction]:
        """Functions by name; if several functions have the same name, the first one counts."""
        return {each.name: each for each in reversed(self.functions)}


def own_corpus(environments: Iterable[str], name: str = "own") -> Corpus:
    """Return the corpus of the named environments."""
    functions = [DescribedFunction(e, d) for e in environments for d in own_documents([e])]
    return Corpus(name, tuple(functions))


def bfcl_corpus(folder: Path) -> Corpus:
    """Return the corpus of BFCL's eight backends, with the function documents from BFCL's data.

    Raises DataError if a file of the data is missing or malformed.
    """
    functions = [DescribedFunction(b, d) for b in BACKENDS for d in bfcl_documents([b], folder)]
    return Corpus("bfcl", tuple(functions))


def load_single_turns(folder: Path) -> list[Trajectory]:
    """Return BFCL's published single-turn Python entries that have expected answers.

    Raises DataError if a file is missing or malformed.
    """
    published = [c for c in SINGLE_TURN if FACTS[c].status == "published"]
    entries = load_bfcl(folder, published).trajectories.values()
    return [e for e in entries if e.language == "python" and e.expects and e.expects.answers]


def single_turn_corpus(entries: Sequence[Trajectory]) -> Corpus:
    """Return a corpus of the distinct documents of single-turn entries.

    The backend of a function is its name before the last dot, such as ``math`` for ``math.gcd``.
    """
    found: dict[str, DescribedFunction] = {}
    for entry in entries:
        for document in entry.documents or ():
            name, key = str(document["name"]), json.dumps(document, sort_keys=True)
            found.setdefault(key, DescribedFunction(name.rpartition(".")[0] or name, document))
    return Corpus("bfcl-single", tuple(found.values()))


def load_full_corpus() -> Corpus:
    """Return the corpus of all environments, except retired environments."""
    return own_corpus([name for name in names() if name not in OF_THESE_ONLY], "all")


def list_parameters(document: Document) -> Iterator[Mapping[str, Any]]:
    """Yield the name and schema of every parameter of a document, including nested parameters."""
    yield from _walk_schema(document.get("parameters"), 8)


def _walk_schema(schema: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if not isinstance(schema, Mapping) or not depth:
        return
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(inner, Mapping):
            yield {**inner, "name": name}
            yield from _walk_schema(inner, depth - 1)
    items = schema.get("items")
    if isinstance(items, Mapping):
        if "enum" in items:
            yield {"name": "", "enum": items["enum"]}
        yield from _walk_schema(items, depth - 1)
