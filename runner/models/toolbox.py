"""Conversion of function documents to tools that every provider accepts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from envs.errors import ConfigError, DataError
from envs.lazy_modules import lazy_module
from envs.registry import BACKENDS, backend_class, with_worlds
from envs.session import Session
from envs.tool import Document as Document
from envs.tool import Tool
from runner.models.model_types import IdentityKey, ToolCall, ToolList
from trajectories import bfcl_reader
from trajectories.jsonl import read_objects
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from envs import schema
else:
    # It imports pydantic, which is slow to load.
    schema = lazy_module("envs.schema")

_TYPES = {"dict": "object", "float": "number", "tuple": "array"}
_JSON_TYPES = {"object", "number", "array", "string", "integer", "boolean", "null"}
_SYNTAX_NOTES = {
    "python": " Argument values follow Python 3 syntax.",
    "java": " Argument values are texts of Java 8 expressions.",
    "javascript": " Argument values are texts of JavaScript expressions.",
}
_FLOAT_NOTE = " A number, may have a fraction."
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_MAX_NAME_CHARS = 64


def offered_tools(session: Session) -> dict[str, Tool]:
    """Return the offered functions of a session by name; aliases are left out."""
    offered, backends = session.offered, session.backends
    return {
        name: tool
        for name, tool in session.tools.items()
        if (name in backends[tool.backend].TOOLS if offered is None else name in offered)
    }


def own_documents(environments: Iterable[str]) -> list[Document]:
    """Return Turnwise's documents of all functions of some backends.

    Raises DataError if a backend does not exist.
    """
    try:
        names = with_worlds(tuple(environments))
        tools = [tool for name in names for tool in backend_class(name).TOOLS.values()]
    except ConfigError as error:
        raise DataError("$.environments", str(error)) from None
    return [_make_own_document(tool) for tool in tools]


@cache
def _make_own_document(tool: Tool) -> Document:
    return schema.make_spec(tool).document()


def bfcl_documents(environments: Iterable[str], folder: Path) -> list[Document]:
    """Return the function documents of environments from BFCL's data folder.

    Raises DataError if a file is missing or malformed.
    """
    return [
        document
        for environment in environments
        for _, document in read_objects(folder / bfcl_reader.function_docs_file(environment))
    ]


def documents_for(trajectory: Trajectory) -> list[Document]:
    """Return the documents of a single-turn entry's functions.

    Raises DataError if a function or backend does not exist.
    """
    if trajectory.documents is not None:
        return [*trajectory.documents]
    documents = {each["name"]: each for each in own_documents(trajectory.environments)}
    for name in trajectory.functions or ():
        if name not in documents:
            raise DataError(
                trajectory.id, f"$.expects.functions: the backends have no function {name!r}"
            )
    return [documents[name] for name in trajectory.functions or ()]


def _convert_to_texts(document: Document, typed: Callable[[Mapping[str, Any]], str]) -> Document:
    schema = document["parameters"]
    texts = {
        name: _convert_to_text(value, typed(value)) for name, value in schema["properties"].items()
    }
    return {**document, "parameters": {**schema, "properties": texts}}


def _convert_to_text(schema: Mapping[str, Any], typed: str) -> dict[str, Any]:
    kept = {key: value for key, value in schema.items() if key not in ("items", "properties")}
    words = f"{schema.get('description', '')}{typed}"
    return {**kept, "type": "string", "description": words.lstrip()}


def _note_type(_language: str, schema: Mapping[str, Any]) -> str:
    return f" Its type is {_describe_type(schema)}."


def _describe_type(schema: Mapping[str, Any]) -> str:
    kind = str(schema.get("type", "any"))
    if isinstance(schema.get("items"), Mapping):
        return f"{kind} of {_describe_type(schema['items'])}"
    members = schema.get("properties")
    if isinstance(members, Mapping) and members:
        listed = ", ".join(f"{name} ({_describe_type(value)})" for name, value in members.items())
        return f"{kind} with {listed}"
    return kind


def with_syntax_note(document: Document, note: str = _SYNTAX_NOTES["python"]) -> Document:
    """Return a document with a note on the syntax of values."""
    return {**document, "description": document["description"] + note}


def legal_name(name: str) -> str:
    """Return a function's name in a form that providers accept."""
    return _ILLEGAL.sub("_", name)[:_MAX_NAME_CHARS]


LANGCHAIN_ARGUMENT = "__arg1"
"""Name that LangChain gives to the only argument of a tool."""


