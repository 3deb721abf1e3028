"""Decode a model's steps as BFCL does.

BFCL converts tool calls and text to Python source and back, which changes some calls. This module
makes the same changes, so that recorded runs get BFCL's verdicts. BFCL also computes arithmetic in
arguments. This module computes only arithmetic of literals, within limits.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from checkers.replies.decoding import UNREADABLE, Step
from envs.bounds import BOUNDS
from envs.calls import (
    MAX_DEPTH,
    MAX_INT_BITS,
    MAX_TEXT,
    Call,
    check_bounds,
    contains_call,
    make_call,
    make_call_from_tool,
    make_too_long_error,
    parse_expression,
    parse_plain_calls,
    read_json,
)
from envs.errors import MalformedCall
from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    from envs import syntax_errors
else:
    # Only for parse errors.
    syntax_errors = lazy_module("envs.syntax_errors")


def decode_tool_calls(step: Step) -> list[Call | MalformedCall]:
    """Read the tool calls of a step.

    Raises:
        MalformedCall: The step has no tool calls, or a call's arguments are no JSON object.
    """
    if step is None or (isinstance(step, str) and step):
        raise MalformedCall("The step has no tool calls.")
    calls: list[Call | MalformedCall] = []
    for member in step:
        if not isinstance(member, dict):
            raise MalformedCall("A tool call is not an object.")
        for name, arguments in member.items():
            is_short = isinstance(arguments, str) and len(arguments) <= _MAX_CACHED_CHARS
            read = _read_short_tool_call if is_short else _read_tool_call
            calls.append(read(name, arguments))
    return calls


def _read_tool_call(name: str, arguments: object) -> Call | MalformedCall:
    if name == UNREADABLE:
        raise MalformedCall(str(arguments))
    is_text = isinstance(arguments, str)
    if isinstance(arguments, str):
        if len(arguments) > MAX_TEXT:
            return make_too_long_error(name)
        try:
            arguments = read_json(arguments)
        except (ValueError, RecursionError) as error:
            flaw = syntax_errors.describe_json_error(error)
            raise MalformedCall(f"The arguments of {name} are not valid JSON: {flaw}.") from None
    if not isinstance(arguments, dict):
        raise MalformedCall(f"The arguments of {name} are not a JSON object.")
    try:
        return make_call(name, arguments) if is_text else make_call_from_tool(name, arguments)
    except MalformedCall as error:
        return error


# Categories share scenarios, so that models repeat most calls.
_read_short_tool_call = lru_cache(maxsize=5_000)(_read_tool_call)
_MAX_CACHED_CHARS = 500


def decode_text(step: Step) -> list[Call | MalformedCall]:
    """Parse the calls in a model's text as BFCL's default decoder does.

    For example, positional arguments are dropped, names become strings, and a plus counts as a
    minus. A call that BFCL would convert to invalid source is returned as an error.

    Raises MalformedCall if the text is not a list of calls, or has an invalid value.
    """
    text = add_brackets(step)
    calls = parse_plain_calls(text)
    if calls:
        return [*calls]
    return [_rebuild(name, arguments) for name, arguments in resolve_calls(text)]


def add_brackets(step: Step) -> str:
    """Return a model's text with the brackets that BFCL adds.

    Raises MalformedCall if the step is not text, or too long.
    """
    if not isinstance(step, str):
        raise MalformedCall("The step is not a string.")
    if len(step) > MAX_TEXT:
        raise MalformedCall(f"The reply is longer than {MAX_TEXT} characters.")
    text = step.strip("`\n ")
    if not text.startswith("["):
        text = "[" + text
    return text if text.endswith("]") else text + "]"


def resolve_calls(text: str) -> list[tuple[str, dict[str | None, Any]]]:
    """Return the name and the arguments of each call in a list, as BFCL reads them.

    An argument such as ``**{"a": 1}`` has the name None.

    Raises MalformedCall if the text is not a list of calls, or has an invalid value.
    """
    node = parse_expression(text)
    if isinstance(node, ast.Call):
        # A comment may hide the added closing bracket.
        members: list[ast.expr] = [node]
    elif isinstance(node, ast.List):
        members = node.elts
    else:
        raise MalformedCall("The reply is not a list of calls.")
    resolved = []
    for member in members:
        if not isinstance(member, ast.Call):
            raise MalformedCall("The reply lists something that is not a call.")
        resolved.append(_resolve_call(member, 0))
    return resolved


def _resolve_call(node: ast.Call, depth: int) -> tuple[str, dict[str | None, Any]]:
    arguments = {keyword.arg: _resolve(keyword.value, depth + 1) for keyword in node.keywords}
    return _get_dotted_name(node.func), arguments


def _get_dotted_name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _resolve(node: ast.expr, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise MalformedCall(f"Arguments are nested more than {MAX_DEPTH} levels deep.")
    match node:
        case ast.Constant(value=value):
            return "..." if value is ... else _check_digits(value)
        case ast.UnaryOp(operand=ast.Constant(value=value)):
            return _apply(operator.neg, value)
        case ast.List(elts=members):
            return [_resolve(member, depth + 1) for member in members]
        case ast.Tuple(elts=members):
            return tuple([_resolve(member, depth + 1) for member in members])
        case ast.Dict():
            return _resolve_dict(node, depth)
        case ast.BinOp():
            return _compute(node, depth)
        case ast.Name(id=name):
            return name
        case ast.Call(keywords=[_, *_]):
            name, arguments = _resolve_call(node, depth)
            return {name: arguments}
        case ast.Call():
            return _unparse(node)
        case ast.Subscript(value=base, slice=index):
            # The index is unparsed separately, so that a tuple gets parentheses.
            return f"{_unparse(base)}[{_unparse(index)}]"
    raise MalformedCall(f"A {type(node).__name__} is not a value.")


def _unparse(node: ast.expr) -> str:
    try:
        return ast.unparse(node)
    except RecursionError:
        raise MalformedCall("An expression is nested too deep.") from None
    except ValueError:
        raise MalformedCall(_TOO_LONG) from None


def _resolve_dict(node: ast.Dict, depth: int) -> dict[Any, Any]:
    resolved = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            raise MalformedCall("** is not allowed in a dict.")
        name = _resolve(key, depth + 1)
        try:
            resolved[name] = _resolve(value, depth + 1)
        except TypeError:
            raise MalformedCall("A key of a dict cannot be a list or a dict.") from None
    return resolved


_TOO_LONG = f"An integer has more than {BOUNDS.digits} digits."
_TOO_LARGE = 10**BOUNDS.digits


def _check_digits(value: Any) -> Any:
    if isinstance(value, int) and abs(value) >= _TOO_LARGE:
        raise MalformedCall(_TOO_LONG)
    return value


_MAX_TERMS = 300
_MAX_SIZE = 100_000
_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}


def _compute(node: ast.expr, depth: int) -> Any:
    if depth > _MAX_TERMS:
        raise MalformedCall(f"Arithmetic has more than {_MAX_TERMS} terms.")
    match node:
        case ast.Constant(value=value) if not isinstance(value, bytes):
            return _check_digits(value)
        case ast.List(elts=members):
            return [_compute(member, depth + 1) for member in members]
        case ast.Tuple(elts=members):
            return tuple([_compute(member, depth + 1) for member in members])
        case ast.UnaryOp(op=sign, operand=operand):
            return _apply(_OPERATORS[type(sign)], _compute(operand, depth + 1))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            terms = _compute(left, depth + 1), _compute(right, depth + 1)
            _check_effort(sign, *terms)
            return _apply(_OPERATORS[type(sign)], *terms)
    raise MalformedCall("Arithmetic is supported only for literals.")


def _check_effort(sign: ast.operator, left: Any, right: Any) -> None:
    whole = isinstance(left, int) and isinstance(right, int)
    if isinstance(sign, ast.Mod) and isinstance(left, str):
        raise MalformedCall("The operator % is not supported for strings.")
    if isinstance(sign, ast.Pow) and whole:
        bits = left.bit_length() * abs(right)
    elif isinstance(sign, ast.LShift) and whole:
        bits = left.bit_length() + right
    else:
        bits = 0
    if isinstance(sign, ast.Mult) and isinstance(left, int):
        size = _measure(right) * left
    elif isinstance(sign, ast.Mult) and isinstance(right, int):
        size = _measure(left) * right
    else:
        size = _measure(left) + _measure(right)
    if bits > MAX_INT_BITS or size > _MAX_SIZE:
        raise MalformedCall("The result of this arithmetic is too large.")


def _measure(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, (list, tuple)):
        return len(value) + sum(map(_measure, value))
    return 0


def _apply(operation: Callable[..., Any], *terms: Any) -> Any:
    try:
        return _check_digits(operation(*terms))
    except (TypeError, ValueError, ArithmeticError) as error:
        raise MalformedCall(f"The arithmetic cannot be evaluated: {error}.") from None


def _rebuild(name: str, arguments: Mapping[str | None, Any]) -> Call | MalformedCall:
    kwargs = {str(key): _rewrite(value) for key, value in arguments.items()}
    if None in arguments:
        return MalformedCall(f"{name}: ** is not allowed; name each argument.")
    for value in kwargs.values():
        broken = _find_error(value)
        if broken is not None:
            return broken
    return Call(name, (), kwargs, any(map(contains_call, kwargs.values())))


def _rewrite(value: Any) -> Any:
    """Convert an argument to source and back, as BFCL does. Return a value, a call or an error.

    Raises MalformedCall if BFCL cannot write the value.
    """
    if not isinstance(value, dict):
        try:
            check_bounds(value)
        except MalformedCall as error:
            return error
        return value
    if all(isinstance(member, dict) for member in value.values()):
        if not value:
            raise MalformedCall("An empty dict cannot be written in this format.")
        name, arguments = next(iter(value.items()))
        return _rebuild(str(name), arguments)
    members = {_quote_key(str(key)): _rewrite(member) for key, member in value.items()}
    if None in members:
        return MalformedCall("A key of a dict contains a quote that would end the key.")
    return members


def _quote_key(key: str) -> str | None:
    """Put the key in quotes and parse it as Python does; return None for a syntax error."""
    if key.isprintable() and "'" not in key and "\\" not in key:
        return key
    try:
        node = parse_expression(f"{{'{key}': 0}}")
    except MalformedCall:
        return None
    if (
        isinstance(node, ast.Dict)
        and len(node.keys) == 1
        and isinstance(node.keys[0], ast.Constant)
    ):
        return str(node.keys[0].value)
    return None


def _find_error(value: Any) -> MalformedCall | None:
    if isinstance(value, MalformedCall):
        return value
    if isinstance(value, dict):
        return next((found for member in value.values() if (found := _find_error(member))), None)
    return None
