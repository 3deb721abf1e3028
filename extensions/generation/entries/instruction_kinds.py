"""Kinds of instructions (I1 to I3), and the groups of backends that each kind may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from envs.errors import DataError, suggest_name
from extensions.authoring.graph.graph import Graph
from runner.models.prompting import read_texts

GROUPS = Path(__file__).parents[3] / "configs" / "generation" / "groups.toml"
_TABLES = ("categories", "collections")
_SIZES = (2, 3)
"""An instruction of kind I2 or I3 uses two or three backends."""


class InstructionKind(StrEnum):
    """Kind of an instruction, by the backends that it uses. ToolLLM uses the same names."""

    I1 = "I1"
    """One backend."""
    I2 = "I2"
    """Two or three backends from the same category."""
    I3 = "I3"
    """Two or three backends from the same collection."""


class BackendGroups(NamedTuple):
    """Named groups of backends."""

    categories: Mapping[str, tuple[str, ...]]
    """Backends of the same topic."""
    collections: Mapping[str, tuple[str, ...]]
    """Backends that serve the same purpose."""
    sha256: str

    def of(self, kind: InstructionKind) -> Mapping[str, tuple[str, ...]]:
        """Return the groups of backends that an instruction of this kind can use."""
        if kind is InstructionKind.I1:
            return {**self.collections, **self.categories}
        return self.categories if kind is InstructionKind.I2 else self.collections

    def hold(self, kind: InstructionKind, backends: Sequence[str]) -> bool:
        """Tell whether an instruction of this kind may use these backends."""
        if kind is InstructionKind.I1:
            return len(backends) == 1
        return len(backends) in _SIZES and any(
            set(backends) <= set(members) for members in self.of(kind).values()
        )


class InstructionBackends(NamedTuple):
    """Group and backends of an instruction."""

    group: str
    backends: tuple[str, ...]


def read_groups(path: Path, graph: Graph) -> BackendGroups:
    """Read a file that defines groups of backends.

    Raises DataError if the file cannot be read, or contains an unknown backend.
    """
    tables, digest = read_texts(path)
    for name in tables:
        if name not in _TABLES:
            message = f"is not a known table; use [{'] and ['.join(_TABLES)}]"
            raise DataError(f"{path}: {name}", message)
    known = tuple(next(iter(graph.worlds.values())))
    categories, collections = [
        _check_table(tables.get(name, {}), known, f"{path}: [{name}]") for name in _TABLES
    ]
    return BackendGroups(categories, collections, digest)


def _check_table(table: object, known: Sequence[str], where: str) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(table, dict):
        raise DataError(where, "must be a table; each value must be a list of backends")
    for name, members in table.items():
        if not isinstance(members, list) or not members:
            raise DataError(f"{where} {name}", "must be a list of backends")
        for member in members:
            if member not in known:
                near = suggest_name(str(member), known) or f"; there are {', '.join(known)}"
                raise DataError(f"{where} {name}", f"unknown backend {member!r:.60}{near}")
        if len({*members}) < len(members):
            raise DataError(f"{where} {name}", "names a backend twice")
    return {name: tuple([b for b in known if b in members]) for name, members in table.items()}


def list_focuses(
    kind: InstructionKind, groups: BackendGroups, graph: Graph
) -> list[InstructionBackends]:
    """Return the sets of backends that an instruction may use.

    The backends of a set are connected by edges.

    Raises DataError if no group contains enough backends with edges between them.
    """
    found: dict[tuple[str, ...], InstructionBackends] = {}
    for group, members in groups.of(kind).items():
        for size in (1,) if kind is InstructionKind.I1 else _SIZES:
            for backends in combinations(members, size):
                if not _is_apart(backends, graph):
                    found.setdefault(backends, InstructionBackends(group, backends))
    if found:
        return [*found.values()]
    if kind is InstructionKind.I1:
        raise DataError(
            "--kind",
            "I1: no backend has a function that uses another function's result; use another kind",
        )
    pairs = [pair for m in groups.of(kind).values() for pair in combinations(m, 2)]
    if not pairs:
        table = "category" if kind is InstructionKind.I2 else "collection"
        message = f"{kind}: no {table} has two backends; choose other groups with --groups"
        raise DataError("--kind", message)
    without = ", or ".join(f"{a} and {b}" for a, b in pairs)
    message = f"{kind}: no edge connects the backends {without}; choose other groups with --groups"
    raise DataError("--kind", message)


def _is_apart(backends: Sequence[str], graph: Graph) -> bool:
    first, *others = backends
    if not others:
        return not graph.pairs[first, first]
    joined, left = {first}, {*others}
    while near := {b for b in left for a in joined if graph.pairs[a, b] or graph.pairs[b, a]}:
        joined |= near
        left -= near
    return bool(left)
