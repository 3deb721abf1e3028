"""Record of a function that a model may call; reader of docstrings; check of parameter types.

Arguments are JSON. A parameter is therefore a bool, int, float, str, Literal, list, dict,
TypedDict, a pydantic model, or a union of these types. ``Annotated`` adds ranges and patterns.
Types are checked without pydantic when a backend's class is created. ``envs.schema`` makes schemas
from the types.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from typing_extensions import ReadOnly, is_typeddict

from envs.errors import DataError, InvalidArgument, UnknownFunction
from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    import difflib
    import traceback
else:
    # Only needed for errors.
    difflib, traceback = lazy_module("difflib"), lazy_module("traceback")

_SECTION = re.compile(r"^(Args|Returns|Raises|Examples):\s*$", re.MULTILINE)
_ITEM = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)

Document = Mapping[str, Any]
"""Function document: name, description, and the JSON Schema of the parameters."""


class ToolMark(NamedTuple):
    """Mark that makes a backend's method a function for the model."""

    writes: bool
    keeps_on_refusal: str | None = None
    """Reason why a refused call may change state; None if a refused call must not change state."""
    irreversible: bool = False
    """True if no other function can revert the call's effect."""


class Tool(NamedTuple):
    """One function that a model may call."""

    name: str
    backend: str
    function: Callable[..., Any]
    writes: bool
    keeps_on_refusal: str | None = None
    irreversible: bool = False


@cache
def parameters(tool: Tool) -> tuple[inspect.Parameter, ...]:
    """Return the parameters of a function, without ``self``."""
    return tuple(inspect.signature(tool.function).parameters.values())[1:]


