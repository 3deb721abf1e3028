"""JSON lines files, read with the line number at hand for every complaint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from envs.lazy import lazily
from trajectories.errors import DataError

if TYPE_CHECKING:
    from envs import flaws
else:
    # Only for what cannot be read.
    flaws = lazily("envs.flaws")


class NotFinite(DataError):
    """A number is infinite or none."""


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
        NotFinite: A number in it is infinite or none.
        DataError: The line is not a JSON object.
    """
    value = parse_value(line, where, finite=finite)
    if not isinstance(value, dict):
        raise DataError(where, f"must be a JSON object, is a {type(value).__name__}")
    return value


def parse_value(text: str, where: str, *, finite: bool = True) -> object:
    """Return the JSON value that a text is; ``where`` is the place to complain of.

    Raises:
        NotFinite: A number in it is infinite or none.
        DataError: It is not JSON.
    """
    try:
        value: object = _finite.decode(text) if finite else json.loads(text)
    except (_NoNumber, ValueError):
        # It may be fine but for such numbers, and says better than the decoder what is wrong.
        value = _parsed(text, where)
        check_finite(value, where)
    except RecursionError:
        raise DataError(where, "is nested too deep") from None
    return value


def check_finite(value: object, where: str) -> None:
    """Refuse a value of JSON's types in which a number is infinite or none.

    Raises:
        NotFinite: There is one; says where in the value.
    """
    if (found := next(_not_finite(value, "$"), None)) is not None:
        raise NotFinite(where, f"{found}: must be a finite number")


def _parsed(line: str, where: str) -> object:
    try:
        value: object = json.loads(line)
    except ValueError as error:
        raise DataError(where, f"is not valid JSON: {flaws.flaw_of_json(error)}") from None
    except RecursionError:
        raise DataError(where, "is nested too deep") from None
    return value


class _NoNumber(Exception):
    """A number was met that is infinite or none."""


def _number(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise _NoNumber
    return value


def _no_number(_: str) -> NoReturn:
    raise _NoNumber


# Looking for such numbers while they are read takes a fortieth of the time of looking afterwards.
_finite = json.JSONDecoder(parse_float=_number, parse_constant=_no_number)


def _not_finite(value: object, path: str) -> Iterator[str]:
    if isinstance(value, float) and not isfinite(value):
        yield path
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _not_finite(member, f"{path}.{name}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _not_finite(member, f"{path}[{index}]")
