"""Corpora from files and servers: function documents, tools, OpenAPI files and MCP servers.

Duplicates, and functions without a usable document, are omitted with a note.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from checkers.calls.call_entry import find_document_errors
from envs.bounds import measure_size
from envs.errors import DataError, require_extra, suggest_name
from envs.lazy_modules import lazy_module
from envs.registry import BACKENDS
from extensions.retrieval.corpus import (
    Corpus,
    DescribedFunction,
    Signature,
    bfcl_corpus,
    load_full_corpus,
    load_single_turns,
    own_corpus,
    signature,
    single_turn_corpus,
)
from extensions.retrieval.server_relay import TOO_LARGE
from runner.data import dataset_choice
from runner.models.toolbox import Document
from trajectories.jsonl import NonFiniteNumber, check_finite, parse_value, read_text

if TYPE_CHECKING:
    from extensions.drafting import openapi
else:
    openapi = lazy_module("extensions.drafting.openapi")

NAMED = ("own", "all", "bfcl", "bfcl-single")
"""Names of built-in corpora; every other corpus is a file or the path of an MCP server."""
MCP = "mcp:"
"""Prefix of a corpus that an MCP server provides."""

_INTERPRETERS: Mapping[str, str] = {".py": sys.executable, ".js": "node", ".mjs": "node"}
_YAML = (".yaml", ".yml")
_TIMEOUT_SECONDS = 60.0
_MAX_PAGES = 100
_MAX_MESSAGES = 10_000
"""Maximum number of messages from an MCP server, which may also send requests of its own."""
_MAX_TOOLS = 10_000
"""Maximum number of tools of an MCP server."""
_MAX_OUTPUT_BYTES = 10_000_000
"""Maximum size of an MCP server's output, which is mostly its list of tools."""
_RELAY = Path(__file__).with_name("server_relay.py")
"""Program that starts a server and limits its output."""
_MAX_NOTES = 10
_MAX_BYTES = 20_000_000
"""Maximum size of YAML content."""
_MAX_ERROR_BYTES = 2_000
"""Number of bytes to store from the end of a server's error output."""
_TYPING = frozenset({"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"})


class UncheckedFunction(NamedTuple):
    """Function description as read from a file or server, before any check."""

    backend: str
    document: Mapping[str, Any]
    reads: bool = False
    """Whether the source declares the function read-only."""


def load_corpus(name: str, dataset: str | None, notify: dataset_choice.Notify) -> Corpus:
    """Return a corpus, given a name in ``NAMED``, a file or an MCP server (``mcp:PATH``).

    The loader calls ``notify`` at the start of a download, and for each omitted function.

    Raises DataError if the corpus does not exist, or has no usable function.
    """
    if name == "own":
        return own_corpus(BACKENDS)
    if name == "all":
        return load_full_corpus()
    if name in ("bfcl", "bfcl-single"):
        folder = dataset_choice.find_bfcl_folder(dataset or "bfcl", notify)
        if name == "bfcl":
            return bfcl_corpus(folder)
        return single_turn_corpus(load_single_turns(folder))
    corpus = _filter_usable(name, _read_candidates(name, notify))
    for line in corpus.notes:
        notify(line)
    return corpus


def _read_candidates(name: str, notify: dataset_choice.Notify) -> list[UncheckedFunction]:
    path = Path(name.removeprefix(MCP))
    if not path.is_file():
        advice = suggest_name(name, NAMED)
        known = ", ".join(NAMED)
        raise DataError("--corpus", f"{name!r} must be one of {known}, or an existing file{advice}")
    interpreter = _INTERPRETERS.get(path.suffix)
    if name.startswith(MCP) or interpreter or _is_program(path):
        command = [interpreter, str(path)] if interpreter else [str(path.absolute())]
        return _list_tools(path.stem, command, None)
    value = read_file_value(path)
    if isinstance(value, Mapping) and "mcpServers" in value:
        return [tool for server in _read_servers(path, value) for tool in _list_tools(*server)]
    if _is_openapi(value):
        return _read_operations(value, path, notify)
    if isinstance(value, Mapping) and "api_list" in value:
        raise DataError(str(path), "is a RapidAPI file; convert it: turnwise env import FILE NAME")
    if path.suffix in _YAML:
        raise DataError(str(path), "is YAML, but not an OpenAPI file; write documents as JSON")
    return [*_read_documents(value, path)]


def read_functions(path: Path, notify: dataset_choice.Notify) -> list[UncheckedFunction]:
    """Return the operations of an OpenAPI file, or the functions of a JSON list of tools.

    Raises DataError if the file has another form, or a function has no name.
    """
    value = read_file_value(path)
    if _is_openapi(value):
        return _read_operations(value, path, notify)
    if not isinstance(value, list) and not (isinstance(value, Mapping) and "tools" in value):
        why = "is not an OpenAPI file: the fields `openapi` and `swagger` are missing"
        raise DataError(str(path), f"{why}; it is no list of tools either")
    found = [*_read_documents(value, path)]
    for number, each in enumerate(found, start=1):
        described = {**each.document, "description": each.document.get("description") or "?"}
        if problem := _find_problem(described):
            raise DataError(str(path), f"function {number} {problem}")
    return found


