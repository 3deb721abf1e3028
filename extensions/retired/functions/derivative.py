"""Automatic differentiation of a function of x.

The function is a text, which is parsed and never run. The text can contain numbers, x, arithmetic
and parentheses.
"""

from __future__ import annotations

import ast
import math
from typing import NamedTuple

from envs.calls import parse_expression
from envs.errors import InvalidArgument, MalformedCall
from envs.state import cut
from extensions.library.bounds import check_count

_MAX_CHARS = 500
_MAX_EXPONENT = 100
_ALLOWED = "use only numbers, x, + - * / ** and parentheses"


class _DualNumber(NamedTuple):
    """Value and slope of a part of the function."""

    value: float
    slope: float


def derivative_at(function: str, x: float) -> float:
    """Return the slope of a function at a point.

    Args:
        function: Text such as ``lambda x: x**2`` or ``x**2``.
        x: The point.

    Raises:
        InvalidArgument: The text is not a supported function, or has no slope at the point.
    """
    check_count("function", function, 1, _MAX_CHARS)
    try:
        node = parse_expression(function)
    except MalformedCall:
        raise InvalidArgument(f"function is {function!r:.100}: {_ALLOWED}.") from None
    name = "x"
    if isinstance(node, ast.Lambda):
        if len(node.args.args) != 1:
            raise InvalidArgument(
                "function must take exactly one argument, such as lambda x: x ** 2."
            )
        name, node = node.args.args[0].arg, node.body
    try:
        slope = _part(node, name, x).slope
    except (ArithmeticError, ValueError, RecursionError):
        slope = math.nan
    if not math.isfinite(slope):
        raise InvalidArgument(f"function has no derivative at {x}.")
    return slope


def _part(node: ast.expr, name: str, x: float) -> _DualNumber:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _DualNumber(float(number), 0.0)
        case ast.Name(id=found) if found == name:
            return _DualNumber(x, 1.0)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value, slope = _part(operand, name, x)
            return _DualNumber(-value, -slope)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _part(operand, name, x)
        case ast.BinOp(left=left, op=op, right=right):
            return _combined(op, _part(left, name, x), _part(right, name, x), node)
    raise _unread(node)


def _combined(
    op: ast.operator, left: _DualNumber, right: _DualNumber, node: ast.expr
) -> _DualNumber:
    (a, da), (b, db) = left, right
    match op:
        case ast.Add():
            return _DualNumber(a + b, da + db)
        case ast.Sub():
            return _DualNumber(a - b, da - db)
        case ast.Mult():
            return _DualNumber(a * b, da * b + a * db)
        case ast.Div():
            return _DualNumber(a / b, (da * b - a * db) / (b * b))
        case ast.Pow() if abs(b) <= _MAX_EXPONENT:
            return _power(a, da, b, db)
    raise _unread(node)


def _power(a: float, da: float, b: float, db: float) -> _DualNumber:
    value = math.pow(a, b)
    slope = b * math.pow(a, b - 1) * da if da and b else 0.0
    if db:
        slope += value * math.log(a) * db
    return _DualNumber(value, slope)


def _unread(node: ast.expr) -> InvalidArgument:
    return InvalidArgument(f"function contains {cut(ast.unparse(node), 60)}: {_ALLOWED}.")
