"""Lines of the project's functions that ran, of all in the same files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from coverage import Coverage

ROOT = Path(__file__).parents[2]
PACKAGES = ("envs", "checkers", "trajectories", "runner", "extensions")


class Covered:
    """Lines that ran, by file."""

    def __init__(self) -> None:
        self._lines: dict[str, set[int]] = {}

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Add the lines that run while the context lasts."""
        coverage = Coverage(data_file=None, include=[f"{ROOT}/{name}/*" for name in PACKAGES])
        coverage.start()
        try:
            yield
        finally:
            coverage.stop()
            data = coverage.get_data()
            for file in data.measured_files():
                self._lines.setdefault(file, set()).update(data.lines(file) or ())

    def __str__(self) -> str:
        """Return the figures as words."""
        ran = {file: lines & _in_functions(file) for file, lines in self._lines.items()}
        files = [file for file, lines in ran.items() if lines]
        done, all_of = (sum(len(of(file)) for file in files) for of in (ran.get, _in_functions))
        share = done / all_of if all_of else 0
        return f"{done} of {all_of} lines in {len(files)} files ran ({share:.0%})"


@cache
def _in_functions(file: str) -> frozenset[int]:
    """Return the first lines of the statements in functions."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return frozenset(
        node.lineno
        for function in functions
        for part in function.body
        for node in ast.walk(part)
        if isinstance(node, ast.stmt) and not _is_text(node)
    )


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
