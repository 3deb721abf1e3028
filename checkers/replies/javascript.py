"""From the text of a JavaScript expression to its value, by JavaScript's grammar.

What is no literal, nor a collection of them, stands for itself as text: the name of a variable,
a function, a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checkers.calls.documents import Expected, Language, Unreadable
from checkers.replies.code import parse, text_of, unescape
from envs.calls import MAX_DEPTH, MAX_INT_BITS

if TYPE_CHECKING:
    from tree_sitter import Node

_CONSTANTS = {"true": True, "false": False, "null": None, "undefined": None}
_TEXT = ("String", "any")


def convert(text: str, expected: Expected) -> Any:
    """Return the value that a text stands for.

    Args:
        text: A JavaScript expression.
        expected: The type that the document says.
    """
    node = _expression(text)
    return text if node is None else _value(node, expected, 0)


def _expression(text: str) -> Node | None:
    """Return the one expression that a text consists of."""
    try:
        # In parentheses, for by itself {} is a block.
        root = parse(f"({text}\n)", Language.JAVASCRIPT)
    except Unreadable:
        return None
    if root.has_error or root.named_child_count != 1:
        return None
    statement = root.named_children[0]
    wrapped = statement.named_children[0] if statement.named_children else None
    if wrapped is None or wrapped.type != "parenthesized_expression":
        return None
    inside = _members(wrapped)
    return inside[0] if len(inside) == 1 else None


class _NotALiteral(Exception):
    """An expression that stands for itself."""


def _value(node: Node, expected: Expected | None, depth: int) -> Any:
    try:
        return _literal(node, expected, depth)
    except _NotALiteral:
        return text_of(node)


def _literal(node: Node, expected: Expected | None, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise _NotALiteral
    if node.type == "parenthesized_expression" and len(_members(node)) == 1:
        return _literal(_members(node)[0], expected, depth + 1)
    if node.type == "string" or (node.type == "template_string" and _is_plain(node)):
        return unescape(text_of(node)[1:-1])
    if expected is not None and expected.word in _TEXT:
        raise _NotALiteral
    if node.type in _CONSTANTS:
        return _CONSTANTS[node.type]
    if node.type == "object":
        return _object(node, depth)
    if node.type == "new_expression" and _called(node) == "Map":
        return _map(node, depth)
    members = _listed(node)
    if members is not None:
        items = expected.items if expected else None
        return [_value(member, items, depth + 1) for member in members]
    return _number(node, expected.word if expected else None)


def _is_plain(template: Node) -> bool:
    return all(child.type != "template_substitution" for child in template.named_children)


def _members(node: Node | None) -> list[Node]:
    if node is None:
        return []
    return [child for child in node.named_children if child.type != "comment"]


def _object(node: Node, depth: int) -> dict[str, Any]:
    found = {}
    for pair in _members(node):
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if pair.type == "shorthand_property_identifier":
            found[text_of(pair)] = text_of(pair)
        elif pair.type == "pair" and key and value and key.type != "computed_property_name":
            name = unescape(text_of(key)[1:-1]) if key.type == "string" else text_of(key)
            found[name] = _value(value, None, depth + 1)
        else:
            raise _NotALiteral
    return found


def _listed(node: Node) -> list[Node] | None:
    """Return the elements of an array, however it is made; None for anything else."""
    if node.type == "array":
        return _members(node)
    arguments = _members(node.child_by_field_name("arguments"))
    if _called(node) in ("Array", "Array.of"):
        return arguments
    if node.type == "new_expression" and _called(node) == "Set" and len(arguments) < 2:
        return _listed(arguments[0]) if arguments else []
    return None


def _called(node: Node) -> str | None:
    """Return the name of what a call or ``new`` calls."""
    called = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    return text_of(called) if called else None


def _map(node: Node, depth: int) -> dict[Any, Any]:
    """Read ``new Map([[key, value], ...])``."""
    arguments = _members(node.child_by_field_name("arguments"))
    found = {}
    for pair in [pair for argument in arguments for pair in _listed(argument) or [argument]]:
        members = _listed(pair)
        if members is None or len(members) != 2:
            raise _NotALiteral
        key, value = (_value(member, None, depth + 1) for member in members)
        if isinstance(key, (list, dict)):
            raise _NotALiteral
        found[key] = value
    return found


def _number(node: Node, word: str | None) -> int | float:
    if node.type == "unary_expression":
        operand = node.child_by_field_name("argument")
        sign = text_of(node)[0]
        if operand is None or operand.type == node.type or sign not in "+-":
            raise _NotALiteral
        number = _number(operand, word)
        return -number if sign == "-" else number
    if node.type != "number":
        raise _NotALiteral
    text = text_of(node).replace("_", "").lower()
    if len(text) > MAX_INT_BITS // 4 or (word == "Bigint") != text.endswith("n"):
        raise _NotALiteral
    number = _read_number(text.removesuffix("n"))
    whole = word == "integer" and isinstance(number, float) and number.is_integer()
    return int(number) if whole else number


def _read_number(text: str) -> int | float:
    if text[:2] in ("0x", "0o", "0b"):
        return int(text, 0)
    return int(text) if text.isdecimal() else float(text)
