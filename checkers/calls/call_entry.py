"""Records of single-turn entries, and exceptions for unreadable outputs and invalid entries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Self

from checkers.reasons import Reason
from envs.state import cut_repr


class UnreadableOutput(Exception):
    """A model's output that cannot be parsed as calls.

    Args:
        message: Parse error.
        reason: Failure reason if calls were expected.
        attempted: Whether the output looks like a call.
    """

    def __init__(
        self, message: str, reason: Reason = Reason.DECODER_FAILED, *, attempted: bool = False
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.attempted = attempted


class UnjudgeableEntry(Exception):
    """An entry without a verdict because of an error in its data."""


class Language(StrEnum):
    """Language of function documents and calls."""

    PYTHON = "python"
    JAVA = "java"
    JAVASCRIPT = "javascript"


class ComparisonKind(StrEnum):
    """Kind of a single-turn entry: how many functions are offered, and which calls pass."""

    SIMPLE = "simple"
    """One function is offered, and one call is expected."""
    MULTIPLE = "multiple"
    """Several functions are offered, and one call is expected."""
    PARALLEL = "parallel"
    """Several calls are expected, in any order."""
    IRRELEVANCE = "irrelevance"
    """No function fits, so no function should be called."""
    RELEVANCE = "relevance"
    """At least one function fits the request, and every call passes."""


_OBJECT = (dict, Mapping)
"""Types of a JSON object. For speed, ``dict`` comes first."""
_LIST = (list, tuple)


class FunctionDocument(NamedTuple):
    """Document of a function in an entry."""

    name: str
    parameters: Mapping[str, Mapping[str, Any]]
    required: Sequence[str]

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Read a function document of an entry.

        Raises UnjudgeableEntry if the document has no parameters.
        """
        try:
            schema = document["parameters"]
            properties, required = schema["properties"], schema.get("required", ())
            if not [each for each in properties.values() if not isinstance(each, _OBJECT)]:
                return cls(document["name"], properties, required)
        except (AttributeError, KeyError, TypeError):
            pass
        name = document.get("name")
        raise UnjudgeableEntry(f"the document of {name} has no valid `parameters` object")


class ExpectedCall(NamedTuple):
    """One expected call."""

    function: str
    allowed: Mapping[str, Sequence[Any]]
    """Accepted values by parameter; the values of an optional parameter include an empty string."""

    @classmethod
    def from_json(cls, answer: Mapping[str, Mapping[str, Sequence[Any]]]) -> Self:
        """Read an expected call of the form ``{function: {parameter: accepted values}}``.

        Raises UnjudgeableEntry if the answer is malformed.
        """
        if len(answer) == 1:
            ((function, allowed),) = answer.items()
            is_object = isinstance(allowed, _OBJECT)
            if is_object and not [each for each in allowed.values() if not isinstance(each, _LIST)]:
                return cls(function, allowed)
        form = "{function: {parameter: values}}"
        raise UnjudgeableEntry(f"the answer {cut_repr(answer)} must have the form {form}")


_VARIABLE = re.compile(r"(?<![\w.])[A-Za-z_]\w*", re.ASCII)
_VALUES = {"True", "False", "None", "true", "false", "null"}


class CallEntry(NamedTuple):
    """Expected calls, functions and comparison rules of a single-turn entry."""

    kind: ComparisonKind
    language: Language
    documents: tuple[FunctionDocument, ...]
    answers: tuple[ExpectedCall, ...] = ()
    question: str = ""

    @property
    def named(self) -> frozenset[str]:
        """Words in the user's message that are valid variable names."""
        return frozenset(_VARIABLE.findall(self.question)) - _VALUES

    def document(self, name: str) -> FunctionDocument:
        """Return the document of a function.

        Raises UnjudgeableEntry if the function has no document.
        """
        for document in self.documents:
            if document.name == name:
                return document
        raise UnjudgeableEntry(f"an answer calls {name}, which has no function document")

    def document_of(self, answer: ExpectedCall) -> FunctionDocument:
        """Return the document of an expected call; a simple entry has only one document.

        Raises UnjudgeableEntry if the function has no document.
        """
        simple = self.kind is ComparisonKind.SIMPLE
        return self.documents[0] if simple else self.document(answer.function)


