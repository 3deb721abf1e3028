"""JSON lines files, read with the line number at hand for every complaint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trajectories.errors import DataError


def read_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``file:line`` and the object of each line that is not blank.

    Raises:
        DataError: The file cannot be read, or a line is not a JSON object.
    """
    text = read_text(path)
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{path}:{number}"
            yield where, parse_object(line, where)


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises:
        DataError: It cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"is not UTF-8 text: {error.reason}") from None


def parse_object(line: str, where: str) -> dict[str, Any]:
    """Return the JSON object that a line holds; ``where`` is the place to complain of.

    Raises:
        DataError: The line is not a JSON object.
    """
    try:
        value = json.loads(line)
    except ValueError as error:
        raise DataError(where, f"is not valid JSON: {error}") from None
    except RecursionError:
        raise DataError(where, "is nested too deep") from None
    if not isinstance(value, dict):
        raise DataError(where, f"must be a JSON object, is a {type(value).__name__}")
    return value
