"""Reader of Java and JavaScript calls in text.

A call can be an item of a list, or a statement. A code fence or prose may surround the calls.
Arguments remain strings of source code. The grammars are an optional extra, loaded on first use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from checkers.calls.call_entry import Language, UnreadableOutput
from envs.calls import MAX_TEXT, Call
from envs.errors import DataError
from envs.state import cut_repr

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_CODE = 10_000
MAX_EFFORT = 1_200
"""Maximum estimated effort of parsing. Ordinary code needs about a tenth of this maximum."""
_MAX_EFFORT_OF_REPLY = 3 * MAX_EFFORT
_SIGNS, _BRACKETS = re.compile(r"[-+~!%^&|<>*?/]"), re.compile(r"[][(){}$#@]")
_CHAINED = re.compile(r"""=[^=,;(){}\[\]"'`\n]*+(?==)|[^\s:]\s*+:|\.\s*+["'`]""")
_LEXEME = re.compile(
    r"""("(?>(?:[^"\\\n]|\\.)*)"?+|'(?>(?:[^'\\\n]|\\.)*)'?+|`(?>(?:[^`\\]|\\.)*)`?+)|([\w$]++)|([^\w\s])""",
    re.DOTALL,
)
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]++[lLn]?|\d++(?:[eE]\d++)?[lLnfFdD]?")
_MAX_CHARS = 2_000


def parse(text: str, language: Language) -> Node:
    """Return the root of a string's syntax tree, with error nodes for syntax errors.

    Raises:
        UnreadableOutput: The text is too long or takes too long to parse.
        DataError: The libraries are not installed.
    """
    if len(text) > MAX_CODE:
        raise UnreadableOutput(f"the code has {len(text)} characters; the maximum is {MAX_CODE}")
    if estimate_effort(text) > MAX_EFFORT:
        raise UnreadableOutput("the code has too many operators and brackets")
    return _load_parser(language).parse(text.encode("utf-8", "replace")).root_node


def estimate_effort(text: str) -> int:
    """Estimate the parsing time of a string from the number of operators and brackets."""
    signs = len(_SIGNS.findall(text))
    if len(text) > _MAX_CHARS:
        signs += _count_misplaced(text)
    return 4 * signs + len(_BRACKETS.findall(text))


def _count_misplaced(text: str) -> int:
    found, after_value = len(_CHAINED.findall(text)), False
    for quoted, word, sign in _LEXEME.findall(text):
        if sign:
            found += not (sign.isascii() and sign.isprintable())
        elif after_value or (word[:1].isdigit() and not _NUMBER.fullmatch(word)):
            found += 1
        after_value = bool(quoted or word)
    return found


def require() -> None:
    """Check that the libraries for Java and JavaScript are installed.

    Raises DataError if a library is missing.
    """
    for language in (Language.JAVA, Language.JAVASCRIPT):
        _load_parser(language)


@cache
def _load_parser(language: Language) -> Parser:
    try:
        import tree_sitter
        import tree_sitter_java
        import tree_sitter_javascript
    except ImportError as error:
        message = f"{error.name} is not installed: pip install 'turnwise[languages]'"
        raise DataError("Java and JavaScript", message) from None
    grammar = tree_sitter_java if language is Language.JAVA else tree_sitter_javascript
    return tree_sitter.Parser(tree_sitter.Language(grammar.language()))


def list_nodes(root: Node) -> Iterator[Node]:
    """Yield a node and its descendants, in preorder."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def list_members(node: Node) -> list[Node]:
    """Return the named children of a syntax node, without comments and empty statements."""
    return [
        child
        for child in node.named_children
        if not child.type.endswith("comment") and child.type != "empty_statement"
    ]


def get_text(node: Node) -> str:
    """Return the source text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


_ESCAPE = re.compile(
    r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u+([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-3]?[0-7]{1,2})|(\r\n|.))",
    re.DOTALL,
)
_MEANINGS = {
    "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "s": " ", "\n": "",
    "\r\n": "",
}  # fmt: skip


def unescape(text: str) -> str:
    """Resolve the escape sequences between the quotes of a string literal."""
    found = _ESCAPE.sub(_resolve_escape, text)
    # Two escaped surrogates are one character.
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _resolve_escape(escape: re.Match[str]) -> str:
    point, unit, byte, octal, single = escape.groups()
    if octal is not None:
        return chr(int(octal, 8))
    if single is not None:
        return _MEANINGS.get(single, single)
    code = int(point or unit or byte, 16)
    return chr(code) if code <= 0x10FFFF else "\ufffd"


