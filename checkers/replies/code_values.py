"""Converter of Java and JavaScript expressions to values; it uses the language's grammar.

Literals and collections of literals are converted. Other expressions, such as variables and calls,
remain strings. A literal of the wrong type also remains a string.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from checkers.calls.call_entry import ExpectedType, Language, UnreadableOutput
from checkers.replies.code import get_text, list_members, parse, unescape
from envs.calls import MAX_DEPTH, MAX_INT_BITS

if TYPE_CHECKING:
    from tree_sitter import Node


def java_value(text: str, expected: ExpectedType) -> Any:
    """Return the value of a Java expression, converted to a documented type."""
    return _JavaReader().convert(text, expected)


def javascript_value(text: str, expected: ExpectedType) -> Any:
    """Return the value of a JavaScript expression of a documented type."""
    return _JavaScriptReader().convert(text, expected)


class _NonLiteral(Exception):
    """The expression has no literal value, so the reader returns its source text."""


class _LiteralReader(ABC):
    language: ClassVar[Language]
    wrapper: ClassVar[str]
    """Code around each expression; without it, JavaScript would read ``{}`` as a block."""
    texts: ClassVar[tuple[str, ...]]
    """Names of the types whose values are always strings."""

    def convert(self, text: str, expected: ExpectedType) -> Any:
        try:
            root = parse(self.wrapper % text, self.language)
        except UnreadableOutput:
            return text
        alone = not root.has_error and root.named_child_count == 1
        node = self.inside(root.named_children[0]) if alone else None
        return text if node is None else self.value(node, expected, 0)

    @abstractmethod
    def inside(self, statement: Node) -> Node | None:
        """Return the wrapped expression."""

    def value(self, node: Node, expected: ExpectedType | None, depth: int) -> Any:
        try:
            return self.literal(node, expected, depth)
        except _NonLiteral:
            return get_text(node)

    def literal(self, node: Node, expected: ExpectedType | None, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise _NonLiteral
        if node.type == "parenthesized_expression":
            return self.literal(_get_only_member(node), expected, depth + 1)
        text = self.text(node)
        if text is not None:
            return text
        if expected is not None and expected.word in self.texts:
            raise _NonLiteral
        return self.other(node, expected, depth)

    @abstractmethod
    def text(self, node: Node) -> str | None:
        """Return the value of a string literal; None for other nodes."""

    @abstractmethod
    def other(self, node: Node, expected: ExpectedType | None, depth: int) -> Any:
        """Return the value of a collection, or of a literal other than a string."""

    def listed(self, nodes: Iterable[Node], expected: ExpectedType | None, depth: int) -> list[Any]:
        items = expected.items if expected else None
        return [self.value(node, items, depth + 1) for node in nodes]

    def mapped(self, pairs: Iterable[Sequence[Node]], depth: int) -> dict[Any, Any]:
        found = {}
        for key, value in pairs:
            name = self.value(key, None, depth + 1)
            if isinstance(name, (list, dict)):
                raise _NonLiteral
            found[name] = self.value(value, None, depth + 1)
        return found

    def number(self, node: Node, word: str | None) -> int | float:
        if node.type != "unary_expression":
            return self.unsigned(node, get_text(node).replace("_", ""), word)
        operand, sign = _get_only_member(node), get_text(node)[0]
        if operand.type == node.type or sign not in "+-":
            raise _NonLiteral
        number = self.number(operand, word)
        return -number if sign == "-" else number

    @abstractmethod
    def unsigned(self, node: Node, text: str, word: str | None) -> int | float:
        """Return the value of an unsigned number."""


def _get_only_member(node: Node) -> Node:
    inner = list_members(node)
    if len(inner) != 1:
        raise _NonLiteral
    return inner[0]


def _list_arguments(node: Node) -> list[Node]:
    arguments = node.child_by_field_name("arguments")
    return list_members(arguments) if arguments else []


def _check_length(text: str) -> None:
    if len(text) > MAX_INT_BITS // 4:
        raise _NonLiteral


_MAX_INT, _MAX_BITS = 2**31, 2**32 - 1
_NARROW = ("byte", "short", "integer")
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


class _JavaReader(_LiteralReader):
    language = Language.JAVA
    wrapper = "Object x = %s\n;"
    texts = ("String", "char", "any")

    def inside(self, statement: Node) -> Node | None:
        declarators = statement.children_by_field_name("declarator")
        return declarators[0].child_by_field_name("value") if len(declarators) == 1 else None

    def text(self, node: Node) -> str | None:
        text = get_text(node)
        if node.type == "string_literal" and text.startswith('"""'):
            lines = text[3:-3].split("\n")[1:]
            margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
            return unescape("\n".join(line[min(margins, default=0) :] for line in lines))
        quoted = node.type in ("string_literal", "character_literal")
        return unescape(text[1:-1]) if quoted else None

    def other(self, node: Node, expected: ExpectedType | None, depth: int) -> Any:
        match node.type:
            case "true" | "false":
                return node.type == "true"
            case "null_literal":
                return None
            case "array_initializer":
                return self.listed(list_members(node), expected, depth)
            case "array_creation_expression" | "cast_expression":
                value = node.child_by_field_name("value")
                if value is None:
                    raise _NonLiteral
                return self.literal(value, expected, depth + 1)
            case "method_invocation":
                return self.factory(node, expected, depth)
            case "object_creation_expression":
                return self.created(node, expected, depth)
        return self.number(node, expected.word if expected else None)

    def unsigned(self, node: Node, text: str, word: str | None) -> int | float:
        if node.type.endswith("_integer_literal"):
            _check_length(text)
            if text[-1] in "lL" and word in _NARROW:
                raise _NonLiteral
            number = int(text.rstrip("lL"), 8 if node.type == "octal_integer_literal" else 0)
            most = _MAX_INT if node.type == "decimal_integer_literal" else _MAX_BITS
            if text[-1] not in "lL" and number > most:
                raise _NonLiteral
            return number
        floating = node.type.endswith("_floating_point_literal")
        if not floating or (text[-1] not in "fF" and word == "float"):
            raise _NonLiteral
        hexadecimal = text[:2].lower() == "0x"
        return float.fromhex(text.rstrip("fFdD")) if hexadecimal else float(text.rstrip("fFdD"))

    def factory(self, node: Node, expected: ExpectedType | None, depth: int) -> Any:
        function, arguments = _get_function_name(node), _list_arguments(node)
        if function in _LISTING:
            return self.listed(arguments, expected, depth)
        if function in _MAPPING and len(arguments) % 2 == 0:
            return self.mapped(zip(arguments[::2], arguments[1::2], strict=True), depth)
        if function == "Map.ofEntries":
            return self.mapped(map(_read_entry, arguments), depth)
        raise _NonLiteral

    def created(self, node: Node, expected: ExpectedType | None, depth: int) -> Any:
        type_ = node.child_by_field_name("type")
        assert type_ is not None
        name = get_text(type_).split("<")[0].split(".")[-1].strip()
        if name not in (*_LISTS, *_MAPS):
            raise _NonLiteral
        calls = [*_list_body_calls(node)]
        if calls and name in _LISTS:
            return self.listed((call[0] for call in calls if len(call) == 1), expected, depth)
        if calls:
            return self.mapped((call for call in calls if len(call) == 2), depth)
        arguments = _list_arguments(node)
        if len(arguments) > 1:
            raise _NonLiteral
        copied = self.literal(arguments[0], expected, depth + 1) if arguments else None
        kind = list if name in _LISTS else dict
        # A number is a capacity, not part of the value.
        return copied if isinstance(copied, kind) else kind()


