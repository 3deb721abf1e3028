"""DUPLICATE and DOCS: no question is asked twice, and the function documents say what is so.

Two texts are near duplicates when most of their words are the same (Jaccard index of the word
sets). Texts are compared only where they share one of their rarest words, which every pair above
the threshold does, so that a thousand entries take a second or two.

Our function documents are derived from signature and docstring, so what is checked is that this
works and that the docstring is whole. BFCL's are files beside its data, checked for themselves and
against the functions that they describe.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from envs.registry import BACKENDS
from envs.schema import docstring_defects
from envs.tool import Tool, parameters
from extensions.authoring.rules.entry import Entry
from extensions.authoring.rules.problem import Problem, Severity
from trajectories.bfcl import function_docs_file
from trajectories.jsonl import read_objects
from trajectories.schema import Category

DUPLICATE = "DUPLICATE"

NEAR = 0.75
"""Share of words in common from which on two texts are near duplicates."""
FEWEST_WORDS = 8
"""Shorter texts, such as thanks, may well come twice."""

_WORD = re.compile(r"\w+")


class _Text(NamedTuple):
    entry: Entry
    turn: int
    words: frozenset[str]


def check_duplicates(entries: Sequence[Entry]) -> Iterator[Problem]:
    """Yield questions that have been asked in the same category already."""
    for category in Category:
        texts = [
            _Text(entry, index, words)
            for entry in entries
            if entry.trajectory.category is category
            for index, turn in enumerate(entry.trajectory.turns)
            if len(words := word_set(" ".join([m.content for m in turn.messages]))) >= FEWEST_WORDS
        ]
        for later, earlier, alike in near_duplicates([text.words for text in texts]):
            yield _problem(texts[later], texts[earlier], alike)


def near_duplicates(texts: Sequence[frozenset[str]]) -> Iterator[tuple[int, int, float]]:
    """Yield for sets of words their likest earlier near duplicate, if any, and how alike it is."""
    frequency = Counter([word for words in texts for word in words])
    holders: dict[str, list[int]] = {}
    for index, words in enumerate(texts):
        rarest = sorted(words, key=lambda word: (frequency[word], word))
        # Two sets of which so many words agree share one of these (prefix filtering).
        prefix = rarest[: len(words) - ceil(NEAR * len(words)) + 1]
        candidates = {other for word in prefix for other in holders.get(word, ())}
        found = [(jaccard(words, texts[other]), -other) for other in candidates]
        best = max(found, default=(0.0, 0))
        if best[0] >= NEAR:
            yield index, -best[1], best[0]
        for word in prefix:
            holders.setdefault(word, []).append(index)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of words that two texts have in common."""
    return len(one & other) / len(one | other)


def word_set(text: str) -> frozenset[str]:
    """Return the words by which texts are compared."""
    return frozenset(_WORD.findall(text.casefold()))


def _problem(later: _Text, earlier: _Text, alike: float) -> Problem:
    same = alike == 1
    place = f"turn {earlier.turn} of {earlier.entry.trajectory.id}"
    message = f"asks what {place} asks, in {'the same' if same else f'{alike:.0%} the same'} words"
    severity = Severity.ERROR if same else Severity.WARNING
    return later.entry.problem(DUPLICATE, severity, later.turn, "messages", message)


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
"""Names of types that documents may use, and what values of them are in Python."""

_NO_JSON_TYPES = ("float", "dict", "tuple", "any")
_PROSE_DEFAULT = re.compile(r"default\w*+\W++(?:(?:is|to|value)\W*+)?none\b", re.IGNORECASE)


def check_own() -> Iterator[Problem]:
    """Yield defects of our own function documents."""
    for backend in BACKENDS.values():
        for tool in backend.TOOLS.values():
            for field, message in own_defects(tool):
                id = f"{tool.backend}.{tool.name}"
                file = f"{backend.__module__.replace('.', '/')}.py"
                yield Problem(
                    DOCS, Severity.ERROR, file=file, id=id, turn=None, field=field, message=message
                )


