"""Registry of backends: BFCL's eight backends, further backends of Turnwise, and users' backends.

To offer a backend, a package declares an entry point in the group ``turnwise.environments``. The
entry point has the name of the backend's class. Entry points are searched only if a name is
unknown, or to list all backends. For other classes, call ``register`` or use ``module:Class``.
"""

from __future__ import annotations

import inspect
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import envs
from envs import more as further
from envs.backend import Backend, BfclDeviations
from envs.errors import ConfigError, ConfigProblem, DataError, describe_exception, require_type
from envs.lazy_modules import lazy_module
from envs.tool import Tool, locate_error

if TYPE_CHECKING:
    import difflib
    from importlib import metadata

    from envs import long_context
else:
    # Only needed for errors, other packages and long-context material.
    difflib, metadata = lazy_module("difflib"), lazy_module("importlib.metadata")
    long_context = lazy_module(".long_context", __package__)

BackendClass = TypeVar("BackendClass", bound=type[Backend])

ENTRY_POINT_GROUP = "turnwise.environments"
_OURS = "turnwise"
# A distribution reads its metadata again at each access.
_read_name = cache(attrgetter("name"))

_MODULES = {
    "GorillaFileSystem": "file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message",
    "TwitterAPI": "twitter",
    "TicketAPI": "ticket",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}


class _LazyBackends(Mapping[str, type[Backend]]):
    def __init__(self) -> None:
        self._loaded: dict[str, type[Backend]] = {}

    def __getitem__(self, name: str) -> type[Backend]:
        if name not in self._loaded:
            module = import_module(f"{__package__}.backends.{_MODULES[name]}")
            self._loaded[name] = vars(module)[name]
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in _MODULES

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


BACKENDS: Mapping[str, type[Backend]] = _LazyBackends()
"""BFCL's backends by name. The built-in data set uses these backends."""


@cache
def load_more() -> Mapping[str, type[Backend]]:
    """Map names to the environments of ``envs/more/``."""
    return _list_backends(further)


@cache
def load_library() -> Mapping[str, type[Backend]]:
    """Map names to the environments of our extensions, in the order of their modules."""
    points = [point for found in _list_installed().values() for point in found]
    ours = [point for point in points if _package_name(point) == _OURS]
    ours.sort(key=lambda point: point.module.rpartition(".")[2])
    return {point.name: _import_installed(point.name) for point in ours}


def _list_backends(package: ModuleType) -> Mapping[str, type[Backend]]:
    files = sorted(Path(package.__path__[0]).glob("[!_]*.py"))
    modules = [import_module(f"{package.__name__}.{file.stem}") for file in files]
    return {
        name: member
        for module in modules
        for name, member in vars(module).items()
        if isinstance(member, type)
        and issubclass(member, Backend)
        and member.__module__ == module.__name__
    }


def names() -> list[str]:
    """Return the names of all environments, Turnwise's own first.

    Raises ConfigError if two environments have the same name.
    """
    installed = _list_installed()
    for name in installed:
        _get_only_point(name)
    others = sorted({*installed} - {*load_library()})
    return [*BACKENDS, *load_more(), *load_library(), *others, *_REGISTERED]


_REGISTERED: dict[str, type[Backend]] = {}


def register(backend: BackendClass) -> BackendClass:
    """Register a backend under its class's name for this process; also usable as a decorator.

    A class that is defined again in the same place, as in a notebook, replaces the old class.
    Raises ConfigError if another backend has the name, or DataError if the class is not a backend.
    """
    if not (isinstance(backend, type) and issubclass(backend, Backend)):
        raise DataError("backend", f"must be a subclass of Backend, but is {backend!r:.60}")
    name = backend.__name__
    known = _REGISTERED.get(name)
    is_same = known is not None and (
        (known.__module__, known.__qualname__) == (backend.__module__, backend.__qualname__)
    )
    if not is_same and (known or name in {*BACKENDS, *load_more(), *_list_installed()}):
        raise _make_error(name, "another backend has this name; rename the class")
    _REGISTERED[name] = backend
    for known_names in (with_worlds, list_tools, list_irreversible, _find_clashes):
        known_names.cache_clear()
    return backend


