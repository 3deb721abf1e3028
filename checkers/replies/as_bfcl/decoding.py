"""From a model's step to the calls that are executed, as BFCL does it.

BFCL turns tool calls and text into Python source and back, and loses or alters some of it on the
way; this repeats what it does, so that recorded runs keep their verdicts. Where BFCL runs
arithmetic, it is worked out here on literals within bounds.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from checkers.replies.decoding import UNREADABLE, Step
from envs.bounds import BOUNDS
from envs.calls import (
    MAX_DEPTH,
    MAX_INT_BITS,
    MAX_TEXT,
    Call,
    call_from_tool,
    call_of,
    check_bounds,
    holds_call,
    parse_expression,
    plain_calls,
    read_json,
    too_long,
)
from envs.errors import MalformedCall
from envs.lazy import lazily

if TYPE_CHECKING:
    from envs import flaws
else:
    # Only for what cannot be read.
    flaws = lazily("envs.flaws")


def decode_tool_calls(step: Step) -> list[Call | MalformedCall]:
    """Read the tool calls of a step; one whose arguments are no JSON object spoils them all.

    Raises:
        MalformedCall: The step is text or nothing, or one of its calls has unreadable arguments.
    """
    if step is None or (isinstance(step, str) and step):
        raise MalformedCall("The step has no tool calls.")
    calls: list[Call | MalformedCall] = []
    for member in step:
        if not isinstance(member, dict):
            raise MalformedCall("A tool call is not an object.")
        for name, arguments in member.items():
            calls.append(_tool_call(name, arguments))
    return calls


def _tool_call(name: str, arguments: object) -> Call | MalformedCall:
    if name == UNREADABLE:
        raise MalformedCall(str(arguments))
    is_text = isinstance(arguments, str)
    if isinstance(arguments, str):
        if len(arguments) > MAX_TEXT:
            return too_long(name)
        try:
            arguments = read_json(arguments)
        except (ValueError, RecursionError) as error:
            flaw = flaws.flaw_of_json(error)
            raise MalformedCall(f"The arguments of {name} are not valid JSON: {flaw}.") from None
    if not isinstance(arguments, dict):
        raise MalformedCall(f"The arguments of {name} are not a JSON object.")
    try:
        return call_of(name, arguments) if is_text else call_from_tool(name, arguments)
    except MalformedCall as error:
        return error


def decode_text(step: Step) -> list[Call | MalformedCall]:
    """Read a prompting model's text as BFCL's default decoder does.

    Positional arguments are dropped, a bare name is its own text, any sign negates, and more of the
    kind. A call that BFCL would turn into broken source is returned as its error.

    Raises:
        MalformedCall: The text is not a list of calls, or holds a value that does not decode.
    """
    text = bracketed(step)
    calls = plain_calls(text)
    if calls:
        return [*calls]
    return [_rebuilt(name, arguments) for name, arguments in resolve_calls(text)]


def bracketed(step: Step) -> str:
    """Return a prompting model's text as the list that BFCL takes it for.

    Raises:
        MalformedCall: The step is no text, or too long a one.
    """
    if not isinstance(step, str):
        raise MalformedCall("The step is not text.")
    if len(step) > MAX_TEXT:
        raise MalformedCall(f"The reply is longer than {MAX_TEXT} characters.")
    text = step.strip("`\n ")
    if not text.startswith("["):
        text = "[" + text
    return text if text.endswith("]") else text + "]"


def resolve_calls(text: str) -> list[tuple[str, dict[str | None, Any]]]:
    """Read a list of calls, as names and values, before BFCL writes them out again.

    Returns:
        Function and arguments of each call; the name of what ``**`` unpacks is None.

    Raises:
        MalformedCall: The text is not a list of calls, or holds a value that does not decode.
    """
    node = parse_expression(text)
    if isinstance(node, ast.Call):
        # The bracket that was added at the end may be hidden behind a comment.
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
    return _name_after_any_base(node.func), arguments


def _name_after_any_base(node: ast.expr) -> str:
    """Return the dotted name of a called thing; what is neither name nor attribute is dropped."""
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
            return "..." if value is ... else _written(value)
        case ast.UnaryOp(operand=ast.Constant(value=value)):
            return _computed(operator.neg, value)
        case ast.List(elts=members):
            return [_resolve(member, depth + 1) for member in members]
        case ast.Tuple(elts=members):
            return tuple([_resolve(member, depth + 1) for member in members])
        case ast.Dict():
            return _resolve_dict(node, depth)
        case ast.BinOp():
            return _arithmetic(node, depth)
        case ast.Name(id=name):
            return name
        case ast.Call(keywords=[_, *_]):
            name, arguments = _resolve_call(node, depth)
            return {name: arguments}
        case ast.Call():
            return _source(node)
        case ast.Subscript(value=base, slice=index):
            # The index is written by itself, so that one of several parts gets parentheses.
            return f"{_source(base)}[{_source(index)}]"
    raise MalformedCall(f"A {type(node).__name__} is not a value.")


def _source(node: ast.expr) -> str:
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


def _written(value: Any) -> Any:
    """Return a value, unless it is an integer that Python, and so BFCL, cannot write."""
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


def _arithmetic(node: ast.expr, depth: int) -> Any:
    """Work out an operation on numbers and text, the way Python would, but within bounds."""
    if depth > _MAX_TERMS:
        raise MalformedCall(f"Arithmetic has more than {_MAX_TERMS} terms.")
    match node:
        case ast.Constant(value=value) if not isinstance(value, bytes):
            return _written(value)
        case ast.List(elts=members):
            return [_arithmetic(member, depth + 1) for member in members]
        case ast.Tuple(elts=members):
            return tuple([_arithmetic(member, depth + 1) for member in members])
        case ast.UnaryOp(op=sign, operand=operand):
            return _computed(_OPERATORS[type(sign)], _arithmetic(operand, depth + 1))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            terms = _arithmetic(left, depth + 1), _arithmetic(right, depth + 1)
            _check_effort(sign, *terms)
            return _computed(_OPERATORS[type(sign)], *terms)
    raise MalformedCall("Arithmetic is only read on literals.")


def _check_effort(sign: ast.operator, left: Any, right: Any) -> None:
    """Refuse an operation whose result would be large, before it is worked out.

    Raises:
        MalformedCall: The result might exceed the bounds.
    """
    whole = isinstance(left, int) and isinstance(right, int)
    if isinstance(sign, ast.Mod) and isinstance(left, str):
        raise MalformedCall("% on text is not read.")
    if isinstance(sign, ast.Pow) and whole:
        bits = left.bit_length() * abs(right)
    elif isinstance(sign, ast.LShift) and whole:
        bits = left.bit_length() + right
    else:
        bits = 0
    if isinstance(sign, ast.Mult) and isinstance(left, int):
        size = _size(right) * left
    elif isinstance(sign, ast.Mult) and isinstance(right, int):
        size = _size(left) * right
    else:
        size = _size(left) + _size(right)
    if bits > MAX_INT_BITS or size > _MAX_SIZE:
        raise MalformedCall("The result of this arithmetic is too large.")


def _size(value: Any) -> int:
    """Return how many characters and members a value has, all the way down."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, (list, tuple)):
        return len(value) + sum(map(_size, value))
    return 0


