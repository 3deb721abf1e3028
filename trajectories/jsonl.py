"""Reader of JSON lines files with line numbers in error messages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from math import isfinite
from pathlib import Path
from stat import S_ISDIR, S_ISFIFO, S_ISREG
from typing import TYPE_CHECKING, Any, NoReturn

from envs.errors import DataError
from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    from envs import syntax_errors
else:
    # Only for parse errors.
    syntax_errors = lazy_module("envs.syntax_errors")


_ID = '{"id": "'
_START = len(_ID)
_WHITE_SPACE = " \t\n\r"
_MAX_KNOWN = 256


class NonFiniteNumber(DataError):
    """A number is infinite or NaN."""


def read_objects(
    path: Path,
    *,
    finite: bool = True,
    unique: bool = True,
    ids: Collection[str] | None = None,
    text: str | None = None,
    repeated: RepeatedMember | None = None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``file:line`` and the object of each line that is not blank.

    If ``ids`` is given, only lines that begin with one of these ids are parsed. ``text`` is the
    text of the file if it has already been read. ``repeated`` is a member whose values are shared.

    Raises DataError if the file cannot be read, or a line is not a valid object. With ``finite``,
    infinite numbers and NaN are invalid. With ``unique``, duplicate keys are invalid.
    """
    wanted, name = frozenset(ids or ()), str(path)
    parse = partial(parse_object, finite=finite, unique=unique)
    lines = (read_text(path) if text is None else text).split("\n")
    for number, line in enumerate(lines, start=1):
        has_id = ids is not None and line.startswith(_ID)
        other = has_id and line[_START : line.find('"', _START)] not in wanted
        if not other and line.strip():
            where = f"{name}:{number}"
            found = repeated and repeated.parse(line, partial(parse, where=where))
            yield where, found or parse(line, where)


class RepeatedMember:
    """Parser of lines that often have the same text in a member; the text is parsed once.

    The text ends at the member ``following``, or at the end of the line.
    """

    def __init__(self, name: str, following: str | None = None) -> None:
        self._start, self._stop = f'"{name}": ', following and f', "{following}": '
        self._known: dict[str, dict[str, Any]] = {}

    def parse(self, line: str, parse: Callable[[str], dict[str, Any]]) -> dict[str, Any] | None:
        """Parse the member and the rest of a line; return None if the line has another form."""
        first, _, end = line.partition(f", {self._start}")
        if not end:
            return None
        part, rest = f"{{{self._start}{end}", f"{first}}}"
        if self._stop and self._stop in part:
            part, rest = part.split(self._stop, 1)
            part, rest = f"{part}}}", f"{first}{self._stop}{rest}"
        try:
            if part not in self._known:
                if len(self._known) == _MAX_KNOWN:
                    self._known.clear()
                self._known[part] = parse(part)
            members = parse(rest)
        except DataError:
            return None  # the message should describe the whole line
        total = len(members) + len(self._known[part])
        members.update(self._known[part])
        return members if len(members) == total else None


def read_text(path: Path) -> str:
    """Return a UTF-8 file's text without byte order mark. Raises DataError if this fails."""
    try:
        mode = path.stat().st_mode
        # A named pipe without a writer blocks forever, and a link to /dev/zero has no end;
        # /dev/fd/63 is one end of an open pipe.
        if not (S_ISREG(mode) or S_ISDIR(mode)) and path.absolute().parts[1] not in ("dev", "proc"):
            kind = "named pipe" if S_ISFIFO(mode) else "device"
            raise DataError(str(path), f"is a {kind}; write its content to a file")
        # Faster than ``read_text``, which searches for line breaks while it decodes.
        text = path.read_bytes().decode("utf-8-sig")
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"is not UTF-8 text: {error.reason}; save it as UTF-8") from None


def parse_object(
    line: str, where: str, *, finite: bool = True, unique: bool = True
) -> dict[str, Any]:
    """Parse a line and return its JSON object. Error messages begin with ``where``.

    Raises:
        NonFiniteNumber: A number is infinite or NaN.
        DataError: The line is not a JSON object, or an object in it has a key twice.
    """
    value = parse_value(line, where, finite=finite, unique=unique)
    if not isinstance(value, dict):
        kind = "null" if value is None else f"of type {type(value).__name__}"
        raise DataError(where, f"must be a JSON object, but is {kind}")
    return value


def parse_value(text: str, where: str, *, finite: bool = True, unique: bool = True) -> object:
    """Parse a JSON string and return the value. Error messages begin with ``where``.

    Raises:
        NonFiniteNumber: A number is infinite or NaN.
        DataError: The text is not JSON, or an object has a key twice.
    """
    bare = text.strip(_WHITE_SPACE)
    try:
        # Faster than ``decode``, which uses regular expressions to skip white space.
        value, end = _DECODERS[finite, unique].raw_decode(bare)
    except KeyError as error:
        raise DataError(where, f"an object has the key {error} twice") from None
    except (_NonFinite, ValueError):
        # Parsed again for a better message, or for the path of the number.
        check_finite(value := _parse(text, where), where)
        return value
    except RecursionError:
        raise DataError(where, "is nested too deep") from None
    return value if end == len(bare) else _parse(text, where)


def check_finite(value: object, where: str) -> None:
    """Check that all numbers in a JSON value are finite.

    Raises NonFiniteNumber if a number is infinite or NaN. The message contains the number's path.
    """
    if (found := next(_find_non_finite(value, "$"), None)) is not None:
        raise NonFiniteNumber(where, f"{found}: must be a finite number")


def _parse(line: str, where: str) -> object:
    try:
        return json.loads(line)
    except ValueError as error:
        why = f"is not valid JSON: {syntax_errors.describe_json_error(error)}"
        raise DataError(where, why) from None
    except RecursionError:
        raise DataError(where, "is nested too deep") from None


class _NonFinite(Exception):
    pass


def _make_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise KeyError(Counter(name for name, _ in pairs).most_common(1)[0][0][:60])
    return found


def _parse_finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise _NonFinite
    return value


def _refuse_constant(_: str) -> NoReturn:
    raise _NonFinite


# Checking numbers while parsing takes a fortieth of the time of checking afterwards.
_FINITE: Mapping[str, Any] = {"parse_float": _parse_finite, "parse_constant": _refuse_constant}
_UNIQUE: Mapping[str, Any] = {"object_pairs_hook": _make_unique}
_DECODERS = {
    (bool(numbers), bool(keys)): json.JSONDecoder(**numbers, **keys)
    for numbers in ({}, _FINITE)
    for keys in ({}, _UNIQUE)
}


def _find_non_finite(value: object, path: str) -> Iterator[str]:
    if isinstance(value, float) and not isfinite(value):
        yield path
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _find_non_finite(member, f"{path}.{name}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _find_non_finite(member, f"{path}[{index}]")
