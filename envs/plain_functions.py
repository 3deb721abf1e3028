"""Backends made of plain functions or of an object's methods."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import is_dataclass
from functools import partial, wraps
from typing import Any, NamedTuple, get_type_hints

from pydantic import BaseModel, TypeAdapter
from pydantic_core import PydanticSerializationError, to_jsonable_python
from typing_extensions import TypedDict

from envs import schema
from envs.coroutines import finish
from envs.errors import ConfigProblem, Refused
from envs.state import copy_json
from envs.tool import ToolMark, parse_docstring, place

_REFUSALS = (ValueError, LookupError, PermissionError)
"""A function raises one of these exceptions to refuse a call; any other exception is a bug."""
_STATE_NAMES = ("self", "state")


class StateCodec(NamedTuple):
    """Conversion between a state object and the fields of a backend."""

    kind: type
    types: Mapping[str, Any]
    build: Callable[[dict[str, Any]], Any]
    """Function that creates a state object from field values."""
    dump: Callable[[Any], Mapping[str, Any]]


def make_backend(
    base: type[Any], state: object, functions: Iterable[Callable[..., Any]], name: str | None = None
) -> type[Any]:
    """Return a backend class; its state has the fields of a state object.

    A function gets a copy of the state if its first parameter is named ``state`` or ``self``, or is
    annotated with the state's class. After the call, the copy replaces the state. A function
    without the mark ``reads`` is treated as state-changing. A function refuses a call by raising
    ``ValueError``, ``LookupError`` or ``PermissionError``. The initial config has the fields of the
    state, with the current values as defaults.

    Raises TypeError if the state is not plain data, or if the name or a function is invalid.

    Args:
        base: Class that the backend extends.
        state: A dict, dataclass, pydantic model or object with plain attributes.
        functions: Typed functions with docstrings.
        name: Name of the backend (default: the class of the state).
    """
    codec = _find_codec(state)
    fields = _dump_fields(codec, state)
    name = name or codec.kind.__name__
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise TypeError(f"{name!r} is not a class name; pass the argument `name`")
    members: dict[str, Any] = {}
    for function in functions if isinstance(functions, Iterable) else [functions]:
        _check_name(function, name, {*fields, *members})
        members[function.__name__] = _make_method(function, codec)
    if not members:
        raise TypeError(f"{name}: the list of functions is empty")
    written = next(iter(members.values())) if isinstance(state, dict) else codec.kind
    config = TypedDict(f"{name}Config", dict(codec.types), total=False)  # type: ignore[misc]  # noqa: UP013
    members |= {"_load": _make_loader(codec), "check_config": classmethod(_check_config)}
    members |= {"Config": config, "__annotations__": dict(codec.types), **fields}
    members["__doc__"] = inspect.getdoc(state) if not isinstance(state, dict) else None
    return type(name, (base,), members | {"__module__": written.__module__})


def make_backend_of_object(base: type[Any], instance: object, name: str | None = None) -> type[Any]:
    """Return a backend made of an object's attributes and public methods.

    A method without a docstring is left out. Raises TypeError in the same cases as
    ``make_backend``.
    """
    kind = type(instance)
    methods = [
        member
        for each in reversed(kind.__mro__[:-1])
        if each.__module__ != BaseModel.__module__
        for key, member in vars(each).items()
        if inspect.isfunction(member) and not key.startswith("_") and member.__doc__
    ]
    latest = {key: member for each in reversed(kind.__mro__) for key, member in vars(each).items()}
    names = dict.fromkeys(method.__name__ for method in methods)
    return make_backend(base, instance, [latest[each] for each in names], name)


def _check_name(function: Callable[..., Any], backend: str, taken: set[str]) -> None:
    called = getattr(function, "__name__", "")
    if not (called.isidentifier() and hasattr(inspect.unwrap(function), "__code__")):
        raise TypeError(f"{backend}: {function!r} is not a named function; define it with `def`")
    if called in taken:
        raise TypeError(f"{place(function)}: {backend} has two members {called}; rename one")


def _find_codec(state: object) -> StateCodec:
    kind = type(state)
    if isinstance(state, dict):
        return StateCodec(kind, dict.fromkeys(state, Any), copy_json, dict)
    if isinstance(state, type) or not (is_dataclass(state) or hasattr(state, "__dict__")):
        raise TypeError(f"{state!r} is not a state; pass a dict or an object with fields")
    if isinstance(state, BaseModel) or is_dataclass(state):
        adapter: TypeAdapter[Any] = TypeAdapter(kind)
        types = get_type_hints(kind, include_extras=True)
        names = kind.model_fields if isinstance(state, BaseModel) else kind.__dataclass_fields__  # type: ignore[attr-defined]
        known = {field: types[field] for field in names}
        dump = partial(adapter.dump_python, mode="json")
        return StateCodec(kind, known, adapter.validate_python, dump)

    def build(fields: dict[str, Any]) -> Any:
        live = object.__new__(kind)
        live.__dict__.update(copy_json(fields))
        return live

    return StateCodec(kind, dict.fromkeys(vars(state), Any), build, vars)


def _dump_fields(codec: StateCodec, state: object) -> dict[str, Any]:
    kind, fields = codec.kind.__name__, codec.dump(state)
    for name, value in fields.items():
        if not (isinstance(name, str) and name.isidentifier()):
            raise TypeError(f"{kind}: the field {name!r} must have the name of a Python variable")
        try:
            to_jsonable_python(value)
            copy_json(value)
        except (PydanticSerializationError, ValueError):
            held = f"{kind}.{name} holds a {type(value).__name__}"
            raise TypeError(f"{held}; a state consists of plain data") from None
    plain: dict[str, Any] = copy_json(dict(fields))
    return plain


def _check_config(cls: type[Any], config: object) -> list[ConfigProblem]:
    # Not strict: an object of a config becomes a dataclass or model.
    return schema.check_config(cls.__name__, cls.Config, config, strict=False)


def _make_loader(codec: StateCodec) -> Callable[..., None]:
    def load(self: Any, *_: object) -> None:
        # The state object writes its own form, so that reading changes nothing.
        self.__dict__.update(codec.dump(codec.build({n: getattr(self, n) for n in codec.types})))

    return load


def _make_method(function: Callable[..., Any], codec: StateCodec) -> Callable[..., Any]:
    signature = inspect.signature(function)
    takes_state = _takes_state(signature, codec.kind)

    @wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Copies, because the function may change its arguments.
        args, kwargs = deepcopy((args, kwargs))
        fields = {name: getattr(self, name) for name in codec.types}
        live = codec.build(dict(fields)) if takes_state else None
        try:
            value = function(*((live,) if takes_state else ()), *args, **kwargs)
            if inspect.iscoroutine(value):
                value = finish(value)
        except _REFUSALS as error:
            said = f"unknown {error}" if isinstance(error, KeyError) else str(error)
            raise Refused(said or type(error).__name__, error) from None
        dumped = codec.dump(live) if takes_state else fields
        for name in sorted(dumped.keys() ^ fields.keys()):
            did, does = ("deletes", "declares") if name in fields else ("sets", "does not declare")
            raise TypeError(f"{place(function)}: {did} {name}, but the state {does} this field")
        for name, new in dumped.items():
            if new != fields[name]:
                setattr(self, name, new)
        return to_jsonable_python(value)

    method.__doc__ = _complete_docstring(function, [*signature.parameters][takes_state:])
    if not takes_state:
        first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        shown = [first, *signature.parameters.values()]
        method.__dict__["__signature__"] = signature.replace(parameters=shown)
    method.__dict__.setdefault("_tool", ToolMark(writes=True))
    return method


def _complete_docstring(function: Callable[..., Any], names: Iterable[str]) -> str:
    known = parse_docstring(function)
    args = [f"    {name}: {known.parameters.get(name, name.replace('_', ' '))}" for name in names]
    return "\n".join(
        [
            known.summary or function.__name__.replace("_", " ") + ".",
            *(["", "Args:", *args] if args else []),
            *("", "Returns:", f"    {known.returns or 'The result.'}"),
            *(["", "Examples:", known.examples] if known.examples else []),
        ]
    )


def _takes_state(signature: inspect.Signature, kind: type) -> bool:
    first = next(iter(signature.parameters.values()), None)
    known = (kind, kind.__name__)
    return first is not None and (first.name in _STATE_NAMES or first.annotation in known)
