"""A tool call as a record, and the one place where text and JSON become such records.

Model output is hostile. Nothing here evaluates, imports or looks anything up: text is parsed
to a syntax tree of which only literals and plain function calls are read, within fixed bounds.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from keyword import kwlist
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from envs.bounds import BOUNDS, size_of
from envs.errors import MalformedCall
from envs.lazy import lazily
from envs.state import cut

if TYPE_CHECKING:
    from envs import flaws
else:
    # Only for what cannot be read.
    flaws = lazily("envs.flaws")

MAX_TEXT = BOUNDS.text
MAX_DEPTH = BOUNDS.nesting
MAX_INT_BITS = BOUNDS.int_bits

_SOURCE = "<call>"
# Python warns about odd escapes in the model's strings; the warning is not for the user.
warnings.filterwarnings("ignore", module=re.escape(_SOURCE))

# Possessive, so that no text takes more than linear time. A word after the ticks is a language
# where something follows it, and the name of a function otherwise.
_FENCE = re.compile(r"```(?:[\w+-]*+[ \t]*+\n|[\w+-]++[ \t]++(?=[A-Za-z_\[]))?(.*?)```", re.DOTALL)
_CALL_START = re.compile(r"[A-Za-z_][\w.]*+[ \t]*+\(")
_LIST_START = re.compile(r"\[\s*+[A-Za-z_][\w.]*+[ \t]*+\(")


# Calls in plain form, which nearly all are: ASCII, named arguments, no escapes, short numbers. They
# are read in a fifth of the time that a syntax tree takes; whatever else there is takes the tree.
_NAME = r"[A-Za-z_]\w*+"
_SCALAR = (
    r"(?:'[^'\\\n\r\0]*+'|\"[^\"\\\n\r\0]*+\"|True|False|None"
    r"|-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?)"
)
_VALUE = rf"{_SCALAR}|\[(?:{_SCALAR}(?:, ?(?!\])|(?=\])))*+\]"
_PLAIN_SCALAR = re.compile(_SCALAR)
_PLAIN_ARGUMENT = re.compile(rf"({_NAME})=({_VALUE})", re.ASCII)
_PLAIN_CALL = re.compile(
    rf"({_NAME})\(((?:{_NAME}=(?:{_VALUE})(?:, ?(?=[A-Za-z_])|(?=\))))*+)\)", re.ASCII
)
_CONSTANTS: Mapping[str, bool | None] = {"True": True, "False": False, "None": None}
_RESERVED = frozenset([*kwlist, "__debug__"])

_JSON = json.JSONDecoder()
_NUMBERS = frozenset([int, float, bool])
_LARGE = 10**15
"""Most arguments are texts, whose length is all that has a bound, or numbers nearer to 0."""
_new = tuple.__new__
"""Makes a record in half the time that its own function takes."""


class Call(NamedTuple):
    """One tool call.

    A value in ``args`` or ``kwargs`` is a literal (None, bool, int, float, str, list, tuple,
    dict) or, where ``nested`` is set, another Call whose result takes its place.
    """

    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = MappingProxyType({})
    nested: bool = False

    def __str__(self) -> str:
        """Return the call as a Python call expression."""
        try:
            shown = [*map(_shown, self.args), *(f"{k}={_shown(v)}" for k, v in self.kwargs.items())]
        except (RecursionError, ValueError):
            shown = ["something too deep or too long to show"]
        return f"{self.name}({', '.join(shown)})"


def _shown(value: object) -> str:
    """Return a value as Python writes it, with the calls inside it as call expressions."""
    if isinstance(value, Call):
        return str(value)
    if not holds_call(value):
        return repr(value)
    if isinstance(value, dict):
        members = [f"{key!r}: {_shown(member)}" for key, member in value.items()]
        return f"{{{', '.join(members)}}}"
    assert isinstance(value, (list, tuple))
    inside = ", ".join(map(_shown, value))
    if isinstance(value, list):
        return f"[{inside}]"
    return f"({inside},)" if len(value) == 1 else f"({inside})"


def parse_call(text: str, variables: Collection[str] = ()) -> Call:
    """Read one Python call expression, such as ``cd(folder='src')``; arguments may be calls, too.

    Args:
        text: The expression.
        variables: Names that may stand for a value; each is read as a text.

    Raises:
        MalformedCall: The text is anything else than one call with literal arguments.
    """
    match = _PLAIN_CALL.fullmatch(text) if len(text) <= MAX_TEXT else None
    call = _plain_call(match) if match else None
    if call is not None:
        return call
    node = parse_expression(text)
    if not isinstance(node, ast.Call):
        raise MalformedCall(f"{_excerpt(text)} is not a function call. Write name(argument=value).")
    return call_from_node(node, variables)


def read_call(text: str) -> Call | MalformedCall:
    """Return the call that a text stands for, or the reason why there is none."""
    try:
        return parse_call(text)
    except MalformedCall as error:
        return error


def parse_calls(text: str, variables: Collection[str] = ()) -> list[Call]:
    """Read the calls in a model's text reply.

    Understood are a bracketed list of calls, a bare call, and either of them in a code fence
    or after prose. Text without any call gives an empty list.

    Args:
        text: The reply.
        variables: Names that may stand for a value; each is read as a text.

    Raises:
        MalformedCall: The text contains what looks like calls but cannot be read as such.
    """
    if len(text) > MAX_TEXT:
        raise MalformedCall(f"The reply has {len(text)} characters; at most {MAX_TEXT} are read.")
    calls = plain_calls(text)
    if calls:
        return calls
    fence = _FENCE.search(text)
    for stretch in (text, fence[1] if fence else ""):
        # Before looking for lists and fences anywhere: one inside of a call is an argument of it.
        calls = _bare_calls(stretch, variables) or _whole_list(stretch, variables)
        if calls:
            return calls
    problem = None
    for stretch in _bracketed_stretches(text):
        try:
            calls = _listed_calls(stretch, variables)
        except MalformedCall as error:
            problem = problem or error
            continue
        if calls:
            return calls
    if problem is not None:
        raise problem
    return []


def plain_calls(text: str) -> list[Call]:
    """Read a bracketed list of calls in plain form; any other text gives an empty list."""
    calls: list[Call] = []
    position = 1 if text.startswith("[") else len(text)
    while match := _PLAIN_CALL.match(text, position):
        call = _plain_call(match)
        if call is None:
            return []
        calls.append(call)
        position = match.end()
        if text.startswith(", ", position):
            position += 2
        elif text.startswith(",", position):
            position += 1
        else:
            break
    return calls if text[position:] == "]" else []


def _plain_call(match: re.Match[str]) -> Call | None:
    """Return the call in plain form that was found; None where it needs a closer look."""
    name, arguments = match.groups()
    if name in _RESERVED or not arguments.isascii():
        return None
    kwargs: dict[str, Any] = {}
    for key, value in _PLAIN_ARGUMENT.findall(arguments):
        if key in kwargs or key in _RESERVED:
            return None
        kwargs[key] = _plain_value(value)
    return _new(Call, (name, (), kwargs, False))


def _plain_value(text: str) -> Any:
    if text[0] in "'\"":
        return text[1:-1]
    if text[0] == "[":
        return [_plain_value(member) for member in _PLAIN_SCALAR.findall(text)]
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    return float(text) if "." in text else int(text)


def call_from_tool(name: str, arguments: object) -> Call:
    """Build a call from a structured tool call.

    Args:
        name: The function's name as the model gave it.
        arguments: An object, its JSON text, or nothing at all (None or blank text).

    Raises:
        MalformedCall: The arguments are not an object, or exceed the bounds.
    """
    if not isinstance(arguments, dict):
        return call_of(name, _arguments(name, arguments))
    size = 0
    for key, value in arguments.items():
        size += len(key)
        kind = type(value)
        if kind is str:
            size += len(value)
        elif kind not in _NUMBERS or not -_LARGE < value < _LARGE:
            check_bounds(value, 1)
            size += size_of(value, MAX_TEXT)
    if size > MAX_TEXT:
        raise too_long(name)
    return _new(Call, (name, (), arguments, False))


def call_of(name: str, kwargs: dict[str, Any]) -> Call:
    """Build a call from the arguments that a text of bounded length held.

    Raises:
        MalformedCall: One of them exceeds the bounds of a value.
    """
    for value in kwargs.values():
        kind = type(value)
        if kind is not str and (kind not in _NUMBERS or not -_LARGE < value < _LARGE):
            check_bounds(value, 1)
    return _new(Call, (name, (), kwargs, False))


def _arguments(name: str, arguments: object) -> dict[str, Any]:
    if isinstance(arguments, str):
        arguments = _json_arguments(name, arguments)
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        kind = type(arguments).__name__
        raise MalformedCall(f"The arguments of {name} are a {kind}; they must be a JSON object.")
    return arguments


def too_long(name: str) -> MalformedCall:
    """Return why the arguments of a call are not read."""
    return MalformedCall(f"The arguments of {name[:100]} are longer than {MAX_TEXT} characters.")


def _json_arguments(name: str, text: str) -> object:
    if len(text) > MAX_TEXT:
        raise too_long(name)
    if not text.strip():
        return {}
    try:
        return read_json(text)
    except (ValueError, RecursionError) as error:
        flaw = flaws.flaw_of_json(error)
        raise MalformedCall(f"The arguments of {name} are not valid JSON: {flaw}.") from None


def read_json(text: str) -> Any:
    """Return what ``json.loads`` does, faster where no blanks surround the value.

    Raises:
        ValueError: The text is not JSON.
        RecursionError: It is nested too deep.
    """
    try:
        value, end = _JSON.raw_decode(text)
    except ValueError:
        return json.loads(text)
    return value if end == len(text) else json.loads(text)


def check_bounds(value: object, depth: int = 0) -> None:
    """Refuse what is nested too deep, an integer too large, or a number that is not finite.

    Raises:
        MalformedCall: A bound is exceeded.
    """
    if isinstance(value, (str, bool)) or value is None:
        return
    if isinstance(value, int):
        if value.bit_length() > MAX_INT_BITS:
            raise MalformedCall(f"An integer has more than {MAX_INT_BITS} bits.")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise MalformedCall(f"{value} is not a finite number.")
    elif depth >= MAX_DEPTH:
        raise MalformedCall(f"Arguments are nested more than {MAX_DEPTH} levels deep.")
    elif isinstance(value, (dict, list, tuple)):
        for member in (*value, *value.values()) if isinstance(value, dict) else value:
            if type(member) is not str:
                check_bounds(member, depth + 1)


def parse_expression(text: str) -> ast.expr:
    """Parse text as one Python expression, without evaluating anything.

    Raises:
        MalformedCall: The text is empty, too long, or not one expression.
    """
    if len(text) > MAX_TEXT:
        raise MalformedCall(f"The text has {len(text)} characters; at most {MAX_TEXT} are read.")
    try:
        return ast.parse(text.strip(" \t"), _SOURCE, "eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        flaw = flaws.flaw_of_python(text, error)
        raise MalformedCall(f"{_excerpt(text)} is not valid Python: {flaw}.", error) from None


def call_from_node(node: ast.Call, variables: Collection[str] = (), depth: int = 0) -> Call:
    """Read a call from its syntax tree; names among the variables stand for a value.

    Raises:
        MalformedCall: An argument is neither a literal nor a call, or a bound is exceeded.
    """
    name = dotted_name(node.func)
    if name is None:
        raise MalformedCall(f"{_source(node.func)} is not the name of a function.")
    args = tuple([_value(arg, variables, depth + 1) for arg in node.args])
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise MalformedCall(f"{name}: ** is not allowed; name each argument.")
        if keyword.arg in kwargs:
            raise MalformedCall(f"{name}: the argument {keyword.arg} is given twice.")
        kwargs[keyword.arg] = _value(keyword.value, variables, depth + 1)
    nested = any(holds_call(value) for value in (*args, *kwargs.values()))
    return Call(name, args, kwargs, nested)


def dotted_name(node: ast.expr) -> str | None:
    """Return ``a.b.c`` for names joined by dots, None for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def inner_calls(value: object) -> Iterator[Call]:
    """Yield the calls inside a call or a value, at any depth."""
    if isinstance(value, Call):
        members: Iterable[object] = (*value.args, *value.kwargs.values())
    elif isinstance(value, dict):
        members = value.values()
    else:
        members = value if isinstance(value, (list, tuple)) else ()
    for member in members:
        if isinstance(member, Call):
            yield member
        yield from inner_calls(member)


