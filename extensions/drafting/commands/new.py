"""Command ``turnwise env new``: creates the files of a new environment."""

from __future__ import annotations

import json
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
from envs.errors import ConfigError, DataError
from envs.tool import shorten_path
from extensions.drafting import openapi, stubs
from extensions.drafting.stubs import StubModule
from extensions.retrieval import corpus_files
from runner.commands import DONE
from runner.commands.common_options import note
from runner.commands.options import argument, option
from runner.records.durable_files import write_files
from runner.show.terminal import format_count, say

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
_DRAFT_IMPORTS_IN_CHECKOUT = """\
from typing_extensions import TypedDict

from envs.backend import {marks}"""
_DRAFT_IMPORTS = """\
from turnwise import {marks}
from typing_extensions import TypedDict"""
_LONG_LINES = "# ruff: noqa: E501 - examples are as they were described."
_MAX_LINE_CHARS = 100
_MAX_RENAMED = 10


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the name, the source of the functions and the folder."""

    name: str = argument("class name, such as CalendarAPI", "NAME")
    path: Path | None = option(
        "folder for a new package (default: add to this checkout of Turnwise)", "DIR"
    )
    from_openapi: Path | None = option(
        "draft one stub for each operation of an OpenAPI file (JSON or YAML), or for each function "
        "of a list of tools (JSON)",
        "FILE",
        one_of="description",
    )
    from_mcp: str | None = option(
        "start an MCP server with COMMAND and draft one stub for each of its tools",
        "COMMAND",
        one_of="description",
    )


def run(options: Options) -> int:
    """Write the files, and print their names and the next commands."""
    parts = _make_contents(options)
    if options.path:
        plan = in_package(options.name, options.path, parts)
    else:
        plan = in_checkout(options.name, parts)
    write_files({path: map(str.encode, [text]) for path, text in plan.files.items()}, named=True)
    for path in plan.files:
        say(path)
    if isinstance(parts, StubEnvironmentFiles):
        _print_draft(parts.draft)
    say("\nnext:")
    for command in plan.commands:
        say(f"  {command}")
    return DONE


def _print_draft(draft: StubModule) -> None:
    say(f"\n{format_count(len(draft.stubs), 'function stub')} to implement")
    for line in draft.renamed[:_MAX_RENAMED]:
        say(f"  {line}")
    if len(draft.renamed) > _MAX_RENAMED:
        say(f"  and {len(draft.renamed) - _MAX_RENAMED} more renamed functions")


class Scaffold(NamedTuple):
    """The files to write, and the next commands."""

    files: Mapping[Path, str]
    commands: Sequence[str]


class ListEnvironmentFiles:
    """File contents of an example environment with a list as its state."""

    def backend(self, words: Mapping[str, str], in_checkout: bool) -> str:
        """Return the module."""
        imports = _IMPORTS_IN_CHECKOUT if in_checkout else _IMPORTS
        return _filled("backend.py", {**words, "imports": imports})

    def config(self, words: Mapping[str, str]) -> str:
        """Return the example config."""
        return _filled("config.json", words)

    def functions(self, words: Mapping[str, str]) -> str:
        """Return the frozen function documents."""
        return _filled("functions.json", words)

    def test(self, words: Mapping[str, str]) -> str:
        """Return the tests."""
        return _filled("test.py", words)

    def trajectory(self, words: Mapping[str, str]) -> str:
        """Return a trajectory."""
        return _filled("trajectory.jsonl", words)


class StubEnvironmentFiles(ListEnvironmentFiles):
    """File contents of an environment with stub functions; ``title`` is the name of the API."""

    def __init__(self, draft: StubModule, title: str) -> None:
        self.draft = draft
        self._title = title

    def backend(self, words: Mapping[str, str], in_checkout: bool) -> str:
        """Return the module."""
        imports = _DRAFT_IMPORTS_IN_CHECKOUT if in_checkout else _DRAFT_IMPORTS
        code = stubs.module(words["name"], self._title, self.draft, imports)
        longest = max(map(len, code.splitlines()))
        # This checkout limits the length of lines.
        return f"{_LONG_LINES}\n{code}" if in_checkout and longest > _MAX_LINE_CHARS else code

    def config(self, words: Mapping[str, str]) -> str:
        """Return the example config, which contains no records."""
        return _json({words["name"]: {"records": self.draft.records}})

    def functions(self, words: Mapping[str, str]) -> str:
        """Return the frozen function documents of the drafted module."""
        code = self.backend(words, in_checkout=False)
        return _json(stubs.documents(code, words["name"]))

    def test(self, words: Mapping[str, str]) -> str:
        """Return the tests."""
        return _filled("drafted_test.py", words)

    def trajectory(self, words: Mapping[str, str]) -> str:
        """Return an example trajectory with a call of the first drafted function."""
        first = self.draft.stubs[0]
        turn = {
            "messages": [{"role": "user", "content": f"Please use {first.name}."}],
            "ground_truth": [first.call],
        }
        entry = {
            "id": f"{words['prefix']}_0",
            "category": "base",
            "environments": [words["name"]],
            "config": {words["name"]: {}},
            "turns": [turn],
        }
        return json.dumps(entry) + "\n"


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _make_contents(options: Options) -> ListEnvironmentFiles:
    words = _words(options.name)
    if options.from_openapi is not None:
        found, title = (
            corpus_files.read_functions(options.from_openapi, note),
            options.from_openapi.name,
        )
    elif options.from_mcp is not None:
        found, title = corpus_files.list_mcp_tools(options.from_mcp), "an MCP server"
    else:
        return ListEnvironmentFiles()
    functions = []
    for kind, document, is_reading in found:
        parameters = document.get("parameters")
        plain = openapi.written_out(parameters if isinstance(parameters, Mapping) else {})
        functions.append(
            stubs.FunctionSignature({**document, "parameters": plain}, is_reading, kind)
        )
    return StubEnvironmentFiles(stubs.draft(functions, words["prefix"], options.name), title)


def in_checkout(name: str, parts: ListEnvironmentFiles | None = None) -> Scaffold:
    """Scaffold an environment that becomes part of this repository.

    Raises DataError if the name is invalid, this is not a checkout, or a file exists already.
    """
    words, parts = _words(name), parts or ListEnvironmentFiles()
    # The sources of an installed package are never changed.
    if not (_ROOT / "pyproject.toml").is_file() or not Path.cwd().is_relative_to(_ROOT):
        raise DataError("env new", "this is not a checkout of Turnwise; add --path DIR")
    module = words["prefix"]
    if module in sys.stdlib_module_names:
        module += "_env"
    words["trajectory"] = f"{module}.jsonl"
    tests = _ROOT / "tests" / "envs" / "more"
    files = {
        _ROOT / "envs" / "more" / f"{module}.py": parts.backend(words, in_checkout=True),
        _ROOT / "configs" / "initial" / f"{name}.json": parts.config(words),
        tests / f"test_{module}.py": parts.test(words),
        tests / words["trajectory"]: parts.trajectory(words),
        _ROOT / "tests" / "golden" / f"{name}.functions.json": parts.functions(words),
    }
    _check_absent(files)
    test = shorten_path(str(tests / f"test_{module}.py"))
    return Scaffold(
        {Path(shorten_path(str(path))): text for path, text in files.items()},
        [f"turnwise env check {name}", f"pytest {test}"],
    )


def in_package(name: str, folder: Path, parts: ListEnvironmentFiles | None = None) -> Scaffold:
    """Scaffold an environment in a new package.

    Raises DataError if the name is invalid, or a file exists already.
    """
    words, parts = _words(name), parts or ListEnvironmentFiles()
    package = f"{words['prefix']}_env"
    words["package"], words["distribution"] = package, package.replace("_", "-")
    words["trajectory"] = "trajectories.jsonl"
    code = folder / package
    files = {
        folder / "pyproject.toml": _filled("pyproject.toml", words),
        code / "__init__.py": _filled("package.py", words),
        code / "py.typed": "",
        code / "backend.py": parts.backend(words, in_checkout=False),
        code / f"{name}.json": parts.config(words),
        code / f"{name}.functions.json": parts.functions(words),
        folder / "tests" / f"test_{package}.py": parts.test(words),
        folder / "tests" / words["trajectory"]: parts.trajectory(words),
    }
    if folder.exists() and not folder.is_dir():
        raise DataError("--path", f"{folder} is a file; name a folder")
    _check_absent(files)
    return Scaffold(
        files, [f"pip install -e {folder}", f"turnwise env check {name}", f"pytest {folder}"]
    )


def _words(name: str) -> dict[str, str]:
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        advice = "use a capital letter and 2 to 29 letters or digits, such as CalendarAPI"
        raise DataError("NAME", f"{name!r:.60} is not a class name; {advice}")
    try:
        names = registry.names()
    except ConfigError as error:
        raise DataError("NAME", str(error)) from None
    if name in names:
        raise DataError("NAME", f"environment {name} exists already; use another name")
    stem = name.removesuffix("API") or name
    return {"name": name, "prefix": _WORD_START.sub("_", stem).lower()}


def _filled(template: str, words: Mapping[str, str]) -> str:
    text = (_TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(words)


def _check_absent(files: Mapping[Path, str]) -> None:
    for path in files:
        if path.exists():
            raise DataError(str(path), "exists already, so nothing was written; use another name")