def bind(tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Map the names of parameters to the arguments of a call.

    Raises InvalidArgument if an argument is missing, unknown or given twice.
    """
    names, needed = parameter_names(tool)
    if len(args) > len(names):
        raise InvalidArgument(
            f"{tool.name} takes {len(names)} arguments ({', '.join(names)}), got {len(args)}."
        )
    arguments = dict(zip(names, args, strict=False))
    try:
        given = kwargs.items()
    except AttributeError:
        raise DataError("call.kwargs", f"must be a dict, but is {kwargs!r:.60}") from None
    for name, value in given:
        if name in arguments:
            raise InvalidArgument(f"{tool.name}: {name} is given twice.")
        if name not in names:
            takes = f"takes {', '.join(names)}" if names else "takes no arguments"
            raise InvalidArgument(f"{tool.name} has no parameter {str(name)[:100]!r}; it {takes}.")
        arguments[name] = value
    for name in needed:
        if name not in arguments:
            raise InvalidArgument(f"{tool.name} needs the argument {name}.")
    return arguments


@cache
def parameter_names(tool: Tool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of all parameters, and of the parameters without a default."""
    known = parameters(tool)
    needed = [each.name for each in known if each.default is each.empty]
    return tuple([each.name for each in known]), tuple(needed)


@cache
def defaults(tool: Tool) -> Mapping[str, Any]:
    """Map each parameter to its default; ``inspect.Parameter.empty`` means no default."""
    return MappingProxyType({each.name: each.default for each in parameters(tool)})


@cache
def choices(tool: Tool) -> frozenset[str]:
    """Return the names of a function's enum parameters."""
    types_of = tool.function.__annotations__
    return frozenset(
        each.name
        for each in parameters(tool)
        if types_of.get(each.name) not in _COMMON
        and _is_choice(_resolve_type(tool.function, each.name))
    )


def _is_choice(kind: Any) -> bool:
    if get_origin(kind) is Annotated:
        return _is_choice(get_args(kind)[0])
    return get_origin(kind) is Literal and len(get_args(kind)) > 1


_COMMON = {"bool", "float", "int", "str", "str | None", bool, float, int, str}
"""Frequent type annotations, mostly as text. They are not resolved, because resolving is slow."""
_PLAIN = (bool, int, float, str, type(None), Any, list, dict, Sequence, Mapping)
ENDLESS = object()
_MEMBER_MARKS = (NotRequired, Required, ReadOnly)
_BOUNDS = {
    **dict.fromkeys(("ge", "gt", "le", "lt", "multiple_of"), (int, float)),
    **dict.fromkeys(("min_length", "max_length"), (str, list, dict, Sequence, Mapping)),
    "pattern": (str,),
}
_STARRED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def place(thing: Callable[..., Any] | type) -> str:
    """Return file and line of a function's or class's definition."""
    thing = inspect.unwrap(thing)
    if isinstance(thing, types.FunctionType):
        file, line = thing.__code__.co_filename, thing.__code__.co_firstlineno
    else:
        try:
            file, line = inspect.getfile(thing), inspect.findsource(thing)[1] + 1
        except (OSError, TypeError):  # a class without source, such as in a notebook
            return thing.__module__
    return f"{shorten_path(file)}:{line}"


def locate_error(error: BaseException) -> str:
    """Return the file and line that raised an error."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"{shorten_path(frame.f_code.co_filename)}:{line}"


def shorten_path(file: str) -> str:
    """Return a file's path; if the file is inside the current folder, return the relative path."""
    return file if (path := os.path.relpath(file)).startswith(os.pardir) else path


def takes_models(environment: str, function: Callable[..., Any]) -> bool:
    """Check a method's parameter types; return True if one of the types is a pydantic model.

    Raises TypeError if a parameter's type is missing or cannot be written in JSON.
    """
    plain = inspect.unwrap(function)
    code, made = plain.__code__, plain.__dict__.get("__signature__")
    if made is not None:
        # A function made at run time declares its parameters in ``__signature__``.
        names: Sequence[str] = [*made.parameters][1:]
    elif code.co_flags & _STARRED or code.co_posonlyargcount:
        raise _make_error(environment, function, "name every parameter; * and / are not allowed")
    else:
        # Plain functions without a state have no ``self`` to skip.
        first = "__signature__" not in function.__dict__
        owner = code.co_varnames[0] if code.co_argcount else None
        if first and (owner is None or function.__annotations__.get(owner) in _COMMON):
            raise _make_error(environment, function, "the first parameter must be `self`")
        names = code.co_varnames[first : code.co_argcount + code.co_kwonlyargcount]
    try:
        json.dumps([plain.__defaults__, plain.__kwdefaults__], allow_nan=False)
    except (TypeError, ValueError) as error:
        raise _make_error(environment, function, f"a default value: {error}") from None
    found = False
    for name in names:
        if function.__annotations__.get(name) in _COMMON:
            continue
        try:
            kind = _resolve_type(function, name)
            defect = find_json_error(kind)
        except (KeyError, NameError, TypeError) as error:
            defect = "has no type" if isinstance(error, KeyError) else str(error)
        if defect:
            raise _make_error(environment, function, f"parameter {name}: {defect}")
        found = found or _holds_model(kind)
    return found


def _make_error(environment: str, function: Callable[..., Any], why: str) -> TypeError:
    return TypeError(f"{place(function)}: {environment}.{function.__name__}: {why}")


def _resolve_type(function: Callable[..., Any], name: str) -> Any:
    bearer = types.ModuleType(name)
    bearer.__annotations__ = {name: function.__annotations__[name]}
    known = inspect.unwrap(function).__globals__
    return get_type_hints(bearer, known, include_extras=True)[name]


def find_json_error(kind: Any, above: tuple[Any, ...] = ()) -> str | None:
    """Return the reason why JSON cannot express a type, or None.

    ``above`` lists the types that contain ``kind``. If ``above`` contains ``ENDLESS``, recursive
    types are allowed.
    """
    origin, args = get_origin(kind), get_args(kind)
    if kind in _PLAIN or (kind in above and ENDLESS in above):
        return None
    if kind in above:
        return f"{_type_name(kind)} contains itself; declare the inner part as Any"
    if origin is Annotated:
        return _find_bound_error(args[0], kind.__metadata__) or find_json_error(args[0], above)
    if origin in _MEMBER_MARKS:
        return find_json_error(args[0], above)
    if origin is Literal:
        odd = [value for value in args if not isinstance(value, (str, int, bool, type(None)))]
        return f"JSON cannot express the choice {odd[0]!r}" if odd else None
    if origin in (dict, Mapping) and args[0] is not str:
        return f"the keys of a JSON object are strings, not {_type_name(args[0])}"
    if origin in (Union, types.UnionType, list, Sequence, dict, Mapping):
        return _find_first_defect(args, above)
    if is_typeddict(kind):
        hints = get_type_hints(kind, include_extras=True)
        return _find_first_defect(hints.values(), (*above, kind))
    if _is_model(kind):
        members = [field.annotation for field in kind.__pydantic_fields__.values()]
        return _find_first_defect(members, (*above, kind))
    return (
        f"JSON cannot express {_type_name(kind)}; use bool, int, float, str, Literal, list, dict, "
        "Any, TypedDict or a pydantic model, and describe the format of strings in the docstring"
    )


def _find_bound_error(kind: Any, marks: Iterable[Any]) -> str | None:
    for mark in marks:
        if inner := _find_bound_error(kind, getattr(mark, "metadata", ())):
            return inner
        for bound, kinds in _BOUNDS.items():
            if getattr(mark, bound, None) is not None and (get_origin(kind) or kind) not in kinds:
                return f"{bound} does not apply to {_type_name(kind)}; annotate the inner type"
    return None


def _find_first_defect(kinds: Any, above: tuple[Any, ...]) -> str | None:
    return next((defect for kind in kinds if (defect := find_json_error(kind, above))), None)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and hasattr(kind, "__pydantic_fields__")


def _holds_model(kind: Any) -> bool:
    return _is_model(kind) or any(map(_holds_model, get_args(kind)))


def _type_name(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind)


def make_unknown_function_error(
    name: str, tools: Mapping[str, Tool], offered: frozenset[str] | None
) -> UnknownFunction:
    """Return the error for a call of an unknown function; the error lists known functions."""
    return UnknownFunction(lambda: _describe_unknown(name, tools, offered))


def _describe_unknown(name: str, tools: Mapping[str, Tool], offered: frozenset[str] | None) -> str:
    names = [tool for tool in tools if offered is None or tool in offered]
    close = difflib.get_close_matches(str(name)[:100], names, n=3)
    advice = f"Did you mean {' or '.join(close)}?" if close else f"There are: {', '.join(names)}."
    return f"There is no function {str(name)[:100]!r}. {advice}"


class Docstring(NamedTuple):
    """Parts of a function's docstring; a part that the docstring does not have is empty."""

    summary: str
    parameters: Mapping[str, str]
    returns: str
    examples: str


@cache
def parse_docstring(function: Callable[..., Any]) -> Docstring:
    """Parse a function's docstring."""
    summary, *rest = _SECTION.split(inspect.getdoc(function) or "")
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    items = _ITEM.findall(sections.get("Args", ""))
    return Docstring(
        join_lines(summary),
        {name: join_lines(text) for name, text in items},
        join_lines(sections.get("Returns", "")),
        sections.get("Examples", ""),
    )


def join_lines(text: str) -> str:
    """Join the lines of a string."""
    return " ".join(text.split())