def _is_openapi(value: object) -> bool:
    return isinstance(value, Mapping) and ("openapi" in value or "swagger" in value)


def _read_operations(
    value: Any, path: Path, notify: dataset_choice.Notify
) -> list[UncheckedFunction]:
    if warning := openapi.describe_missing(value, str(path)):
        notify(warning)
    return [
        UncheckedFunction(each.tag, each.document, each.reads)
        for each in openapi.functions(value, str(path))
    ]


def list_mcp_tools(command: str) -> list[UncheckedFunction]:
    """Start an MCP server with a command, and return its tools.

    Raises DataError if the command is malformed, or does not start an MCP server.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DataError("--from-mcp", f"{command!r:.80} is not a command: {error}") from None
    if words and "://" in words[0]:
        problem = "is an address; use a command that starts the server on standard input and output"
        raise DataError("--from-mcp", f"{words[0]!r:.80} {problem}")
    if not words or shutil.which(words[0]) is None:
        raise DataError("--from-mcp", f"program {(words or [''])[0]!r:.80} was not found")
    return _list_tools(Path(words[-1]).stem, words, None)


def _is_program(path: Path) -> bool:
    return not path.suffix and bool(shutil.which(str(path.absolute())))


def read_file_value(path: Path) -> object:
    """Return the content of a JSON, JSON lines or YAML file.

    Raises DataError if the file is too large or has an unsupported format.
    """
    text = read_text(path)
    if path.suffix in _YAML:
        with require_extra("yaml", str(path)):
            value = openapi.read_yaml(text, str(path))
        # An alias repeats its target, and may even contain itself.
        if measure_size(value, _MAX_BYTES) > _MAX_BYTES:
            raise DataError(
                str(path), "is too large after aliases are expanded, or is nested too deep"
            )
        check_finite(value, str(path))
        return value
    try:
        return parse_value(text, str(path))
    except NonFiniteNumber:
        raise
    except DataError as error:
        whole = error
    try:
        return [
            parse_value(line, f"{path}:{number}")
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        ]
    except NonFiniteNumber:
        raise
    except DataError as error:
        why = f"must be JSON or JSON lines; JSON error: {whole}; JSON lines error: {error}"
        raise DataError(str(path), why) from None


def _read_documents(value: object, path: Path) -> Iterator[UncheckedFunction]:
    if isinstance(value, Mapping):
        value = next((value[n] for n in ("tools", "functions", "result") if n in value), [value])
        if isinstance(value, Mapping):
            value = value.get("tools", [value])
    if not isinstance(value, list) or not value:
        raise DataError(str(path), "contains no function documents")
    for entry in value:
        yield UncheckedFunction(path.stem, as_document(entry))


def as_document(entry: object) -> Mapping[str, Any]:
    """Convert a tool of chat completions, Anthropic's API or MCP to a function document."""
    if not isinstance(entry, Mapping):
        return {"name": str(entry)[:80], "parameters": None}
    if isinstance(inner := entry.get("function"), Mapping):
        entry = inner
    schemas = ("parameters", "inputSchema", "input_schema")
    schema: Any = next((entry[name] for name in schemas if entry.get(name) is not None), {})
    if isinstance(schema, Mapping):
        schema = {"type": "object", "properties": {}, **schema}
    name, described = entry.get("name"), entry.get("description")
    return {"name": name, "description": described, "parameters": schema}


def _filter_usable(name: str, given: Sequence[UncheckedFunction]) -> Corpus:
    """Return the usable functions, and a note about each unusable function.

    Raises DataError if no function is usable.
    """
    kept: dict[Signature, DescribedFunction] = {}
    left_out = []
    for backend, document, _ in given:
        problem = _find_problem(document)
        if problem is None and (key := signature(document)) in kept:
            same = kept[key].document == document
            problem = "is a duplicate" if same else "is defined twice: the first definition is used"
        if problem is None:
            kept[signature(document)] = DescribedFunction(backend, document)
        else:
            left_out.append(f"{str(document.get('name'))[:80]} {problem}")
    if not kept:
        why = f": {left_out[0]}" if left_out else ""
        raise DataError(name, f"contains no usable function{why}")
    notes = [f"{name}: omitted, {line}" for line in left_out[:_MAX_NOTES]]
    if len(left_out) > _MAX_NOTES:
        notes.append(f"{name}: omitted, {len(left_out) - _MAX_NOTES} more")
    return Corpus(name, tuple(kept.values()), tuple(notes))


def _find_problem(document: Document) -> str | None:
    """Return why a function is unusable, such as "has no name"; None if it is usable."""
    name, described = document.get("name"), document.get("description")
    if not isinstance(name, str) or not name.strip():
        return "has no name"
    if not isinstance(described, str) or not described.strip():
        return "has no description"
    for path, problem in find_document_errors([document]):
        return f"is malformed: {path.removeprefix('[0].')} {problem}"
    for parameter, schema in document["parameters"]["properties"].items():
        if not _TYPING.intersection(schema):
            return f"has no type for {parameter}"
    return None


