"""Source locations of an environment's fields, methods, parameters and docstring lines."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from types import ModuleType
from typing import Any

from envs.tool import place, shorten_path


def member(owner: type, name: str | None) -> str:
    """Return the line that defines an attribute of a class, or else the line of the class.

    For a class without source code, such as a backend made of functions, return its module.
    """
    file, _, line = place(owner).rpartition(":")
    if not file:
        return line
    for node in ast.walk(_tree(owner)) if name else ():
        target = node.target if isinstance(node, ast.AnnAssign) else node
        target = node.targets[0] if isinstance(node, ast.Assign) else target
        if getattr(target, "id", getattr(target, "name", None)) == name:
            return f"{file}:{int(line) + target.lineno - 1}"  # type: ignore[attr-defined]
    return f"{file}:{line}"


def find_definition(modules: Iterable[ModuleType], name: str) -> str | None:
    """Return the first line that assigns a global or a class attribute in one of the modules."""
    *_, owner, last = ["", *name.rpartition("of ")[2].split(".")]
    for module in modules:
        tree = _tree(module)
        if owner:
            inside = [each for each in tree.body if getattr(each, "name", None) == owner]
            body = inside[0].body if inside and isinstance(inside[0], ast.ClassDef) else []
        else:
            body = tree.body
        for node in body:
            targets = [getattr(node, "target", node), *getattr(node, "targets", ())]
            if last in {getattr(each, "id", getattr(each, "name", None)) for each in targets}:
                return f"{shorten_path(str(module.__file__))}:{node.lineno}"
    return None


def assigned(method: Callable[..., Any], word: str) -> str:
    """Find the line of a method that assigns or names a field.

    If no such line exists, return the first line of the method.
    """
    file, line = place(method).rsplit(":", 1)
    nodes = [*ast.walk(_tree(method))]
    sets = [n for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
    found = [n.lineno for n in sets if n.attr == word]
    found += [n.lineno for n in nodes if isinstance(n, ast.Constant) and n.value == word]
    return f"{file}:{int(line) + (found or [1])[0] - 1}"


def function(method: Callable[..., Any], part: str | None = None) -> str:
    """Return the file and the line of a method's ``def``, or of a part of the method.

    ``part`` is the name of a parameter, or the first words of a docstring line.
    """
    file, line = place(method).rsplit(":", 1)
    return f"{file}:{int(line) + _line(_tree(method), part) - 1}"


def _line(tree: ast.Module, part: str | None) -> int:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return next(_lines(node, part), node.lineno) if part else node.lineno
    return 1


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef, part: str) -> Iterator[int]:
    taken = node.args
    for parameter in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs):
        if parameter.arg == part:
            yield parameter.lineno
    match node.body[0]:
        case ast.Expr(value=ast.Constant(value=str(text))) as said:
            for number, line in enumerate(text.splitlines()):
                if line.strip().startswith(part):
                    yield said.lineno + number


def _tree(thing: Any) -> ast.Module:
    with suppress(OSError, SyntaxError):
        return ast.parse(inspect.cleandoc("\n" + inspect.getsource(thing)))
    return ast.Module([], [])
