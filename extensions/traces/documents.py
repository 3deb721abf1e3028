"""Reader of JSON documents in trace files, with size limits. Errors name the line and JSON path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from envs.errors import DataError
from extensions.traces.packed_files import open_packed
from runner.models.recorded_messages import MalformedMessage
from trajectories.jsonl import parse_value

MAX_BYTES = 512 * 1024**2
"""Maximum size of a file, after decompression."""
_LINE_SUFFIXES = (".jsonl", ".ndjson")
_PACKED_SUFFIX = ".gz"
_FILES = ("*.json", "*.jsonl", "*.ndjson", "*.json.gz", "*.jsonl.gz", "*.ndjson.gz")
_SPACE = re.compile(r"[ \t\n\r]*")
_PART = re.compile(r"\.(\w+)|\[(\d+)\]")
_DECODER = json.JSONDecoder()


class Document(NamedTuple):
    """One JSON value of a file."""

    path: Path
    line: int
    """First line of the value, starting at 1."""
    text: str
    value: object

    def place(self, path: str) -> str:
        """Return the file and line of the value at a JSON path."""
        at = _SPACE.match(self.text, 0).end()  # type: ignore[union-attr]
        for name, index in _PART.findall(path):
            found = _member(self.text, at, int(index) if index else name)
            if found is None:
                break
            at = found
        return f"{self.path}:{self.line + self.text.count(chr(10), 0, at)}"


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A value inside a document."""

    document: Document
    path: str
    """JSON path from the root of the document, without ``$``."""
    value: Any

    def at(self, part: str | int) -> JsonNode:
        """Return an item of a list or a field of an object; the item or field must exist."""
        step = f"[{part}]" if isinstance(part, int) else f".{part}"
        return JsonNode(self.document, self.path + step, self.value[part])

    @property
    def source(self) -> str:
        """File and first line of the document, and JSON path of the value."""
        below = f" ${self.path}" if self.path else ""
        return f"{self.document.path}:{self.document.line}{below}"

    def get(self, name: str) -> JsonNode | None:
        """Return a field of an object, or None if the field is missing or null."""
        there = isinstance(self.value, dict) and self.value.get(name) is not None
        return JsonNode(self.document, f"{self.path}.{name}", self.value[name]) if there else None

    def items(self, name: str | None = None) -> list[JsonNode]:
        """Return the items of a list; empty if the field does not exist.

        Raises DataError if the value is not a list.
        """
        node = self if name is None else self.get(name)
        if node is None:
            return []
        if not isinstance(node.value, list):
            node.refuse(f"must be a list, but has the type {type(node.value).__name__}")
        path, values = node.path, node.value
        return [JsonNode(self.document, f"{path}[{i}]", each) for i, each in enumerate(values)]

    def object(self, name: str) -> dict[str, Any]:
        """Return the object in a field, or an empty object if the field does not exist.

        Raises DataError if the field is not an object.
        """
        node = self.get(name)
        return {} if node is None else node.require_object()

    def text(self, name: str) -> str | None:
        """Return a string field, or None.

        Raises DataError if the field is not a string.
        """
        node = self.get(name)
        if node is not None and not isinstance(node.value, str):
            node.refuse(f"must be a string, but is a {type(node.value).__name__}")
        return None if node is None else str(node.value)

    def require_object(self) -> dict[str, Any]:
        """Return the value. Raises DataError if the value is not an object."""
        if not isinstance(self.value, dict):
            self.refuse(f"must be an object, but has the type {type(self.value).__name__}")
        return self.value

    def object_or_empty(self) -> dict[str, Any]:
        """Return the value if it is an object; otherwise, return an empty object."""
        return self.value if isinstance(self.value, dict) else {}

    def refuse(self, message: str, below: str = "") -> NoReturn:
        """Raise DataError with file, line and path."""
        path = self.path + below
        raise DataError(self.document.place(path), f"${path}: {message}")

    @contextmanager
    def located(self) -> Iterator[None]:
        """Return a context manager that adds file, line and path to errors about messages."""
        try:
            yield
        except MalformedMessage as error:
            self.refuse(error.message, error.path)


def list_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files at paths and in folders.

    Raises DataError if a path does not exist, or a folder has no JSON file.
    """
    found: list[Path] = []
    for path in paths:
        inside = (
            sorted(file for form in _FILES for file in path.glob(form)) if path.is_dir() else []
        )
        if not inside and not path.is_file():
            why = "has no *.json or *.jsonl file" if path.is_dir() else "is not a file or folder"
            raise DataError(str(path), why)
        found += inside or [path]
    return found


def read_documents(path: Path, *, lines: bool = False) -> list[Document]:
    """Return the JSON values of a file: a single value, or one value per line.

    Raises DataError if the file is empty, too large, an archive, or not JSON.

    Args:
        path: The file.
        lines: Whether each line must be a value (default: depends on the file's name or first
            line).
    """
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise DataError(str(path), f"has {size} bytes; the maximum is {MAX_BYTES} bytes")
    if path.suffix == ".eval":
        raise DataError(str(path), "is an archive; convert it to JSON with `inspect log dump FILE`")
    text = _read(path)
    has_lines = path.name.removesuffix(_PACKED_SUFFIX).endswith(_LINE_SUFFIXES)
    if lines or has_lines or _begins_with_value(text):
        numbered = enumerate(text.split("\n"), start=1)
        found = [_document(path, number, line) for number, line in numbered if line.strip()]
    else:
        found = [_document(path, 1, text)] if text.strip() else []
    if not found:
        raise DataError(str(path), "holds no trace")
    return found


def _read(path: Path) -> str:
    with open_packed(path) as file:
        data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise DataError(str(path), f"decompresses to more than {MAX_BYTES} bytes, the maximum")
        text = data.decode("utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def root(document: Document) -> JsonNode:
    """Return the value of a document."""
    return JsonNode(document, "", document.value)


def _document(path: Path, line: int, text: str) -> Document:
    return Document(path, line, text, parse_value(text, f"{path}:{line}"))


def _begins_with_value(text: str) -> bool:
    """Tell whether the first line is a whole JSON object and more lines follow."""
    first, _, rest = text.strip().partition("\n")
    return bool(rest) and first.startswith("{") and first.rstrip().endswith("}")


def _member(text: str, at: int, part: str | int) -> int | None:
    """Return the position of an item in the list or object at ``at``; None if it is missing."""
    opened = "[" if isinstance(part, int) else "{"
    if text[at : at + 1] != opened:
        return None
    number, at = 0, _skip(text, at + 1)
    while at < len(text) and text[at] not in "]}":
        name: object = number
        if opened == "{":
            name, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        if name == part:
            return at
        _, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        at = _skip(text, at + 1) if text[at : at + 1] == "," else at
        number += 1
    return None


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]