def _read_servers(
    path: Path, value: Mapping[str, Any]
) -> Iterator[tuple[str, list[str], dict[str, str] | None]]:
    servers = value["mcpServers"]
    for name, server in servers.items() if isinstance(servers, Mapping) else ():
        match server:
            case {"command": str(command)}:
                more, env = server.get("args", []), server.get("env")
                if isinstance(more, list) and isinstance(env, Mapping | None):
                    words = {str(k): str(v) for k, v in env.items()} if env else None
                    yield str(name), [command, *map(str, more)], words
                    continue
        raise DataError(f"{path}: mcpServers.{name}", "has no command that starts the server")


def _list_tools(
    name: str, command: Sequence[str], env: dict[str, str] | None
) -> list[UncheckedFunction]:
    """Start an MCP server, list its tools, and stop it.

    Raises DataError if the server does not answer.
    """
    with require_extra("serve", f"{MCP}{command[-1]}"):
        return asyncio.run(_request_tools(name, command, env))


async def _request_tools(
    name: str, command: Sequence[str], env: dict[str, str] | None
) -> list[UncheckedFunction]:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    # Output that is not a message would be logged with a traceback; our own line is enough.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    relay = ["-I", "-S", str(_RELAY), str(_MAX_OUTPUT_BYTES), *command]
    server = StdioServerParameters(command=sys.executable, args=relay, env=env)
    found: list[UncheckedFunction] = []
    errors, received, cursor = _ErrorOutput(), _MessageCount(), None
    try:
        transport = _limited(stdio_client(server, errors.file), received)
        async with asyncio.timeout(_TIMEOUT_SECONDS), Client(transport) as client:
            for _ in range(_MAX_PAGES):
                page = await client.list_tools(cursor=cursor)
                for tool in page.tools:
                    reads = tool.annotations is not None and bool(tool.annotations.read_only_hint)
                    document = as_document(tool.model_dump(by_alias=True))
                    found.append(UncheckedFunction(name, document, reads))
                cursor = page.next_cursor
                if not cursor or len(found) > _MAX_TOOLS:
                    break
    except TimeoutError:
        message = f"did not list its tools within {_TIMEOUT_SECONDS:g} seconds"
        raise DataError(f"{MCP}{name}", message + errors.close()) from None
    except Exception as error:  # any error of a foreign program
        said = errors.close()
        message = f"is not an MCP server: {received.problem or _describe(error)}{said}"
        if said.endswith(TOO_LARGE) and not received.problem:
            message = f"sent more than {_MAX_OUTPUT_BYTES // 1_000_000} MB for its list of tools"
        raise DataError(f"{MCP}{name}", message) from None
    finally:
        errors.close()
    if len(found) > _MAX_TOOLS:
        raise DataError(f"{MCP}{name}", f"lists more than {_MAX_TOOLS} tools")
    if cursor:
        raise DataError(f"{MCP}{name}", f"lists its tools on more than {_MAX_PAGES} pages")
    return found


class _MessageCount:
    """Number of messages from a server."""

    def __init__(self) -> None:
        self.number = 0

    @property
    def problem(self) -> str:
        """Error message if the server sent too many messages, or an empty string."""
        too_many = self.number > _MAX_MESSAGES
        return f"it sent more than {_MAX_MESSAGES} messages" if too_many else ""


@asynccontextmanager
async def _limited(transport: Any, received: _MessageCount) -> AsyncIterator[Any]:
    """Connect to a server, but disconnect after too many messages."""
    async with transport as (incoming, outgoing):
        yield _CountingStream(incoming, received), outgoing


class _CountingStream:
    def __init__(self, stream: Any, received: _MessageCount) -> None:
        self._stream = stream
        self._received = received

    @property
    def last_context(self) -> Any:
        return self._stream.last_context

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        self._received.number += 1
        if self._received.problem:
            raise StopAsyncIteration
        return await self._stream.__anext__()


class _ErrorOutput:
    """Pipe for a server's error output. Only the end of the output is stored."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.file = os.fdopen(writing, "w")
        """Writing end of the pipe."""
        self._end = b""
        self._reader = Thread(target=self._read, args=(reading,), daemon=True)
        self._reader.start()

    def _read(self, handle: int) -> None:
        with open(handle, "rb", buffering=0) as pipe:
            while part := pipe.read(1 << 16):
                self._end = (self._end + part)[-_MAX_ERROR_BYTES:]

    def close(self) -> str:
        """Close the pipe; return the last line of the server's output for an error message."""
        self.file.close()
        # A process that the server left behind may keep the pipe open.
        self._reader.join(timeout=1)
        lines = self._end.decode(errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return f"; it printed: {said[-1]:.200}" if said else ""


def _describe(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text.partition(" For further information")[0][:200]
