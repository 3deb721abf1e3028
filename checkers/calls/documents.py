"""What a single-turn entry is judged by: its functions, their types and the right answers.

Also why there may be nothing to compare: an output or an entry that cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Self

from checkers.reasons import Reason
from envs.state import brief


class Unreadable(Exception):
    """A model's output that cannot be read as calls.

    Args:
        message: Why not.
        reason: Which of the two reasons it is when calls were expected.
        attempted: Whether it is an attempt at a call all the same.
    """

    def __init__(
        self, message: str, reason: Reason = Reason.DECODER_FAILED, *, attempted: bool = False
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.attempted = attempted


class CannotJudge(Exception):
    """An entry on which there is no verdict, through no fault of the model."""


class MissingGrammar(Exception):
    """A library that reads Java or JavaScript is not installed."""

    def __init__(self, library: str) -> None:
        super().__init__(f"{library} is not installed: pip install 'turnwise[languages]'")


class Language(StrEnum):
    """The language in which functions are documented and called."""

    PYTHON = "python"
    JAVA = "java"
    JAVASCRIPT = "javascript"


class Kind(StrEnum):
    """How the calls of an entry are compared."""

    SIMPLE = "simple"
    """One function, one call."""
    MULTIPLE = "multiple"
    """Several functions, one call."""
    PARALLEL = "parallel"
    """Several calls, in any order."""
    IRRELEVANCE = "irrelevance"
    """No function fits, and none is to be called."""
    RELEVANCE = "relevance"
    """A function fits, and it does not matter which is called how."""


class FunctionDocument(NamedTuple):
    """A function as the entry describes it."""

    name: str
    parameters: Mapping[str, Mapping[str, Any]]
    """Parameter to its schema: a type word of the language, and what more there is."""
    required: Sequence[str]

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Read a document in the form of the data files.

        Raises:
            CannotJudge: It does not say what parameters the function has.
        """
        try:
            schema = document["parameters"]
            properties, required = schema["properties"], schema.get("required", ())
            if all(isinstance(parameter, Mapping) for parameter in properties.values()):
                return cls(document["name"], properties, required)
        except (AttributeError, KeyError, TypeError):
            pass
        raise CannotJudge(f"the document of {document.get('name')} has no object of parameters")


class Answer(NamedTuple):
    """One call that is expected."""

    function: str
    allowed: Mapping[str, Sequence[Any]]
    """Parameter to the values that are right; the empty text means that it may be left out."""

    @classmethod
    def from_json(cls, answer: Mapping[str, Mapping[str, Sequence[Any]]]) -> Self:
        """Read an answer in the form of the data files, ``{function: {parameter: values}}``.

        Raises:
            CannotJudge: It is not of that form.
        """
        if len(answer) == 1:
            ((function, allowed),) = answer.items()
            if isinstance(allowed, Mapping) and all(map(_is_list, allowed.values())):
                return cls(function, allowed)
        raise CannotJudge(f"the answer {brief(answer)} is not {{function: {{parameter: values}}}}")


_VARIABLE = re.compile(r"(?<![\w.])[A-Za-z_]\w*", re.ASCII)
_VALUES = {"True", "False", "None", "true", "false", "null"}


class Task(NamedTuple):
    """All that the verdict on an entry depends on, but for the model's output."""

    kind: Kind
    language: Language
    documents: tuple[FunctionDocument, ...]
    answers: tuple[Answer, ...] = ()
    question: str = ""
    """What the user says."""

    @property
    def named(self) -> frozenset[str]:
        """Names in the question that a variable could have; no language's words for values."""
        return frozenset(_VARIABLE.findall(self.question)) - _VALUES

    def document(self, name: str) -> FunctionDocument:
        """Return the document of a function.

        Raises:
            CannotJudge: There is none.
        """
        for document in self.documents:
            if document.name == name:
                return document
        raise CannotJudge(f"an answer calls {name}, which has no document")

    def document_of(self, answer: Answer) -> FunctionDocument:
        """Return the document that an answer is compared by: in a simple entry the only one.

        Raises:
            CannotJudge: There is none.
        """
        return self.documents[0] if self.kind is Kind.SIMPLE else self.document(answer.function)


def _is_list(values: object) -> bool:
    return isinstance(values, (list, tuple))


TYPES: Mapping[Language, Mapping[str, type]] = {
    Language.PYTHON: {
        "string": str,
        "integer": int,
        "float": float,
        "boolean": bool,
        "array": list,
        "tuple": list,
        "dict": dict,
        "any": str,
    },
    Language.JAVA: {
        "byte": int,
        "short": int,
        "integer": int,
        "float": float,
        "double": float,
        "long": int,
        "boolean": bool,
        "char": str,
        "Array": list,
        "ArrayList": list,
        "Set": list,
        "HashMap": dict,
        "Hashtable": dict,
        "Queue": list,
        "Stack": list,
        "String": str,
        "any": str,
    },
    Language.JAVASCRIPT: {
        "String": str,
        "integer": int,
        "float": float,
        "Bigint": int,
        "Boolean": bool,
        "dict": dict,
        "array": list,
        "any": str,
    },
}
"""Type word to type. Values have it exactly: True is no integer, 5.0 neither."""

_WITH_ITEMS = ("array", "tuple", "Array", "ArrayList", "Set", "Queue", "Stack")
"""Type words whose elements have a type of their own."""


class Expected(NamedTuple):
    """The type of a parameter or of its elements."""

    word: str
    type: type
    items: Expected | None = None
    """Type of the elements, where the document says it."""


def expected(schema: Mapping[str, Any], language: Language) -> Expected:
    """Read a type from a schema.

    Raises:
        CannotJudge: A type word is missing or unknown.
    """
    word = schema.get("type")
    found = TYPES[language].get(word) if isinstance(word, str) else None
    if word is None or found is None:
        raise CannotJudge(f"{word!r} is no type of {language}")
    items = schema.get("items")
    if word not in _WITH_ITEMS or not isinstance(items, Mapping):
        return Expected(word, found)
    return Expected(word, found, expected(items, language))


def misfits(documents: Iterable[object]) -> Iterator[tuple[str, str]]:
    """Yield JSON path and what is wrong of function documents that nobody could work with."""
    for index, document in enumerate(documents):
        path = f"[{index}]"
        if not isinstance(document, Mapping):
            yield path, "must be an object"
            continue
        for name in ("name", "description"):
            if not isinstance(document.get(name), str):
                yield f"{path}.{name}", "must be text"
        schema = document.get("parameters")
        if not isinstance(schema, Mapping):
            yield f"{path}.parameters", "must be an object"
        elif "properties" not in schema:
            yield f"{path}.parameters.properties", "is missing"
        else:
            yield from _in_schema(f"{path}.parameters", schema)


def _in_schema(path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, Mapping):
        yield f"{path}.properties", "must be an object"
    else:
        for name, each in properties.items():
            if not isinstance(each, Mapping):
                yield f"{path}.properties.{name}", "must be an object"
            else:
                yield from _in_schema(f"{path}.properties.{name}", each)
    if isinstance(schema.get("items"), Mapping):
        yield from _in_schema(f"{path}.items", schema["items"])
    if not isinstance(required, list | tuple) or not all(isinstance(n, str) for n in required):
        yield f"{path}.required", "must be a list of names"
