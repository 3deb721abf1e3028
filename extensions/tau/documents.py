"""Readers of tau2's plain or compressed files; each JSON value knows its file and path."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from envs.errors import DataError
from envs.syntax_errors import describe_json_error
from extensions.traces.packed_files import open_packed
from trajectories.jsonl import parse_value

MAX_BYTES = 512 * 1024**2
"""Maximum size of a file in bytes, after decompression."""


class JsonPlace(NamedTuple):
    """A JSON value and its source: the file and the JSON path."""

    value: Any
    where: str
    path: str = "$"

    def refuse(self, message: str) -> NoReturn:
        """Raise DataError with file and JSON path."""
        raise DataError(f"{self.where}: {self.path}", message)

    def member(self, name: str) -> JsonPlace:
        """Return a field of an object; a missing field has the value None.

        Raises DataError if the value is not an object.
        """
        return JsonPlace(self.object().get(name), self.where, f"{self.path}.{name}")

    def object(self) -> Mapping[str, Any]:
        """Return the value. Raises DataError if the value is not an object."""
        if not isinstance(self.value, Mapping):
            self.refuse(f"must be an object, but is {_kind(self.value)}")
        return self.value

    def text(self) -> str:
        """Return the value. Raises DataError if the value is not a string."""
        if not isinstance(self.value, str):
            self.refuse(f"must be a string, but is {_kind(self.value)}")
        return self.value

    def optional_text(self) -> str | None:
        """Return the string, or None for null. Raises DataError for any other value."""
        return None if self.value is None else self.text()

    def items(self) -> list[JsonPlace] | None:
        """Return the items of a list, or None for null. Raises DataError for other values."""
        if self.value is None:
            return None
        if not isinstance(self.value, list):
            self.refuse(f"must be a list, but is {_kind(self.value)}")
        return [
            JsonPlace(each, self.where, f"{self.path}[{place}]")
            for place, each in enumerate(self.value)
        ]

    def texts(self) -> tuple[str, ...] | None:
        """Return the strings of a list, or None for null. Raises DataError for other values."""
        items = self.items()
        return None if items is None else tuple([each.text() for each in items])


def _kind(value: object) -> str:
    return "missing" if value is None else f"a {type(value).__name__}"


def read_file(path: Path) -> str:
    """Return the text of a file; a file whose name ends in ``.gz`` is decompressed.

    Raises DataError if the file cannot be read, is too large or is not UTF-8.
    """
    with open_packed(path) as file:
        data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise DataError(str(path), f"is larger than {MAX_BYTES // 1024**2} MB")
        return data.decode("utf-8-sig")


def read_start(path: Path, size: int) -> str:
    """Return the text of a file's first bytes, which may end in an incomplete character.

    Raises DataError if the file cannot be read.
    """
    with open_packed(path) as file:
        return file.read(size).decode("utf-8-sig", errors="replace")


def read_json(path: Path) -> JsonPlace:
    """Return the JSON or TOML value of a file. Raises DataError if the file is invalid."""
    text = read_file(path)
    if ".toml" in path.suffixes:
        try:
            return JsonPlace(tomllib.loads(text), str(path))
        except (ValueError, RecursionError) as error:
            raise DataError(str(path), f"is not TOML: {describe_json_error(error)}") from None
    return JsonPlace(parse_value(text, str(path)), str(path))


def read_lines(path: Path) -> list[JsonPlace]:
    """Return the JSON values of a file, one per line. Raises DataError if a line is invalid."""
    return [
        JsonPlace(parse_value(line, where), where)
        for number, line in enumerate(read_file(path).split("\n"), 1)
        if line.strip()
        for where in (f"{path}:{number}",)
    ]
