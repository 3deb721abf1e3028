"""From the text of a Java expression to its value, by Java's grammar and rules of assignment.

What is no literal, nor a collection of them, stands for itself as text: the name of a variable,
a call. So does a literal that cannot be assigned to the type, such as ``5L`` to an integer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from checkers.calls.documents import Expected, Language, Unreadable
from checkers.replies.code import parse, text_of, unescape
from envs.calls import MAX_DEPTH, MAX_INT_BITS

if TYPE_CHECKING:
    from tree_sitter import Node

_NARROW = ("byte", "short", "integer")
_TEXT = ("String", "char", "any")
_LISTS = (
    "ArrayList", "LinkedList", "Vector", "Stack", "ArrayDeque", "PriorityQueue",
    "HashSet", "LinkedHashSet", "TreeSet",
)  # fmt: skip
_MAPS = ("HashMap", "LinkedHashMap", "TreeMap", "Hashtable", "ConcurrentHashMap")
_LISTING = (
    "Arrays.asList", "List.of", "Set.of", "Collections.singletonList", "Collections.singleton",
    "Collections.emptyList", "Collections.emptySet",
)  # fmt: skip
_MAPPING = ("Map.of", "Collections.singletonMap", "Collections.emptyMap")
_ENTRY = ("Map.entry", "entry")


def convert(text: str, expected: Expected) -> Any:
    """Return the value that a text stands for.

    Args:
        text: A Java expression.
        expected: The type that the document says.
    """
    node = _expression(text)
    return text if node is None else _value(node, expected, 0)


def _expression(text: str) -> Node | None:
    """Return the one expression that a text consists of, which may be a bare ``{1, 2}``."""
    try:
        root = parse(f"Object x = {text}\n;", Language.JAVA)
    except Unreadable:
        return None
    if root.has_error or root.named_child_count != 1:
        return None
    declarators = root.named_children[0].children_by_field_name("declarator")
    return declarators[0].child_by_field_name("value") if len(declarators) == 1 else None


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
    if node.type == "parenthesized_expression":
        return _literal(_first(node), expected, depth + 1)
    if node.type == "string_literal":
        return _text(text_of(node))
    if node.type == "character_literal":
        return unescape(text_of(node)[1:-1])
    if expected is not None and expected.word in _TEXT:
        raise _NotALiteral
    if node.type in ("true", "false"):
        return node.type == "true"
    if node.type == "null_literal":
        return None
    number = _number(node, expected.word if expected else None)
    return _collection(node, expected, depth) if number is None else number


def _first(node: Node) -> Node:
    if not node.named_children:
        raise _NotALiteral
    return node.named_children[0]


def _text(literal: str) -> str:
    if not literal.startswith('"""'):
        return unescape(literal[1:-1])
    lines = literal[3:-3].split("\n")[1:]
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    return unescape("\n".join(line[min(margins, default=0) :] for line in lines))


def _number(node: Node, word: str | None) -> int | float | None:
    text = text_of(node).replace("_", "")
    if node.type == "unary_expression" and text[0] in "+-":
        operand = _first(node)
        number = None if operand.type == node.type else _number(operand, word)
        return -number if number is not None and text[0] == "-" else number
    if node.type.endswith("_integer_literal"):
        wide = text[-1] in "lL"
        if (wide and word in _NARROW) or len(text) > MAX_INT_BITS // 4:
            raise _NotALiteral
        octal = node.type == "octal_integer_literal"
        return int(text.rstrip("lL"), 8 if octal else 0)
    if node.type.endswith("_floating_point_literal"):
        if text[-1] not in "fF" and word == "float":
            raise _NotALiteral
        hexadecimal = text[:2].lower() == "0x"
        return float.fromhex(text.rstrip("fFdD")) if hexadecimal else float(text.rstrip("fFdD"))
    return None


def _collection(node: Node, expected: Expected | None, depth: int) -> Any:
    items = expected.items if expected else None
    if node.type == "array_creation_expression":
        value = node.child_by_field_name("value")
        if value is None:
            raise _NotALiteral
        return _literal(value, expected, depth + 1)
    if node.type == "array_initializer":
        return [_value(member, items, depth + 1) for member in _members(node)]
    if node.type == "cast_expression":
        value = node.child_by_field_name("value")
        assert value is not None
        return _literal(value, expected, depth + 1)
    if node.type == "method_invocation":
        return _factory(node, items, depth)
    if node.type == "object_creation_expression":
        return _created(node, expected, depth)
    raise _NotALiteral


def _members(node: Node | None) -> list[Node]:
    if node is None:
        return []
    return [child for child in node.named_children if not child.type.endswith("comment")]


def _factory(node: Node, items: Expected | None, depth: int) -> Any:
    """Read a call that makes a collection, such as ``List.of(1, 2)``."""
    function = _function(node)
    arguments = _members(node.child_by_field_name("arguments"))
    if function in _LISTING:
        return [_value(argument, items, depth + 1) for argument in arguments]
    if function in _MAPPING and len(arguments) % 2 == 0:
        return _map(zip(arguments[::2], arguments[1::2], strict=True), depth)
    if function == "Map.ofEntries":
        return _map((_entry(argument) for argument in arguments), depth)
    raise _NotALiteral


def _function(node: Node) -> str:
    base, name = node.child_by_field_name("object"), node.child_by_field_name("name")
    assert name is not None
    return f"{text_of(base)}.{text_of(name)}" if base else text_of(name)


def _entry(node: Node) -> Sequence[Node]:
    arguments = _members(node.child_by_field_name("arguments"))
    if node.type != "method_invocation" or _function(node) not in _ENTRY or len(arguments) != 2:
        raise _NotALiteral
    return arguments


def _map(pairs: Iterable[Sequence[Node]], depth: int) -> dict[Any, Any]:
    found = {}
    for key, value in pairs:
        name = _value(key, None, depth + 1)
        if isinstance(name, (list, dict)):
            raise _NotALiteral
        found[name] = _value(value, None, depth + 1)
    return found


def _created(node: Node, expected: Expected | None, depth: int) -> Any:
    """Read ``new`` and a collection: empty, copied from another, or filled in a body."""
    type_ = node.child_by_field_name("type")
    assert type_ is not None
    name = text_of(type_).split("<")[0].split(".")[-1].strip()
    if name not in (*_LISTS, *_MAPS):
        raise _NotALiteral
    items = expected.items if expected else None
    calls = [*_body_calls(node)]
    if calls and name in _LISTS:
        return [_value(call[0], items, depth + 1) for call in calls if len(call) == 1]
    if calls:
        return _map((call for call in calls if len(call) == 2), depth)
    arguments = _members(node.child_by_field_name("arguments"))
    if len(arguments) > 1:
        raise _NotALiteral
    copied = _literal(arguments[0], expected, depth + 1) if arguments else None
    kind = list if name in _LISTS else dict
    # A number is the capacity, which is not part of the value.
    return copied if isinstance(copied, kind) else kind()


def _body_calls(node: Node) -> Iterator[list[Node]]:
    """Yield the arguments of the calls in ``{{ add(1); add(2); }}``."""
    bodies = [child for child in node.named_children if child.type == "class_body"]
    blocks = [block for body in bodies for block in _members(body)]
    for statement in [statement for block in blocks for statement in _members(block)]:
        call = _first(statement)
        if call.type != "method_invocation" or _function(call) not in ("add", "put"):
            raise _NotALiteral
        yield _members(call.child_by_field_name("arguments"))
