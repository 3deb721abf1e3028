"""Record of a tool call, and parsers of calls in text and JSON.

Model output is untrusted. Nothing is evaluated or imported. The parsers read only literals and
plain function calls, within fixed limits.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from _thread import allocate_lock
from collections.abc import Collection, Iterable, Iterator, Mapping
from keyword import kwlist
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from envs.bounds import BOUNDS, measure_size
from envs.errors import DataError, MalformedCall
from envs.lazy_modules import lazy_module
from envs.state import cut

if TYPE_CHECKING:
    from envs import syntax_errors
else:
    # Only for parse errors.
    syntax_errors = lazy_module("envs.syntax_errors")

MAX_TEXT = BOUNDS.text
MAX_DEPTH = BOUNDS.nesting
MAX_INT_BITS = BOUNDS.int_bits

_PARSING = allocate_lock()
"""Lock for parsing, because all threads of CPython 3.11 share one depth limit."""
_SOURCE = "<call>"
# Python's warnings about invalid escapes in the model's strings do not concern the user.
warnings.filterwarnings("ignore", module=re.escape(_SOURCE))

# Possessive quantifiers keep the time linear. A word after the ticks is a language if text follows,
# else the name of a function.
_FENCE = re.compile(r"```(?:[\w+-]*+[ \t]*+\n|[\w+-]++[ \t]++(?=[A-Za-z_\[]))?(.*?)```", re.DOTALL)
_CALL_START = re.compile(r"[A-Za-z_][\w.]*+[ \t]*+\(")
_LIST_START = re.compile(r"\[\s*+[A-Za-z_][\w.]*+[ \t]*+\(")


# Pattern of nearly all calls: ASCII, named arguments, no escapes, short numbers. Other calls need a
# syntax tree, which takes five times as long.
_NAME = r"[A-Za-z_]\w*+"
_SCALAR = (
    r"(?:'[^'\\\n\r\0]*+'|\"[^\"\\\n\r\0]*+\"|True|False|None"
    r"|-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?)"
)
_VALUE = rf"{_SCALAR}|\[(?:{_SCALAR}(?:, ?{_SCALAR})*)?\]"
_ARGUMENT = rf"{_NAME}=(?:{_VALUE})"
_PLAIN_SCALAR = re.compile(_SCALAR)
_PLAIN_ARGUMENT = re.compile(rf"({_NAME})=({_VALUE})", re.ASCII)
_PLAIN_CALL = re.compile(rf"({_NAME})\(((?:{_ARGUMENT}(?:, ?{_ARGUMENT})*)?)\)", re.ASCII)
_CONSTANTS: Mapping[str, bool | None] = {"True": True, "False": False, "None": None}
_RESERVED = frozenset([*kwlist, "__debug__"])

_JSON = json.JSONDecoder()
_NUMBERS = frozenset([int, float, bool])
_LARGE = 10**15
"""Numbers below this bound need no size check."""
_new = tuple.__new__
"""Faster constructor: it takes half as long as ``Call(...)``."""


class Call(NamedTuple):
    """One tool call.

    Values in ``args`` and ``kwargs`` are literals, such as 5 or [1, 2]. If ``nested`` is set,
    arguments can also be calls.
    """

    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = MappingProxyType({})
    nested: bool = False

    def __str__(self) -> str:
        """Return the call as a Python call expression."""
        try:
            shown = [
                *map(_format_value, self.args),
                *(f"{k}={_format_value(v)}" for k, v in self.kwargs.items()),
            ]
        except (RecursionError, ValueError):
            shown = ["a value that is too deep or too long to show"]
        return f"{self.name}({', '.join(shown)})"


def _format_value(value: object) -> str:
    if isinstance(value, Call):
        return str(value)
    if not contains_call(value):
        return repr(value)
    if isinstance(value, dict):
        members = [f"{key!r}: {_format_value(member)}" for key, member in value.items()]
        return f"{{{', '.join(members)}}}"
    assert isinstance(value, (list, tuple))
    inside = ", ".join(map(_format_value, value))
    if isinstance(value, list):
        return f"[{inside}]"
    return f"({inside},)" if len(value) == 1 else f"({inside})"


def parse_call(text: str, variables: Collection[str] = ()) -> Call:
    """Parse one Python call expression, such as ``cd(folder='src')``; arguments may be calls.

    An argument may also be a name in ``variables``; the name then becomes a string.

    Raises MalformedCall if the text is not one call with literal arguments. Raises DataError if
    ``text`` is not a string.
    """
    if not isinstance(text, str):
        raise DataError("text", f"must be a string, but is {text!r:.60}")
    match = _PLAIN_CALL.fullmatch(text) if len(text) <= MAX_TEXT else None
    call = _read_plain_call(match) if match else None
    if call is not None:
        return call
    node = parse_expression(text)
    if not isinstance(node, ast.Call):
        raise MalformedCall(f"{_quote(text)} is not a function call. Write name(argument=value).")
    return read_call_node(node, variables)


def read_call(text: str) -> Call | MalformedCall:
    """Parse one call; return the error if the text is malformed."""
    try:
        return parse_call(text)
    except MalformedCall as error:
        return error


def parse_calls(text: str, variables: Collection[str] = ()) -> list[Call]:
    """Parse the calls in a model's text reply: a list of calls, or one call.

    Calls may be in a code fence or follow prose. An argument may also be a name in ``variables``;
    the name then becomes a string.

    Raises MalformedCall if a part of the text looks like calls but cannot be parsed.
    """
    if len(text) > MAX_TEXT:
        raise MalformedCall(f"The reply has {len(text)} characters; at most {MAX_TEXT} are read.")
    calls = parse_plain_calls(text)
    if calls:
        return calls
    fence = _FENCE.search(text)
    for stretch in (text, fence[1] if fence else ""):
        # This test comes first, because lists and fences may be arguments of a call.
        calls = _read_bare_call(stretch, variables) or _read_whole_list(stretch, variables)
        if calls:
            return calls
    problem = None
    for stretch in _find_lists(text):
        try:
            calls = _read_list(stretch, variables)
        except MalformedCall as error:
            problem = problem or error
            continue
        if calls:
            return calls
    if problem is not None:
        raise problem
    return []


def parse_plain_calls(text: str) -> list[Call]:
    """Parse a list of calls with simple literals; return an empty list for all other strings."""
    calls: list[Call] = []
    position = 1 if text.startswith("[") else len(text)
    while match := _PLAIN_CALL.match(text, position):
        call = _read_plain_call(match)
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


def _read_plain_call(match: re.Match[str]) -> Call | None:
    name, arguments = match.groups()
    if name in _RESERVED or not arguments.isascii():
        return None
    kwargs: dict[str, Any] = {}
    for key, value in _PLAIN_ARGUMENT.findall(arguments):
        if key in kwargs or key in _RESERVED:
            return None
        kwargs[key] = _read_plain_value(value)
    return _new(Call, (name, (), kwargs, False))


def _read_plain_value(text: str) -> Any:
    if text[0] in "'\"":
        return text[1:-1]
    if text[0] == "[":
        return [_read_plain_value(member) for member in _PLAIN_SCALAR.findall(text)]
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    return float(text) if "." in text else int(text)


def make_call_from_tool(name: str, arguments: object) -> Call:
    """Create a call from a structured tool call; its arguments are an object or JSON text.

    If ``arguments`` is None or blank, the call has no arguments. Raises MalformedCall if the
    arguments are not an object, or exceed the limits.
    """
    if not isinstance(arguments, dict):
        return make_call(name, _read_arguments(name, arguments))
    size = 0
    for key, value in arguments.items():
        size += len(str(key))
        kind = type(value)
        if kind is str:
            size += len(value)
        elif kind not in _NUMBERS or not -_LARGE < value < _LARGE:
            check_bounds(value, 1)
            size += measure_size(value, MAX_TEXT)
    if size > MAX_TEXT:
        raise make_too_long_error(name)
    return _new(Call, (name, (), arguments, False))


def make_call(name: str, kwargs: dict[str, Any]) -> Call:
    """Create a call from parsed arguments.

    Raises MalformedCall if an argument exceeds the limits of a value.
    """
    for value in kwargs.values():
        kind = type(value)
        if kind is not str and (kind not in _NUMBERS or not -_LARGE < value < _LARGE):
            check_bounds(value, 1)
    return _new(Call, (name, (), kwargs, False))


def _read_arguments(name: str, arguments: object) -> dict[str, Any]:
    if isinstance(arguments, str):
        arguments = _parse_arguments(name, arguments)
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        kind = type(arguments).__name__
        raise MalformedCall(f"The arguments of {name} are a {kind}; they must be a JSON object.")
    return arguments


def make_too_long_error(name: str) -> MalformedCall:
    """Return the error for arguments that are too long."""
    return MalformedCall(f"The arguments of {name[:100]} are longer than {MAX_TEXT} characters.")


def _parse_arguments(name: str, text: str) -> object:
    if len(text) > MAX_TEXT:
        raise make_too_long_error(name)
    if not text.strip():
        return {}
    try:
        return read_json(text)
    except (ValueError, RecursionError) as error:
        flaw = syntax_errors.describe_json_error(error)
        raise MalformedCall(f"The arguments of {name} are not valid JSON: {flaw}.") from None


def read_json(text: str) -> Any:
    """Parse JSON as ``json.loads`` does, but faster if no whitespace surrounds the text.

    Raises:
        ValueError: The text is not JSON.
        RecursionError: The text is nested too deep.
    """
    try:
        value, end = _JSON.raw_decode(text)
    except ValueError:
        return json.loads(text)
    return value if end == len(text) else json.loads(text)


def check_bounds(value: object, depth: int = 0) -> None:
    """Check that a value is not nested too deep, and that its numbers are finite and not too long.

    Raises MalformedCall if a limit is exceeded.
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
    """Parse text as one Python expression without evaluation.

    Raises MalformedCall if the text is empty, too long, or not one expression.
    """
    if len(text) > MAX_TEXT:
        raise MalformedCall(f"The text has {len(text)} characters; at most {MAX_TEXT} are read.")
    try:
        with _PARSING:
            return ast.parse(text.strip(" \t"), _SOURCE, "eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        flaw = syntax_errors.describe_python_error(text, error)
        raise MalformedCall(f"{_quote(text)} is not valid Python: {flaw}.", error) from None


def read_call_node(node: ast.Call, variables: Collection[str] = (), depth: int = 0) -> Call:
    """Read a call from its syntax tree; an argument may be a name in ``variables``.

    Raises MalformedCall if an argument has another form, or if a limit is exceeded.
    """
    name = get_dotted_name(node.func)
    if name is None:
        raise MalformedCall(f"{_unparse(node.func)} is not the name of a function.")
    args = tuple([_read_value(arg, variables, depth + 1) for arg in node.args])
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise MalformedCall(f"{name}: ** is not allowed; name each argument.")
        if keyword.arg in kwargs:
            raise MalformedCall(f"{name}: the argument {keyword.arg} is given twice.")
        kwargs[keyword.arg] = _read_value(keyword.value, variables, depth + 1)
    nested = any(contains_call(value) for value in (*args, *kwargs.values()))
    return Call(name, args, kwargs, nested)


def get_dotted_name(node: ast.expr) -> str | None:
    """Return a dotted name such as ``a.b.c``, or None for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def list_inner_calls(value: object) -> Iterator[Call]:
    """Yield the inner calls of a call or a value, at any depth."""
    if isinstance(value, Call):
        members: Iterable[object] = (*value.args, *value.kwargs.values())
    elif isinstance(value, dict):
        members = value.values()
    else:
        members = value if isinstance(value, (list, tuple)) else ()
    for member in members:
        if isinstance(member, Call):
            yield member
        yield from list_inner_calls(member)


def contains_call(value: object) -> bool:
    """Tell whether a value is a Call or contains one."""
    if isinstance(value, Call):
        return True
    if isinstance(value, dict):
        return any(map(contains_call, value.values()))
    return isinstance(value, (list, tuple)) and any(map(contains_call, value))


def _read_value(node: ast.expr, variables: Collection[str], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise MalformedCall(f"Arguments are nested more than {MAX_DEPTH} levels deep.")
    if isinstance(node, ast.Constant):
        return _read_constant(node)
    if isinstance(node, ast.List):
        return [_read_value(item, variables, depth + 1) for item in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple([_read_value(item, variables, depth + 1) for item in node.elts])
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {_read_key(k): _read_value(v, variables, depth + 1) for k, v in pairs}
    if isinstance(node, ast.Call):
        return read_call_node(node, variables, depth)
    if isinstance(node, ast.UnaryOp):
        return _read_signed(node)
    if isinstance(node, ast.Name) and node.id in ("true", "false", "null"):
        _refuse(node, "write True, False or None")
    if isinstance(node, ast.Name) and node.id in variables:
        return node.id
    if isinstance(node, ast.Name):
        _refuse(node, "put strings between quotes")
    return _refuse(node, "give a literal value")


def _read_constant(node: ast.Constant) -> Any:
    value = node.value
    if isinstance(value, (bytes, complex)) or value is ...:
        _refuse(node, "use strings, numbers, True, False, None, lists or dicts")
    check_bounds(value)
    return value


def _read_key(node: ast.expr | None) -> Any:
    if isinstance(node, ast.Constant):
        return _read_constant(node)
    if isinstance(node, ast.UnaryOp):
        return _read_signed(node)
    raise MalformedCall("The keys of a dict must be literals.")


def _read_signed(node: ast.UnaryOp) -> int | float:
    operand = node.operand
    if isinstance(operand, ast.Constant) and type(operand.value) in (int, float):
        value: int | float = _read_constant(operand)
        if isinstance(node.op, ast.USub):
            return -value
        if isinstance(node.op, ast.UAdd):
            return value
    return _refuse(node, "give a literal value")


def _refuse(node: ast.expr, advice: str) -> NoReturn:
    raise MalformedCall(f"{_unparse(node)} is not a literal: {advice}.")


def _unparse(node: ast.expr) -> str:
    try:
        return _quote(ast.unparse(node))
    except (RecursionError, ValueError):
        return "An expression"


def _quote(text: str, limit: int = 60) -> str:
    text = " ".join(text[: 4 * limit].split())
    return repr(cut(text, limit))


def _read_list(text: str, variables: Collection[str] = ()) -> list[Call]:
    node = parse_expression(text)
    if not isinstance(node, ast.List):
        return []
    made = [member for member in node.elts if isinstance(member, ast.Call)]
    calls = [read_call_node(member, variables) for member in made]
    if calls and len(calls) < len(node.elts):
        raise MalformedCall(f"{_quote(text)} contains something other than function calls.")
    return calls


def _read_bare_call(text: str, variables: Collection[str]) -> list[Call]:
    bare = text.strip().strip("`").strip()
    if not _CALL_START.match(bare):
        return []
    try:
        with _PARSING:
            statements = ast.parse(bare, _SOURCE).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    values = [line.value for line in statements if isinstance(line, ast.Expr)]
    if len(values) < len(statements) or not all(isinstance(value, ast.Call) for value in values):
        return []
    if len(values) > 1:
        raise MalformedCall("Several calls in one text: write them as one list, [f(a=1), g(b=2)].")
    return [parse_call(bare, variables)]


def _read_whole_list(text: str, variables: Collection[str]) -> list[Call]:
    stripped = text.strip().strip("`").strip()
    if not (stripped.startswith("[") and stripped.endswith("]")):
        return []
    try:
        return _read_list(stripped, variables)
    except MalformedCall:
        # The text may be prose between two lists; if not, the search for lists reports the error.
        return []


def _find_lists(text: str) -> Iterator[str]:
    position = 0
    while match := _LIST_START.search(text, position):
        start = match.start()
        end = find_closing_bracket(text, start)
        if end is None:
            yield text[start:]
            return
        yield text[start : end + 1]
        position = end + 1


def find_closing_bracket(text: str, start: int) -> int | None:
    """Return the position of the bracket that closes the bracket at ``start``."""
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
