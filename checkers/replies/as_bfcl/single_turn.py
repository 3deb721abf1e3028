"""Reader of the calls in a single-turn answer, with the same results as BFCL.

In Java and JavaScript, only one call is read. BFCL parses a Java call without its final semicolon.
Therefore, short Java calls are rejected. Regular expressions convert values. If no expression
matches a value, the value stays a string, which is the wrong type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from checkers.calls.call_entry import ExpectedType, Language, UnjudgeableEntry, UnreadableOutput
from checkers.reasons import Reason
from checkers.replies.as_bfcl.decoding import add_brackets, resolve_calls
from checkers.replies.decoding import Step
from envs.calls import MAX_TEXT, Call
from envs.errors import MalformedCall
from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    from tree_sitter import Node

    from checkers.replies import code
    from envs import syntax_errors
else:
    # Only for Java, JavaScript and parse errors.
    code = lazy_module("checkers.replies.code")
    syntax_errors = lazy_module("envs.syntax_errors")

UNNAMED = "*"
"""Name for an argument without a name, as in ``f(x)``; no parameter has the name ``*``."""
_MAX_DEPTH = 200


def read_tool_calls(step: Step) -> list[Call]:
    """Read the tool calls of a step.

    Raises UnreadableOutput if the step is a string or None, or the arguments are not a JSON object.
    """
    if step is None or (isinstance(step, str) and step):
        raise UnreadableOutput("the step has no tool calls")
    return [_read_tool_call(member) for member in step]


def _read_tool_call(member: object) -> Call:
    if not isinstance(member, dict) or not member:
        raise UnreadableOutput("a tool call is not an object")
    name, text = next(iter(member.items()))
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise UnreadableOutput(f"the arguments of {name} are not a string, or are too long")
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError) as error:
        flaw = syntax_errors.describe_json_error(error)
        raise UnreadableOutput(f"the arguments of {name} are not valid JSON: {flaw}") from None
    if not isinstance(arguments, dict):
        message = f"the arguments of {name} are not a JSON object"
        raise UnreadableOutput(message, Reason.WRONG_FORMAT)
    return Call(name, (), arguments)


def read_text(step: Step, language: Language) -> list[Call]:
    """Parse the calls in a model's text as BFCL's default decoder does.

    Raises UnreadableOutput if the text is not a list of calls, or has an invalid value.
    """
    try:
        text = add_brackets(step)
        if language is Language.PYTHON:
            return [_make_call(*resolved) for resolved in resolve_calls(text)]
    except MalformedCall as error:
        raise UnreadableOutput(str(error)) from None
    return java_calls(text[1:-1]) if language is Language.JAVA else javascript_calls(text[1:-1])


def _make_call(name: str, named: Mapping[str | None, Any]) -> Call:
    return Call(name, (), {UNNAMED if key is None else key: value for key, value in named.items()})


def java_calls(text: str) -> list[Call]:
    """Read the first call of a Java text.

    Raises UnreadableOutput if the text has a syntax error, no call, or a repeated argument.
    """
    found = code.list_nodes(_parse_strictly(text, Language.JAVA))
    call = next((node for node in found if node.type == "method_invocation"), None)
    if call is None:
        raise UnreadableOutput("this Java code contains no call", Reason.WRONG_FORMAT)
    return [_read_java_call(call, text)]


def _parse_strictly(text: str, language: Language) -> Node:
    root = code.parse(text, language)
    # BFCL accepts missing tokens, such as a semicolon or a bracket.
    if root.has_error and any(node.type == "ERROR" for node in code.list_nodes(root)):
        raise UnreadableOutput(f"this is not valid {language}")
    return root


def _read_java_call(call: Node, text: str) -> Call:
    base, name = call.child_by_field_name("object"), call.child_by_field_name("name")
    arguments = call.child_by_field_name("arguments")
    assert name is not None
    assert arguments is not None
    named: dict[str, str] = {}
    for node in arguments.children:
        if node.type == "assignment_expression":
            key, value = node.children[0], node.children[2]
            _add(named, _slice(key, text), _read_java_argument(value, text))
        elif node.type in ("identifier", "class_literal"):
            _add(named, UNNAMED, _slice(node, text))
    function = _slice(name, text)
    return Call(f"{_slice(base, text)}.{function}" if base else function, (), named)


def _slice(node: Node, text: str) -> str:
    # BFCL uses the grammar's byte offsets as offsets of characters.
    return text[node.start_byte : node.end_byte]


def _read_java_argument(node: Node, text: str) -> str:
    source = _join_java_text(node, text)
    return source[1:-1] if node.type in ("string_literal", "character_literal") else source


def _join_java_text(node: Node, text: str, depth: int = 0) -> str:
    if depth > _MAX_DEPTH:
        raise UnreadableOutput("an argument is nested too deep")
    if not node.children or node.type in ("method_invocation", "string_literal"):
        return _slice(node, text)
    if node.type == "object_creation_expression":
        arguments = node.child_by_field_name("arguments")
        members = arguments.named_children if arguments else []
        inside = ", ".join(_join_java_text(member, text, depth + 1) for member in members)
        return f"new {_join_java_field(node, 'type', text, depth)}({inside})"
    if node.type == "array_creation_expression":
        value = _join_java_field(node, "value", text, depth)
        return f"new {_join_java_field(node, 'type', text, depth)}[]{value}"
    return "".join(_join_java_text(child, text, depth + 1) for child in node.children)


def _join_java_field(node: Node, field: str, text: str, depth: int) -> str:
    child = node.child_by_field_name(field)
    if child is None:
        raise UnreadableOutput(f"the {field} after `new` is missing")
    return _join_java_text(child, text, depth + 1)


def javascript_calls(text: str) -> list[Call]:
    """Read the first JavaScript statement that is a function call.

    Raises UnreadableOutput if the text has a syntax error, no call, or a repeated argument.
    """
    for statement in _parse_strictly(text, Language.JAVASCRIPT).children:
        first = statement.children[0] if statement.children else None
        if statement.type == "expression_statement" and first and first.type == "call_expression":
            return [_read_javascript_call(first)]
    raise UnreadableOutput("this JavaScript code contains no call", Reason.WRONG_FORMAT)


def _read_javascript_call(call: Node) -> Call:
    function, arguments = call.children[:2]
    named: dict[str, str] = {}
    for node in arguments.children:
        if node.type == "assignment_expression":
            key, value = node.children[0], node.children[2]
            _add(named, code.get_text(key), unquote(code.get_text(value)))
        elif node.type in ("identifier", "true"):
            _add(named, UNNAMED, code.get_text(node))
    return Call(code.get_text(function), (), named)


def _add(named: dict[str, str], name: str, value: str) -> None:
    if name in named:
        raise UnreadableOutput("an argument is given twice")
    named[name] = value


INTEGER = r"-?\d{1,1000}"


def parse_number(text: str) -> int | float | str:
    """Convert a string to a number if possible; otherwise return the string."""
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def unquote(text: str) -> str:
    """Remove the quotes around a string if both quotes are equal."""
    quoted = text[:1] in ("'", '"') and text[:1] == text[-1:]
    return text[1:-1] if quoted else text


def parse_boolean(text: str) -> bool | str:
    """Convert ``true`` or ``false`` to a boolean; return other strings unchanged."""
    return text == "true" if text in ("true", "false") else text


_INTEGER = re.compile(INTEGER + "$")
_LONG = re.compile(INTEGER + "[Ll]$")
_FLOAT = re.compile(r"-?\d+(?:\.\d+)?(?:[Ee][+-]?\d+)?[Ff]$")
_DOUBLE = re.compile(r"-?\d+(?:\.\d+)?(?:[Ee][+-]?\d+)?$")
_LISTED = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_ADDED = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{(.+?)\}\}", re.DOTALL)
_ADD = re.compile(r"add\((.+?)\)")
_EMPTY_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
_JAVA_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")
_EMPTY_MAP = re.compile(r"new\s+HashMap<[^(\n]*>\s*+\(\)")
_PUTS = re.compile(r"new\s+HashMap<[^(]*>\s*+\(\)\s*+\{\s*+\{?(.*?)\}?\s*+\}", re.DOTALL)
_PUT = re.compile(r"put\(\"(?>(.*?)\",)\s*(.*?)\)")
_QUOTED = ("String", "char")


def java_value(text: str, expected: ExpectedType) -> Any:
    """Return the value of a Java expression.

    Raises UnjudgeableEntry if BFCL does not implement the type.
    """
    match expected.word:
        case "byte" | "short" | "integer":
            return int(text) if _INTEGER.match(text) else text
        case "long":
            return int(text[:-1]) if _LONG.match(text) else text
        case "float":
            return float(text[:-1]) if _FLOAT.match(text) else text
        case "double":
            return float(text) if _DOUBLE.match(text) else text
        case "boolean":
            return parse_boolean(text)
        case "char" | "String" | "any":
            return text
        case "ArrayList":
            return _read_array_list(text, expected.items)
        case "Array":
            return _read_java_array(text, expected.items)
        case "HashMap":
            return _read_hash_map(text)
    raise UnjudgeableEntry(f"BFCL has no conversion for the type {expected.word}")


def _read_array_list(text: str, items: ExpectedType | None) -> Any:
    if listed := _LISTED.search(text):
        return [_read_element(member.strip(), items) for member in listed[1].split(",")]
    if added := _ADDED.search(text):
        return [_read_element(member.strip(), items) for member in _ADD.findall(added[1])]
    return [] if _EMPTY_LIST.search(text) else text


def _read_java_array(text: str, items: ExpectedType | None) -> Any:
    found = _JAVA_ARRAY.search(text)
    if found is None:
        return text
    members = [member.strip() for member in found[1].split(",")]
    return [_guess_java(m) if items is None else java_value(m, items) for m in members if m]


def _read_element(text: str, items: ExpectedType | None) -> Any:
    if items is not None and items.word in _QUOTED:
        return text[1:-1]
    return _guess_java(text) if items is None else java_value(text, items)


def _read_hash_map(text: str) -> Any:
    if puts := _PUTS.search(text):
        return {key: _guess_java(value.strip()) for key, value in _PUT.findall(puts[1])}
    return {} if _EMPTY_MAP.search(text) else text


def _guess_java(text: str) -> Any:
    if text in ("true", "false"):
        return parse_boolean(text)
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if _LONG.match(text):
        return int(text[:-1])
    if _FLOAT.match(text):
        return float(text[:-1])
    return parse_number(text)


_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?$")
_BIG_INTEGER = re.compile(INTEGER + "n$")
# Rows of a nested array, up to the first two consecutive closing brackets.
_ROWS = re.compile(
    r"\[\s*+(\[(?>(?:[^]\n]|\](?!\s*\])(?:\s*,\s*\[)?)*)\])\s*\]"
    r"|new\s+Array\(\s*+(\[(?>(?:[^]\n]|\](?!\s*\))(?:\s*,\s*\[)?)*)\])\s*\)"
)
_ROW = re.compile(r"\[(.*?)\]")
_JAVASCRIPT_ARRAY = re.compile(r"\[(.*?)\]|new\s+Array\((.*?)\)")
_OBJECT = re.compile(r"\{(.*?)\}")
_QUOTES = "'\""
_PAIR = re.compile(r"([^:]++):\s*+(.*?)(?:,\s*(?=[^,]+:)|$)")


def javascript_value(text: str, expected: ExpectedType) -> Any:
    """Return the value of a JavaScript expression.

    Raises UnjudgeableEntry if BFCL does not know the type.
    """
    match expected.word:
        case "String":
            return unquote(text)
        case "integer":
            return int(text) if _INTEGER.match(text) else text
        case "float":
            return float(text) if _DECIMAL.match(text) else text
        case "Bigint":
            return int(text[:-1]) if _BIG_INTEGER.match(text) else text
        case "Boolean":
            return parse_boolean(text)
        case "any":
            return text
        case "array":
            return _read_javascript_array(text.strip(), expected.items)
        case "dict":
            return _read_object(text.strip())
    raise UnjudgeableEntry(f"BFCL has no conversion for the type {expected.word}")


def _read_javascript_array(text: str, items: ExpectedType | None) -> Any:
    if rows := _ROWS.match(text):
        return [
            [_guess_javascript(m) for m in _split(row)] for row in _ROW.findall(rows[1] or rows[2])
        ]
    found = _JAVASCRIPT_ARRAY.match(text)
    if found is None:
        return text
    inside = (found[1] or found[2] or "").strip()
    members = _split(inside) if inside else []
    return [_guess_javascript(m) if items is None else javascript_value(m, items) for m in members]


def _split(text: str) -> list[str]:
    return [member.strip() for member in text.split(",")]


def _read_object(text: str) -> Any:
    found = _OBJECT.match(text)
    if found is None:
        return text
    pairs = _PAIR.findall(found[1])
    return {key.strip().strip(_QUOTES): _read_member(value.strip()) for key, value in pairs}


def _read_member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _read_javascript_array(text, None)
    return _guess_javascript(text.strip(_QUOTES).strip())


def _guess_javascript(text: str) -> Any:
    if text in ("true", "false"):
        return parse_boolean(text)
    bare = unquote(text)
    return bare if bare != text else parse_number(text)
