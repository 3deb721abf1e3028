"""Names in code that `make test` does not run, which a rename could break unseen."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from textwrap import dedent

import pytest

from envs.errors import DataError
from tests.blocks import blocks_of
from tests.source import PACKAGES, ROOT, parsed

OURS = rf"(?:{'|'.join((*PACKAGES, 'turnwise', 'tests', 'tools'))})\b"
IMPORT = re.compile(rf"\b(?:from|import) {OURS}")
_IN_STRING = rf"[\"'].*{IMPORT.pattern}|[=(,]\s*f?\"{{3}}(?:(?!\"{{3}})[\s\S])*{IMPORT.pattern}"
HAS_LATE_CODE = re.compile(rf"mark\.slow|{_IN_STRING}")
_OPTIONS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]
LEFT_OUT = [ROOT / name for name in _OPTIONS["ini_options"]["norecursedirs"] if "/" in name]
"""Folders with tests that need other libraries."""
PATCHES = {"delattr", "setattr"}
INVENTED = {"runner.show.other", "runner.show.table", "runner.show.table.lines"}
"""Names in examples of `test_rooms.py`."""
UNKNOWN_NAMES = {
    "import runner.nothing": ["runner.nothing"],
    "from envs.calls import Cal": ["envs.calls.Cal"],
    "import turnwise\nturnwise.Session.execut": ["turnwise.Session.execut"],
    "from envs import calls as c\nx.setattr(c, 'Cal', 1)": ["envs.calls.Cal"],
    "x.setattr('envs.calls.Cal', 1)": ["envs.calls.Cal"],
    "from envs import calls\ndef f(calls):\n    calls.nothing": [],
    "from os import path\npath.nothing": [],
}


def programs_in(tree: ast.Module) -> Iterator[ast.Module]:
    """Yield the syntax trees of the programs in the strings of a program."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            values = [part.value if isinstance(part, ast.Constant) else "x" for part in parts]
            program = "".join(value for value in values if isinstance(value, str))
            if IMPORT.search(program):
                try:
                    yield ast.parse(dedent(program))
                except SyntaxError:
                    # The string is a part of a program or a pattern.
                    continue


def late_programs() -> Iterator[tuple[str, ast.Module]]:
    """Yield the programs that the quick tests may not run, each with its file."""
    for path in sorted({*(ROOT / "tests").rglob("*.py")} - {Path(__file__)}):
        text = path.read_text(encoding="utf-8")
        is_left_out = any(path.is_relative_to(folder) for folder in LEFT_OUT)
        if is_left_out or HAS_LATE_CODE.search(text):
            tree = parsed(path)
            slow = [tree] if is_left_out or "mark.slow" in text else []
            yield from ((path.name, each) for each in (*slow, *programs_in(tree)))
    pages = chain(
        ROOT.glob("*.md"), *((ROOT / name).rglob("*.md") for name in ("docs", "examples"))
    )
    for path in sorted((*pages, *(ROOT / "extensions").rglob("*.md"))):
        for block in blocks_of(path.read_text(encoding="utf-8")):
            lines = re.findall(r"^(?:>>>|\.\.\.) ?(.*)", block.text, re.MULTILINE)
            if block.language in {"pycon", "python"} and IMPORT.search(block.text):
                code = "\n".join(lines) if block.language == "pycon" else block.text
                yield path.name, ast.parse(code)


def dotted(node: ast.AST) -> str:
    """Return a name with its attributes, or an empty string for another expression."""
    if isinstance(node, ast.Attribute):
        return f"{inner}.{node.attr}" if (inner := dotted(node.value)) else ""
    return node.id if isinstance(node, ast.Name) else ""


def names_in(tree: ast.Module) -> Iterator[str]:
    """Yield the full names that a program takes from modules of the project."""
    full_names: dict[str, str] = {}
    assigned = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            above = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                name = alias.asname or (alias.name if above else alias.name.partition(".")[0])
                full_names[name] = above + alias.name if above or alias.asname else name
                yield above + alias.name
        elif isinstance(node, ast.arg):
            assigned.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            assigned.add(node.id)
    for node in ast.walk(tree):
        name = dotted(node) if isinstance(node, ast.Attribute) else ""
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in PATCHES:
            match node.args:
                case [ast.Constant(str(target)), *_]:
                    name = target
                case [ast.Name() | ast.Attribute() as target, ast.Constant(str(attribute)), *_]:
                    name = f"{dotted(target)}.{attribute}"
        root, _, rest = name.partition(".")
        if rest and root not in assigned:
            yield f"{full_names.get(root, root)}.{rest}"


def is_defined(name: str) -> bool:
    """Tell whether a full name exists; of modules that need missing libraries, read the source."""
    try:
        resolve_name(name)
    except DataError:
        # The module says which library is missing.
        return True
    except (AttributeError, ImportError):
        parts = name.split(".")
        for length in range(len(parts), 1, -1):
            path = ROOT.joinpath(*parts[:length]).with_suffix(".py")
            if path.is_file():
                if length == len(parts):
                    return True
                defined = rf"^ *(?:class |(?:async )?def |(?:\w+, )*){parts[length]}\b"
                source = path.read_text(encoding="utf-8")
                return bool(re.search(defined, source, re.MULTILINE))
        return False
    return True


def unknown_names(names: Iterable[str]) -> list[str]:
    """Return those names of the project that no module defines."""
    ours = {name for name in names if re.match(OURS, name)} - INVENTED
    return sorted(name for name in ours if not is_defined(name))


@pytest.mark.parametrize("program", UNKNOWN_NAMES)
def test_unknown_names_are_found(program: str) -> None:
    assert unknown_names(names_in(ast.parse(program))) == UNKNOWN_NAMES[program]


def test_programs_are_found_in_strings() -> None:
    text = "f(f'from envs import {name}', 'import os', 'from envs import calls', 'import envs (')"
    assert [ast.unparse(tree) for tree in programs_in(ast.parse(text))] == [
        "from envs import x",
        "from envs import calls",
    ]


def test_names_in_late_code_exist() -> None:
    files: dict[str, str] = {}
    for file, tree in late_programs():
        files |= dict.fromkeys(names_in(tree), file)
    assert len(files) > 100
    assert [(files[name], name) for name in unknown_names(files)] == []
