"""Function documents, and how they become tools that every provider accepts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from envs.errors import ConfigError
from envs.lazy import lazily
from envs.registry import backend_class
from envs.session import Session
from envs.tool import Document as Document
from envs.tool import Tool
from runner.models.base import Same, ToolList
from trajectories import bfcl
from trajectories.errors import DataError
from trajectories.jsonl import read_objects
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from envs import schema
else:
    # It brings pydantic, which takes longer to load than most runs take to begin.
    schema = lazily("envs.schema")

_TYPES = {"dict": "object", "float": "number", "tuple": "array"}
_JSON_TYPES = {"object", "number", "array", "string", "integer", "boolean", "null"}
_SYNTAX_NOTES = {
    "python": " Argument values follow Python 3 syntax.",
    "java": " Argument values are texts of Java 8 expressions.",
    "javascript": " Argument values are texts of JavaScript expressions.",
}
_FLOAT_NOTE = " A number, may have a fraction."
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64


def offered_tools(session: Session) -> dict[str, Tool]:
    """Return the functions that a session offers, by name; where it offers all, each once."""
    offered, backends = session.offered, session.backends
    return {
        name: tool
        for name, tool in session.tools.items()
        if (name in backends[tool.backend].TOOLS if offered is None else name in offered)
    }


def own_documents(environments: Iterable[str]) -> list[Document]:
    """Return our documents of all functions of some backends.

    Raises:
        DataError: There is no such backend.
    """
    try:
        tools = [tool for name in environments for tool in backend_class(name).TOOLS.values()]
    except ConfigError as error:
        raise DataError("$.environments", str(error)) from None
    return [_own_document(tool) for tool in tools]


@cache
def _own_document(tool: Tool) -> Document:
    return schema.spec(tool).document()


def bfcl_documents(environments: Iterable[str], folder: Path) -> list[Document]:
    """Return the documents that come with BFCL's data.

    Raises:
        DataError: A file is missing or malformed.
    """
    return [
        document
        for environment in environments
        for _, document in read_objects(folder / bfcl.function_docs_file(environment))
    ]


def documents_for(trajectory: Trajectory) -> list[Document]:
    """Return the documents of a single turn's functions as its data has them; of others none.

    Raises:
        DataError: There is no such function or backend.
    """
    if trajectory.documents is not None:
        return [*trajectory.documents]
    documents = {each["name"]: each for each in own_documents(trajectory.environments)}
    for name in trajectory.functions or ():
        if name not in documents:
            raise DataError(trajectory.id, f"$.expects.functions: its backends have no {name!r}")
    return [documents[name] for name in trajectory.functions or ()]


def _with_texts(document: Document, typed: Callable[[Mapping[str, Any]], str]) -> Document:
    schema = document["parameters"]
    texts = {name: _as_text(value, typed(value)) for name, value in schema["properties"].items()}
    return {**document, "parameters": {**schema, "properties": texts}}


def _as_text(schema: Mapping[str, Any], typed: str) -> dict[str, Any]:
    kept = {key: value for key, value in schema.items() if key not in ("items", "properties")}
    words = f"{schema.get('description', '')}{typed}"
    return {**kept, "type": "string", "description": words.lstrip()}


def _own_typed(_language: str, schema: Mapping[str, Any]) -> str:
    return f" Its type is {_in_words(schema)}."


def _in_words(schema: Mapping[str, Any]) -> str:
    kind = str(schema.get("type", "any"))
    if isinstance(schema.get("items"), Mapping):
        return f"{kind} of {_in_words(schema['items'])}"
    members = schema.get("properties")
    if isinstance(members, Mapping) and members:
        listed = ", ".join(f"{name} ({_in_words(value)})" for name, value in members.items())
        return f"{kind} with {listed}"
    return kind


def with_syntax_note(document: Document, note: str = _SYNTAX_NOTES["python"]) -> Document:
    """Return a document that says in which syntax values are."""
    return {**document, "description": document["description"] + note}


def legal_name(name: str) -> str:
    """Return a function's name as a provider accepts it, where no other stands in its way."""
    return _ILLEGAL.sub("_", name)[:_LONGEST_NAME]


