"""Presentation of functions: their order, names and descriptions.

The entry determines the seed of random choices. Therefore, the presentation of an entry's
functions is the same in every process.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

from envs.tool import Document
from extensions.experiments.function_counts import list_needed_functions
from runner.models.model_types import IdentityKey
from runner.models.toolbox import FunctionNotes, Toolbox, as_texts, documents_of
from trajectories.schema import Trajectory

Order = Literal["as-is", "shuffled", "alphabetical"]
Place = Literal["head", "middle", "tail", "spread"]
Naming = Literal["plain", "snake", "codes", "swapped"]
Words = Literal["full", "first", "none"]

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_WORD = re.compile(r"[^A-Za-z0-9]+")
_SENTENCE = re.compile(r"[.!?](?=\s)")


class Paraphrase(NamedTuple):
    """Reworded description of a function."""

    description: str
    parameters: Mapping[str, str]
    """New descriptions by parameter name; other parameters keep their descriptions."""


class Arrangement(NamedTuple):
    """Presentation of an entry's functions."""

    order: Order = "as-is"
    place: Place | None = None
    """Position of the needed functions in the list; None keeps their positions."""
    names: Naming = "plain"
    words: Words = "full"
    paraphrases: Mapping[str, Paraphrase] | None = None
    """Paraphrases by function; other functions keep their descriptions."""
    seed: int = 0

    def arranged(
        self, documents: Sequence[Document], need: Collection[str], key: str
    ) -> list[Document]:
        """Apply the chosen order and descriptions to the documents."""
        shown = [self._describe(document) for document in documents]
        if self.order == "alphabetical":
            shown.sort(key=lambda document: str(document["name"]))
        elif self.order == "shuffled":
            Random(f"order/{self.seed}/{key}").shuffle(shown)
        return self._move_needed(shown, need)

    def shown_names(
        self, documents: Sequence[Document], need: Collection[str], key: str
    ) -> dict[str, str]:
        """Return a mapping from each function's real name to the name that the model sees.

        If names are swapped, the functions in ``need`` keep their names. ``key`` identifies the
        entry.
        """
        names = [str(document["name"]) for document in documents]
        source = Random(f"names/{self.seed}/{key}")
        if self.names == "snake":
            return {name: _to_snake_case(name) for name in names}
        if self.names == "codes":
            codes = source.sample(range(max(1000, len(names))), len(names))
            return {name: f"fn_{code:03}" for name, code in zip(names, codes, strict=True)}
        shown = {name: name for name in names}
        if self.names == "swapped":
            others = sorted(name for name in names if name not in need)
            source.shuffle(others)
            for one, other in zip(others[::2], others[1::2], strict=False):
                shown[one], shown[other] = other, one
        return shown

    def _move_needed(self, shown: list[Document], need: Collection[str]) -> list[Document]:
        if self.place is None:
            return shown
        needed = [document for document in shown if document["name"] in need]
        others = [document for document in shown if document["name"] not in need]
        if self.place == "spread":
            return [*_spread_evenly(needed, others)]
        before = {"head": 0, "middle": len(others) // 2, "tail": len(others)}[self.place]
        return [*others[:before], *needed, *others[before:]]

    def _describe(self, document: Document) -> Document:
        name = document["name"]
        if self.paraphrases and name in self.paraphrases:
            description, known = self.paraphrases[name]
            return _paraphrase(document, description, known)
        return document if self.words == "full" else _shorten(IdentityKey(document), self.words)


def first_sentence(text: str) -> str:
    """Return a text up to the end of its first sentence."""
    end = _SENTENCE.search(text)
    return text[: end.end()] if end else text


def _to_snake_case(name: str) -> str:
    return _NO_WORD.sub("_", _CAPITAL.sub("_", name)).strip("_").lower()


def _spread_evenly(needed: Sequence[Document], others: Sequence[Document]) -> Iterator[Document]:
    total, taken, left = len(needed) + len(others), iter(needed), iter(others)
    places = {number * total // len(needed) for number in range(len(needed))}
    for place in range(total):
        yield next(taken if place in places else left)


def _paraphrase(document: Document, description: str, known: Mapping[str, str]) -> Document:
    schema = document["parameters"]
    members = {
        name: {**member, "description": known[name]} if name in known else member
        for name, member in schema.get("properties", {}).items()
    }
    schema = {**schema, "properties": members}
    return {**document, "description": description, "parameters": schema}


@lru_cache(maxsize=4096)
def _shorten(shown: IdentityKey, words: Words) -> Document:
    document = shown.value
    text = first_sentence(document.get("description", "")) if words == "first" else ""
    schema = _strip_descriptions(document["parameters"], is_schema=True)
    return {**document, "description": text, "parameters": schema}


def _strip_descriptions(value: Mapping[str, Any], *, is_schema: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, member in value.items():
        if is_schema and name == "description":
            continue
        if isinstance(member, Mapping):
            by_name = is_schema and name == "properties"
            found[name] = _strip_descriptions(member, is_schema=not by_name)
        elif isinstance(member, list) and name in ("anyOf", "oneOf", "allOf"):
            found[name] = [
                _strip_descriptions(each, is_schema=True) if isinstance(each, Mapping) else each
                for each in member
            ]
        else:
            found[name] = member
    return found


def arrange_toolbox(
    trajectory: Trajectory, folder: Path | None, notes: FunctionNotes, how: Arrangement, trial: int
) -> Toolbox:
    """Return an entry's functions; ``how`` defines their order, names and descriptions.

    Raises DataError if a file with documents is missing or malformed.
    """
    documents, language = documents_of(trajectory, folder), trajectory.language
    never = {*trajectory.excluded} - {*trajectory.held_out}
    offered = [document for document in documents if document["name"] not in never]
    need = frozenset(list_needed_functions(trajectory))
    key = f"{trajectory.id}/{trial}" if trial else trajectory.id
    shown = as_texts(how.arranged(offered, need, key), language, notes)
    names = how.shown_names(offered, need, trajectory.id)
    if how.words == "none":
        notes = notes._replace(syntax=dict.fromkeys(notes.syntax, ""), float="", response=False)
    return Toolbox(shown, language, notes, names)
