"""I1 to I3: over which backends an instruction goes, by groups that are data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from extensions.authoring.graph.graph import Graph
from runner.models.prompting import read_texts
from trajectories.errors import DataError, did_you_mean

GROUPS = Path(__file__).parents[3] / "configs" / "generation" / "groups.toml"
_TABLES = ("categories", "collections")
_SIZES = (2, 3)
"""How many backends an instruction over several has."""


class InstructionKind(StrEnum):
    """Over how much an instruction goes, under the names of ToolLLM."""

    I1 = "I1"
    """One backend."""
    I2 = "I2"
    """Two or three backends of one category."""
    I3 = "I3"
    """Two or three backends of one collection."""


class Groups(NamedTuple):
    """Which backends belong together."""

    categories: Mapping[str, tuple[str, ...]]
    """Alike in what they are about."""
    collections: Mapping[str, tuple[str, ...]]
    """Met in one errand."""
    sha256: str
    """Hash of the file, in hex."""

    def of(self, kind: InstructionKind) -> Mapping[str, tuple[str, ...]]:
        """Return the groups that a kind draws from."""
        if kind is InstructionKind.I1:
            return {**self.collections, **self.categories}
        return self.categories if kind is InstructionKind.I2 else self.collections

    def hold(self, kind: InstructionKind, backends: Sequence[str]) -> bool:
        """Tell whether an entry with these backends is of a kind."""
        if kind is InstructionKind.I1:
            return len(backends) == 1
        return len(backends) in _SIZES and any(
            set(backends) <= set(members) for members in self.of(kind).values()
        )


class Focus(NamedTuple):
    """Where an instruction is drawn from."""

    group: str
    backends: tuple[str, ...]


def read_groups(path: Path, graph: Graph) -> Groups:
    """Read a file of groups.

    Raises:
        DataError: It cannot be read, or names a backend that the function graph has not.
    """
    tables, digest = read_texts(path)
    for name in tables:
        if name not in _TABLES:
            raise DataError(f"{path}: {name}", f"unknown; there are [{'] and ['.join(_TABLES)}]")
    known = tuple(next(iter(graph.worlds.values())))
    categories, collections = [
        _table(tables.get(name, {}), known, f"{path}: [{name}]") for name in _TABLES
    ]
    return Groups(categories, collections, digest)


def _table(table: object, known: Sequence[str], where: str) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(table, dict):
        raise DataError(where, "must be a table of lists of backends")
    for name, members in table.items():
        if not isinstance(members, list) or not members:
            raise DataError(f"{where} {name}", "must be a list of backends")
        for member in members:
            if member not in known:
                near = did_you_mean(str(member), known) or f"; there are {', '.join(known)}"
                raise DataError(f"{where} {name}", f"there is no backend {member!r:.60}{near}")
        if len({*members}) < len(members):
            raise DataError(f"{where} {name}", "names a backend twice")
    return {name: tuple([b for b in known if b in members]) for name, members in table.items()}


def focuses(kind: InstructionKind, groups: Groups, graph: Graph) -> list[Focus]:
    """Return where instructions of a kind can be drawn from, each choice of backends once.

    Raises:
        DataError: There is nothing: no group is large enough, or nothing leads from one to another.
    """
    found: dict[tuple[str, ...], Focus] = {}
    for group, members in groups.of(kind).items():
        for size in (1,) if kind is InstructionKind.I1 else _SIZES:
            for backends in combinations(members, size):
                if not _is_apart(backends, graph):
                    found.setdefault(backends, Focus(group, backends))
    if found:
        return [*found.values()]
    what = "category" if kind is InstructionKind.I2 else "collection"
    if kind is InstructionKind.I1:
        raise DataError("--kind", "I1: no group has a backend whose results lead to its arguments")
    pairs = [pair for m in groups.of(kind).values() for pair in combinations(m, 2)]
    if not pairs:
        raise DataError("--kind", f"{kind}: no {what} has two backends")
    without = ", ".join(f"{a} and {b}" for a, b in pairs)
    raise DataError("--kind", f"{kind}: no {what} has a path; without an edge: {without}")


def _is_apart(backends: Sequence[str], graph: Graph) -> bool:
    """Tell whether no edge joins some backend to the first, directly or through others."""
    first, *others = backends
    if not others:
        return not graph.pairs[first, first]
    joined, left = {first}, {*others}
    while near := {b for b in left for a in joined if graph.pairs[a, b] or graph.pairs[b, a]}:
        joined |= near
        left -= near
    return bool(left)