class Names:
    """Function names that a provider accepts, and the way back to the real ones.

    Args:
        names: The real ones.
        shown: By these, what is to stand in their place; None for themselves.
    """

    def __init__(self, names: Iterable[str], shown: Mapping[str, str] | None = None) -> None:
        self._legal: dict[str, str] = {}
        self._real: dict[str, str] = {}
        for name in names:
            wanted = name if shown is None else shown[name]
            legal = self._free(legal_name(wanted))
            self._legal[name] = legal
            self._real[legal] = name

    def legal(self, name: str) -> str:
        """Return the name to send."""
        return self._legal[name]

    def shown(self, name: str) -> str:
        """Return the name under which a function is known; of one that is not there its own."""
        return self._legal.get(name, name)

    def real(self, legal: str) -> str:
        """Return the function that a model means; a name that was never sent is itself."""
        return self._real.get(legal, legal)

    def _free(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._real:
            number += 1
            suffix = f"_{number}"
            name = wanted[: _LONGEST_NAME - len(suffix)] + suffix
        return name


class Footnotes(NamedTuple):
    """What is said of functions besides their documents."""

    syntax: Mapping[str, str] = _SYNTAX_NOTES
    """Behind descriptions of functions: in which syntax values are, by language."""
    float: str = _FLOAT_NOTE
    """Behind those of parameters that take fractions."""
    typed: Callable[[str, Mapping[str, Any]], str] = _own_typed
    """Behind those of parameters that are texts of a language: their type, by the schema."""
    bare_items: bool = False
    """Whether numbers in a list are not described."""
    response: bool = False
    """Whether a tool also has what the document says of results."""


OWN_FOOTNOTES = Footnotes()


def as_tool(document: Document, names: Names, notes: Footnotes = OWN_FOOTNOTES) -> dict[str, Any]:
    """Return a document as a chat-completions tool with a valid JSON Schema."""
    function = {
        "name": names.legal(document["name"]),
        "description": document["description"],
        "parameters": {**_schema(document["parameters"], notes), "type": "object"},
    }
    if notes.response and "response" in document:
        function["response"] = document["response"]
    return {"type": "function", "function": function}


class Toolbox:
    """The functions of some backends, as documents and as tools.

    Episodes over the same backends share one, so that tools are made and encoded once.

    Args:
        documents: Of all functions of the backends.
        language: What argument values are written in.
        notes: The sentences behind descriptions.
        shown: Function to the name under which it is shown; None for its own.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        language: str = "python",
        notes: Footnotes = OWN_FOOTNOTES,
        shown: Mapping[str, str] | None = None,
    ) -> None:
        self._language = language
        self._footnotes = notes
        self._documents = {document["name"]: document for document in documents}
        self.names = Names(self._documents, shown)
        self._tool_lists: dict[tuple[frozenset[str], tuple[str, ...]], ToolList] = {}

    def with_function(self, document: Document) -> Toolbox:
        """Return one that has a further function before its own."""
        return Toolbox([document, *self._documents.values()], self._language, self._footnotes)

    @property
    def size(self) -> int:
        """Characters of all documents."""
        return sum(len(json.dumps(document)) for document in self._documents.values())

    def plain(self, offered: frozenset[str]) -> list[Document]:
        """Return the documents of functions as they are."""
        return [d for name, d in self._documents.items() if name in offered]

    def early(self, offered: frozenset[str]) -> list[Document]:
        """Return the documents of functions that are offered from the start."""
        note = self._footnotes.syntax[self._language]
        return [with_syntax_note(document, note) for document in self.plain(offered)]

    def late(self, offers: Sequence[str]) -> list[Document]:
        """Return the documents of functions that are handed over later, in that order."""
        return [self._documents[name] for name in offers]

    def tools(self, offered: frozenset[str], late: tuple[str, ...]) -> ToolList:
        """Return the tools of a request; functions that were handed over late come last.

        Args:
            offered: All functions that may be called.
            late: Those of them that were handed over, in that order.
        """
        key = (offered, late)
        if key not in self._tool_lists:
            note = self._footnotes.syntax[self._language]
            early = [self._tool(each, note) for each in self.plain(offered.difference(late))]
            self._tool_lists[key] = ToolList(
                [*early, *(self._tool(each, "") for each in self.late(late))]
            )
        return self._tool_lists[key]

    def _tool(self, document: Document, note: str) -> dict[str, Any]:
        shown = self._footnotes
        about = note, shown.float, shown.bare_items, shown.response
        return _shared_tool(Same(document), self.names.legal(document["name"]), *about)


@lru_cache(maxsize=4096)
def _shared_tool(
    document: Same, legal: str, note: str, float_note: str, bare_items: bool, response: bool
) -> dict[str, Any]:
    """Return a document as a tool, made once for all lists that have it."""
    names = Names([document.value["name"]], {document.value["name"]: legal})
    notes = Footnotes(float=float_note, bare_items=bare_items, response=response)
    return as_tool(with_syntax_note(document.value, note), names, notes)


def toolbox_of(
    trajectory: Trajectory,
    folder: Path | None = None,
    notes: Footnotes = OWN_FOOTNOTES,
) -> Toolbox:
    """Return the functions that a trajectory's model is shown.

    Args:
        trajectory: The trajectory.
        folder: BFCL's data folder, to show its documents; None for our own.
        notes: The sentences behind descriptions.

    Raises:
        DataError: A file with documents is missing or malformed.
    """
    if trajectory.functions is None:
        told = (notes.syntax["python"], notes.float, notes.bare_items, notes.response)
        return _shared_toolbox(trajectory.environments, folder, *told)
    documents, language = documents_for(trajectory), trajectory.language
    return Toolbox(as_texts(documents, language, notes), language, notes)


def as_texts(documents: Sequence[Document], language: str, notes: Footnotes) -> Sequence[Document]:
    """Return documents whose values of Java and JavaScript are texts, their types told in words."""
    if language == "python":
        return documents
    # These have no JSON form.
    typed = partial(notes.typed, language)
    return [_with_texts(document, typed) for document in documents]


def documents_of(trajectory: Trajectory, folder: Path | None) -> Sequence[Document]:
    """Return the documents of all functions of a trajectory's backends, or that it brings."""
    if trajectory.functions is not None:
        return documents_for(trajectory)
    return _shared_documents(trajectory.environments, folder)


@cache
def _shared_documents(environments: tuple[str, ...], folder: Path | None) -> Sequence[Document]:
    return bfcl_documents(environments, folder) if folder else own_documents(environments)


@cache
def _shared_toolbox(
    environments: tuple[str, ...],
    folder: Path | None,
    syntax_note: str,
    float_note: str,
    bare_items: bool,
    response: bool,
) -> Toolbox:
    documents = _shared_documents(environments, folder)
    notes = Footnotes({"python": syntax_note}, float_note, _own_typed, bare_items, response)
    return Toolbox(documents, notes=notes)


def _schema(schema: Mapping[str, Any], notes: Footnotes) -> dict[str, Any]:
    """Return a schema whose types are JSON Schema's, all the way down."""
    mapped = dict(schema)
    kind = schema.get("type")
    if isinstance(kind, str):
        mapped["type"] = _TYPES.get(kind, kind if kind in _JSON_TYPES else "string")
    elif "anyOf" not in schema:
        mapped["type"] = "string"
    if kind == "float":
        mapped["format"] = "float"
        described = f"{schema.get('description', '')}{notes.float}"
        mapped["description"] = described.lstrip()
    if isinstance(schema.get("properties"), Mapping):
        mapped["properties"] = {k: _schema(v, notes) for k, v in schema["properties"].items()}
    for keyword in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(keyword), list):
            mapped[keyword] = [_schema(member, notes) for member in schema[keyword]]
    if isinstance(schema.get("additionalProperties"), Mapping):
        mapped["additionalProperties"] = _schema(schema["additionalProperties"], notes)
    if isinstance(schema.get("items"), Mapping):
        bare = notes.bare_items and schema["items"].get("type") == "float"
        mapped["items"] = (
            {**schema["items"], "type": "number"} if bare else _schema(schema["items"], notes)
        )
    elif mapped.get("type") == "array":
        # Some providers refuse an array that does not say of what.
        mapped["items"] = {}
    return mapped
