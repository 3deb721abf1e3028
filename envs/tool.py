"""A function that a model may call, its parameters, and what they may be.

A model writes its arguments as JSON, so a parameter is bool, int, float, str, Literal, list, dict,
TypedDict, a pydantic model, or a union of these, with ranges and patterns through Annotated. That
is checked the moment a backend's class is made, and pydantic is not loaded for it; what it makes of
the types is in ``envs.schema``.
"""

from __future__ import annotations

import inspect
import os
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

from envs.errors import InvalidArgument, UnknownFunction
from envs.lazy import lazily

if TYPE_CHECKING:
    import difflib
    import traceback
else:
    # Only mistakes need them.
    difflib, traceback = lazily("difflib"), lazily("traceback")

Document = Mapping[str, Any]
"""``{"name", "description", "parameters"}``, the parameters as a schema."""


class Mark(NamedTuple):
    """What a backend's method says of itself that makes it a function for the model."""

    writes: bool
    """Whether it may change state."""
    keeps_on_refusal: str | None = None
    """Why a refused call may leave a change behind; None where it never does."""
    irreversible: bool = False
    """Whether no other function takes back what it does."""


class Tool(NamedTuple):
    """One function that a model may call."""

    name: str
    backend: str
    """Name of the one that has it."""
    function: Callable[..., Any]
    """The method, unbound."""
    writes: bool
    keeps_on_refusal: str | None = None
    irreversible: bool = False


@cache
def parameters(tool: Tool) -> tuple[inspect.Parameter, ...]:
    """Return the parameters of a function, without the backend itself."""
    return tuple(inspect.signature(tool.function).parameters.values())[1:]


