"""OLMo: calls in Python, one a line, between tags; JSON's words for constants are known, too."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from envs.calls import Call, call_from_node, parse_expression, plain_calls
from envs.errors import MalformedCall
from extensions.formats.python_texts import check_python, with_names
from extensions.formats.raw import CHATML
from extensions.formats.reading import add, check_length
from extensions.formats.showing import answering, before, lines, showing
from runner.models.protocols.base import Written
from runner.models.tools import Document

_OPENING, _CLOSING = "<function_calls>", "</function_calls>"
_WORDS = {"true": True, "false": False, "null": None}


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls, one a line."""
    return before(text, "\n".join([_OPENING, *map(str, calls), _CLOSING]) if calls else "")


def read(text: str, documents: Sequence[Document]) -> list[Call]:
    """Read the lines between the tags.

    Raises:
        MalformedCall: One is no call.
    """
    check_length(text)
    _, opened, inside = text.partition(_OPENING)
    # The tag of the end is a text where a string holds it.
    inside = inside[: inside.rfind(_CLOSING)] if _CLOSING in inside else inside
    calls: list[Call] = []
    if not opened or "(" not in inside:
        return calls
    for line in inside.split("\n"):
        if line.strip():
            add(calls, with_names(_call(line.strip()), documents))
    return calls


def _call(line: str) -> Call:
    plain = plain_calls(f"[{line}]")
    if len(plain) == 1:
        return plain[0]
    check_python(line)
    node = parse_expression(line)
    if not isinstance(node, ast.Call):
        raise MalformedCall(f"Between {_OPENING} and {_CLOSING} each line must be one call.")
    try:
        _Constants().visit(node)
    except RecursionError:
        raise MalformedCall("A call is nested too deep.") from None
    return call_from_node(node)


class _Constants(ast.NodeTransformer):
    """Puts constants in the place of JSON's words."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return what stands for a name."""
        if node.id not in _WORDS:
            return node
        return ast.copy_location(ast.Constant(_WORDS[node.id]), node)


OLMO = Written(
    "olmo",
    "raw",
    True,
    showing("several", write, lines),
    write,
    answering("{result}", "environment", together=False),
    read,
    ("<|im_end|>",),
    CHATML._replace(
        roles={**CHATML.roles, "environment": ("<|im_start|>environment\n", "<|im_end|>\n")}
    ),
    identifiers=True,
)