def _get_function_name(node: Node) -> str:
    base, name = node.child_by_field_name("object"), node.child_by_field_name("name")
    assert name is not None
    return f"{get_text(base)}.{get_text(name)}" if base else get_text(name)


def _read_entry(node: Node) -> Sequence[Node]:
    arguments = _list_arguments(node)
    is_call = node.type == "method_invocation"
    if not is_call or _get_function_name(node) not in _ENTRY or len(arguments) != 2:
        raise _NonLiteral
    return arguments


def _list_body_calls(node: Node) -> Iterator[list[Node]]:
    """Yield the arguments of the calls in ``{{ add(1); add(2); }}``."""
    bodies = [child for child in node.named_children if child.type == "class_body"]
    blocks = [block for body in bodies for block in list_members(body)]
    for statement in [statement for block in blocks for statement in list_members(block)]:
        call = statement.named_children[0] if statement.named_children else statement
        if call.type != "method_invocation" or _get_function_name(call) not in ("add", "put"):
            raise _NonLiteral
        yield _list_arguments(call)


_CONSTANTS = {"true": True, "false": False, "null": None, "undefined": None}


class _JavaScriptReader(_LiteralReader):
    language = Language.JAVASCRIPT
    wrapper = "(%s\n)"
    texts = ("String", "any")

    def inside(self, statement: Node) -> Node | None:
        wrapped = statement.named_children[0] if statement.named_children else None
        if wrapped is None or wrapped.type != "parenthesized_expression":
            return None
        inner = list_members(wrapped)
        return inner[0] if len(inner) == 1 else None

    def text(self, node: Node) -> str | None:
        filled = any(child.type == "template_substitution" for child in node.named_children)
        plain = node.type == "string" or (node.type == "template_string" and not filled)
        return unescape(get_text(node)[1:-1]) if plain else None

    def other(self, node: Node, expected: ExpectedType | None, depth: int) -> Any:
        if node.type in _CONSTANTS:
            return _CONSTANTS[node.type]
        if node.type == "object":
            return self.object(node, depth)
        if node.type == "new_expression" and _get_called_name(node) == "Map":
            rows = [
                row
                for argument in _list_arguments(node)
                for row in _list_elements(argument) or [argument]
            ]
            return self.mapped(map(_read_pair, rows), depth)
        inner = _list_elements(node)
        if inner is not None:
            return self.listed(inner, expected, depth)
        return self.number(node, expected.word if expected else None)

    def object(self, node: Node, depth: int) -> dict[str, Any]:
        found = {}
        for pair in list_members(node):
            key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
            if pair.type == "shorthand_property_identifier":
                found[get_text(pair)] = get_text(pair)
            elif pair.type == "pair" and key and value and key.type != "computed_property_name":
                name = unescape(get_text(key)[1:-1]) if key.type == "string" else get_text(key)
                found[name] = self.value(value, None, depth + 1)
            else:
                raise _NonLiteral
        return found

    def unsigned(self, node: Node, text: str, word: str | None) -> int | float:
        _check_length(text)
        if node.type != "number" or (word == "Bigint") != text.endswith("n"):
            raise _NonLiteral
        text = text.lower().removesuffix("n")
        if text[:2] in ("0x", "0o", "0b"):
            return int(text, 0)
        return int(text) if text.isdecimal() else float(text)


def _list_elements(node: Node) -> list[Node] | None:
    if node.type == "array":
        return list_members(node)
    arguments = _list_arguments(node)
    if _get_called_name(node) in ("Array", "Array.of"):
        return arguments
    if node.type == "new_expression" and _get_called_name(node) == "Set" and len(arguments) < 2:
        return _list_elements(arguments[0]) if arguments else []
    return None


def _read_pair(node: Node) -> list[Node]:
    inner = _list_elements(node)
    if inner is None or len(inner) != 2:
        raise _NonLiteral
    return inner


def _get_called_name(node: Node) -> str | None:
    called = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    return get_text(called) if called else None
