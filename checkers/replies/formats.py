"""Reader of calls in JSON or XML replies.

Model output is untrusted. JSON is parsed within the limits that hold for all calls. The XML reader
looks for three elements in one pass, without entity expansion, declarations or recursion.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from checkers.calls.call_entry import UnreadableOutput
from checkers.replies.code import check_length, list_code_parts
from checkers.replies.decoding import Step
from envs.calls import Call, make_call_from_tool
from envs.errors import MalformedCall
from envs.state import cut_repr

if TYPE_CHECKING:
    from checkers.calls.call_entry import Language
    from checkers.replies.single_turn import TextReader

OPENING, CLOSING = "<TOOL_CALLS>", "</TOOL_CALLS>"

_FENCE = re.compile(r"```\w*+\n(.*?)```", re.DOTALL)
_LOOKS_LIKE_JSON = re.compile(r"\"(?:name|arguments)\"\s*+:")
_TAG = re.compile(r"<(/?)(calls|call|argument)\b([^<>]*+)>")
_NAME = re.compile(r"\s++name\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)')\s*+")
# The ampersand is last, since its replacement starts no entity. xml.sax would import urllib.
_ENTITIES = {"&quot;": '"', "&apos;": "'", "&gt;": ">", "&lt;": "<", "&amp;": "&"}


def get_reply_text(step: Step) -> str:
    """Return the text of a reply. Raises UnreadableOutput if the text is too long."""
    text = step if isinstance(step, str) else ""
    check_length(text)
    return text


def get_tagged_text(text: str) -> str:
    """Return the text between the call tags; without tags, return an empty string.

    Raises UnreadableOutput if the closing tag is missing.
    """
    _, opened, rest = text.partition(OPENING)
    inside, closed, _ = rest.partition(CLOSING)
    if opened and not closed:
        raise UnreadableOutput(f"{OPENING} is not followed by {CLOSING}", attempted=True)
    return inside


def read_json(text: str) -> list[Call]:
    """Read a ``{"name", "arguments"}`` object or a list of them; return no calls for prose.

    The JSON may be in a code fence or after prose.

    Raises UnreadableOutput if a part of the reply looks like calls but cannot be parsed.
    """
    for stretch in list_code_parts(text, _FENCE, [("[", "]"), ("{", "}")]):
        try:
            found = json.loads(stretch)
        except (ValueError, RecursionError):
            continue
        members = found if isinstance(found, list) else [found]
        if any(isinstance(member, dict) for member in members):
            return [_parse_call(member) for member in members]
        return []
    if _LOOKS_LIKE_JSON.search(text):
        raise UnreadableOutput("the calls in this JSON cannot be parsed", attempted=True)
    return []


def _parse_call(member: Any) -> Call:
    match member:
        case {"name": str(name), "arguments": dict(arguments)} if len(member) == 2:
            return _make_call(name, arguments)
    message = f"{cut_repr(member)} is not an object of name and arguments"
    raise UnreadableOutput(message, attempted=True)


def _make_call(name: str, arguments: dict[str, Any]) -> Call:
    try:
        return make_call_from_tool(name, arguments)
    except MalformedCall as error:
        raise UnreadableOutput(error.message, attempted=True) from None


def read_xml(text: str) -> list[Call]:
    """Read ``<call name="..."><argument name="...">value</argument></call>``; ignore prose.

    A value that is not JSON is read as a string.

    Raises UnreadableOutput if an element is misplaced, not closed, or has no name.
    """
    calls: list[Call] = []
    name: str | None = None
    arguments: dict[str, Any] = {}
    for kind, given, content in _list_elements(text):
        match kind:
            case "call" if name is None:
                name, arguments = given, {}
            case "argument" if name is not None and given not in arguments:
                arguments[given] = _parse_value(content)
            case "/call" if name is not None:
                calls.append(_make_call(name, arguments))
                name = None
            case _:
                message = f"<{kind}> of {cut_repr(given)} is misplaced"
                raise UnreadableOutput(message, attempted=True)
    if name is not None:
        raise UnreadableOutput(f"the call of {cut_repr(name)} is not closed", attempted=True)
    return calls


def _list_elements(text: str) -> Iterator[tuple[str, str, str]]:
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
                raise UnreadableOutput("an argument is not closed", attempted=True)
            content = text[tag.end() : end.start()]
        yield kind, _parse_name(rest), content


def _parse_name(attributes: str) -> str:
    found = _NAME.fullmatch(attributes)
    if found is None:
        raise UnreadableOutput("an element needs one attribute: its name", attempted=True)
    return _unescape(found[1] if found[1] is not None else found[2])


def _parse_value(content: str) -> Any:
    text = _unescape(content).strip()
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _unescape(text: str) -> str:
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    return text


@dataclass(frozen=True)
class ReplyFormat:
    """Factory of readers for one calling format. The factory takes a reader of Python calls."""

    returns: str
    """Notation of calls: python, json or xml."""
    tagged: bool
    """Whether calls outside of tags are ignored."""

    def __call__(self, python: TextReader) -> TextReader:
        """Return the reader of this format."""

        def read(step: Step, language: Language) -> list[Call]:
            text = get_reply_text(step)
            if self.tagged:
                text = get_tagged_text(text)
            if self.returns == "python":
                return python(text, language)
            return _READERS[self.returns](text)

        return read

    @classmethod
    def named(cls, name: str) -> ReplyFormat | None:
        """Return the reader of a format such as ``json-tagged-python-plain``, or None."""
        returns, marks, *_ = [*name.split("-"), ""]
        known = returns in ("python", *_READERS) and marks in ("bare", "tagged")
        return cls(returns, marks == "tagged") if known else None


_READERS = {"json": read_json, "xml": read_xml}
