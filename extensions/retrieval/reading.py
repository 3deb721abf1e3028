"""Corpora of others: files of function documents or tools, OpenAPI files, MCP servers.

A function that nobody could find or call, or that is there already, is left out with a note.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from checkers.calls.documents import misfits
from envs.bounds import size_of
from envs.lazy import lazily
from envs.registry import BACKENDS
from extensions.retrieval.corpus import (
    Corpus,
    Described,
    Signature,
    bfcl_corpus,
    everything,
    own_corpus,
    signature,
    single_turn_corpus,
    single_turns,
)
from runner.data import choose
from runner.models.tools import Document
from trajectories.errors import DataError, did_you_mean, needing
from trajectories.jsonl import NotFinite, check_finite, parse_value, read_text

if TYPE_CHECKING:
    from extensions.drafting import openapi
else:
    openapi = lazily("extensions.drafting.openapi")

NAMED = ("own", "all", "bfcl", "bfcl-single")
"""Corpora that have a name; others are a file, or an MCP server by its path."""
MCP = "mcp:"
"""What the name of a corpus begins with that an MCP server gives."""

_INTERPRETERS: Mapping[str, str] = {".py": sys.executable, ".js": "node", ".mjs": "node"}
_YAML = (".yaml", ".yml")
_SECONDS = 60.0
"""Time that a server has to say what it offers."""
_PAGES = 100
_MOST_NOTES = 10
_LARGEST = 20_000_000
"""Size of what a YAML file may stand for, as ``envs.bounds`` counts."""


class Candidate(NamedTuple):
    """A function as somebody gave it, before it is looked at."""

    backend: str
    document: Mapping[str, Any]
    reads: bool = False
    """Whether it is said to leave the state as it is."""


def corpus_named(name: str, dataset: str | None, notify: choose.Notify) -> Corpus:
    """Return the corpus of a name, a file or an MCP server.

    Args:
        name: One of ``NAMED``, or a path; ``mcp:PATH`` is a server for sure.
        dataset: Where BFCL's data are, ``bfcl`` or ``bfcl:FOLDER``; None for ``bfcl``.
        notify: Told when a download begins, and what is left out.

    Raises:
        DataError: There is nothing of such a name, or no function in it.
    """
    if name == "own":
        return own_corpus(BACKENDS)
    if name == "all":
        return everything()
    if name in ("bfcl", "bfcl-single"):
        folder = choose.bfcl_folder(dataset or "bfcl", notify)
        if name == "bfcl":
            return bfcl_corpus(folder)
        return single_turn_corpus(single_turns(folder))
    corpus = _filtered(name, _given(name))
    for line in corpus.notes:
        notify(line)
    return corpus


def _given(name: str) -> list[Candidate]:
    path = Path(name.removeprefix(MCP))
    if not path.is_file():
        advice = did_you_mean(name, NAMED)
        raise DataError("--corpus", f"{name!r} is none of {', '.join(NAMED)}, nor a file{advice}")
    if name.startswith(MCP) or path.suffix in _INTERPRETERS or _is_program(path):
        return _served(path)
    value = _value(path)
    if isinstance(value, Mapping) and "mcpServers" in value:
        return [given for server in _servers(path, value) for given in _listed(*server)]
    if isinstance(value, Mapping) and ("openapi" in value or "swagger" in value):
        return [Candidate(*each) for each in openapi.functions(value, str(path))]
    if path.suffix in _YAML:
        raise DataError(str(path), "is YAML, and no OpenAPI file; give documents as JSON")
    return [*_documents(value, path)]


def described_in(path: Path) -> list[Candidate]:
    """Return the operations of an OpenAPI file, as they are.

    Raises:
        DataError: It is none.
    """
    value = _value(path)
    if not isinstance(value, Mapping) or not ("openapi" in value or "swagger" in value):
        raise DataError(str(path), "is no OpenAPI file: it says neither openapi nor swagger")
    return [Candidate(*each) for each in openapi.functions(value, str(path))]


def served_by(command: str) -> list[Candidate]:
    """Return the tools of the MCP server that a command starts, as they are.

    Raises:
        DataError: It is no command, or what it starts is no MCP server.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DataError("--from-mcp", f"{command!r:.80} is no command: {error}") from None
    if not words or shutil.which(words[0]) is None:
        raise DataError("--from-mcp", f"there is no program {(words or [''])[0]!r:.80}")
    return _listed(Path(words[-1]).stem, words, None)


def _is_program(path: Path) -> bool:
    return not path.suffix and bool(shutil.which(str(path.absolute())))


def _value(path: Path) -> object:
    """Return what a file says: JSON, JSON lines or YAML.

    Raises:
        DataError: It is none of them.
    """
    text = read_text(path)
    if path.suffix in _YAML:
        with needing("lexical", str(path)):
            value = openapi.read_yaml(text, str(path))
        # An alias stands for all that it names, and may name what it is in.
        if size_of(value, _LARGEST) > _LARGEST:
            raise DataError(str(path), "is too large once its aliases are written out, or too deep")
        check_finite(value, str(path))
        return value
    try:
        return parse_value(text, str(path))
    except NotFinite:
        raise
    except DataError as error:
        whole = error
    try:
        return [parse_value(line, str(path)) for line in text.splitlines() if line.strip()]
    except NotFinite:
        raise
    except DataError:
        raise DataError(str(path), f"is neither JSON nor JSON lines; as JSON, {whole}") from None


