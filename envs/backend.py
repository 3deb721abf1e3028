"""Base class of backends: state fields, a loader, and functions that read or write.

The state of a backend consists of annotated class attributes with defaults. The functions are
methods marked ``@reads`` or ``@writes``. A backend has no other state, so a copy of the fields is a
copy of the backend. **A field's value is never changed in place**; a write assigns a new value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from inspect import isasyncgenfunction, iscoroutinefunction, isfunction, isgeneratorfunction
from types import new_class
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar

from typing_extensions import TypedDict, is_typeddict

from envs.errors import ConfigProblem, DataError, ToolError, describe_exception
from envs.lazy_modules import lazy_module
from envs.random_stream import RandomStream
from envs.state import ATOMS, copy_json, cut_repr
from envs.tool import Tool, ToolMark, bind, locate_error, place, takes_models

if TYPE_CHECKING:
    from envs import coroutines, plain_functions, schema
    from envs.long_context import LongContextPack
else:
    # Only needed for coroutine functions, plain functions and pydantic models.
    coroutines = lazy_module(".coroutines", __package__)
    plain_functions = lazy_module(".plain_functions", __package__)
    schema = lazy_module(".schema", __package__)

Function = TypeVar("Function", bound=Callable[..., Any])
Shared = TypeVar("Shared", bound="Backend")


def reads(function: Function) -> Function:
    """Mark a method as a function for the model; the function does not change the state.

    Raises TypeError if the method is not a plain method or is already marked.
    """
    return _mark(function, ToolMark(writes=False))


def writes(function: Function) -> Function:
    """Mark a method as a function for the model; the function may change the state.

    The session undoes all changes of a refused call. Raises the same errors as ``reads``.
    """
    return _mark(function, ToolMark(writes=True))


def writes_even_refused(reason: str) -> Callable[[Function], Function]:
    """Mark a method whose refused calls may also change the state."""
    return lambda function: _mark(function, ToolMark(writes=True, keeps_on_refusal=reason))


def irreversible(function: Function) -> Function:
    """Mark a method as irreversible; put this decorator on the line above ``@writes``.

    Examples are functions that delete, consume or publish something. An effect is reversible if
    another call can restore the content. Raises TypeError if ``@writes`` is missing.
    """
    mark = find_mark(function)
    if mark is None or not mark.writes:
        raise _make_error(function, "write @irreversible above @writes")
    function.__dict__["_tool"] = mark._replace(irreversible=True)
    return function


def _mark(function: Function, mark: ToolMark) -> Function:
    if not isfunction(function):
        raise _make_error(
            function,
            f"has the type {type(function).__name__}; apply the decorator to a plain function",
        )
    if isgeneratorfunction(function) or isasyncgenfunction(function):
        raise _make_error(function, "is a generator; return a list instead of yielding items")
    if find_mark(function) is not None:
        raise _make_error(function, "has two decorators; keep only @reads or @writes")
    function.__dict__["_tool"] = mark
    return function


def find_mark(member: object) -> ToolMark | None:
    """Return the mark of a method, or None."""
    inner = getattr(member, "__func__", getattr(member, "fget", member))
    mark = getattr(inner, "__dict__", {}).get("_tool")
    return mark if isinstance(mark, ToolMark) else None


def _make_error(thing: Any, why: str) -> Exception:
    thing = getattr(thing, "__func__", getattr(thing, "fget", thing))
    if not callable(thing):
        return DataError("function", f"must be a method, but is {thing!r:.60}")
    return TypeError(f"{place(thing)}: {getattr(thing, '__qualname__', thing)}: {why}")


class BfclDeviations(NamedTuple):
    """Deviations of backends from BFCL's backends."""

    draws_in_sequence: bool
    """Whether all random values come from one sequence.
    If false, each value depends only on the purpose for which it is drawn."""
    keeps_all: bool
    """Whether the backend also stores state that BFCL's backends lack, such as support messages."""


AS_BFCL = BfclDeviations(draws_in_sequence=True, keeps_all=False)
OWN = BfclDeviations(draws_in_sequence=False, keeps_all=True)


class NoConfig(TypedDict, total=False):
    """Empty initial config of a backend without state."""


