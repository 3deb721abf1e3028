"""The backends there are: BFCL's eight, more of ours, and those of other packages.

A package offers a backend, under its class's name, by the entry-point group named ``GROUP``.
Installed packages are looked through only for a name that is none of ours, or when all are listed,
and nothing is imported because of a name: what there is, is listed first.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import envs
from envs import more as further
from envs.backend import Backend, Behaviour
from envs.errors import ConfigError, ConfigProblem
from envs.lazy import lazily
from envs.long_context import Pack
from envs.tool import Tool, raised_at

if TYPE_CHECKING:
    from importlib import metadata
else:
    # Only asked for names that are none of ours.
    metadata = lazily("importlib.metadata")

GROUP = "turnwise.environments"
"""Entry-point group of environments outside of this package."""
_OURS = "turnwise"

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
    """Backends by name, each imported when it is first asked for."""

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
"""BFCL's backends by name: what our data set, its graph and the comparisons are about."""


@cache
def more() -> Mapping[str, type[Backend]]:
    """Return the further environments of this repository by name: those of ``envs/more/``."""
    return _backends_in(further)


@cache
def library() -> Mapping[str, type[Backend]]:
    """Return the environments of our own extensions by name, in the order of their modules."""
    points = [point for found in _installed().values() for point in found]
    ours = [point for point in points if _package(point) == _OURS]
    return {point.name: _imported(point.name) for point in sorted(ours, key=_module)}


def _module(point: metadata.EntryPoint) -> str:
    return point.module.rpartition(".")[2]


def _backends_in(package: ModuleType) -> Mapping[str, type[Backend]]:
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
    """Return the names of all environments, ours first.

    Raises:
        ConfigError: Two of them have the same name.
    """
    installed = _installed()
    for name in installed:
        _only(name)
    return [*BACKENDS, *more(), *library(), *sorted({*installed} - {*library()})]


def backend_class(name: str) -> type[Backend]:
    """Return the backend of a name.

    Raises:
        ConfigError: There is no such backend, more than one, or it cannot be imported.
    """
    ours = BACKENDS.get(name) or more().get(name)
    if ours:
        return ours
    if name not in _installed():
        raise _problem(name, f"there is no such backend; there are {', '.join(names())}")
    return _imported(name)


def is_usable(name: str) -> bool:
    """Tell whether there is a backend of a name and it can be imported."""
    try:
        return bool(backend_class(name))
    except ConfigError:
        return False


def forget_installed() -> None:
    """Look for installed packages again, after one has come or gone while the program runs."""
    for found in (_installed, _imported, library):
        found.cache_clear()


@cache
def _installed() -> Mapping[str, Sequence[metadata.EntryPoint]]:
    found: dict[str, list[metadata.EntryPoint]] = defaultdict(list)
    for point in metadata.entry_points(group=GROUP):
        found[point.name].append(point)
    return dict(found)


@cache
def _imported(name: str) -> type[Backend]:
    point = _only(name)
    try:
        backend = point.load()
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise _problem(name, f"{_package(point)} cannot be imported: {said}") from error
    if not (isinstance(backend, type) and issubclass(backend, Backend)):
        raise _problem(name, f"{point.value} of {_package(point)} is no subclass of Backend")
    if backend.__name__ != name:
        advice = f"name its entry point {backend.__name__}"
        raise _problem(name, f"the class in {_package(point)} is {backend.__name__}; {advice}")
    return backend


def _only(name: str) -> metadata.EntryPoint:
    points = _installed()[name]
    ours = [_OURS] if name in {*BACKENDS, *more()} else []
    packages = [*ours, *map(_package, points)]
    if len(packages) > 1:
        listed = ", ".join(packages)
        raise _problem(name, f"is in more than one package; uninstall all but one of {listed}")
    return points[0]


def _package(point: metadata.EntryPoint) -> str:
    return point.dist.name if point.dist else point.value


def _problem(name: str, message: str) -> ConfigError:
    return ConfigError([ConfigProblem(f"$.{name}", message)])


@cache
def tools_of(environments: tuple[str, ...]) -> Mapping[str, Tool]:
    """Return the functions of several backends by name and alias; a later backend wins a clash."""
    tools: dict[str, Tool] = {}
    for backend in map(backend_class, environments):
        tools |= backend.TOOLS
        tools |= {a: backend.TOOLS[name]._replace(name=a) for a, name in backend.aliases.items()}
    return tools


@cache
def irreversible_of(environments: tuple[str, ...]) -> frozenset[str]:
    """Return the functions of several backends whose deeds no other one takes back."""
    return frozenset(name for name, tool in tools_of(environments).items() if tool.irreversible)


_ROOT = Path(envs.__file__).resolve().parents[1]


def file_folder(backend: type[Backend], ours: Path) -> Path:
    """Return the folder of a backend's files: beside its module, ``ours`` for one of ``envs``."""
    beside = Path(inspect.getfile(backend)).parent
    return ours if backend.__module__.startswith(f"{envs.__name__}.") else beside


def example_file(backend: type[Backend]) -> Path:
    """Return the path of a backend's example initial config, which not every backend has."""
    return file_folder(backend, _ROOT / "configs" / "initial") / f"{backend.__name__}.json"


def check_config(environments: Sequence[str], config: Mapping[str, Any]) -> list[ConfigProblem]:
    """Return every defect of a trajectory's initial config, in the order of the config."""
    problems = [
        ConfigProblem(f"$.{name}", f"is not a backend of this session: {', '.join(environments)}")
        for name in config
        if name not in environments
    ]
    for name in environments:
        try:
            problems += backend_class(name).check_config(config.get(name, {}))
        except ConfigError as error:
            problems += error.problems
    return problems


def load_backend(name: str, config: Any, pack: Pack | None, behaviour: Behaviour) -> Backend:
    """Load one backend, turning what an unchecked config may do to it into a ConfigError.

    Raises:
        ConfigError: It cannot be loaded.
    """
    backend = backend_class(name)
    try:
        return backend.load(config, pack, behaviour)
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:  # an author's _load may raise anything
        problems = backend.check_config(config)
        said = f"loading broke with {type(error).__name__}: {error} ({raised_at(error)})"
        raise ConfigError(problems or [ConfigProblem(f"$.{name}", said)]) from error
