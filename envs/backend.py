"""What a backend is: state fields, a loader, and functions marked as reading or writing.

A backend declares its state as annotated class attributes with defaults, and its functions as
methods marked ``@reads`` or ``@writes``. It holds nothing else, so that who copies its fields has
copied it. **A field's value is never changed in place**: to write, assign a new value.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar, get_origin

from typing_extensions import TypedDict

from envs.errors import ConfigProblem
from envs.lazy import lazily
from envs.long_context import Pack
from envs.random_stream import RandomStream
from envs.tool import Mark, Tool, raised_at, takes_models

if TYPE_CHECKING:
    from envs import schema
else:
    schema = lazily(".schema", __package__)

Function = TypeVar("Function", bound=Callable[..., Any])


def reads(function: Function) -> Function:
    """Mark a method as a function for the model that leaves the state as it is."""
    function.__dict__["_tool"] = Mark(writes=False)
    return function


def writes(function: Function) -> Function:
    """Mark a method as a function for the model that may change the state.

    A refused call is undone by the session, whatever the method had changed by then.
    """
    function.__dict__["_tool"] = Mark(writes=True)
    return function


def writes_even_refused(reason: str) -> Callable[[Function], Function]:
    """Mark a writing method whose refusals leave a change behind.

    Args:
        reason: Why; shown wherever the exceptions to "a refusal changes nothing" are listed.
    """

    def mark(function: Function) -> Function:
        function.__dict__["_tool"] = Mark(writes=True, keeps_on_refusal=reason)
        return function

    return mark


def irreversible(function: Function) -> Function:
    """Mark a writing method, above ``writes``, whose deed no other function takes back.

    What is destroyed, used up or made for good counts, and what others have read by then; what can
    be put back to where it was, in content if not in form, does not.
    """
    function.__dict__["_tool"] = function.__dict__["_tool"]._replace(irreversible=True)
    return function


class Behaviour(NamedTuple):
    """Where backends do as BFCL's do, and where they do better."""

    draws_in_sequence: bool
    """Whether random values come from one stream, so that reading once more changes later ones;
    where not, a value follows from what it is drawn for."""
    keeps_all: bool
    """Whether state is kept that BFCL's backends forget, such as messages to support."""


AS_BFCL = Behaviour(draws_in_sequence=True, keeps_all=False)
OWN = Behaviour(draws_in_sequence=False, keeps_all=True)


class NoConfig(TypedDict, total=False):
    """Initial config of a backend that holds no state: nothing."""


