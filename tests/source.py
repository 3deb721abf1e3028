"""The four packages as syntax trees, and what imports what: for the tests that hold their rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("envs", "checkers", "trajectories", "runner", "extensions")
"""Each may import itself and those to its left."""
HOOK = "runner/extension.py"
"""By which extensions take part."""


def paths() -> list[Path]:
    """Return the files of all modules."""
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


class Found(NamedTuple):
    """A node of a module."""

    path: str
    node: Any
    in_function: bool

    @property
    def place(self) -> str:
        """Return path and line."""
        return f"{self.path}:{self.node.lineno}"


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORTS = (ast.Import, ast.ImportFrom)
_KINDS = frozenset(
    (*FUNCTIONS, *IMPORTS, ast.Attribute, ast.Call, ast.ClassDef, ast.Constant, ast.Name)
)
"""The kinds that some rule is about."""
MANY = 7
"""Positional arguments of a call that a reader can no longer tell apart."""
SEARCHING = frozenset({"search", "findall", "finditer", "sub", "subn", "split"})
"""Methods of an expression that begin anew at every character."""
PATTERN_METHODS = SEARCHING | {"match", "fullmatch"}
_ATTRIBUTES = PATTERN_METHODS | {"system", "popen", "import_module"}


def _told_of(node: ast.AST) -> bool:
    """Tell whether a rule may concern a node; other nodes would take 120 MB.

    These are dotted strings without a space, names and attributes that need care, methods of
    expressions, calls of functions of ``re`` and of those below, and calls with many positional
    arguments.
    """
    match node:
        case ast.Constant(value):
            return isinstance(value, str) and "." in value and " " not in value
        case ast.Name(id):
            return id in ("print", "eval", "exec", "__import__")
        case ast.Attribute(value=ast.Name(id), attr=attr):
            return id != "self" and attr in _ATTRIBUTES
        case ast.Call(func=ast.Name(id)):
            return id in ("getattr", "lazy_module")
        case ast.Call(func=ast.Attribute(value=ast.Name("re"))):
            return True
        case ast.Call(args=args) if len(args) >= MANY:
            return True
        case ast.Attribute() | ast.Call():
            return False
    return type(node) in _KINDS


@cache
def _by_kind() -> dict[type[ast.AST], list[Found]]:
    """Return the nodes of all modules by their kind, each with whether a function has it."""
    found: dict[type[ast.AST], list[Found]] = {kind: [] for kind in _KINDS}
    for file in paths():
        path = file.relative_to(ROOT).as_posix()
        left: list[tuple[ast.AST, bool]] = [(parsed(file), False)]
        while left:
            node, inside = left.pop()
            if _told_of(node):
                found[type(node)].append(Found(path, node, inside))
            inside = inside or isinstance(node, FUNCTIONS)
            for name in node._fields:
                value = getattr(node, name, None)
                for child in value if type(value) is list else (value,):
                    # Nothing is said of a load, a sign and the like, half of all nodes.
                    if isinstance(child, ast.AST) and child._fields:
                        left.append((child, inside))
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                # Its parts have their turn; a rule about it needs its name, lines, parameters and
                # docstring.
                node.parameters = _count_parameters(node)
                node.docstring = ast.get_docstring(node) or ""
                for name in node._fields[1:]:
                    delattr(node, name)
    return found


def _count_parameters(node: Any) -> int:
    if isinstance(node, ast.ClassDef):
        return 0
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return len([one for one in given if one.arg not in ("self", "cls")])


def nodes(*kinds: type[ast.AST]) -> Iterator[Found]:
    """Yield the nodes of some kinds, of all modules."""
    return chain.from_iterable(_by_kind()[kind] for kind in kinds)


def forget_nodes() -> None:
    """Free the nodes, which are 15 MB."""
    _by_kind.cache_clear()


def module_of(path: str) -> str:
    """Return the dotted name of the module at a path."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def modules(package: str) -> list[str]:
    """Return the dotted names of a package's modules."""
    inside = (path.relative_to(ROOT).as_posix() for path in paths())
    return [module_of(path) for path in inside if path.startswith(f"{package}/")]


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
    known = frozenset(name for package in PACKAGES for name in modules(package))
    named = {node.lineno for node in annotation_imports(parsed(ROOT / HOOK))}
    found = {}
    for each in nodes(*IMPORTS, ast.Constant):
        own = module_of(each.path)
        if each.path == HOOK and each.node.lineno in named:
            continue
        package = each.path.rpartition("/")[0].replace("/", ".")
        for other in reached(each.node, known, package):
            found.setdefault((own, other), each.place)
    return found


def annotation_imports(tree: ast.Module) -> set[ast.stmt]:
    """Return the imports of a module that only annotations need."""
    return {
        node
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
    }


def inner_imports() -> list[tuple[str, str]]:
    """Return place and module of every import inside a function."""
    inside = (each for each in nodes(*IMPORTS) if each.in_function)
    return sorted({(each.place, name) for each in inside for name in imported(each.node)})
