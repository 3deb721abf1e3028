"""The command ``turnwise env new``: a new environment, small and whole, to be rewritten."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import NamedTuple

import envs
from envs import registry
from envs.errors import ConfigError
from envs.tool import near
from runner.commands import DONE
from runner.commands.options import argument, option
from runner.records.files import written
from runner.show.terminal import say
from trajectories.errors import DataError

EXAMPLE = "turnwise env new CalendarAPI --path calendar"

_TEMPLATES = Path(__file__).parent / "scaffold"
_ROOT = Path(envs.__file__).resolve().parents[1]
_NAME = re.compile(r"[A-Z][A-Za-z0-9]{2,29}")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_IMPORTS_IN_CHECKOUT = """\
from typing_extensions import TypedDict

from envs.backend import Backend, reads, writes
from envs.errors import AlreadyExists, NotFound"""
_IMPORTS = """\
from turnwise import AlreadyExists, Backend, NotFound, reads, writes
from typing_extensions import TypedDict"""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to make, and where."""

    name: str = argument("name of its class, such as CalendarAPI", "NAME")
    path: Path | None = option(
        "make a package of your own in this new folder (default: add to this checkout)", "DIR"
    )


def run(options: Options) -> int:
    """Write the files, and print them and what to do now."""
    plan = in_package(options.name, options.path) if options.path else in_checkout(options.name)
    for path, text in plan.files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with written(path) as file:
            file.write(text)
        say(path)
    say("\nNow:")
    for command in plan.commands:
        say(f"  {command}")
    return DONE


class Scaffold(NamedTuple):
    """Files to write, and what to do then."""

    files: Mapping[Path, str]
    commands: Sequence[str]


def in_checkout(name: str) -> Scaffold:
    """Scaffold an environment that becomes part of this repository.

    Raises:
        DataError: The name will not do, there is no checkout, or a file is there already.
    """
    words = _words(name)
    if not (_ROOT / "pyproject.toml").is_file():
        raise DataError("env new", "this is no checkout; give --path and a folder of your own")
    module = words["prefix"]
    if module in sys.stdlib_module_names:
        module += "_env"
    words["trajectory"] = f"{module}.jsonl"
    words["imports"] = _IMPORTS_IN_CHECKOUT
    tests = _ROOT / "tests" / "envs" / "more"
    files = {
        _ROOT / "envs" / "more" / f"{module}.py": _filled("backend.py", words),
        _ROOT / "configs" / "initial" / f"{name}.json": _filled("config.json", words),
        tests / f"test_{module}.py": _filled("test.py", words),
        tests / words["trajectory"]: _filled("trajectory.jsonl", words),
        _ROOT / "tests" / "golden" / f"{name}.functions.json": _filled("functions.json", words),
    }
    _check_absent(files)
    test = near(str(tests / f"test_{module}.py"))
    return Scaffold(
        {Path(near(str(path))): text for path, text in files.items()},
        [f"turnwise env check {name}", f"pytest {test}"],
    )


def in_package(name: str, folder: Path) -> Scaffold:
    """Scaffold an environment in a package of the author's own.

    Raises:
        DataError: The name will not do, or the folder has something in it already.
    """
    words = _words(name)
    package = f"{words['prefix']}_env"
    words["package"], words["distribution"] = package, package.replace("_", "-")
    words["trajectory"] = "trajectories.jsonl"
    words["imports"] = _IMPORTS
    code = folder / package
    files = {
        folder / "pyproject.toml": _filled("pyproject.toml", words),
        code / "__init__.py": _filled("package.py", words),
        code / "py.typed": "",
        code / "backend.py": _filled("backend.py", words),
        code / f"{name}.json": _filled("config.json", words),
        code / f"{name}.functions.json": _filled("functions.json", words),
        folder / "tests" / f"test_{package}.py": _filled("test.py", words),
        folder / "tests" / words["trajectory"]: _filled("trajectory.jsonl", words),
    }
    if folder.exists() and not folder.is_dir():
        raise DataError("--path", f"{folder} is a file; name a folder")
    _check_absent(files)
    return Scaffold(
        files,
        [f"pip install -e {folder}", f"turnwise env check {name}", f"pytest {folder}"],
    )


def _words(name: str) -> dict[str, str]:
    """Return what the templates leave open, from the name of the class.

    Raises:
        DataError: The name is no class name, or is taken.
    """
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        advice = "take 3 to 30 letters and digits, such as CalendarAPI"
        raise DataError("NAME", f"{name!r:.60} is no class name; {advice}")
    try:
        names = registry.names()
    except ConfigError as error:
        raise DataError("NAME", str(error)) from None
    if name in names:
        raise DataError("NAME", f"there is an environment {name} already; take another name")
    stem = name.removesuffix("API") or name
    return {"name": name, "prefix": _WORD_START.sub("_", stem).lower()}


def _filled(template: str, words: Mapping[str, str]) -> str:
    text = (_TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(words)


def _check_absent(files: Mapping[Path, str]) -> None:
    for path in files:
        if path.exists():
            raise DataError(str(path), "is there already; nothing has been written")