class Backend:
    """Base of all simulated APIs.

    Attributes:
        Config: TypedDict of the initial config: its keys are what may be given.
        RENAMED: Config key to state field, where the two differ.
        FIELDS: All state fields with their defaults, collected from the class's annotations.
        KEYS: Config key to state field, for the keys whose value is taken over.
        TOOLS: The model's functions by name, in the order of the source.
        beyond_bfcl: State fields that only those sessions have which keep all.
        unordered: Members of results and of the state that hold lists, or objects of lists, whose
            order means nothing to a user.
        aliases: Other names under which functions are called, such as one with a dot, to the
            function's own.
        acts: Functions that leave no state and are called for the user to see it: that somebody
            knows already what they give does not do instead.
    """

    Config: ClassVar[type]
    RENAMED: ClassVar[Mapping[str, str]] = {}
    FIELDS: ClassVar[Mapping[str, Any]] = {}
    _BFCL_FIELDS: ClassVar[Mapping[str, Any]] = {}
    KEYS: ClassVar[Mapping[str, str]] = {}
    TOOLS: ClassVar[Mapping[str, Tool]] = {}
    beyond_bfcl: ClassVar[frozenset[str]] = frozenset()
    unordered: ClassVar[frozenset[str]] = frozenset()
    aliases: ClassVar[Mapping[str, str]] = {}
    acts: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        """Collect state fields and functions.

        Raises:
            TypeError: A function's parameter has no type, or one that JSON cannot express.
        """
        cls.FIELDS = {
            name: getattr(cls, name)
            for name, kind in cls.__annotations__.items()
            if not _is_class_variable(kind)
        }
        # A dict that something was deleted from is copied slowly, and a fork is a copy.
        cls._BFCL_FIELDS = {n: v for n, v in cls.FIELDS.items() if n not in cls.beyond_bfcl}
        cls.KEYS = {
            key: field
            for key in cls.Config.__annotations__
            if (field := cls.RENAMED.get(key, key)) in cls.FIELDS
        }
        cls.TOOLS = {
            name: Tool(name, cls.__name__, _as_called(cls, member), *member.__dict__["_tool"])
            for name, member in vars(cls).items()
            if callable(member) and "_tool" in getattr(member, "__dict__", {})
        }

    @classmethod
    def load(
        cls, config: Mapping[str, Any], pack: Pack | None = None, behaviour: Behaviour = OWN
    ) -> Self:
        """Make a backend in the state that an initial config describes.

        A key that is given is taken as it is, one that is absent gets its default, an unknown one
        is ignored; ``check_config`` is what finds fault. Loading copies, so that the config and the
        state share nothing.

        Args:
            config: The initial config of this backend.
            pack: Bulky material to mix in, or None.
            behaviour: Where it does as BFCL's backend.
        """
        self = cls()
        self.__dict__.update(cls.FIELDS if behaviour.keeps_all else cls._BFCL_FIELDS)
        for key, value in copy_json(config).items():
            if key in cls.KEYS:
                setattr(self, cls.KEYS[key], value)
        self._load(config, pack)
        if not behaviour.draws_in_sequence:
            for name, value in self.__dict__.items():
                if isinstance(value, RandomStream):
                    self.__dict__[name] = value._replace(by_occasion=True)
        return self

    def _load(self, config: Mapping[str, Any], pack: Pack | None) -> None:
        """Derive what is not taken over literally; for backends to override."""

    def _keeps(self, field: str) -> bool:
        """Tell whether this session has a field that BFCL's does not."""
        return field in self.__dict__

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the broken references of a well-typed config; for backends to override.

        Yields:
            JSON path below the backend's own config, starting with ``.`` or ``[``, and message.
        """
        yield from ()

    @classmethod
    def check_config(cls, config: object) -> list[ConfigProblem]:
        """Return every unknown key, wrong type and broken reference of an initial config."""
        problems = schema.check_config(cls.__name__, cls.Config, config)
        if problems or not isinstance(config, Mapping):
            return problems
        root = f"$.{cls.__name__}"
        try:
            return [ConfigProblem(root + path, message) for path, message in cls.references(config)]
        except Exception as error:  # an author's hook may raise anything
            said = f"references broke with {type(error).__name__}: {error} ({raised_at(error)})"
            return [ConfigProblem(root, said)]

    def fork(self) -> Self:
        """Return an independent copy: nothing done to one is seen by the other."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy


def _as_called(backend: type[Backend], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method as it is called with a model's arguments: pydantic models are made first."""
    if not takes_models(backend.__name__, function):
        return function

    @wraps(function)
    def call(live: Backend, *args: Any, **kwargs: Any) -> Any:
        tool = live.TOOLS[function.__name__]
        return function(live, **schema.check_arguments(tool, args, kwargs))

    return call


def _is_class_variable(annotation: object) -> bool:
    # Annotations are text in a module with postponed evaluation, objects otherwise.
    return str(annotation).startswith(("ClassVar", "typing.ClassVar")) or (
        get_origin(annotation) is ClassVar
    )


def copy_json(value: Any) -> Any:
    """Return a copy of plain data that shares no list and no dict with the original.

    Raises:
        ValueError: The data holds something that is not plain, or is nested too deep.
    """
    return marshal.loads(marshal.dumps(value))


def random_stream(config: Mapping[str, Any], default_seed: int) -> RandomStream:
    """Return the private generator that a config asks for by its key ``random_seed``.

    Raises:
        TypeError: The seed is not an integer; null, for one, would be another seed in every run.
    """
    seed = config.get("random_seed", default_seed)
    if not isinstance(seed, int):
        raise TypeError(f"random_seed must be an integer, not {seed!r}")
    return RandomStream(seed)
