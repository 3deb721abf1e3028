"""From a model's step to the calls that are compared, as BFCL does it.

Of Java and JavaScript it takes one call and drops the rest. The Java grammar never sees the
semicolon at the end, so much depends on how it recovers: a call with long arguments is read, a
short one is not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from checkers.calls.documents import Language, Unreadable
from checkers.replies.as_bfcl.decoding import bracketed, resolve_calls
from checkers.replies.as_bfcl.values import unquoted
from checkers.replies.code import nodes, parse, text_of
from checkers.replies.decoding import Step
from checkers.verdict import Reason
from envs.calls import MAX_TEXT, Call
from envs.errors import MalformedCall

if TYPE_CHECKING:
    from tree_sitter import Node

UNNAMED = "*"
"""The name of a lone identifier among the arguments; no parameter is called that."""
_MAX_DEPTH = 200


def read_tool_calls(step: Step) -> list[Call]:
    """Read the tool calls of a step as BFCL does.

    Raises:
        Unreadable: The step is text or nothing, or the arguments of a call are no JSON object.
    """
    if step is None or (isinstance(step, str) and step):
        raise Unreadable("the step has no tool calls")
    return [_tool_call(member) for member in step]


def _tool_call(member: object) -> Call:
    if not isinstance(member, dict) or not member:
        raise Unreadable("a tool call is not an object")
    name, text = next(iter(member.items()))
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise Unreadable(f"the arguments of {name} are not a text that is read")
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"the arguments of {name} are not valid JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise Unreadable(f"the arguments of {name} are no JSON object", Reason.WRONG_FORMAT)
    return Call(name, (), arguments)


def read_text(step: Step, language: Language) -> list[Call]:
    """Read a prompting model's text as BFCL's default decoder does.

    Raises:
        Unreadable: The text is not a list of calls, or holds a value that does not decode.
    """
    try:
        text = bracketed(step)
        if language is Language.PYTHON:
            return [_call(*resolved) for resolved in resolve_calls(text)]
    except MalformedCall as error:
        raise Unreadable(str(error)) from None
    return java_calls(text[1:-1]) if language is Language.JAVA else javascript_calls(text[1:-1])


def _call(name: str, named: Mapping[str | None, Any]) -> Call:
    return Call(name, (), {UNNAMED if key is None else key: value for key, value in named.items()})


def java_calls(text: str) -> list[Call]:
    """Read the first call of a Java text.

    Raises:
        Unreadable: It has a syntax error, no call, or an argument given twice.
    """
    found = nodes(_parsed(text, Language.JAVA))
    call = next((node for node in found if node.type == "method_invocation"), None)
    if call is None:
        raise Unreadable("there is no call in this Java", Reason.WRONG_FORMAT)
    return [_java_call(call, text)]


def _parsed(text: str, language: Language) -> Node:
    root = parse(text, language)
    # What is missing is no error to BFCL, such as a semicolon or a bracket.
    if root.has_error and any(node.type == "ERROR" for node in nodes(root)):
        raise Unreadable(f"this is not valid {language}")
    return root


def _java_call(call: Node, text: str) -> Call:
    base, name = call.child_by_field_name("object"), call.child_by_field_name("name")
    arguments = call.child_by_field_name("arguments")
    assert name is not None
    assert arguments is not None
    named: dict[str, str] = {}
    for node in arguments.children:
        if node.type == "assignment_expression":
            key, value = node.children[0], node.children[2]
            _add(named, _slice(key, text), _java_argument(value, text))
        elif node.type in ("identifier", "class_literal"):
            _add(named, UNNAMED, _slice(node, text))
    function = _slice(name, text)
    return Call(f"{_slice(base, text)}.{function}" if base else function, (), named)


def _slice(node: Node, text: str) -> str:
    # BFCL takes the grammar's byte offsets for those of characters.
    return text[node.start_byte : node.end_byte]


def _java_argument(node: Node, text: str) -> str:
    source = _java_text(node, text)
    return source[1:-1] if node.type in ("string_literal", "character_literal") else source


def _java_text(node: Node, text: str, depth: int = 0) -> str:
    """Return the text of a value without blanks, and without the body of a class."""
    if depth > _MAX_DEPTH:
        raise Unreadable("an argument is nested too deep")
    if not node.children or node.type in ("method_invocation", "string_literal"):
        return _slice(node, text)
    if node.type == "object_creation_expression":
        arguments = node.child_by_field_name("arguments")
        members = arguments.named_children if arguments else []
        inside = ", ".join(_java_text(member, text, depth + 1) for member in members)
        return f"new {_java_field(node, 'type', text, depth)}({inside})"
    if node.type == "array_creation_expression":
        value = _java_field(node, "value", text, depth)
        return f"new {_java_field(node, 'type', text, depth)}[]{value}"
    return "".join(_java_text(child, text, depth + 1) for child in node.children)


def _java_field(node: Node, field: str, text: str, depth: int) -> str:
    child = node.child_by_field_name(field)
    if child is None:
        raise Unreadable(f"there is no {field} after new")
    return _java_text(child, text, depth + 1)


def javascript_calls(text: str) -> list[Call]:
    """Read the first statement of a JavaScript text that is a call.

    Raises:
        Unreadable: The text has a syntax error, no such statement, or an argument given twice.
    """
    for statement in _parsed(text, Language.JAVASCRIPT).children:
        first = statement.children[0] if statement.children else None
        if statement.type == "expression_statement" and first and first.type == "call_expression":
            return [_javascript_call(first)]
    raise Unreadable("no statement of this JavaScript is a call", Reason.WRONG_FORMAT)


def _javascript_call(call: Node) -> Call:
    function, arguments = call.children[:2]
    named: dict[str, str] = {}
    for node in arguments.children:
        if node.type == "assignment_expression":
            key, value = node.children[0], node.children[2]
            _add(named, text_of(key), unquoted(text_of(value)))
        elif node.type in ("identifier", "true"):
            _add(named, UNNAMED, text_of(node))
    return Call(text_of(function), (), named)


def _add(named: dict[str, str], name: str, value: str) -> None:
    if name in named:
        raise Unreadable("an argument is given twice")
    named[name] = value