def _name_only_argument(given: Any, document: Mapping[str, Any]) -> Any:
    """Replace the argument name ``__arg1`` with the name of the only parameter."""
    if not (isinstance(given, (str, dict)) and LANGCHAIN_ARGUMENT in given):
        return given
    try:
        [(name, value)] = (json.loads(given) if isinstance(given, str) else given).items()
        [(parameter, schema)] = document["parameters"]["properties"].items()
        if isinstance(value, str) and schema.get("type") in ("boolean", "float", "integer"):
            value = json.loads(value)
    except (ValueError, KeyError, AttributeError, RecursionError):
        return given
    return {parameter: value} if name == LANGCHAIN_ARGUMENT else given


def write_object(arguments: object) -> object:
    """Return an object of arguments as a JSON string; return any other value unchanged."""
    try:
        return json.dumps(arguments) if isinstance(arguments, Mapping) else arguments
    except (TypeError, ValueError, RecursionError):
        return arguments


class FunctionNameMapping:
    """Mapping between real function names and unique names that providers accept."""

    def __init__(self, names: Iterable[str], shown: Mapping[str, str] | None = None) -> None:
        self._legal: dict[str, str] = {}
        self._real: dict[str, str] = {}
        for name in names:
            legal = self._make_unique(legal_name(name if shown is None else shown[name]))
            self._legal[name] = legal
            self._real[legal] = name

    def legal(self, name: str) -> str:
        """Return the name of a function in a form that the provider accepts."""
        return self._legal[name]

    def shown(self, name: str) -> str:
        """Return the name that the model sees for a function; unknown names stay unchanged."""
        return self._legal.get(name, name)

    def real(self, legal: str) -> str:
        """Convert a name that a model saw to the real name; keep unknown names unchanged."""
        return self._real.get(legal, legal)

    def _make_unique(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._real:
            number += 1
            suffix = f"_{number}"
            name = wanted[: _MAX_NAME_CHARS - len(suffix)] + suffix
        return name


class FunctionNotes(NamedTuple):
    """Notes that the toolbox adds to the descriptions of functions and parameters."""

    syntax: Mapping[str, str] = _SYNTAX_NOTES
    float: str = _FLOAT_NOTE
    typed: Callable[[str, Mapping[str, Any]], str] = _note_type
    """Function that returns a note for a parameter whose value is source code."""
    bare_items: bool = False
    response: bool = False
    """Whether the tools in a request contain the result schemas of the function documents."""


OWN_FOOTNOTES = FunctionNotes()


def as_tool(
    document: Document, names: FunctionNameMapping, notes: FunctionNotes = OWN_FOOTNOTES
) -> dict[str, Any]:
    """Return a document as a chat-completions tool with a valid JSON Schema."""
    function = {
        "name": names.legal(document["name"]),
        "description": document["description"],
        "parameters": {**_convert_schema(document["parameters"], notes), "type": "object"},
    }
    if notes.response and "response" in document:
        function["response"] = document["response"]
    return {"type": "function", "function": function}


class Toolbox:
    """Function documents, and the tools made from them. Several episodes use the same toolbox.

    ``shown`` maps functions to the names to show; None shows the real names.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        language: str = "python",
        notes: FunctionNotes = OWN_FOOTNOTES,
        shown: Mapping[str, str] | None = None,
    ) -> None:
        self._language = language
        self._notes = notes
        self._documents = {document["name"]: document for document in documents}
        self.names = FunctionNameMapping(self._documents, shown)
        self._tool_lists: dict[tuple[frozenset[str], tuple[str, ...]], ToolList] = {}

    def with_function(self, document: Document) -> Toolbox:
        """Return a toolbox with a further function, which comes first."""
        return Toolbox([document, *self._documents.values()], self._language, self._notes)

    def with_note(self, name: str, note: str) -> Toolbox:
        """Return a toolbox that appends a note to the description of the function ``name``."""
        made = copy(self)
        document = made._documents[name]
        noted = {**document, "description": f"{document['description']} {note}"}
        made._documents, made._tool_lists = {**made._documents, name: noted}, {}
        return made

    def real_call(self, call: ToolCall) -> dict[str, Any]:
        """Return an object that maps the function's real name to the call's arguments."""
        name = self.names.real(call.name)
        return {name: _name_only_argument(call.arguments, self._documents.get(name, {}))}

    @property
    def size(self) -> int:
        """Number of characters of all documents."""
        return sum(len(json.dumps(document)) for document in self._documents.values())

    def plain(self, offered: frozenset[str]) -> list[Document]:
        """Return the documents of the offered functions, without notes."""
        return [d for name, d in self._documents.items() if name in offered]

    def early(self, offered: frozenset[str]) -> list[Document]:
        """Return the documents of the functions in the first request."""
        note = self._notes.syntax[self._language]
        return [with_syntax_note(document, note) for document in self.plain(offered)]

    def late(self, offers: Sequence[str]) -> list[Document]:
        """Return the documents of the functions that a later turn adds."""
        return [self._documents[name] for name in offers]

    def tools(self, offered: frozenset[str], late: tuple[str, ...]) -> ToolList:
        """Return the tools of a request; the functions in ``late`` come last."""
        key = (offered, late)
        if key not in self._tool_lists:
            note = self._notes.syntax[self._language]
            early = [self._make_tool(each, note) for each in self.plain(offered.difference(late))]
            self._tool_lists[key] = ToolList(
                [*early, *(self._make_tool(each, "") for each in self.late(late))]
            )
        return self._tool_lists[key]

    def _make_tool(self, document: Document, note: str) -> dict[str, Any]:
        notes, legal = self._notes, self.names.legal(document["name"])
        options = note, notes.float, notes.bare_items, notes.response
        return _make_shared_tool(IdentityKey(document), legal, *options)


@lru_cache(maxsize=4096)
def _make_shared_tool(
    document: IdentityKey, legal: str, note: str, float_note: str, bare_items: bool, response: bool
) -> dict[str, Any]:
    names = FunctionNameMapping([document.value["name"]], {document.value["name"]: legal})
    notes = FunctionNotes(float=float_note, bare_items=bare_items, response=response)
    return as_tool(with_syntax_note(document.value, note), names, notes)


def toolbox_of(
    trajectory: Trajectory, folder: Path | None = None, notes: FunctionNotes = OWN_FOOTNOTES
) -> Toolbox:
    """Return the functions of a trajectory, with documents from ``folder``, if given.

    Raises DataError if a file with documents is missing or malformed.
    """
    if trajectory.functions is None:
        # BFCL's note is wrong for other backends, whose values are JSON.
        syntax = notes.syntax["python"] if BACKENDS.keys() >= {*trajectory.environments} else ""
        options = (syntax, notes.float, notes.bare_items, notes.response)
        return _make_shared_toolbox(trajectory.environments, folder, *options)
    documents, language = documents_for(trajectory), trajectory.language
    return Toolbox(as_texts(documents, language, notes), language, notes)


def as_texts(
    documents: Sequence[Document], language: str, notes: FunctionNotes
) -> Sequence[Document]:
    """Return documents in which each Java or JavaScript parameter is a string."""
    if language == "python":
        return documents
    # Values in Java or JavaScript have no JSON form.
    typed = partial(notes.typed, language)
    return [_convert_to_texts(document, typed) for document in documents]


def documents_of(trajectory: Trajectory, folder: Path | None) -> Sequence[Document]:
    """Return a trajectory's own function documents, or else the documents of its backends."""
    if trajectory.functions is not None:
        return documents_for(trajectory)
    return _read_shared_documents(trajectory.environments, folder)


@cache
def _read_shared_documents(
    environments: tuple[str, ...], folder: Path | None
) -> Sequence[Document]:
    return bfcl_documents(environments, folder) if folder else own_documents(environments)


@cache
def _make_shared_toolbox(
    environments: tuple[str, ...],
    folder: Path | None,
    syntax_note: str,
    float_note: str,
    bare_items: bool,
    response: bool,
) -> Toolbox:
    documents = _read_shared_documents(environments, folder)
    notes = FunctionNotes({"python": syntax_note}, float_note, _note_type, bare_items, response)
    return Toolbox(documents, notes=notes)


def _convert_schema(schema: Mapping[str, Any], notes: FunctionNotes) -> dict[str, Any]:
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
        mapped["properties"] = {
            k: _convert_schema(v, notes) for k, v in schema["properties"].items()
        }
    for keyword in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(keyword), list):
            mapped[keyword] = [_convert_schema(member, notes) for member in schema[keyword]]
    if isinstance(schema.get("additionalProperties"), Mapping):
        mapped["additionalProperties"] = _convert_schema(schema["additionalProperties"], notes)
    if isinstance(schema.get("items"), Mapping):
        bare = notes.bare_items and schema["items"].get("type") == "float"
        mapped["items"] = (
            {**schema["items"], "type": "number"}
            if bare
            else _convert_schema(schema["items"], notes)
        )
    elif mapped.get("type") == "array":
        # Some providers refuse an array without items.
        mapped["items"] = {}
    return mapped