def backend_class(name: str) -> type[Backend]:
    """Return the backend class that has this name or this path (``module:Class``).

    Raises ConfigError if the name is unknown or ambiguous, or the backend cannot be imported.
    """
    if name in BACKENDS:
        return BACKENDS[name]
    require_type("backend", name, str, described="the name of a backend")
    ours = load_more().get(name) or _REGISTERED.get(name)
    if ours:
        return ours
    if name in _list_installed():
        return _import_installed(name)
    if ":" in name:
        return _import_path(name)
    close = difflib.get_close_matches(name[:100], names(), n=1)
    advice = f"did you mean {close[0]}?" if close else f"known backends are {', '.join(names())}."
    raise _make_error(
        name,
        f"unknown backend; {advice} To use your own backend, write module:Class, call "
        f"turnwise.register, or install a package with an entry point in {ENTRY_POINT_GROUP}",
    )


@cache
def _import_path(name: str) -> type[Backend]:
    backend = import_local(name)
    if not (isinstance(backend, type) and issubclass(backend, Backend)):
        module_name, _, class_name = name.partition(":")
        raise _make_error(name, f"{module_name} has no subclass of Backend named {class_name!r}")
    return backend


def import_local(name: str) -> object:
    """Return the attribute at ``module:name``, or None if the module lacks the attribute.

    Data sets are untrusted, so modules are loaded only from the current folder. Raises ConfigError
    for other modules.
    """
    module_name, _, member = name.partition(":")
    module = sys.modules.get(module_name)
    if module is None:
        here = str(Path.cwd())
        if PathFinder.find_spec(module_name.partition(".")[0], [here]) is None:
            advice = "start the command in the folder of the module, or import the module first"
            raise _make_error(name, f"no module {module_name} in the current folder; {advice}")
        if here not in sys.path:
            sys.path.append(here)
        try:
            module = import_module(module_name)
        except (Exception, SystemExit) as error:
            raise _make_import_error(name, module_name, error) from error
    return vars(module).get(member)


def is_usable(name: str) -> bool:
    """Tell whether a backend exists and can be imported."""
    try:
        return bool(backend_class(name))
    except ConfigError:
        return False


def forget_installed() -> None:
    """Clear the caches of installed packages."""
    for found in (_list_installed, _import_installed, _read_name, load_library):
        found.cache_clear()


@cache
def _list_installed() -> Mapping[str, Sequence[metadata.EntryPoint]]:
    found: dict[str, list[metadata.EntryPoint]] = defaultdict(list)
    for point in metadata.entry_points(group=ENTRY_POINT_GROUP):
        found[point.name].append(point)
    return dict(found)


@cache
def _import_installed(name: str) -> type[Backend]:
    point = _get_only_point(name)
    try:
        backend = point.load()
    except (Exception, SystemExit) as error:
        raise _make_import_error(name, _package_name(point), error) from error
    if not (isinstance(backend, type) and issubclass(backend, Backend)):
        raise _make_error(
            name, f"{point.value} of {_package_name(point)} is not a subclass of Backend"
        )
    if (made := backend.__name__) != name:
        said = f"provides the class {made}; rename the entry point to {made}"
        raise _make_error(name, f"{_package_name(point)} {said}")
    return backend


def _get_only_point(name: str) -> metadata.EntryPoint:
    points = _list_installed()[name]
    ours = [_OURS] if name in {*BACKENDS, *load_more()} else []
    packages = [*ours, *map(_package_name, points)]
    if len(packages) > 1:
        listed = ", ".join(packages)
        raise _make_error(name, f"is in more than one package; keep only one of {listed}")
    return points[0]


def _package_name(point: metadata.EntryPoint) -> str:
    return str(_read_name(point.dist)) if point.dist else point.value


def _make_error(name: str, message: str) -> ConfigError:
    return ConfigError([ConfigProblem(f"$.{name}", message)])


def _make_import_error(name: str, source: str, error: BaseException) -> ConfigError:
    said = describe_exception(error)
    said += "" if ".py" in said else f" ({locate_error(error)})"
    return _make_error(name, f"{source} cannot be imported: {said}")


