"""What a function's parameters may be, checked the moment its backend's class is made.

A model writes its arguments as JSON, so a parameter is bool, int, float, str, Literal, list, dict,
TypedDict, a pydantic model, or a union of these, with ranges and patterns through Annotated.
Pydantic is not loaded for that; what it makes of the types is in ``envs.schema``.
"""

from __future__ import annotations

import inspect
import os
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from typing_extensions import ReadOnly, is_typeddict

from envs.lazy import lazily

if TYPE_CHECKING:
    from envs import schema
else:
    schema = lazily(".schema", __package__)

_COMMON = {"bool", "float", "int", "str", "str | None"}
"""Types as they are written most often: resolving these would take most of the time."""
_PLAIN = (bool, int, float, str, type(None), Any, list, dict, Sequence, Mapping)
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


def near(file: str) -> str:
    """Return the path of a file as seen from the current folder, if it is in there."""
    path = os.path.relpath(file)
    return file if path.startswith(os.pardir) else path


def checked(environment: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function as it is called with a model's arguments.

    That is the function itself, unless a parameter takes a pydantic model, which is made first.

    Args:
        environment: Name of its backend.
        function: The method, unbound.

    Raises:
        TypeError: A parameter has no type, or one that JSON cannot express.
    """
    code = inspect.unwrap(function).__code__
    if code.co_flags & _STARRED or code.co_posonlyargcount:
        raise _unfit(environment, function, "every parameter needs a name: * and / are no good")
    takes_models = False
    for name in code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]:
        if function.__annotations__.get(name) in _COMMON:
            continue
        try:
            kind = _resolved(function, name)
            defect = _defect(kind)
        except (KeyError, NameError, TypeError) as error:
            defect = "has no type" if isinstance(error, KeyError) else str(error)
        if defect:
            raise _unfit(environment, function, f"parameter {name}: {defect}")
        takes_models = takes_models or _holds_model(kind)
    return _making_models(function) if takes_models else function


def _unfit(environment: str, function: Callable[..., Any], why: str) -> TypeError:
    return TypeError(f"{place(function)}: {environment}.{function.__name__}: {why}")


def _resolved(function: Callable[..., Any], name: str) -> Any:
    """Return the type of a parameter, which is a text where annotations are postponed."""
    bearer = types.ModuleType(function.__module__)
    bearer.__annotations__ = {name: function.__annotations__[name]}
    known = inspect.unwrap(function).__globals__
    return get_type_hints(bearer, known, include_extras=True)[name]


def _defect(kind: Any, above: tuple[Any, ...] = ()) -> str | None:
    """Say why a type cannot be that of a JSON value; None if it can."""
    origin, args = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return None
    if kind in above:
        return f"{_name(kind)} holds itself, and a function document has no end then"
    if origin is Annotated:
        return _unfit_bound(args[0], kind.__metadata__) or _defect(args[0], above)
    if origin in _MEMBER_MARKS:
        return _defect(args[0], above)
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
    return next((defect for kind in kinds if (defect := _defect(kind, above))), None)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and hasattr(kind, "__pydantic_fields__")


def _holds_model(kind: Any) -> bool:
    return _is_model(kind) or any(map(_holds_model, get_args(kind)))


def _name(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind)


def _making_models(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(backend: Any, *args: Any, **kwargs: Any) -> Any:
        tool = backend.TOOLS[function.__name__]
        return function(backend, **schema.check_arguments(tool, args, kwargs))

    return call