TYPES: Mapping[Language, Mapping[str, type]] = {
    Language.PYTHON: {
        "string": str, "integer": int, "float": float, "boolean": bool, "array": list,
        "tuple": list, "dict": dict, "any": str, "Tuple": list, "Float": float,
    },
    Language.JAVA: {
        "byte": int, "short": int, "integer": int, "float": float, "double": float, "long": int,
        "boolean": bool, "char": str, "Array": list, "ArrayList": list, "Set": list,
        "HashMap": dict, "Hashtable": dict, "Queue": list, "Stack": list, "String": str,
        "any": str, "LinkedList": list, "Float": float,
    },
    Language.JAVASCRIPT: {
        "String": str, "integer": int, "float": float, "Bigint": int, "Boolean": bool,
        "dict": dict, "array": list, "any": str,
    },
}  # fmt: skip
"""Exact Python type for each type name; ``True`` and ``5.0`` do not count as integers."""


class ExpectedType(NamedTuple):
    """Type of a parameter or of its elements."""

    word: str
    type: type
    items: ExpectedType | None = None
    members: Mapping[str, ExpectedType] = {}


_PLAIN_TYPES = {
    language: {word: ExpectedType(word, type_) for word, type_ in types.items()}
    for language, types in TYPES.items()
}


_WORDS = {
    str: "string", int: "integer", float: "float", bool: "boolean", list: "array", dict: "dict",
}  # fmt: skip


def read_expected_type(
    schema: Mapping[str, Any], language: Language, allowed: Sequence[object] = ()
) -> ExpectedType:
    """Return the type in a schema.

    If a Python parameter has no type, its first accepted value gives the type. Raises
    UnjudgeableEntry if a type is missing or unknown.
    """
    word = schema.get("type")
    if "type" not in schema and language is Language.PYTHON:
        kinds = (_WORDS.get(type(value)) for value in allowed if value != "")
        word = next(filter(None, kinds), None)
    plain = _PLAIN_TYPES[language].get(word) if isinstance(word, str) else None
    if plain is None:
        raise UnjudgeableEntry(f"{word!r} is not a type of {language}")
    if plain.type is dict and isinstance(properties := schema.get("properties"), _OBJECT):
        known = {
            name: read_expected_type(member, language)
            for name, member in properties.items()
            if isinstance(member, _OBJECT)
            and isinstance(kind := member.get("type"), str)
            and kind in TYPES[language]
        }
        return ExpectedType(plain.word, dict, members=known)
    if plain.type is list and isinstance(items := schema.get("items"), _OBJECT):
        return ExpectedType(plain.word, list, read_expected_type(items, language))
    return plain


def find_document_errors(documents: Iterable[object]) -> Iterator[tuple[str, str]]:
    """Yield the JSON path and message of each error in function documents."""
    for index, document in enumerate(documents):
        path = f"[{index}]"
        if not isinstance(document, _OBJECT):
            yield path, "must be an object"
            continue
        for name in ("name", "description"):
            if not isinstance(document.get(name), str):
                yield f"{path}.{name}", "must be a string"
        schema = document.get("parameters")
        if not isinstance(schema, _OBJECT):
            yield f"{path}.parameters", "must be an object"
        elif "properties" not in schema:
            yield f"{path}.parameters.properties", "is missing"
        else:
            yield from _check_schema(f"{path}.parameters", schema)


_CHECKED_KEYS = frozenset(["properties", "items", "required"])


def _check_schema(path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    if not isinstance(properties, _OBJECT):
        yield f"{path}.properties", "must be an object"
    else:
        for name, each in properties.items():
            if not isinstance(each, _OBJECT):
                yield f"{path}.properties.{name}", "must be an object"
            elif not _CHECKED_KEYS.isdisjoint(each):
                yield from _check_schema(f"{path}.properties.{name}", each)
    if "items" in schema and isinstance(schema["items"], _OBJECT):
        yield from _check_schema(f"{path}.items", schema["items"])
    if not isinstance(required, _LIST) or [name for name in required if not isinstance(name, str)]:
        yield f"{path}.required", "must be a list of names"
