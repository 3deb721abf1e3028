"""Rules for duplicate questions (DUPLICATE) and for wrong function documents (DOCS).

Near duplicates have most of their words in common (Jaccard index of the word sets). Near
duplicates share a rare word, so only pairs that share a rare word are compared.

Our function documents are derived from signatures and docstrings, so DOCS checks the docstrings.
DOCS also compares BFCL's function documents with the functions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from envs.registry import BACKENDS
from envs.schema import list_docstring_errors
from envs.tool import Tool, parameters
from extensions.authoring.rules.finding import Finding, Severity
from extensions.authoring.rules.replayed_entry import Entry
from trajectories.bfcl_reader import function_docs_file
from trajectories.jsonl import read_objects
from trajectories.schema import Category, Message

DUPLICATE = "DUPLICATE"

NEAR = 0.75
"""Minimum Jaccard index of near duplicates."""
MIN_WORDS = 8
"""Minimum length of a question; shorter messages, such as thanks, can occur in two entries."""

_WORD = re.compile(r"\w+")


class _TurnText(NamedTuple):
    entry: Entry
    turn: int
    words: frozenset[str]


def check_duplicates(entries: Sequence[Entry]) -> Iterator[Finding]:
    """Yield questions that also occur in an earlier entry of the same category."""
    for category in Category:
        texts = [
            _TurnText(entry, index, words)
            for entry in entries
            if entry.trajectory.category is category
            for index, turn in enumerate(entry.trajectory.turns)
            if len(words := _collect_asked_words(turn.messages)) >= MIN_WORDS
        ]
        for later, earlier, similarity in find_near_duplicates([text.words for text in texts]):
            yield _describe_duplicate(texts[later], texts[earlier], similarity)


def _collect_asked_words(messages: Sequence[Message]) -> frozenset[str]:
    return collect_words(" ".join([each.content for each in messages if each.role == "user"]))


def find_near_duplicates(texts: Sequence[frozenset[str]]) -> Iterator[tuple[int, int, float]]:
    """Yield each near duplicate's index, the original's index, and the similarity of the two."""
    frequency = Counter([word for words in texts for word in words])
    holders: dict[str, list[int]] = {}
    for index, words in enumerate(texts):
        rarest = sorted(words, key=lambda word: (frequency[word], word))
        # Near duplicates share one of these words (prefix filtering).
        prefix = rarest[: len(words) - ceil(NEAR * len(words)) + 1]
        candidates = {other for word in prefix for other in holders.get(word, ())}
        found = [(jaccard(words, texts[other]), -other) for other in candidates]
        best = max(found, default=(0.0, 0))
        if best[0] >= NEAR:
            yield index, -best[1], best[0]
        for word in prefix:
            holders.setdefault(word, []).append(index)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard index of two word sets."""
    return len(one & other) / len(one | other)


def collect_words(text: str) -> frozenset[str]:
    """Return the case-folded words of a text."""
    return frozenset(_WORD.findall(text.casefold()))


def _describe_duplicate(later: _TurnText, earlier: _TurnText, similarity: float) -> Finding:
    place = f"turn {earlier.turn + 1} of {earlier.entry.trajectory.id}"
    message = f"asks the same question as {place}: both texts share {similarity:.0%} of their words"
    severity = Severity.ERROR if similarity == 1 else Severity.WARNING
    return later.entry.finding(DUPLICATE, severity, later.turn, "messages", message)


DOCS = "DOCS"

TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "float": (int, float),
    "number": (int, float),
    "boolean": bool,
    "array": (list, tuple),
    "tuple": (list, tuple),
    "dict": dict,
    "object": dict,
    "any": object,
}
"""Types that documents may use, with the Python types of their values."""

_NO_JSON_TYPES = ("float", "dict", "tuple", "any")
_PROSE_DEFAULT = re.compile(r"default\w*+\W++(?:(?:is|to|value)\W*+)?none\b", re.IGNORECASE)


def check_own() -> Iterator[Finding]:
    """Yield errors in our own function documents."""
    for backend in BACKENDS.values():
        file = f"{backend.__module__.replace('.', '/')}.py"
        for tool in backend.TOOLS.values():
            for message in list_docstring_errors(tool):
                id = f"{tool.backend}.{tool.name}"
                yield Finding(DOCS, Severity.ERROR, file, id, None, "docstring", message)