def _computed(operation: Callable[..., Any], *terms: Any) -> Any:
    try:
        return _written(operation(*terms))
    except (TypeError, ValueError, ArithmeticError) as error:
        raise MalformedCall(f"This arithmetic does not work: {error}.") from None


def _rebuilt(name: str, arguments: Mapping[str | None, Any]) -> Call | MalformedCall:
    """Return the call that BFCL's source text for it amounts to.

    Raises:
        MalformedCall: An argument is an empty dict, which BFCL cannot write.
    """
    kwargs = {str(key): _rewritten(value) for key, value in arguments.items()}
    if None in arguments:
        return MalformedCall(f"{name}: ** is not allowed; name each argument.")
    for value in kwargs.values():
        broken = _broken(value)
        if broken is not None:
            return broken
    return Call(name, (), kwargs, any(map(holds_call, kwargs.values())))


def _rewritten(value: Any) -> Any:
    """Follow one argument through BFCL's source text.

    Returns:
        The value that the text stands for, a Call where it reads as one, or the error.

    Raises:
        MalformedCall: BFCL cannot write the value.
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
        return _rebuilt(str(name), arguments)
    members = {_key_in_quotes(str(key)): _rewritten(member) for key, member in value.items()}
    if None in members:
        return MalformedCall("A key of a dict holds a quote that ends it.")
    return members


def _key_in_quotes(key: str) -> str | None:
    """Return what a key means once it stands between single quotes, None if it breaks them."""
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


def _broken(value: Any) -> MalformedCall | None:
    """Return the error that a rewritten argument holds, if it holds one."""
    if isinstance(value, MalformedCall):
        return value
    if isinstance(value, dict):
        return next((found for member in value.values() if (found := _broken(member))), None)
    return None
