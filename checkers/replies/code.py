"""The calls in a prompting model's Java or JavaScript, as its author means them, and the grammars.

Understood are one call or several, as a bracketed list or as statements, in a code fence or after
prose. The values stay texts of expressions. The libraries are an extra and are loaded when the
first such text is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from checkers.calls.documents import Language, MissingGrammar, Unreadable
from envs.calls import MAX_TEXT, Call
from envs.state import brief

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_CODE = 10_000
"""Longest code that is read, in characters."""
MAX_EFFORT = 1_200
"""Most that a code may take to read: the grammars take the square of what they stumble over, which
is signs of operators, what stands where it cannot and, less so, brackets. Honest code has a tenth
of it."""
_MAX_EFFORT_OF_REPLY = 3 * MAX_EFFORT
_SIGNS, _BRACKETS = re.compile(r"[-+~!%^&|<>*?/]"), re.compile(r"[][(){}$#@]")
_CHAINED = re.compile(r"""=[^=,;(){}\[\]"'`\n]*+(?==)|[^\s:]\s*+:|\.\s*+["'`]""")
_LEXEME = re.compile(
    r"""("(?:[^"\\\n]|\\.)*+"?+|'(?:[^'\\\n]|\\.)*+'?+|`(?:[^`\\]|\\.)*+`?+)|([\w$]++)|([^\w\s])""",
    re.DOTALL,
)
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]++[lLn]?|\d++(?:[eE]\d++)?[lLnfFdD]?")
_SHORT = 2_000
"""Up to so many characters are read in no time, whatever they are."""


def parse(text: str, language: Language) -> Node:
    """Return the root of a text's syntax tree, which holds nodes of errors where it is wrong.

    Raises:
        Unreadable: The text is too long, or takes too much to read.
        MissingGrammar: The libraries are not installed.
    """
    if len(text) > MAX_CODE:
        raise Unreadable(f"the code has {len(text)} characters; at most {MAX_CODE} are read")
    if effort(text) > MAX_EFFORT:
        raise Unreadable("the code has more signs and brackets than are read")
    return _parser(language).parse(text.encode("utf-8", "replace")).root_node


def effort(text: str) -> int:
    """Return about how much a grammar may stumble over in a text."""
    signs = len(_SIGNS.findall(text))
    if len(text) > _SHORT:
        signs += _misplaced(text)
    return 4 * signs + len(_BRACKETS.findall(text))


def _misplaced(text: str) -> int:
    """Return how much stands in a code where it cannot, such as a value after a value."""
    found, after_value = len(_CHAINED.findall(text)), False
    for quoted, word, sign in _LEXEME.findall(text):
        if sign:
            found += not (sign.isascii() and sign.isprintable())
        elif after_value or (word[:1].isdigit() and not _NUMBER.fullmatch(word)):
            found += 1
        after_value = bool(quoted or word)
    return found


def require() -> None:
    """Make sure that both languages can be read.

    Raises:
        MissingGrammar: The libraries are not installed.
    """
    for language in (Language.JAVA, Language.JAVASCRIPT):
        _parser(language)


@cache
def _parser(language: Language) -> Parser:
    try:
        import tree_sitter
        import tree_sitter_java
        import tree_sitter_javascript
    except ImportError as error:
        raise MissingGrammar(error.name or "tree-sitter") from None
    grammar = tree_sitter_java if language is Language.JAVA else tree_sitter_javascript
    return tree_sitter.Parser(tree_sitter.Language(grammar.language()))


def nodes(root: Node) -> Iterator[Node]:
    """Yield a node and all below it, each before those inside it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def members(node: Node) -> list[Node]:
    """Return what a node is made of, without comments and empty statements."""
    return [
        child
        for child in node.named_children
        if not child.type.endswith("comment") and child.type != "empty_statement"
    ]


def text_of(node: Node) -> str:
    """Return the source text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


_ESCAPE = re.compile(
    r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u+([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-3]?[0-7]{1,2})|(\r\n|.))",
    re.DOTALL,
)
_MEANINGS = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "s": " ",
    "\n": "",
    "\r\n": "",
}


def unescape(text: str) -> str:
    """Return what the inside of a string literal stands for."""
    found = _ESCAPE.sub(_meaning, text)
    # Two escapes of half a character each are one character.
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _meaning(escape: re.Match[str]) -> str:
    point, unit, byte, octal, single = escape.groups()
    if octal is not None:
        return chr(int(octal, 8))
    if single is not None:
        return _MEANINGS.get(single, single)
    code = int(point or unit or byte, 16)
    return chr(code) if code <= 0x10FFFF else "\ufffd"