def holds_call(value: object) -> bool:
    """Tell whether a value is a Call or contains one."""
    if isinstance(value, Call):
        return True
    if isinstance(value, dict):
        return any(map(holds_call, value.values()))
    return isinstance(value, (list, tuple)) and any(map(holds_call, value))


def _value(node: ast.expr, variables: Collection[str], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise MalformedCall(f"Arguments are nested more than {MAX_DEPTH} levels deep.")
    if isinstance(node, ast.Constant):
        return _constant(node)
    if isinstance(node, ast.List):
        return [_value(item, variables, depth + 1) for item in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple([_value(item, variables, depth + 1) for item in node.elts])
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {_key(k): _value(v, variables, depth + 1) for k, v in pairs}
    if isinstance(node, ast.Call):
        return call_from_node(node, variables, depth)
    if isinstance(node, ast.UnaryOp):
        return _signed(node)
    if isinstance(node, ast.Name) and node.id in ("true", "false", "null"):
        _refuse(node, "write True, False or None")
    if isinstance(node, ast.Name) and node.id in variables:
        return node.id
    if isinstance(node, ast.Name):
        _refuse(node, "put text between quotes")
    return _refuse(node, "give a literal value")


def _constant(node: ast.Constant) -> Any:
    value = node.value
    if isinstance(value, (bytes, complex)) or value is ...:
        _refuse(node, "use text, numbers, True, False, None, lists or dicts")
    check_bounds(value)
    return value


def _key(node: ast.expr | None) -> Any:
    if isinstance(node, ast.Constant):
        return _constant(node)
    if isinstance(node, ast.UnaryOp):
        return _signed(node)
    raise MalformedCall("The keys of a dict must be literals.")


def _signed(node: ast.UnaryOp) -> int | float:
    operand = node.operand
    if isinstance(operand, ast.Constant) and type(operand.value) in (int, float):
        value: int | float = _constant(operand)
        if isinstance(node.op, ast.USub):
            return -value
        if isinstance(node.op, ast.UAdd):
            return value
    return _refuse(node, "give a literal value")


def _refuse(node: ast.expr, advice: str) -> NoReturn:
    raise MalformedCall(f"{_source(node)} is not a literal: {advice}.")


def _source(node: ast.expr) -> str:
    try:
        return _excerpt(ast.unparse(node))
    except (RecursionError, ValueError):
        return "An expression"


def _excerpt(text: str, limit: int = 60) -> str:
    text = " ".join(text[: 4 * limit].split())
    return repr(cut(text, limit))


def _listed_calls(text: str, variables: Collection[str] = ()) -> list[Call]:
    """Return the calls of a bracketed list; a list of anything else has none."""
    node = parse_expression(text)
    if not isinstance(node, ast.List):
        return []
    made = [member for member in node.elts if isinstance(member, ast.Call)]
    calls = [call_from_node(member, variables) for member in made]
    if calls and len(calls) < len(node.elts):
        raise MalformedCall(f"{_excerpt(text)} holds something else than function calls.")
    return calls


def _bare_calls(text: str, variables: Collection[str]) -> list[Call]:
    """Return the one call that a text consists of; prose has none."""
    bare = text.strip().strip("`").strip()
    if not _CALL_START.match(bare):
        return []
    try:
        statements = ast.parse(bare, _SOURCE).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    values = [line.value for line in statements if isinstance(line, ast.Expr)]
    if len(values) < len(statements) or not all(isinstance(value, ast.Call) for value in values):
        return []
    if len(values) > 1:
        raise MalformedCall("Several calls in one text: write them as one list, [f(a=1), g(b=2)].")
    return [parse_call(bare, variables)]


def _whole_list(text: str, variables: Collection[str]) -> list[Call]:
    """Return the calls of the one list that a text consists of; other text has none."""
    stripped = text.strip().strip("`").strip()
    if not (stripped.startswith("[") and stripped.endswith("]")):
        return []
    try:
        return _listed_calls(stripped, variables)
    except MalformedCall:
        # It may be prose between two lists; if not, the search for lists says what is wrong.
        return []


def _bracketed_stretches(text: str) -> Iterator[str]:
    """Yield the outermost bracketed stretches that open with something like a call."""
    position = 0
    while match := _LIST_START.search(text, position):
        start = match.start()
        end = closing_bracket(text, start)
        if end is None:
            yield text[start:]
            return
        yield text[start : end + 1]
        position = end + 1


def closing_bracket(text: str, start: int) -> int | None:
    """Return where the bracket at ``start`` closes, not counting those inside string literals."""
    depth, quote, position = 0, "", start
    while position < len(text):
        char = text[position]
        if quote:
            if char == "\\":
                position += 1
            elif text.startswith(quote, position):
                position += len(quote) - 1
                quote = ""
        elif char in "'\"":
            quote = char * 3 if text.startswith(char * 3, position) else char
            position += len(quote) - 1
        elif char in "[({":
            depth += 1
        elif char in "])}":
            depth -= 1
            if depth == 0:
                return position
        position += 1
    return None