def _documents(value: object, path: Path) -> Iterator[Candidate]:
    """Yield the functions of a file in any of the usual forms."""
    if isinstance(value, Mapping):
        value = next((value[n] for n in ("tools", "functions", "result") if n in value), [value])
        if isinstance(value, Mapping):
            value = value.get("tools", [value])
    if not isinstance(value, list) or not value:
        raise DataError(str(path), "holds no function documents")
    for entry in value:
        yield Candidate(path.stem, as_document(entry))


def as_document(entry: object) -> Mapping[str, Any]:
    """Return a tool as chat completions, Anthropic's API or MCP have it, as a document."""
    if not isinstance(entry, Mapping):
        return {"name": str(entry)[:80], "parameters": None}
    inner = entry.get("function")
    if isinstance(inner, Mapping):
        entry = inner
    schemas = ("parameters", "inputSchema", "input_schema")
    schema: Any = next((entry[name] for name in schemas if entry.get(name) is not None), {})
    if isinstance(schema, Mapping):
        schema = {"type": "object", "properties": {}, **schema}
    return {
        "name": entry.get("name"),
        "description": entry.get("description"),
        "parameters": schema,
    }


def _filtered(name: str, given: Sequence[Candidate]) -> Corpus:
    """Return the functions of use, and a note on each of the others.

    Raises:
        DataError: There is none.
    """
    kept: dict[Signature, Described] = {}
    left_out = []
    for backend, document, _ in given:
        problem = _problem(document)
        if problem is None and (key := signature(document)) in kept:
            same = kept[key].document == document
            problem = "is there twice" if same else "is there with another meaning: the first stays"
        if problem is None:
            kept[signature(document)] = Described(backend, document)
        else:
            left_out.append(f"{str(document.get('name'))[:80]} {problem}")
    if not kept:
        why = f": {left_out[0]}" if left_out else ""
        raise DataError(name, f"holds no function of use{why}")
    notes = [f"{name}: left out, {line}" for line in left_out[:_MOST_NOTES]]
    if len(left_out) > _MOST_NOTES:
        notes.append(f"{name}: left out, {len(left_out) - _MOST_NOTES} more")
    return Corpus(name, tuple(kept.values()), tuple(notes))


def _problem(document: Document) -> str | None:
    """Return what keeps a function from being found or called, None where nothing does."""
    name, described = document.get("name"), document.get("description")
    if not isinstance(name, str) or not name.strip():
        return "has no name"
    if not isinstance(described, str) or not described.strip():
        return "has no description"
    for path, problem in misfits([document]):
        return f"is malformed: {path.removeprefix('[0].')} {problem}"
    for parameter, schema in document["parameters"]["properties"].items():
        if not _TYPING.intersection(schema):
            return f"has no type for {parameter}"
    return None


_TYPING = frozenset({"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"})


def _served(path: Path) -> list[Candidate]:
    """Return what an MCP server offers that is started by its path."""
    interpreter = _INTERPRETERS.get(path.suffix)
    command = [interpreter, str(path)] if interpreter else [str(path.absolute())]
    return _listed(path.stem, command, None)


def _servers(
    path: Path, value: Mapping[str, Any]
) -> Iterator[tuple[str, list[str], dict[str, str] | None]]:
    """Yield name, command and environment of the servers in a client's configuration."""
    servers = value["mcpServers"]
    for name, server in servers.items() if isinstance(servers, Mapping) else ():
        match server:
            case {"command": str(command)}:
                more, env = server.get("args", []), server.get("env")
                if isinstance(more, list) and isinstance(env, Mapping | None):
                    words = {str(k): str(v) for k, v in env.items()} if env else None
                    yield str(name), [command, *map(str, more)], words
                    continue
        raise DataError(f"{path}: mcpServers.{name}", "has no command to start it by")


def _listed(name: str, command: Sequence[str], env: dict[str, str] | None) -> list[Candidate]:
    """Start an MCP server, ask what it offers, and end it.

    Raises:
        DataError: It does not say.
    """
    with needing("serve", f"{MCP}{command[-1]}"):
        return asyncio.run(_tools(name, command, env))


async def _tools(name: str, command: Sequence[str], env: dict[str, str] | None) -> list[Candidate]:
    from mcp import Client, StdioServerParameters

    # What is no message is said by our own line, not by a traceback for each of them.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    server = StdioServerParameters(command=command[0], args=[*command[1:]], env=env)
    found: list[Candidate] = []
    try:
        async with asyncio.timeout(_SECONDS), Client(server) as client:
            cursor = None
            for _ in range(_PAGES):
                page = await client.list_tools(cursor=cursor)
                for tool in page.tools:
                    reads = tool.annotations is not None and bool(tool.annotations.read_only_hint)
                    document = as_document(tool.model_dump(by_alias=True))
                    found.append(Candidate(name, document, reads))
                cursor = page.next_cursor
                if not cursor:
                    break
    except TimeoutError:
        message = f"did not say within {_SECONDS:g} seconds what it offers"
        raise DataError(f"{MCP}{name}", message) from None
    except Exception as error:  # whatever a stranger's program does
        raise DataError(f"{MCP}{name}", f"is no MCP server: {_said(error)}") from None
    return found


def _said(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def lines_of(functions: Iterable[Described]) -> Iterator[str]:
    """Yield functions as JSON lines, in the form in which a file of them is read."""
    for each in functions:
        yield json.dumps({"backend": each.backend, **each.document}, allow_nan=False) + "\n"