@cache
def with_worlds(environments: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of backends, followed by the names of the worlds that they use.

    Raises ConfigError if another backend has the name of a world.
    """
    classes = [backend_class(name) for name in environments if is_usable(name)]
    names = [*environments]
    for backend in classes:
        for world in backend.uses:
            if world not in classes:
                name = world.__name__
                if not is_usable(name) or backend_class(name) is not world:
                    register(world)
                classes.append(world)
                names += [] if name in names else [name]
    return tuple(names)


@cache
def list_tools(environments: tuple[str, ...]) -> Mapping[str, Tool]:
    """Map names and aliases to the functions of backends; later backends override earlier ones."""
    tools: dict[str, Tool] = {}
    for environment in with_worlds(environments):
        backend = backend_class(environment)
        own = {n: tool._replace(backend=environment) for n, tool in backend.TOOLS.items()}
        tools |= own
        tools |= {alias: own[name]._replace(name=alias) for alias, name in backend.aliases.items()}
    return tools


@cache
def list_irreversible(environments: tuple[str, ...]) -> frozenset[str]:
    """Return the irreversible functions of several backends."""
    return frozenset(name for name, tool in list_tools(environments).items() if tool.irreversible)


_ROOT = Path(envs.__file__).resolve().parents[1]


def get_file_folder(backend: type[Backend], ours: Path) -> Path:
    """Return ``ours`` for a built-in backend, or the folder of another backend's module."""
    beside = Path(inspect.getfile(backend)).parent
    return ours if backend.__module__.startswith(f"{envs.__name__}.") else beside


def get_example_file(backend: type[Backend]) -> Path:
    """Return the path of a backend's example config; the file can be missing."""
    return get_file_folder(backend, _ROOT / "configs" / "initial") / f"{backend.__name__}.json"


_USUAL_FLAGS = ((False, None, None), (True, None, None))


def check_args(
    environments: object, config: object, pack: object, behaviour: object, *flags: object
) -> None:
    """Raise DataError unless all parameters of a session have the right types.

    The flags are ``tolerant``, ``checks_arguments`` and ``checks_config``.
    """
    # A loop, since this runs at every reset and a generator takes three times as long.
    for name in environments if isinstance(environments, (list, tuple)) else [None]:
        if not isinstance(name, str):
            wanted = f'must be a list such as ["TicketAPI"], but is {environments!r:.60}'
            raise DataError("environments", wanted)
    if not isinstance(config, (dict, Mapping)):  # faster for a dict
        raise DataError("config", f"must map environments to configs, but is {config!r:.60}")
    if pack is not None:
        kind = long_context.LongContextPack
        require_type("pack", pack, kind, described="a LongContextPack or None")
    if behaviour is not None and type(behaviour) is not BfclDeviations:
        raise DataError("behaviour", f"must be a BfclDeviations or None, but is {behaviour!r:.60}")
    for place, flag in enumerate(() if flags in _USUAL_FLAGS else flags):
        if flag is not None and flag is not True and flag is not False:
            name = ("tolerant", "checks_arguments", "checks_config")[place]
            raise DataError(name, f"must be True or False, but is {flag!r:.60}")


def check_config(environments: Sequence[str], config: Mapping[str, Any]) -> list[ConfigProblem]:
    """Return all errors of a trajectory's initial config; unknown backends come first."""
    environments = with_worlds(tuple(environments))
    problems = [
        ConfigProblem(f"$.{name}", f"is not a backend of this session: {', '.join(environments)}")
        for name in config
        if name not in environments
    ]
    for name in environments:
        try:
            problems += backend_class(name).check_config(config.get(name, {}))
        except ConfigError as error:
            problems = [*error.problems, *problems]
    return problems or [*_find_clashes(tuple(environments))]


@cache
def _find_clashes(environments: tuple[str, ...]) -> Sequence[ConfigProblem]:
    owners: dict[str, str] = {}
    clashes = []
    for name in environments:
        for tool in backend_class(name).TOOLS:
            other = owners.setdefault(tool, name)
            if other != name:
                message = f"{other} in the same session also has the function {tool}; rename one"
                clashes.append(ConfigProblem(f"$.{name}", message))
    return clashes


def load_backend(
    name: str, config: Any, pack: long_context.LongContextPack | None, behaviour: BfclDeviations
) -> Backend:
    """Load one backend from a config, even if the config was not checked.

    Raises ConfigError if the backend cannot be loaded.
    """
    backend = backend_class(name)
    try:
        return backend.load(config, pack, behaviour)
    except (ConfigError, KeyboardInterrupt):
        raise
    except BaseException as error:  # an author's _load may raise anything
        problems = backend.check_config(config)
        said = f"loading raised {describe_exception(error)} ({locate_error(error)})"
        raise ConfigError(problems or [ConfigProblem(f"$.{name}", said)]) from error