def own_defects(tool: Tool) -> Iterator[tuple[str, str]]:
    """Yield member and message of what is wrong with a function's docstring or schema."""
    for message in docstring_defects(tool):
        yield "docstring", message


def check_reference(folder: Path) -> Iterator[Problem]:
    """Yield defects of BFCL's function documents in its data folder."""
    for environment, backend in BACKENDS.items():
        file = function_docs_file(environment)
        documented = set()
        for _, document in read_objects(folder / file):
            name = str(document.get("name"))
            documented.add(name)
            for severity, field, message in defects(document, backend.TOOLS.get(name)):
                yield Problem(
                    DOCS,
                    severity,
                    file=file,
                    id=f"{environment}.{name}",
                    turn=None,
                    field=field,
                    message=message,
                )
        for name in backend.TOOLS.keys() - documented:
            id = f"{environment}.{name}"
            message = "is callable and has no document"
            yield Problem(
                DOCS, Severity.ERROR, file=file, id=id, turn=None, field="name", message=message
            )


Defect = tuple[Severity, str, str]
"""Severity, member and message."""


def defects(document: Mapping[str, Any], tool: Tool | None) -> Iterator[Defect]:
    """Yield what is wrong with the document of a function, or of none that there is."""
    schema = document.get("parameters")
    if not isinstance(schema, Mapping) or not isinstance(schema.get("properties"), Mapping):
        yield Severity.ERROR, "parameters", "is no object with properties"
        return
    properties: Mapping[str, Any] = schema["properties"]
    required = schema.get("required", [])
    if not document.get("description"):
        yield Severity.ERROR, "description", "is missing"
    for name in required:
        if name not in properties:
            message = f"{name} is required and no parameter"
            yield Severity.ERROR, "parameters.required", message
    for name, member in properties.items():
        for severity, path, message in _member_defects(member, name in required):
            yield severity, f"parameters.properties.{name}{path}", message
    if tool is None:
        yield Severity.ERROR, "name", "documents a function that does not exist"
    else:
        yield from _disagreements(tool, properties, required)


def _member_defects(member: Mapping[str, Any], required: bool) -> Iterator[Defect]:
    kind = str(member.get("type"))
    if kind not in TYPES:
        yield Severity.ERROR, ".type", f"{kind!r} is no known type"
        return
    if kind in _NO_JSON_TYPES:
        yield Severity.INFO, ".type", f"{kind!r} is no type of JSON Schema"
    if not member.get("description"):
        yield Severity.WARNING, ".description", "is missing"
    elif _PROSE_DEFAULT.search(member["description"]) and "default" not in member:
        yield Severity.INFO, ".description", "tells a default that the member does not have"
    if kind == "array" and not isinstance(member.get("items"), Mapping):
        yield Severity.WARNING, ".items", "are not described"
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
        yield Severity.ERROR, ".default", "is the text 'None', where null is meant"
    elif default is not None and (
        not isinstance(default, kind) or (isinstance(default, bool) and kind is not bool)
    ):
        yield Severity.ERROR, ".default", f"{default!r} is not of the type that is documented"


def _disagreements(
    tool: Tool, properties: Mapping[str, Any], required: list[str]
) -> Iterator[Defect]:
    takes = {parameter.name: parameter for parameter in parameters(tool)}
    for name in properties:
        if name not in takes:
            yield Severity.ERROR, f"parameters.properties.{name}", "the function does not take it"
    for name, parameter in takes.items():
        field = f"parameters.properties.{name}"
        if name not in properties:
            yield Severity.ERROR, field, "the function takes it and it is not documented"
        elif (parameter.default is parameter.empty) != (name in required):
            told = "required" if name in required else "optional"
            yield Severity.ERROR, field, f"is documented as {told}, and is not"
