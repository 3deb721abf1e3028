"""What readers of replies share: bounds, JSON at a place, calls of objects and behind marks.

Replies are hostile. All is one pass by ``find`` and the standard library's JSON; what cannot be
read raises at once, so that nothing is looked at twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NoReturn

from envs.bounds import BOUNDS
from envs.calls import MAX_TEXT, Call, call_from_tool
from envs.errors import MalformedCall
from envs.flaws import flaw_of_json
from envs.state import brief
from extensions.formats.showing import Documents, Read

ReadOne = Callable[[str, int, Documents], tuple[list[Call], int]]

LONGEST_NAME = 200
"""Of a function, in characters; what is longer is prose."""

_NAME = re.compile(r"\w[\w.-]*+")
_BLANKS = re.compile(r"\s*+")
_MEANT = re.compile(r"[{(<\[=]")


def _no_constant(constant: str) -> NoReturn:
    """Refuse Infinity and NaN, which are no JSON though the library reads them.

    Raises:
        ValueError: Always.
    """
    raise ValueError(f"{constant} is no JSON")


_JSON = json.JSONDecoder(parse_constant=_no_constant)


def check_length(text: str) -> None:
    """Refuse a reply that is too long to be read.

    Raises:
        MalformedCall: It is.
    """
    if len(text) > MAX_TEXT:
        raise MalformedCall(f"The reply has {len(text)} characters; at most {MAX_TEXT} are read.")


def bounded(calls: Iterable[Call]) -> list[Call]:
    """Return the calls of a reply.

    Raises:
        MalformedCall: There are too many.
    """
    made = list(islice(calls, BOUNDS.calls + 1))
    if len(made) > BOUNDS.calls:
        raise MalformedCall(f"The reply has more than {BOUNDS.calls} calls.")
    return made


def reading(each: Callable[[str, Documents], Iterable[Call]]) -> Read:
    """Return what reads the calls of a reply within bounds, from what yields them."""

    def read(text: str, documents: Documents) -> list[Call]:
        check_length(text)
        return bounded(each(text, documents))

    return read


def after_blanks(text: str, position: int) -> int:
    """Return where the next character stands that is no blank."""
    found = _BLANKS.match(text, position)
    return found.end() if found else position


def json_at(text: str, position: int, what: str = "The call") -> tuple[Any, int]:
    """Return the JSON value at a place, after blanks, and where it ends.

    Raises:
        MalformedCall: There is none.
    """
    try:
        return _JSON.raw_decode(text, after_blanks(text, position))
    except (ValueError, RecursionError) as error:
        raise MalformedCall(f"{what} is not valid JSON: {flaw_of_json(error)}.") from None


def call_of(value: object, arguments: str = "arguments") -> Call:
    """Return the call that an object stands for; arguments may be an object or its JSON text.

    Raises:
        MalformedCall: It stands for none.
    """
    match value:
        case {"name": str(name), **members} if arguments in members:
            return call_from_tool(name, members[arguments])
    raise MalformedCall(f"{brief(value)} is no object of name and {arguments}.")


def listed_calls(value: object) -> list[Call]:
    """Return the calls of a list of objects, or of one.

    Raises:
        MalformedCall: A member is no call, or there are too many.
    """
    return bounded(map(call_of, value if isinstance(value, list) else [value]))


def meant(text: str) -> bool:
    """Tell whether what stands between the marks of a family was meant as a call."""
    return bool(_MEANT.search(text))


def is_name(text: str) -> bool:
    """Tell whether a text can be the name of a function."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


def reading_after(mark: str, one: ReadOne) -> Read:
    """Return what reads the calls behind each mark.

    ``one`` returns the calls at a place, none where there is prose, and where they end.
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
    """Yield the JSON objects with a beginning, wherever they stand.

    Raises:
        MalformedCall: One is not valid JSON.
    """
    found = beginning.search(text)
    while found:
        value, end = json_at(text, found.start(), what)
        yield value
        found = beginning.search(text, end)


# Values as text: of string parameters as they are, of others as JSON, with end marks quoted.


def value_of(text: str, schema: Mapping[str, Any] | None) -> Any:
    """Return the value of a text: of a string parameter as it is, of others as JSON, else as it is.

    One line break at each end does not belong to it.
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
    """Return the text that stands for a value, as ``value_of`` reads it between line breaks."""
    if isinstance(value, str) and value == value_of(f"\n{value}\n", schema):
        return value
    return json.dumps(value, ensure_ascii=False)


def wrapped(text: str) -> str:
    """Return the text of a value between line breaks, if need be, so that it keeps its own."""
    return f"\n{text}\n" if text[:1] == "\n" or text[-1:] == "\n" else text


class Quoting:
    """How a mark is written inside of a value that ends with it: its first sign as an entity.

    Texts without the mark stay as they are, entities and all.

    The mark begins with ``<``.
    """

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._quoted = f"&lt;{mark[1:]}"
        self._entity = re.compile(rf"&(?:amp;)*+lt;{re.escape(mark[1:])}")

    def quoted(self, text: str) -> str:
        """Return a text without the mark."""
        text = self._entity.sub(lambda found: f"&amp;{found[0][1:]}", text)
        return text.replace(self._mark, self._quoted)

    def unquoted(self, text: str) -> str:
        """Return the text that was quoted."""
        if self._quoted[1:] not in text:
            return text
        return self._entity.sub(self._one, text)

    def _one(self, found: re.Match[str]) -> str:
        entity = found[0]
        return self._mark if entity == self._quoted else f"&{entity.removeprefix('&amp;')}"