class Backend:
    """Base class of all simulated APIs."""

    # A slot, because the instance's dict is the state.
    __slots__ = ("_worlds",)
    _worlds: Mapping[type[Backend], Backend]

    Config: ClassVar[type]
    """TypedDict of the initial config."""
    RENAMED: ClassVar[Mapping[str, str]] = {}
    """Maps a config key to its state field, if their names differ."""
    FIELDS: ClassVar[Mapping[str, Any]] = {}
    """All state fields with their defaults, collected from the class's annotations."""
    _BFCL_FIELDS: ClassVar[Mapping[str, Any]] = {}
    KEYS: ClassVar[Mapping[str, str]] = {}
    """Maps a config key to the state field that gets a copy of its value."""
    TOOLS: ClassVar[Mapping[str, Tool]] = {}
    """Maps names to the functions that a model can call, in source order."""
    beyond_bfcl: ClassVar[frozenset[str]] = frozenset()
    """State fields that BFCL's backends lack. Only sessions with ``keeps_all`` have the fields."""
    unordered: ClassVar[frozenset[str]] = frozenset()
    """Fields of results and state that contain lists without a meaningful order."""
    untrusted: ClassVar[frozenset[str]] = frozenset()
    """Config paths of third-party texts, such as ``inbox.*.text``. Attacks change such texts.
    ``**`` stands for any number of keys.
    """
    aliases: ClassVar[Mapping[str, str]] = {}
    """Maps an alternative name, such as a name with a dot, to its function."""
    acts: ClassVar[frozenset[str]] = frozenset()
    """Functions that change no state but show something to the user. Calls of these functions are
    needed even if the model knows the result.
    """
    visible: ClassVar[frozenset[str]] = frozenset()
    """Functions with an effect that other people see, even if a later call undoes it."""
    uses: ClassVar[Sequence[type[Backend]]] = ()
    """Worlds that the backend's functions access with the method ``world``."""
    session_class: ClassVar[type[Any] | None] = None
    """Session class that a world requires (see ``envs.worlds``), or None."""

    def __init_subclass__(cls) -> None:
        """Collect the state fields and functions of the base backends and then of this class.

        Raises:
            TypeError: A name is reserved, a decorator is missing or wrong, a parameter has no type
                or a type that JSON cannot express, or base classes contradict each other.
        """
        if not is_typeddict(getattr(cls, "Config", None)):
            raise _make_error(cls, "needs Config, the TypedDict of its initial config")
        bases = [b for b in cls.__bases__ if b is not Backend and issubclass(b, Backend)]
        if len(bases) > 1:
            _merge_declarations(cls, bases)
        own = [name for name, kind in cls.__annotations__.items() if not _is_class_variable(kind)]
        inherited = [name for base in bases for name in base.FIELDS]
        for name in own:
            if not hasattr(cls, name):
                raise _make_error(cls, f"the state field {name} needs a default value")
        cls.FIELDS = {name: getattr(cls, name) for name in (*inherited, *own)}
        _refuse_names(cls, own)
        # A new dict, since dicts with deleted keys are slow to copy, and forks copy them.
        cls._BFCL_FIELDS = {n: v for n, v in cls.FIELDS.items() if n not in cls.beyond_bfcl}
        cls.KEYS = {
            key: field
            for key in cls.Config.__annotations__
            if (field := cls.RENAMED.get(key, key)) in cls.FIELDS
        }
        tools = {
            name: tool._replace(backend=cls.__name__)
            for base in bases
            for name, tool in base.TOOLS.items()
        }
        for name, member in vars(cls).items():
            if mark := find_mark(member):
                tools[name] = Tool(name, cls.__name__, _wrap_for_models(cls, member), *mark)
            elif name in tools:
                raise _make_error(member, "overrides a marked method; add @reads or @writes")
        cls.TOOLS = tools

    @classmethod
    def load(
        cls,
        config: Mapping[str, Any],
        pack: LongContextPack | None = None,
        behaviour: BfclDeviations = OWN,
    ) -> Self:
        """Create a backend from an initial config; the config is copied.

        Missing keys get their defaults. The method ignores unknown keys. Only ``check_config``
        checks values.
        """
        if not isinstance(config, (dict, Mapping)):  # faster for a dict
            raise DataError(f"$.{cls.__name__}", f"must be an object, but is {config!r:.60}")
        self = cls()
        state, keys = self.__dict__, cls.KEYS
        state.update(cls.FIELDS if behaviour.keeps_all else cls._BFCL_FIELDS)
        for key, value in config.items():
            if field := keys.get(key):
                state[field] = value if type(value) in ATOMS else copy_json(value)
        self._load(config, pack)
        if not behaviour.draws_in_sequence:
            for name, value in state.items():
                if isinstance(value, RandomStream):
                    state[name] = value._replace(by_occasion=True)
        return self

    def _load(self, config: Mapping[str, Any], pack: LongContextPack | None) -> None:
        """Fill the fields that are not copied from the config. Backends may override ``_load``."""

    def _keeps(self, field: str) -> bool:
        """Tell whether this session keeps a state field that BFCL's backend lacks."""
        return field in self.__dict__

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the JSON path and the message of each broken reference in a config.

        The config's types are valid at this point. Backends may override this method.
        """
        yield from ()

    @classmethod
    def check_config(cls, config: object) -> list[ConfigProblem]:
        """Return all unknown keys, wrong types and broken references of an initial config."""
        problems = schema.check_config(cls.__name__, cls.Config, config)
        if problems or not isinstance(config, Mapping):
            return problems
        root = f"$.{cls.__name__}"
        try:
            return [ConfigProblem(root + path, message) for path, message in cls.references(config)]
        except Exception as error:  # an author's hook may raise anything
            said = f"`references` raised {describe_exception(error)} ({locate_error(error)})"
            return [ConfigProblem(root, said)]

    def world(self, kind: type[Shared]) -> Shared:
        """Return a world that the class declares in ``uses``.

        Raises TypeError if ``uses`` lacks the world, or if the backend was not loaded in a session.
        """
        worlds = getattr(self, "_worlds", None)
        if worlds is None or kind not in worlds:
            why = f"has no world {kind.__name__}; add it to `uses` or load the backend in a session"
            raise _make_error(type(self), why)
        shared: Shared = worlds[kind]
        return shared

    @classmethod
    def from_functions(
        cls, state: object, functions: Iterable[Callable[..., Any]], name: str | None = None
    ) -> type[Backend]:
        """Return a backend made of plain functions on a state; see ``envs.plain_functions``."""
        return plain_functions.make_backend(Backend, state, functions, name)

    @classmethod
    def from_object(cls, instance: object, name: str | None = None) -> type[Backend]:
        """Return a backend made of an object's methods; see ``envs.plain_functions``."""
        return plain_functions.make_backend_of_object(Backend, instance, name)

    def fork(self) -> Self:
        """Return an independent copy."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy


_HOOKS = ("_load", "references")


def _refuse_names(cls: type[Backend], fields: Sequence[str]) -> None:
    """Raise TypeError if a field or function has the name of an attribute of ``Backend``."""
    reserved = {name for name in dir(Backend) if not name.startswith("__")}
    for name in reserved.intersection(fields):
        raise _make_error(cls, f"a state field cannot have the reserved name {name}")
    for name, member in vars(cls).items():
        if not find_mark(member):
            continue
        if name in reserved.union(cls.FIELDS):
            kind = "reserved name" if name in reserved else "name of a state field:"
            raise _make_error(member, f"a function cannot have the {kind} {name}")
        if not isfunction(member):
            raise _make_error(member, f"is a {type(member).__name__}; use a method with `self`")


def _merge_declarations(cls: type[Backend], bases: Sequence[type[Backend]]) -> None:
    own = vars(cls)
    for name in {name for base in bases for name in (*base.FIELDS, *base.TOOLS, *_HOOKS)}:
        found = [getattr(base, name, None) for base in bases if hasattr(base, name)]
        found = [getattr(member, "__func__", member) for member in found]
        known = vars(Backend).get(name)
        owners = {id(member) for member in found if member is not getattr(known, "__func__", known)}
        if len(owners) > 1 and name not in own:
            listed = " and ".join(base.__name__ for base in bases)
            raise _make_error(cls, f"{listed} both define {name}; define it in {cls.__name__}")
    if "Config" not in own:
        configs = tuple(dict.fromkeys(base.Config for base in bases))
        cls.Config = new_class(f"{cls.__name__}Config", configs) if configs[1:] else configs[0]
    for name in ("RENAMED", "aliases"):
        merged = [item for base in bases for item in getattr(base, name).items()]
        setattr(cls, name, dict(merged) | own.get(name, {}))
    for name in ("beyond_bfcl", "unordered", "untrusted", "acts", "visible"):
        members = [getattr(base, name) for base in (*bases, cls)]
        setattr(cls, name, frozenset().union(*members))
    cls.uses = tuple(dict.fromkeys(world for base in (*bases, cls) for world in base.uses))


def _wrap_for_models(backend: type[Backend], function: Callable[..., Any]) -> Callable[..., Any]:
    converts = takes_models(backend.__name__, function)
    waits = iscoroutinefunction(function)
    if not (converts or waits):
        return function

    @wraps(function)
    def call(live: Backend, *args: Any, **kwargs: Any) -> Any:
        if converts:
            tool = live.TOOLS[function.__name__]
            args, kwargs = (), schema.check_arguments(tool, args, kwargs)
        value = function(live, *args, **kwargs)
        return coroutines.finish(value) if waits else value

    return call


def _is_class_variable(annotation: object) -> bool:
    # With postponed evaluation, annotations are strings.
    return str(annotation).startswith(("ClassVar", "typing.ClassVar"))


def random_stream(config: Mapping[str, Any], default_seed: int) -> RandomStream:
    """Return a random stream; ``random_seed`` in the config overrides the default seed.

    Raises TypeError if the seed is not an integer.
    """
    seed = config.get("random_seed", default_seed)
    if not isinstance(seed, int):
        raise TypeError(f"random_seed must be an integer, not {seed!r}")
    return RandomStream(seed)


def check_call(tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Check the arguments of a call. Raises InvalidArgument for a missing or invalid argument."""
    # Names come first: checks of types need pydantic, which most runs never load.
    arguments = bind(tool, args, kwargs)
    schema.check_bound(tool, arguments)


def explain_failure(
    tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any], error: BaseException
) -> str:
    """Return the reason for a failed call, such as wrong arguments or an irregular state."""
    try:
        check_call(tool, args, kwargs)
    except ToolError as reason:
        return reason.message
    return f"The state of {tool.backend} is irregular: {cut_repr(error, 1000)}."