_FENCE = re.compile(r"```(?:[\w+-]*+[ \t]*+\n)?(.*?)```", re.DOTALL)
_LOOKS_LIKE_A_CALL = re.compile(r"[\w$.]\((?:\)|[^()\n]{0,80}=)")
_MAX_FENCES = 10
_NAME = re.compile(r"[\w$]+(?>(?:\.[\w$]+)*)")
_CALLS = ("method_invocation", "call_expression")


def read_code(text: str, language: Language) -> list[Call]:
    """Read the calls in a string; return no calls for prose.

    Raises UnreadableOutput if a part of the text looks like calls but cannot be parsed.
    """
    check_length(text)
    spent = 0
    for stretch in list_code_parts(text, _FENCE, [("[", "]")]):
        takes = estimate_effort(stretch)
        spent += takes if takes <= MAX_EFFORT else 0  # text above the limit is not parsed
        if spent > _MAX_EFFORT_OF_REPLY:
            break
        found = _parse_calls(stretch, language)
        if found:
            return [_make_call(node) for node in found]
    if _LOOKS_LIKE_A_CALL.search(text):
        message = f"the calls in this {language} code cannot be parsed"
        raise UnreadableOutput(message, attempted=True)
    return []


def check_length(reply: str) -> None:
    """Check the length of a reply. Raises UnreadableOutput if the reply is too long."""
    if len(reply) > MAX_TEXT:
        raise UnreadableOutput(f"the reply has {len(reply)} characters; the maximum is {MAX_TEXT}")


def list_code_parts(
    text: str, fence: re.Pattern[str], brackets: Iterable[tuple[str, str]]
) -> Iterator[str]:
    """Yield candidates for source code: the whole string, fenced parts and parts in brackets."""
    yield text
    yield from (found[1] for found in islice(fence.finditer(text), _MAX_FENCES))
    for opening, closing in brackets:
        start, end = text.find(opening), text.rfind(closing)
        if 0 <= start < end:
            yield text[start : end + 1]


def _parse_calls(text: str, language: Language) -> list[Node]:
    bare = text.strip().strip("`").strip()
    listed = bare.startswith("[") and bare.endswith("]")
    inside = bare[1:-1] if listed else bare.rstrip(";")
    wrapped = _keep_calls(_list_arguments(f"f({inside}\n);", language))
    return wrapped or _keep_calls(_list_statements(f"{inside};", language))


def _list_arguments(code: str, language: Language) -> list[Node]:
    outer = _list_statements(code, language)
    arguments = outer[0].child_by_field_name("arguments") if len(outer) == 1 else None
    return list_members(arguments) if arguments else []


def _list_statements(code: str, language: Language) -> list[Node]:
    try:
        root = parse(code, language)
    except UnreadableOutput:
        return []
    return [] if root.has_error else [_unwrap(statement) for statement in list_members(root)]


def _unwrap(statement: Node) -> Node:
    inside = list_members(statement) if statement.type == "expression_statement" else []
    return inside[0] if inside else statement


def _keep_calls(found: list[Node]) -> list[Node]:
    return found if all(node.type in _CALLS for node in found) else []


def _make_call(node: Node) -> Call:
    name = _parse_name(node)
    positional: list[str] = []
    named: dict[str, str] = {}
    arguments = node.child_by_field_name("arguments")
    for argument in list_members(arguments) if arguments else []:
        left, right = argument.child_by_field_name("left"), argument.child_by_field_name("right")
        if argument.type != "assignment_expression" or left is None or right is None:
            positional.append(get_text(argument))
            continue
        key = get_text(left)
        if left.type != "identifier" or key in named:
            message = f"{name}: the argument name {cut_repr(key)} is invalid or repeated"
            raise UnreadableOutput(message, attempted=True)
        named[key] = get_text(right)
    return Call(name, tuple(positional), named)


def _parse_name(node: Node) -> str:
    parts = [node.child_by_field_name(field) for field in ("function", "object", "name")]
    name = ".".join("".join(get_text(part).split()) for part in parts if part)
    if not _NAME.fullmatch(name):
        raise UnreadableOutput(f"{cut_repr(name)} is not the name of a function", attempted=True)
    return name
