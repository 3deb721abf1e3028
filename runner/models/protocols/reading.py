"""What readers of replies share: JSON at a place, calls of objects, typed values in text.

Replies are hostile. All is one pass by ``find`` and the standard library's JSON; what cannot be
read raises at once, so that nothing is looked at twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from envs.bounds import BOUNDS
from envs.calls import MAX_TEXT, Call, call_from_tool, holds_call, parse_calls, plain_calls
from envs.errors import MalformedCall
from envs.state import brief
from runner.models.protocols.base import parameters_of
from runner.models.tools import Document

LONGEST_NAME = 200
"""Of a function, in characters; what is longer is prose."""

_MOST_PYTHON = 150_000
"""Characters of what is not in the plain form of calls."""

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


def python_calls(text: str) -> list[Call]:
    """Read the calls in Python in a reply.

    Raises:
        MalformedCall: They cannot be read, or are so long that a syntax tree takes seconds.
    """
    check_length(text)
    calls = plain_calls(text)
    if not calls:
        check_python(text)
    return calls or parse_calls(text)


def check_python(text: str) -> None:
    """Refuse Python that a syntax tree would take seconds for.

    Raises:
        MalformedCall: It is too long.
    """
    if len(text) > _MOST_PYTHON:
        raise MalformedCall(f"At most {_MOST_PYTHON} characters of Python are read.")


def add(calls: list[Call], call: Call) -> None:
    """Add a call to those of a reply, up to a bound.

    Raises:
        MalformedCall: There are too many.
    """
    if len(calls) >= BOUNDS.calls:
        raise MalformedCall(f"The reply has more than {BOUNDS.calls} calls.")
    calls.append(call)


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
        raise MalformedCall(f"{what} is not valid JSON: {error}.") from None


def call_of(value: object, name: str = "name", arguments: str = "arguments") -> Call:
    """Return the call that an object stands for; arguments may be an object or its JSON text.

    Raises:
        MalformedCall: It stands for none.
    """
    match value:
        case {**members} if isinstance(members.get(name), str) and arguments in members:
            return call_from_tool(str(members[name]), members[arguments])
    raise MalformedCall(f"{brief(value)} is no object of {name} and {arguments}.")


def listed_calls(value: object, arguments: str = "arguments") -> list[Call]:
    """Return the calls of a list of objects, or of one.

    Raises:
        MalformedCall: A member is no call, or there are too many.
    """
    calls: list[Call] = []
    for member in value if isinstance(value, list) else [value]:
        add(calls, call_of(member, arguments=arguments))
    return calls


def meant(text: str) -> bool:
    """Tell whether what stands between the marks of a family was meant as a call."""
    return bool(_MEANT.search(text))


def stretches(text: str, opening: str, closing: str) -> Iterator[tuple[int, int]]:
    """Yield where text between two marks begins and ends; what is not closed ends with the text."""
    position = text.find(opening)
    while position >= 0:
        begin = position + len(opening)
        end = text.find(closing, begin)
        if end < 0:
            yield begin, len(text)
            return
        yield begin, end
        position = text.find(opening, end)


def value_of(text: str, schema: Mapping[str, Any] | None) -> Any:
    """Return the value of a text: of a string parameter as it is, of others as JSON, else as it is.

    One line break at each end does not belong to it.
    """
    text = text.removeprefix("\n").removesuffix("\n")
    if schema is not None and schema.get("type") == "string":
        return text
    try:
        value, end = _JSON.raw_decode(text, after_blanks(text, 0))
    except (ValueError, RecursionError):
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


def is_name(text: str) -> bool:
    """Tell whether a text can be the name of a function."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


class Quoting:
    """How a mark is written inside of a value that ends with it: its first sign as an entity.

    Texts without the mark stay as they are, entities and all.

    Args:
        mark: What ends a value; it begins with ``<``.
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


def only_parameter(name: str, text: str, documents: Sequence[Document]) -> Call:
    """Return the call of a function with plain text for its only parameter.

    Raises:
        MalformedCall: It has several.
    """
    parameters = parameters_of(name, documents)
    if not parameters and not text.strip():
        return Call(name, (), {})
    if len(parameters) != 1 or not text.strip():
        raise MalformedCall(f"The input of {name[:100]} must be a JSON object of its arguments.")
    [(parameter, schema)] = parameters.items()
    return call_from_tool(name, {parameter: value_of(text.strip(), schema)})


def with_names(call: Call, documents: Sequence[Document]) -> Call:
    """Return a call of Python with all arguments named, as a structured call has them.

    Raises:
        MalformedCall: An argument is a call itself, or has no name.
    """
    if call.nested or any(map(holds_call, call.args)):
        raise MalformedCall(
            f"{call.name[:100]} has a call inside; make that one first and use its result."
        )
    if not call.args:
        return call_from_tool(call.name, dict(call.kwargs))
    names = list(parameters_of(call.name, documents))
    if len(call.args) > len(names):
        raise MalformedCall(f"{call.name[:100]}: name each argument.")
    positional = dict(zip(names, call.args, strict=False))
    for name in call.kwargs:
        if name in positional:
            raise MalformedCall(f"{call.name[:100]}: the argument {name} is given twice.")
    return call_from_tool(call.name, {**positional, **call.kwargs})
