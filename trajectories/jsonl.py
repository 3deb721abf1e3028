"""JSON lines files, read with the line number at hand for every complaint."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

from trajectories.errors import DataError

_MAY_BE_NO_NUMBER = re.compile(r"NaN|Infinity|[0-9][eE]\+?[0-9]{3}|[0-9]{300}")


def read_objects(path: Path, *, finite: bool = True) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``file:line`` and the object of each line that is not blank.

    Args:
        path: The file.
        finite: Whether a line with a number that is none is refused.

    Raises:
        DataError: The file cannot be read, or a line is not such an object.
    """
    text = read_text(path)
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{path}:{number}"
            yield where, parse_object(line, where, finite=finite)


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


def parse_object(line: str, where: str, *, finite: bool = True) -> dict[str, Any]:
    """Return the JSON object that a line holds; ``where`` is the place to complain of.

    Raises:
        DataError: The line is not a JSON object, or a number in it is infinite or none.
    """
    try:
        value = json.loads(line)
    except ValueError as error:
        raise DataError(where, f"is not valid JSON: {error}") from None
    except RecursionError:
        raise DataError(where, "is nested too deep") from None
    if not isinstance(value, dict):
        raise DataError(where, f"must be a JSON object, is a {type(value).__name__}")
    if finite:
        check_finite(value, line, where)
    return value


def check_finite(value: object, text: str, where: str) -> None:
    """Refuse a JSON value in which a number is infinite or none.

    Args:
        value: The value.
        text: What it was read from.
        where: The place to complain of.

    Raises:
        DataError: There is one; says where in the value.
    """
    found = next(_not_finite(value, "$"), None) if _MAY_BE_NO_NUMBER.search(text) else None
    if found is not None:
        raise DataError(where, f"{found}: must be a finite number")


def _not_finite(value: object, path: str) -> Iterator[str]:
    if isinstance(value, float) and not isfinite(value):
        yield path
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _not_finite(member, f"{path}.{name}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _not_finite(member, f"{path}[{index}]")