def bind(tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by name.

    Raises:
        InvalidArgument: One is missing, unknown, or given twice.
    """
    names, needed = parameter_names(tool)
    if len(args) > len(names):
        raise InvalidArgument(
            f"{tool.name} takes {len(names)} arguments ({', '.join(names)}), got {len(args)}."
        )
    arguments = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name in arguments:
            raise InvalidArgument(f"{tool.name}: {name} is given twice.")
        if name not in names:
            takes = f"takes {', '.join(names)}" if names else "takes no arguments"
            raise InvalidArgument(f"{tool.name} has no parameter {name[:100]!r}; it {takes}.")
        arguments[name] = value
    for name in needed:
        if name not in arguments:
            raise InvalidArgument(f"{tool.name} needs the argument {name}.")
    return arguments


@cache
def parameter_names(tool: Tool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of all parameters of a function, and of those without a default."""
    known = parameters(tool)
    needed = [each.name for each in known if each.default is each.empty]
    return tuple([each.name for each in known]), tuple(needed)


@cache
def defaults(tool: Tool) -> Mapping[str, Any]:
    """Return what each parameter of a function is where it is left out, in order.

    One that must not be left out has ``inspect.Parameter.empty``.
    """
    return MappingProxyType({each.name: each.default for each in parameters(tool)})


@cache
def choices(tool: Tool) -> frozenset[str]:
    """Return the parameters of a function whose value is one of a closed set."""
    types_of = tool.function.__annotations__
    return frozenset(
        each.name
        for each in parameters(tool)
        if types_of.get(each.name) not in _COMMON
        and _is_choice(_resolved(tool.function, each.name))
    )


def _is_choice(kind: Any) -> bool:
    if get_origin(kind) is Annotated:
        return _is_choice(get_args(kind)[0])
    return get_origin(kind) is Literal and len(get_args(kind)) > 1


_COMMON = {"bool", "float", "int", "str", "str | None"}
"""Types as they are written most often: resolving these would take most of the time."""
_PLAIN = (bool, int, float, str, type(None), Any, list, dict, Sequence, Mapping)
ENDLESS = object()
_MEMBER_MARKS = (NotRequired, Required, ReadOnly)
_BOUNDS = {
    **dict.fromkeys(("ge", "gt", "le", "lt", "multiple_of"), (int, float)),
    **dict.fromkeys(("min_length", "max_length"), (str, list, dict, Sequence, Mapping)),
    "pattern": (str,),
}
"""Ranges, lengths and patterns, each with the types that it is meant for."""
_STARRED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def place(thing: Callable[..., Any] | type) -> str:
    """Return file and line where a function or class is defined."""
    thing = inspect.unwrap(thing)
    if isinstance(thing, types.FunctionType):
        file, line = thing.__code__.co_filename, thing.__code__.co_firstlineno
    else:
        file, line = inspect.getfile(thing), inspect.findsource(thing)[1] + 1
    return f"{near(file)}:{line}"


def raised_at(error: BaseException) -> str:
    """Return file and line where an error came up."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"{near(frame.f_code.co_filename)}:{line}"


def near(file: str) -> str:
    """Return the path of a file as seen from the current folder, if it is in there."""
    path = os.path.relpath(file)
    return file if path.startswith(os.pardir) else path


def takes_models(environment: str, function: Callable[..., Any]) -> bool:
    """Check the parameters of a backend's method; tell whether one takes a pydantic model.

    Raises:
        TypeError: A parameter has no type, or one that JSON cannot express.
    """
    code = inspect.unwrap(function).__code__
    if code.co_flags & _STARRED or code.co_posonlyargcount:
        raise _unfit(environment, function, "every parameter needs a name: * and / are no good")
    found = False
    for name in code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]:
        if function.__annotations__.get(name) in _COMMON:
            continue
        try:
            kind = _resolved(function, name)
            defect = json_defect(kind)
        except (KeyError, NameError, TypeError) as error:
            defect = "has no type" if isinstance(error, KeyError) else str(error)
        if defect:
            raise _unfit(environment, function, f"parameter {name}: {defect}")
        found = found or _holds_model(kind)
    return found


def _unfit(environment: str, function: Callable[..., Any], why: str) -> TypeError:
    return TypeError(f"{place(function)}: {environment}.{function.__name__}: {why}")


def _resolved(function: Callable[..., Any], name: str) -> Any:
    """Return the type of a parameter, which is a text where annotations are postponed."""
    bearer = types.ModuleType(function.__module__)
    bearer.__annotations__ = {name: function.__annotations__[name]}
    known = inspect.unwrap(function).__globals__
    return get_type_hints(bearer, known, include_extras=True)[name]


def json_defect(kind: Any, above: tuple[Any, ...] = ()) -> str | None:
    """Say why a type cannot be that of a JSON value; None if it can.

    Args:
        kind: The type.
        above: The types that it is in; ``ENDLESS`` among them where one may hold itself.
    """
    origin, args = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return None
    if kind in above and ENDLESS in above:
        return None
    if kind in above:
        return f"{_name(kind)} holds itself, and a function document has no end then"
    if origin is Annotated:
        return _unfit_bound(args[0], kind.__metadata__) or json_defect(args[0], above)
    if origin in _MEMBER_MARKS:
        return json_defect(args[0], above)
    if origin is Literal:
        odd = [value for value in args if not isinstance(value, (str, int, bool, type(None)))]
        return f"{odd[0]!r} is no choice that JSON can express" if odd else None
    if origin in (dict, Mapping) and args[0] is not str:
        return f"the keys of a JSON object are text, not {_name(args[0])}"
    if origin in (Union, types.UnionType, list, Sequence, dict, Mapping):
        return _first_defect(args, above)
    if is_typeddict(kind):
        return _first_defect(get_type_hints(kind, include_extras=True).values(), (*above, kind))
    if _is_model(kind):
        members = [field.annotation for field in kind.__pydantic_fields__.values()]
        return _first_defect(members, (*above, kind))
    return (
        f"JSON cannot express {_name(kind)}; take bool, int, float, str, Literal, list, dict, "
        "TypedDict or a pydantic model, and say in the docstring how text is to be written"
    )


def _unfit_bound(kind: Any, marks: Iterable[Any]) -> str | None:
    """Say which of the marks of an annotated type bounds what the type does not have."""
    for mark in marks:
        inner = _unfit_bound(kind, getattr(mark, "metadata", ()))
        if inner:
            return inner
        for bound, kinds in _BOUNDS.items():
            if getattr(mark, bound, None) is not None and (get_origin(kind) or kind) not in kinds:
                return f"{bound} does not bound {_name(kind)}; annotate the type that it does"
    return None


def _first_defect(kinds: Any, above: tuple[Any, ...]) -> str | None:
    return next((defect for kind in kinds if (defect := json_defect(kind, above))), None)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and hasattr(kind, "__pydantic_fields__")


def _holds_model(kind: Any) -> bool:
    return _is_model(kind) or any(map(_holds_model, get_args(kind)))


def _name(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind)


def unknown(
    name: str, tools: Mapping[str, Tool], offered: frozenset[str] | None
) -> UnknownFunction:
    """Return the error that there is no function of a name; it says which ones there are."""
    return UnknownFunction(lambda: _no_function(name, tools, offered))


def _no_function(name: str, tools: Mapping[str, Tool], offered: frozenset[str] | None) -> str:
    names = [tool for tool in tools if offered is None or tool in offered]
    close = difflib.get_close_matches(name[:100], names, n=3)
    advice = f"Did you mean {' or '.join(close)}?" if close else f"There are: {', '.join(names)}."
    return f"There is no function {name[:100]!r}. {advice}"
