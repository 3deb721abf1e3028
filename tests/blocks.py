"""Blocks of code on a page, and what running one of each language means.

A block with a ``title`` is a file; the package of a ``pyproject.toml`` counts as installed. Of the
others ``console`` is commands after ``$`` with what they print, ``...`` for any text, ``pycon``
likewise for Python, ``python`` a program, ``text`` an output that is shown and not compared, and
``sh``, or a line that is set in, commands that need a server or a run of somebody's: their options
are read. A block in a comment of the page is run like any other, and readers do not see it.
"""

from __future__ import annotations

import doctest
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from importlib import invalidate_caches
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from runner.cli import all_commands, main, read_options
from tests.source import ROOT

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_FENCE = re.compile(
    r"^```(\w*)(?: (?:title=\"([^\"]+)\"|file=(\S+)))?\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_SHELL = frozenset("|&;<>()$`*?#~\n")
"""Signs that mean something to a shell."""
_SHIM = f'#!/bin/sh\nexec "{sys.executable}" -W error -m runner.cli "$@"\n'


class Block(NamedTuple):
    """A block of code on a page."""

    language: str
    file: str
    text: str


def blocks_of(page: str) -> list[Block]:
    """Return the fenced blocks of a page, and as one more the commands that are set in."""
    found = [
        Block(language, title or file, text) for language, title, file, text in _FENCE.findall(page)
    ]
    lines = re.findall(r"^    (turnwise .*)$", _FENCE.sub("", page), re.MULTILINE)
    return [*found, *([Block("sh", "", "\n".join(lines))] if lines else [])]


class Page:
    """Runs the blocks of one page in their order, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, object] = {"__name__": "page"}
        programs = folder / ".programs"
        programs.mkdir()
        (programs / "turnwise").write_text(_SHIM, encoding="utf-8")
        (programs / "turnwise").chmod(0o755)
        (programs / "python").symlink_to(sys.executable)
        path = os.pathsep.join([str(programs), os.environ["PATH"]])
        sources = os.pathsep.join([str(ROOT), str(folder)])
        self.environment = {**os.environ, "PATH": path, "PYTHONPATH": sources, "COLUMNS": "80"}

    def run(self, block: Block) -> None:
        """Run a block.

        Raises:
            AssertionError: It fails, prints something else, or is in no language that is known.
        """
        if block.file:
            path = self.folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            # A long file may come in parts.
            with path.open("a", encoding="utf-8") as file:
                file.write(block.text)
            if path.name == "pyproject.toml":
                self._install(tomllib.loads(block.text)["project"])
        else:
            kinds = {
                "console": self._console,
                "json": json.loads,
                "pycon": self._pycon,
                "python": self._python,
                "sh": self._sh,
                "text": str,
                "toml": tomllib.loads,
            }
            assert block.language in kinds, f"what is a block of {block.language!r}?"
            kinds[block.language](block.text)

    def _install(self, project: Mapping[str, Any]) -> None:
        """Have the entry points of a package found, whose modules are in the folder."""
        about = self.folder / f"{project['name']}-{project['version']}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
        lines = []
        for group, points in project["entry-points"].items():
            lines += [f"[{group}]", *(f"{name} = {target}" for name, target in points.items())]
        (about / "entry_points.txt").write_text("\n".join(lines))

    def _console(self, text: str) -> None:
        for said in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, expected = said.partition("\n")
            ours = not _SHELL & {*command} and command.startswith("turnwise ")
            # What is installed is found by a process that starts after that.
            alone = ours and not any(self.folder.glob("*.dist-info"))
            printed = self._said(command) if alone else self._done(["sh", "-c", command])
            alike = doctest.OutputChecker().check_output(expected, printed, OPTIONS)
            assert not expected or alike, f"{command}\nexpected:\n{expected}\nprinted:\n{printed}"

    def _python(self, text: str) -> None:
        self._done([sys.executable, "-W", "error", "-c", text])

    def _said(self, command: str) -> str:
        """Return what a command of ours prints, run in this process."""
        out, error = io.StringIO(), io.StringIO()
        environment = patch.dict(os.environ, COLUMNS=self.environment["COLUMNS"])
        with (
            chdir(self.folder),
            environment,
            self._own_modules(),
            redirect_stdout(out),
            redirect_stderr(error),
        ):
            status = main(shlex.split(command)[1:])
        assert status == 0, f"{command}\n{out.getvalue()}{error.getvalue()}"
        return out.getvalue()

    @contextmanager
    def _own_modules(self) -> Iterator[None]:
        """Have the modules of the page found, and forget them as a process that ends does."""
        invalidate_caches()
        with patch.object(sys, "path", [str(self.folder), *sys.path]):
            yield
        for name, module in [*sys.modules.items()]:
            if Path(getattr(module, "__file__", None) or "/").is_relative_to(self.folder):
                del sys.modules[name]

    def _done(self, command: list[str]) -> str:
        """Return what a program printed."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command[-1]}\n{done.stdout}{done.stderr}"
        return done.stdout

    def _pycon(self, text: str) -> None:
        test = doctest.DocTestParser().get_doctest(text, self.names, "page", None, 0)
        said: list[str] = []
        session = doctest.DocTestRunner(optionflags=OPTIONS)
        session.run(test, out=said.append, clear_globs=False)
        self.names = test.globs
        assert session.failures == 0, "".join(said)

    def _sh(self, text: str) -> None:
        """Read the options of every command of ours; the rest is the shell's."""
        for line in _lines(text):
            words: list[str] = []
            for word in [*line, ";"]:
                if not set(word) <= set("();<>|&"):
                    words.append(word)
                    continue
                # Three dots stand for options of the line before.
                if words[:1] == ["turnwise"] and not {"...", "--help"} & {*words}:
                    _read(words[1:])
                words = []


def _lines(text: str) -> Iterator[list[str]]:
    """Yield the words of each line as the shell has them; one goes on while a quote is open."""
    begun = ""
    for line in text.splitlines():
        begun += f"{line}\n"
        words = shlex.shlex(begun, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        try:
            found = list(words)
        except ValueError:
            continue
        yield found
        begun = ""
    assert not begun, f"this does not end: {begun}"


def _read(words: list[str]) -> None:
    """Read a command's options as the command line does."""
    commands = all_commands()
    name = next((n for n in (" ".join(words[:2]), words[0]) if n in commands), None)
    assert name, f"there is no command {words[0]}"
    given = words[len(name.split()) :]
    if name == "eval" and "--resume" in given and "--model" not in given:
        # The folder has the other options of a resumed run.
        given = ["--model", "m", *given]
    try:
        read_options(name, commands[name], given)
    except SystemExit as left:
        raise AssertionError(f"turnwise {shlex.join(words)} is refused") from left
