"""The hook by which a feature outside the core takes part in commands, runs and pages.

Our own extensions are the folders of ``extensions/``, each with a module ``extension`` that has one
``EXTENSION``; an installed package offers its own by the entry-point group named ``GROUP``. Nothing
of an extension is imported before a command, an option, a run or an entry needs it.

This module names types of every room in its annotations and imports none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from envs.lazy import lazily
from trajectories.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from importlib import metadata

    from runner.episodes.allowance import Allowance
    from runner.live.workers import Workers
else:
    # Only asked for a name that is none of ours.
    metadata = lazily("importlib.metadata")

GROUP = "turnwise.extensions"
"""Entry-point group of extensions of other packages."""

_OWN = __name__.removesuffix("runner.extension") + "extensions"
"""In a wheel, all packages are within ``turnwise``."""

JsonObject = Mapping[str, Any]


class Command(NamedTuple):
    """One command, as the help shows it."""

    group: str
    """Heading under which the help lists it."""
    text: str
    """What it does, in one sentence."""
    module: str = ""
    """Dotted name of its module; a core command's follows from its name."""


class Extension:
    """A feature outside the core. Subclasses override what they take part in."""

    name: ClassVar[str]
    """The name of its folder; run definitions and records have its members under it."""
    commands: ClassVar[Mapping[str, Command]] = {}
    """Its commands, by what the user types."""

    def engine(self, address: str | None, workers: int | None, allowance: Allowance) -> Workers:
        """Return the workers that run and judge episodes where ``--engine`` has its name.

        Raises:
            DataError: It has none, or they cannot be had.
        """
        raise DataError("--engine", f"{self.name} runs no episodes")


def extensions() -> Mapping[str, Extension]:
    """Return all extensions by name, ours first.

    Raises:
        DataError: An installed one cannot be imported, or has the name of another.
    """
    return {name: named(name) for name in (*own_names(), *_installed())}


def named(name: str) -> Extension:
    """Return the extension of a name.

    Raises:
        DataError: There is none, or it cannot be imported.
    """
    if name in own_names():
        return _own(name)
    if name not in _installed():
        known = [*own_names(), *_installed()]
        raise DataError("extension", f"{name!r:.80} is not installed{did_you_mean(name, known)}")
    return _loaded(name)


@cache
def own_names() -> tuple[str, ...]:
    """Return the names of our own extensions."""
    names: tuple[str, ...] = import_module(_OWN).NAMES
    return names


@cache
def _own(name: str) -> Extension:
    extension: Extension = import_module(f"{_OWN}.{name}.extension").EXTENSION
    return extension


@cache
def _installed() -> Mapping[str, metadata.EntryPoint]:
    points = {point.name: point for point in metadata.entry_points(group=GROUP)}
    for name in own_names():
        if name in points:
            raise DataError("extension", f"{points[name].value} has the name of our own {name}")
    return dict(sorted(points.items()))


@cache
def _loaded(name: str) -> Extension:
    point = _installed()[name]
    try:
        found = point.load()
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise DataError(
            f"extension {name}", f"{point.value} cannot be imported: {said:.300}"
        ) from error
    if not isinstance(found, Extension):
        raise DataError(f"extension {name}", f"{point.value} is not an Extension")
    return found
