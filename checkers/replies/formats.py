"""From a reply in JSON or XML to the calls in it.

Model output is hostile. JSON is read by the standard library within the bounds of all calls. XML is
not parsed as such: three elements are looked for, in one pass, so that there are no entities to
expand, no declarations to follow and no depth to exhaust.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from checkers.calls.documents import Unreadable
from checkers.replies.code import check_length, stretches
from checkers.replies.decoding import Step
from envs.calls import Call, call_from_tool
from envs.errors import MalformedCall
from envs.state import brief

if TYPE_CHECKING:
    from checkers.calls.documents import Language
    from checkers.replies.single_turn import TextReader

OPENING, CLOSING = "<TOOL_CALLS>", "</TOOL_CALLS>"
"""Between these stand calls, where a format says so."""

_FENCE = re.compile(r"```\w*+\n(.*?)```", re.DOTALL)
_LOOKS_LIKE_JSON = re.compile(r"\"(?:name|arguments)\"\s*+:")
_TAG = re.compile(r"<(/?)(calls|call|argument)\b([^<>]*+)>")
_NAME = re.compile(r"\s++name\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)')\s*+")
# The ampersand last: what it gives begins no entity. (xml.sax has this too, but loads urllib.)
_ENTITIES = {"&quot;": '"', "&apos;": "'", "&gt;": ">", "&lt;": "<", "&amp;": "&"}


def text_of(step: Step) -> str:
    """Return a reply that is short enough to be read.

    Raises:
        Unreadable: It is too long.
    """
    text = step if isinstance(step, str) else ""
    check_length(text)
    return text


def between_tags(text: str) -> str:
    """Return what stands between the marks; a reply without them has nothing there.

    Raises:
        Unreadable: There is no second mark.
    """
    _, opened, rest = text.partition(OPENING)
    inside, closed, _ = rest.partition(CLOSING)
    if opened and not closed:
        raise Unreadable(f"{OPENING} is not followed by {CLOSING}", attempted=True)
    return inside


def read_json(text: str) -> list[Call]:
    """Read calls as a JSON list of ``{"name", "arguments"}``, or one such object; prose has none.

    Like calls in Python, they may stand in a code fence or after prose.

    Raises:
        Unreadable: The reply holds what looks like calls but cannot be read.
    """
    for stretch in stretches(text, _FENCE, [("[", "]"), ("{", "}")]):
        try:
            found = json.loads(stretch)
        except (ValueError, RecursionError):
            continue
        members = found if isinstance(found, list) else [found]
        if any(isinstance(member, dict) for member in members):
            return [_call_of(member) for member in members]
        return []
    if _LOOKS_LIKE_JSON.search(text):
        raise Unreadable("the calls in this JSON cannot be read", attempted=True)
    return []


def _call_of(member: Any) -> Call:
    match member:
        case {"name": str(name), "arguments": dict(arguments)} if len(member) == 2:
            return _call(name, arguments)
    message = f"{brief(member)} is no object of name and arguments"
    raise Unreadable(message, attempted=True)


def _call(name: str, arguments: dict[str, Any]) -> Call:
    try:
        return call_from_tool(name, arguments)
    except MalformedCall as error:
        raise Unreadable(error.message, attempted=True) from None


def read_xml(text: str) -> list[Call]:
    """Read ``<call name="..."><argument name="...">value</argument></call>``; prose has none.

    Values are JSON, and text where they are none.

    Raises:
        Unreadable: An element is opened in the wrong place, not closed, or has no name.
    """
    calls: list[Call] = []
    name: str | None = None
    arguments: dict[str, Any] = {}
    for kind, given, content in _elements(text):
        match kind:
            case "call" if name is None:
                name, arguments = given, {}
            case "argument" if name is not None and given not in arguments:
                arguments[given] = _value(content)
            case "/call" if name is not None:
                calls.append(_call(name, arguments))
                name = None
            case _:
                raise Unreadable(f"<{kind}> of {brief(given)} is out of place", attempted=True)
    if name is not None:
        raise Unreadable(f"the call of {brief(name)} is not closed", attempted=True)
    return calls


def _elements(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield kind, name and content of arguments, and of calls their beginning and end."""
    tags = iter(_TAG.finditer(text))
    for tag in tags:
        closes, kind, rest = tag.groups()
        if kind == "calls":
            continue
        if closes:
            yield f"/{kind}", "", ""
            continue
        content = ""
        if kind == "argument":
            end = next(tags, None)
            if end is None or end[1] + end[2] != "/argument":
                raise Unreadable("an argument is not closed", attempted=True)
            content = text[tag.end() : end.start()]
        yield kind, _name_in(rest), content


def _name_in(attributes: str) -> str:
    found = _NAME.fullmatch(attributes)
    if found is None:
        raise Unreadable("an element has no name, or more than that", attempted=True)
    return _unescaped(found[1] if found[1] is not None else found[2])


def _value(content: str) -> Any:
    text = _unescaped(content).strip()
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(constant: str) -> NoReturn:
    """Take what is called Infinity for a text: it is no JSON, though the library reads it.

    Raises:
        ValueError: Always.
    """
    raise ValueError(constant)


def _unescaped(text: str) -> str:
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    return text


@dataclass(frozen=True)
class ReplyFormat:
    """How a reply in a prompt format becomes calls; called with what reads calls in Python.

    Attributes:
        returns: What calls are written in: python, json or xml.
        tagged: Whether calls stand between marks, and nothing else counts as calls.
    """

    returns: str
    tagged: bool

    def __call__(self, python: TextReader) -> TextReader:
        """Return what turns a reply into calls."""

        def read(step: Step, language: Language) -> list[Call]:
            text = text_of(step)
            if self.tagged:
                text = between_tags(text)
            if self.returns == "python":
                return python(text, language)
            return _READERS[self.returns](text)

        return read

    @classmethod
    def named(cls, name: str) -> ReplyFormat | None:
        """Return that of a format such as ``json-tagged-python-plain``, None of an unknown one."""
        returns, marks, *_ = [*name.split("-"), ""]
        known = returns in ("python", *_READERS) and marks in ("bare", "tagged")
        return cls(returns, marks == "tagged") if known else None


_READERS = {"json": read_json, "xml": read_xml}