def check_reference(folder: Path) -> Iterator[Finding]:
    """Yield errors in the function documents in BFCL's data folder."""
    for environment, backend in BACKENDS.items():
        file = function_docs_file(environment)
        documented = set()
        for _, document in read_objects(folder / file):
            name = str(document.get("name"))
            documented.add(name)
            for severity, field, message in defects(document, backend.TOOLS.get(name)):
                yield Finding(DOCS, severity, file, f"{environment}.{name}", None, field, message)
        for name in backend.TOOLS.keys() - documented:
            id, message = f"{environment}.{name}", "the function has no document"
            yield Finding(DOCS, Severity.ERROR, file, id, None, "name", message)


Defect = tuple[Severity, str, str]
"""Severity, field and message."""


def defects(document: Mapping[str, Any], tool: Tool | None) -> Iterator[Defect]:
    """Yield the errors in a function document; ``tool`` is None for an unknown function."""
    schema = document.get("parameters")
    if not isinstance(schema, Mapping) or not isinstance(schema.get("properties"), Mapping):
        yield Severity.ERROR, "parameters", "is not an object with properties"
        return
    properties: Mapping[str, Any] = schema["properties"]
    required = schema.get("required", [])
    if not document.get("description"):
        yield Severity.ERROR, "description", "is missing"
    for name in required:
        if name not in properties:
            yield Severity.ERROR, "parameters.required", f"{name} is not a parameter"
    for name, member in properties.items():
        for severity, path, message in _member_defects(member, name in required):
            yield severity, f"parameters.properties.{name}{path}", message
    if tool is None:
        yield Severity.ERROR, "name", "documents a function that does not exist"
    else:
        yield from _mismatches(tool, properties, required)


def _member_defects(member: Mapping[str, Any], required: bool) -> Iterator[Defect]:
    kind = str(member.get("type"))
    if kind not in TYPES:
        yield Severity.ERROR, ".type", f"{kind!r} is not a known type"
        return
    if kind in _NO_JSON_TYPES:
        yield Severity.INFO, ".type", f"{kind!r} is not a JSON Schema type"
    if not member.get("description"):
        yield Severity.WARNING, ".description", "is missing"
    elif _PROSE_DEFAULT.search(member["description"]) and "default" not in member:
        yield Severity.INFO, ".description", "mentions a default, but the schema has no default"
    if kind == "array" and not isinstance(member.get("items"), Mapping):
        yield Severity.WARNING, ".items", "the item schema is missing"
    if "default" in member:
        yield from _default_defects(member["default"], TYPES[kind], required)
    nested = member.get("properties")
    if isinstance(nested, Mapping):
        for name, inner in nested.items():
            if isinstance(inner, Mapping):
                for severity, path, message in _member_defects(inner, True):
                    yield severity, f".properties.{name}{path}", message


def _default_defects(
    default: object, kind: type | tuple[type, ...], required: bool
) -> Iterator[Defect]:
    if required:
        yield Severity.WARNING, ".default", "a required parameter has a default"
    if default == "None":
        yield Severity.ERROR, ".default", "is the string 'None'; use null"
    elif default is not None and (
        not isinstance(default, kind) or (isinstance(default, bool) and kind is not bool)
    ):
        yield Severity.ERROR, ".default", f"{default!r} is not of the documented type"


def _mismatches(tool: Tool, properties: Mapping[str, Any], required: list[str]) -> Iterator[Defect]:
    takes = {parameter.name: parameter for parameter in parameters(tool)}
    for name in properties:
        if name not in takes:
            message = "the function does not have this parameter"
            yield Severity.ERROR, f"parameters.properties.{name}", message
    for name, parameter in takes.items():
        field = f"parameters.properties.{name}"
        if name not in properties:
            yield Severity.ERROR, field, "the parameter is not documented"
        elif (parameter.default is parameter.empty) != (name in required):
            told, real = ("required", "optional") if name in required else ("optional", "required")
            yield Severity.ERROR, field, f"the parameter is documented as {told}, but it is {real}"
