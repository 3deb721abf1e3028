"""What hatchling does besides: one import name, ``turnwise``, for packages that lie side by side.

A wheel has them under ``turnwise/``, with their imports of each other rewritten. An editable
install keeps them where they are, and ``turnwise`` is a second name for them.
"""

from __future__ import annotations

import ast
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = ("envs", "checkers", "trajectories", "runner", "extensions")
NAME = "turnwise"
HERE = Path(__file__).parent
NOT_SHIPPED = shutil.ignore_patterns("__pycache__", ".*", "packaging", "locks", "scenarios")


class OneName(BuildHookInterface):
    """Lays out ``turnwise`` in a folder of its own, and has it included from there."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Lay it out: of copies for a wheel, of names for an editable install."""
        self._made = TemporaryDirectory()
        folder = Path(self._made.name) / NAME
        folder.mkdir()
        editable = version == "editable"
        build_data["force_include_editable" if editable else "force_include"] = {str(folder): NAME}
        if not editable:
            relocate(Path(self.root), folder)
        shutil.copy(HERE / ("checkout.py" if editable else "wheel.py"), folder / "__init__.py")
        shutil.copy(HERE / "testing.py", folder)
        (folder / "py.typed").touch()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was laid out."""
        self._made.cleanup()


def relocate(root: Path, folder: Path) -> None:
    """Copy the packages and their data from a checkout into a folder, as one package."""
    for name in (*PACKAGES, "configs"):
        shutil.copytree(root / name, folder / name, ignore=NOT_SHIPPED)
    for path in sorted(folder.rglob("*.py")):
        path.write_text(renamed(path.read_text(encoding="utf-8")), encoding="utf-8")


def renamed(source: str) -> str:
    """Return a module's text with its imports of our packages, put off or not, by the one name.

    Raises:
        ValueError: An import of several modules, or of a dotted one.
    """
    lines = source.encode().splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            ours, old, new = _is_ours(node.module or ""), "from ", f"from {NAME}."
        elif isinstance(node, ast.Import):
            ours = any(_is_ours(alias.name) for alias in node.names)
            old, new = "import ", f"from {NAME} import "
            if ours and ("." in node.names[0].name or len(node.names) > 1):
                raise ValueError(f"write it as from ... import ...: {ast.unparse(node)}")
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "lazy_module":
            node, old, new = node.args[0], '"', f'"{NAME}.'
            ours = isinstance(node, ast.Constant) and _is_ours(node.value)
        else:
            continue
        if ours:
            line = lines[node.lineno - 1]
            rest = line[node.col_offset :].removeprefix(old.encode())
            lines[node.lineno - 1] = line[: node.col_offset] + new.encode() + rest
    return b"".join(lines).decode()


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in PACKAGES
