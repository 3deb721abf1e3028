"""Evaluation of arithmetic expressions, with Python's results but without running code."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from envs.errors import InvalidArgument

_ALLOWED = frozenset("0123456789+-*/(). ")
_MAX_CHARS = 2_000
_MAX_BITS = 20_000
"""Maximum number of bits of an integer power. No float can hold a number of this size."""

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}


def calculate(expression: str) -> str:
    """Return the value of an expression as a string; a float is rounded to two places.

    Raises InvalidArgument with Python's message if the expression has no value.
    """
    if not all(character in _ALLOWED for character in expression):
        raise InvalidArgument("Invalid characters in expression")
    if not isinstance(expression, str):
        raise InvalidArgument("eval() arg 1 must be a string, bytes or code object")
    if len(expression) > _MAX_CHARS:
        raise InvalidArgument(f"The expression is longer than {_MAX_CHARS} characters")
    try:
        tree = ast.parse(expression.lstrip(" \t"), "<string>", "eval")
        return str(round(float(_evaluate(tree.body)), 2))
    except (SyntaxError, ArithmeticError, TypeError, ValueError) as error:
        raise InvalidArgument(str(error), error) from None
    except (MemoryError, RecursionError) as error:
        raise InvalidArgument("too many nested parentheses", error) from None


def _evaluate(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp):
        value = _evaluate(node.operand)
        return -value if isinstance(node.op, ast.USub) else +value
    if isinstance(node, ast.BinOp):
        left, right = _evaluate(node.left), _evaluate(node.right)
        if isinstance(node.op, ast.Pow):
            _check_power(left, right)
        return _BINARY[type(node.op)](left, right)
    if isinstance(node, ast.Call):
        called = type(_evaluate(node.func)).__name__
        raise TypeError(f"'{called}' object is not callable")
    return ()


def _check_power(base: Any, exponent: Any) -> None:
    whole = isinstance(base, int) and isinstance(exponent, int) and exponent > 0
    if whole and abs(base) > 1 and base.bit_length() * exponent > _MAX_BITS:
        raise OverflowError("int too large to convert to float")
