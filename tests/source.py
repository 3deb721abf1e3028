"""The four packages as syntax trees, and what imports what: for the tests that hold their rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("envs", "checkers", "trajectories", "runner", "extensions")
"""Each may import itself and those to its left."""
HOOK = "runner/extension.py"
"""By which extensions take part."""


def parsed() -> Iterator[tuple[str, ast.Module]]:
    """Yield path and syntax tree of every module, one at a time."""
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of every module by its path: 120 MB, so for several tests only."""
    return dict(parsed())


def nodes() -> Iterator[tuple[str, str, ast.AST]]:
    """Yield path, place and node of every node of every module."""
    for path, tree in trees().items():
        for node in ast.walk(tree):
            yield path, f"{path}:{getattr(node, 'lineno', 0)}", node


def module_of(path: str) -> str:
    """Return the dotted name of the module at a path."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def modules(package: str) -> list[str]:
    """Return the dotted names of a package's modules."""
    return [module_of(path) for path in trees() if path.startswith(f"{package}/")]


def imported(node: ast.AST) -> list[str]:
    """Return the modules that a node imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return ["." * node.level + (node.module or "")]
    return []


def reached(node: ast.AST, known: frozenset[str], package: str) -> Iterator[str]:
    """Yield the known modules that a node reaches: imported, or named in a string to be imported.

    A name in a string may be relative to ``package``, the package of the module that has it.
    """
    names = imported(node)
    if isinstance(node, ast.ImportFrom):
        # ``from package import module`` reaches the module, and needs no more of the package.
        parts = {f"{node.module}.{alias.name}" for alias in node.names}
        names = sorted(parts & known) + (names if parts - known else [])
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
        names = [package + text] if text.startswith(".") else [text] if "." in text else []
    yield from (name for name in names if name in known)


@cache
def arrows() -> dict[tuple[str, str], str]:
    """Return who reaches whom among our modules, as pairs of dotted names, each with a place.

    An import inside a function, under TYPE_CHECKING or by name in a string counts like any other,
    but for the hook, whose annotations name types of all rooms.
    """
    known = frozenset(module_of(path) for path in trees())
    named = annotation_imports(trees()[HOOK])
    found = {}
    for path, place, node in nodes():
        own = module_of(path)
        if path == HOOK and node in named:
            continue
        package = path.rpartition("/")[0].replace("/", ".")
        for other in reached(node, known, package):
            found.setdefault((own, other), place)
    return found


def annotation_imports(tree: ast.Module) -> set[ast.AST]:
    """Return the imports of a module that only annotations need."""
    return {
        node
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
    }


def inner_imports() -> list[tuple[str, str]]:
    """Return place and module of every import inside a function."""
    found = set()
    for _, place, node in nodes():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            path = place.rpartition(":")[0]
            for inner in ast.walk(node):
                found |= {(f"{path}:{inner.lineno}", name) for name in imported(inner)}
    return sorted(found)
