"""A corpus: the function documents that are searched, and what is known of each."""

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
from runner.models.tools import Document, bfcl_documents, own_documents
from trajectories.dataset import load_bfcl
from trajectories.schema import FACTS, SINGLE_TURN, Trajectory

Signature = tuple[str, tuple[str, ...]]
"""Name and parameter names of a function: what makes two documents those of one function."""

DOMAINS: Mapping[str, str] = {
    "MessageAPI": "people",
    "TwitterAPI": "people",
    "TicketAPI": "people",
    "TradingBot": "money",
    "FinanceTools": "money",
    "MarketQuotes": "money",
    "TravelAPI": "places",
    "VehicleControlAPI": "places",
    "GeographyTools": "places",
    "GorillaFileSystem": "texts",
    "TextTools": "texts",
    "MathAPI": "numbers",
    "NumberTools": "numbers",
    "CalendarTools": "numbers",
    "RetiredErrands": "money",
    "RetiredNumbers": "numbers",
    "RetiredShapes": "numbers",
}
"""What backends are about; another is a group of its own."""


def signature(document: Document) -> Signature:
    """Return name and parameter names of a document."""
    return str(document["name"]), tuple(sorted(document["parameters"].get("properties") or {}))


class Described(NamedTuple):
    """A function: its document, and where it belongs."""

    backend: str
    """What it shares state or a server with."""
    document: Document

    @property
    def name(self) -> str:
        """Name of the function."""
        return str(self.document["name"])

    @property
    def group(self) -> str:
        """What its backend is about."""
        return DOMAINS.get(self.backend, self.backend)

    @property
    def signature(self) -> Signature:
        """Name and parameter names."""
        return signature(self.document)


@dataclass(frozen=True)
class Corpus:
    """Function documents, in an order that decides between equals.

    Attributes:
        name: What the user called it.
        functions: At least one.
        notes: What was left out of it or is strange in it, a line each.
    """

    name: str
    functions: tuple[Described, ...]
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many documents there are."""
        return len(self.functions)

    @cached_property
    def sha256(self) -> str:
        """Hash of all documents and their backends, in hex."""
        text = json.dumps([(f.backend, f.document) for f in self.functions], sort_keys=True)
        return sha256(text.encode()).hexdigest()

    @cached_property
    def by_name(self) -> Mapping[str, Described]:
        """The functions by name; of several of one name the first."""
        return {each.name: each for each in reversed(self.functions)}


def own_corpus(environments: Iterable[str], name: str = "own") -> Corpus:
    """Return the functions of our environments."""
    return Corpus(name, tuple(_own(environments)))


def _own(environments: Iterable[str]) -> Iterator[Described]:
    for environment in environments:
        for document in own_documents([environment]):
            yield Described(environment, document)


def bfcl_corpus(folder: Path) -> Corpus:
    """Return the functions of BFCL's eight backends as its data describe them.

    Raises:
        DataError: A file is missing or malformed.
    """
    found = [Described(name, d) for name in BACKENDS for d in bfcl_documents([name], folder)]
    return Corpus("bfcl", tuple(found))


def single_turns(folder: Path) -> list[Trajectory]:
    """Return BFCL's published single turns in Python that have right answers.

    Raises:
        DataError: A file is missing or malformed.
    """
    published = [c for c in SINGLE_TURN if FACTS[c].status == "published"]
    entries = load_bfcl(folder, published).trajectories.values()
    return [e for e in entries if e.language == "python" and e.expects and e.expects.answers]


def single_turn_corpus(entries: Sequence[Trajectory]) -> Corpus:
    """Return all documents of single turns, those that are equal once."""
    found: dict[str, Described] = {}
    for entry in entries:
        for document in entry.documents or ():
            key = json.dumps(document, sort_keys=True)
            found.setdefault(key, Described(_prefix(str(document["name"])), document))
    return Corpus("bfcl-single", tuple(found.values()))


def _prefix(name: str) -> str:
    """Return what a function's name says that it belongs to: ``math`` of ``math.gcd``."""
    return name.rpartition(".")[0] or name


def everything() -> Corpus:
    """Return the functions of all environments, but for those of BFCL's retired sets only.

    Many of these do what others of ours do.
    """
    return own_corpus([name for name in names() if name not in OF_THESE_ONLY], "all")


def parameters_of(document: Document) -> Iterator[Mapping[str, Any]]:
    """Yield the schemas of a document's parameters, nested ones too, each with its ``name``."""
    yield from _in_schema(document.get("parameters"), 8)


def _in_schema(schema: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    """Yield what a schema has inside, to a depth that no honest document has."""
    if not isinstance(schema, Mapping) or not depth:
        return
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(inner, Mapping):
            yield {**inner, "name": name}
            yield from _in_schema(inner, depth - 1)
    items = schema.get("items")
    if isinstance(items, Mapping):
        if "enum" in items:
            yield {"name": "", "enum": items["enum"]}
        yield from _in_schema(items, depth - 1)
