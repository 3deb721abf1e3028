"""Shared functions of reply parsers: they limit lengths, parse JSON and read calls after tags.

Replies are untrusted. Each reply is parsed in one pass with ``find`` and the standard library's
JSON parser. Parsing stops at the first error and raises an exception.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NoReturn

from envs.bounds import BOUNDS
from envs.calls import MAX_TEXT, Call, make_call_from_tool
from envs.errors import MalformedCall
from envs.state import cut_repr
from envs.syntax_errors import describe_json_error
from extensions.formats.prompt_text import Documents, Read

ReadOne = Callable[[str, int, Documents], tuple[list[Call], int]]

MAX_NAME_CHARS = 200
"""Maximum number of characters of a function name."""

_NAME = re.compile(r"\w[\w.-]*+")
_BLANKS = re.compile(r"\s*+")
_MEANT = re.compile(r"[{(<\[=]")


def _no_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_JSON = json.JSONDecoder(parse_constant=_no_constant)


def check_length(text: str) -> None:
    """Check the length of a reply. Raises MalformedCall if the reply is too long."""
    if len(text) > MAX_TEXT:
        raise MalformedCall(f"The reply has {len(text)} characters; at most {MAX_TEXT} are read.")


def parameters_of(name: str, documents: Documents) -> Mapping[str, Any]:
    """Return the schemas of a function's parameters; empty for an unknown function."""
    found = (each["parameters"].get("properties", {}) for each in documents if each["name"] == name)
    return next(found, {})


def bounded(calls: Iterable[Call]) -> list[Call]:
    """Return the calls of a reply. Raises MalformedCall if the reply has too many calls."""
    made = list(islice(calls, BOUNDS.calls + 1))
    if len(made) > BOUNDS.calls:
        raise MalformedCall(f"The reply has more than {BOUNDS.calls} calls.")
    return made


def reading(each: Callable[[str, Documents], Iterable[Call]]) -> Read:
    """Return a parser that limits the length of a reply and its number of calls."""

    def read(text: str, documents: Documents) -> list[Call]:
        check_length(text)
        return bounded(each(text, documents))

    return read


def after_blanks(text: str, position: int) -> int:
    """Return the position of the next character that is not white space."""
    found = _BLANKS.match(text, position)
    return found.end() if found else position


def json_at(text: str, position: int, what: str = "The call") -> tuple[Any, int]:
    """Skip white space, then parse JSON; return the value and the position of its end.

    Raises MalformedCall if the JSON is invalid.
    """
    try:
        return _JSON.raw_decode(text, after_blanks(text, position))
    except (ValueError, RecursionError) as error:
        raise MalformedCall(f"{what} is not valid JSON: {describe_json_error(error)}.") from None


def call_of(value: object, arguments: str = "arguments") -> Call:
    """Convert an object with a name and arguments to a call; the arguments may be JSON text.

    Raises MalformedCall if the object has no name or no arguments.
    """
    match value:
        case {"name": str(name), **members} if arguments in members:
            return make_call_from_tool(name, members[arguments])
    raise MalformedCall(f"{cut_repr(value)} is not an object with name and {arguments}.")


def listed_calls(value: object) -> list[Call]:
    """Convert one object or a list of objects to a list of calls.

    Raises MalformedCall if an item is not a call, or if the list is too long.
    """
    return bounded(map(call_of, value if isinstance(value, list) else [value]))


def meant(text: str) -> bool:
    """Tell whether the text between two tags looks like a call."""
    return bool(_MEANT.search(text))


def is_name(text: str) -> bool:
    """Tell whether a text is a valid function name."""
    return len(text) <= MAX_NAME_CHARS and _NAME.fullmatch(text) is not None


def reading_after(mark: str, one: ReadOne) -> Read:
    """Return a function that reads the calls after each ``mark`` in a reply.

    ``mark`` is the string before the calls, such as an opening tag. The function ``one`` reads the
    calls at a position; it returns the calls and the position after the last call. If prose follows
    the mark, the function ``one`` returns no calls.
    """

    @reading
    def read(text: str, documents: Documents) -> Iterator[Call]:
        position = text.find(mark)
        while position >= 0:
            calls, end = one(text, position + len(mark), documents)
            yield from calls
            position = text.find(mark, end)

    return read


def objects_at(
    beginning: re.Pattern[str], text: str, what: str = "The call"
) -> Iterator[dict[str, Any]]:
    """Yield the JSON object at each match of a pattern in a text.

    Raises MalformedCall if an object is not valid JSON.
    """
    found = beginning.search(text)
    while found:
        value, end = json_at(text, found.start(), what)
        yield value
        found = beginning.search(text, end)


# Values as text: strings unchanged, other values as JSON, with end marks escaped.


def value_of(text: str, schema: Mapping[str, Any] | None) -> Any:
    """Convert the text of an argument to the argument's value.

    One line break at each end of the text is ignored. If the schema requires a string, or if the
    text is not valid JSON, return the text itself. Otherwise, return the JSON value.
    """
    text = text.removeprefix("\n").removesuffix("\n")
    if schema is not None and schema.get("type") == "string":
        return text
    try:
        value, end = json_at(text, 0)
    except MalformedCall:
        return text
    return value if after_blanks(text, end) == len(text) else text


def text_of(value: Any, schema: Mapping[str, Any] | None) -> str:
    """Return a text for a value; ``value_of`` converts the text back to the value."""
    if isinstance(value, str) and value == value_of(f"\n{value}\n", schema):
        return value
    return json.dumps(value, ensure_ascii=False)


def wrapped(text: str) -> str:
    """Enclose a text in line breaks if it begins or ends with a line break."""
    return f"\n{text}\n" if text[:1] == "\n" or text[-1:] == "\n" else text


class EndMarkEscaping:
    """Escaping of end marks in values: ``</end>`` becomes ``&lt;/end>``."""

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._quoted = f"&lt;{mark[1:]}"
        self._entity = re.compile(rf"&(?>(?:amp;)*)lt;{re.escape(mark[1:])}")

    def quoted(self, text: str) -> str:
        """Escape each end mark in a text."""
        text = self._entity.sub(lambda found: f"&amp;{found[0][1:]}", text)
        return text.replace(self._mark, self._quoted)

    def unquoted(self, text: str) -> str:
        """Undo ``quoted``."""
        if self._quoted[1:] not in text:
            return text
        return self._entity.sub(self._one, text)

    def _one(self, found: re.Match[str]) -> str:
        entity = found[0]
        return self._mark if entity == self._quoted else f"&{entity.removeprefix('&amp;')}"
