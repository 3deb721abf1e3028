"""What readers of replies share: bounds, JSON at a place, calls of objects and behind names.

Replies are hostile. All is one pass by ``find`` and the standard library's JSON; what cannot be
read raises at once, so that nothing is looked at twice.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from envs.bounds import BOUNDS
from envs.calls import MAX_TEXT, Call, call_from_tool
from envs.errors import MalformedCall
from envs.flaws import flaw_of_json
from envs.state import brief

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
        raise MalformedCall(f"{what} is not valid JSON: {flaw_of_json(error)}.") from None


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


def is_name(text: str) -> bool:
    """Tell whether a text can be the name of a function."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


def calls_behind(mark: str, head: re.Pattern[str], text: str, form: str) -> list[Call]:
    """Read the calls that each stand behind a mark: a name, and JSON of its arguments.

    Args:
        mark: What a call begins with.
        head: Matches what stands between the mark and the JSON, ``name`` in it the function's.
        text: The reply.
        form: What is said of a call that is none.

    Raises:
        MalformedCall: A call cannot be read.
    """
    check_length(text)
    calls: list[Call] = []
    position = text.find(mark)
    while position >= 0:
        found = head.match(text, position + len(mark))
        if found is None:
            raise MalformedCall(form)
        value, end = json_at(text, found.end(), f"What follows {found['name']}")
        add(calls, call_from_tool(found["name"], value))
        position = text.find(mark, end)
    return calls
