"""Names that only run late: in strings that other processes run, on pages, and in slow tests.

A rename does not break them while `make test` runs, so this file looks the names up.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest

from tests.blocks import blocks_of
from tests.source import PACKAGES, ROOT, parsed

FOLDERS = (*PACKAGES, "turnwise", "tests", "tools")
_OURS = rf"(?:{'|'.join(FOLDERS)})"
IMPORT = re.compile(rf"\b(?:from|import) {_OURS}\b")
DOTTED = re.compile(rf"{_OURS}(?:\.\w+)+")
RUNS_LATE = re.compile(
    rf"mark\.slow|[\"'].*{IMPORT.pattern}|^[^\s\"].*[\"']{{3}}(?:\\\n)?$|attr\(\s*[\"']{_OURS}\.",
    re.MULTILINE,
)
"""What a file of tests has that must be read here."""
SHOWN = sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("e*/**/README.md")))


def file_of(module: str) -> Path | None:
    """Return the file or folder of a module of the checkout."""
    if module == "turnwise.testing":
        return ROOT / "configs" / "packaging" / "testing.py"
    path = ROOT / (module.removeprefix("turnwise.") if module != "turnwise" else "runner").replace(
        ".", "/"
    )
    found = (path.with_suffix(".py"), path / "__init__.py", path)
    return next((file for file in found if file.exists()), None)


@cache
def names_of(module: str) -> frozenset[str]:
    """Return the names that a module binds, outside functions and classes, and its submodules."""
    file = file_of(module)
    assert file, module
    folder = file if file.is_dir() else file.parent if file.name == "__init__.py" else None
    names = {path.stem for path in folder.iterdir()} if folder else set()
    left: list[ast.AST] = [] if file.is_dir() else [parsed(file)]
    while left:
        node = left.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            names |= names_of(node.module or "")
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name):
            names |= {node.id} if isinstance(node.ctx, ast.Store) else set()
        elif isinstance(node, (ast.stmt, ast.Module, ast.excepthandler, ast.Tuple, ast.List)):
            left += ast.iter_child_nodes(node)
    return frozenset(names)


def is_there(name: str) -> bool:
    """Tell whether a dotted name is a module, or a name in one, of whose members nothing is told."""
    above, _, last = name.rpartition(".")
    if file_of(name) or not above:
        return True
    if file_of(above):
        return last in names_of(above) or "__getattr__" in names_of(above) - {"__all__"}
    return is_there(above)