_FENCE = re.compile(r"```(?:[\w+-]*+[ \t]*+\n)?(.*?)```", re.DOTALL)
_LOOKS_LIKE_A_CALL = re.compile(r"[\w$.]\((?:\)|[^()\n]{0,80}=)")
_MOST_FENCES = 10
_NAME = re.compile(r"[\w$]+(?:\.[\w$]+)*+")
_CALLS = ("method_invocation", "call_expression")


def calls_in_code(text: str, language: Language) -> list[Call]:
    """Read the calls in a text; prose has none.

    Raises:
        Unreadable: The text holds what looks like calls but cannot be read.
    """
    check_length(text)
    spent = 0
    for stretch in stretches(text, _FENCE, [("[", "]")]):
        takes = effort(stretch)
        spent += takes if takes <= MAX_EFFORT else 0  # what takes more is not read at all
        if spent > _MAX_EFFORT_OF_REPLY:
            break
        found = _calls_of(stretch, language)
        if found:
            return [_call(node) for node in found]
    if _LOOKS_LIKE_A_CALL.search(text):
        raise Unreadable(f"the calls in this {language} cannot be read", attempted=True)
    return []


def check_length(reply: str) -> None:
    """Refuse a reply that is too long to be read.

    Raises:
        Unreadable: It is.
    """
    if len(reply) > MAX_TEXT:
        raise Unreadable(f"the reply has {len(reply)} characters; at most {MAX_TEXT} are read")


def stretches(
    text: str, fence: re.Pattern[str], brackets: Iterable[tuple[str, str]]
) -> Iterator[str]:
    """Yield the parts of a text that may be nothing but calls, the likelier ones first."""
    yield text
    yield from (found[1] for found in islice(fence.finditer(text), _MOST_FENCES))
    for opening, closing in brackets:
        start, end = text.find(opening), text.rfind(closing)
        if 0 <= start < end:
            yield text[start : end + 1]


def _calls_of(text: str, language: Language) -> list[Node]:
    """Return the calls that a text consists of; none where there is anything else."""
    bare = text.strip().strip("`").strip()
    listed = bare.startswith("[") and bare.endswith("]")
    inside = bare[1:-1] if listed else bare.rstrip(";")
    wrapped = _only_calls(_arguments(f"f({inside}\n);", language))
    return wrapped or _only_calls(_statements(f"{inside};", language))


def _arguments(code: str, language: Language) -> list[Node]:
    """Return the arguments of the one call that a code consists of."""
    outer = _statements(code, language)
    arguments = outer[0].child_by_field_name("arguments") if len(outer) == 1 else None
    return members(arguments) if arguments else []


def _statements(code: str, language: Language) -> list[Node]:
    """Return the expressions that the statements of a code consist of."""
    try:
        root = parse(code, language)
    except Unreadable:
        return []
    if root.has_error:
        return []
    return [_expression(statement) for statement in members(root)]


def _expression(statement: Node) -> Node:
    inside = members(statement) if statement.type == "expression_statement" else []
    return inside[0] if inside else statement


def _only_calls(found: list[Node]) -> list[Node]:
    return found if all(node.type in _CALLS for node in found) else []


def _call(node: Node) -> Call:
    name = _name(node)
    positional: list[str] = []
    named: dict[str, str] = {}
    arguments = node.child_by_field_name("arguments")
    for argument in members(arguments) if arguments else []:
        left, right = argument.child_by_field_name("left"), argument.child_by_field_name("right")
        if argument.type != "assignment_expression" or left is None or right is None:
            positional.append(text_of(argument))
            continue
        key = text_of(left)
        if left.type != "identifier" or key in named:
            message = f"{name}: {brief(key)} is no name of an argument, or given twice"
            raise Unreadable(message, attempted=True)
        named[key] = text_of(right)
    return Call(name, tuple(positional), named)


def _name(node: Node) -> str:
    parts = [node.child_by_field_name(field) for field in ("function", "object", "name")]
    name = ".".join("".join(text_of(part).split()) for part in parts if part)
    if not _NAME.fullmatch(name):
        raise Unreadable(f"{brief(name)} is not the name of a function", attempted=True)
    return name
