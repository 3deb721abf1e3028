"""The grammars of Java and JavaScript; what a text means in them is for other modules to say.

The libraries are an extra and are loaded when the first such text is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from checkers.calls.documents import Language
from checkers.calls.errors import MissingGrammar, Unreadable

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_CODE = 10_000
"""Longest code that is read, in characters; some takes the square of its length."""


def parse(text: str, language: Language) -> Node:
    """Return the root of a text's syntax tree, which holds nodes of errors where it is wrong.

    Raises:
        Unreadable: The text is too long.
        MissingGrammar: The libraries are not installed.
    """
    if len(text) > MAX_CODE:
        raise Unreadable(f"the code has {len(text)} characters; at most {MAX_CODE} are read")
    return _parser(language).parse(text.encode("utf-8", "replace")).root_node


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


def text_of(node: Node) -> str:
    """Return the source text of a node."""
    return (node.text or b"").decode("utf-8", "replace")
