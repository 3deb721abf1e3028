"""Environments of other packages, installed for one test."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from envs import registry
from extensions.drafting.commands.new import in_package

_NUMBERS = itertools.count()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Install the template of new environments, altered, and return its name."""

    def make(*alterations: tuple[str, str], file: str = "backend.py") -> str:
        name = f"Altered{next(_NUMBERS)}"
        for path, text in in_package(name, tmp_path / name).files.items():
            for old, new in alterations if path.name == file.replace("NAME", name) else ():
                old, new = (part.replace("PREFIX", name.lower()) for part in (old, new))
                assert old in text, old
                text = text.replace(old, new, 1)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        add_metadata(tmp_path / name, name, f"{name.lower()}_env.backend:{name}")
        monkeypatch.syspath_prepend(tmp_path / name)
        registry.forget_installed()
        return name

    yield make
    monkeypatch.undo()
    registry.forget_installed()


def add_metadata(folder: Path, name: str, target: str, package: str | None = None) -> None:
    """Write what an installed package says of itself."""
    about = folder / f"{package or name}-1.0.dist-info"
    about.mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: {package or name}\nVersion: 1.0\n"
    (about / "METADATA").write_text(metadata)
    (about / "entry_points.txt").write_text(f"[{registry.ENTRY_POINT_GROUP}]\n{name} = {target}\n")


def pip_install(folder: Path, site: Path) -> None:
    """Install a package's metadata and files into a folder, without a network."""
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", site, folder]
    subprocess.run(command, check=True, capture_output=True)
