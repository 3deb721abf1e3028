"""The tutorial, envs/README.md: its files are written and its commands run, in its order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environments.installing import pip_install

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "envs" / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = {"turnwise": ["-m", "runner.cli"], "pytest": ["-m", "pytest", "-q"]}


def test_it_is_short():
    assert TUTORIAL.count("\n") < 200


@pytest.mark.slow
def test_its_commands_and_code_work(tmp_path):
    site, written, done = tmp_path / "site", set(), []
    for language, file, text in BLOCK.findall(TUTORIAL):
        if language == "sh":
            done += [run(line, tmp_path, site) for line in text.splitlines()]
            continue
        with (tmp_path / file).open("a" if file in written else "w", encoding="utf-8") as code:
            code.write(text)
        written.add(file)
    assert len(written) == 4
    assert re.search(r"^base .*100\.0", done[-1], re.MULTILINE)


def run(line, folder, site):
    """Run a command in a folder, where what was installed is found first in its sources."""
    command, _, output = line.partition(" > ")
    program, *arguments = command.split()
    if program == "pip":
        pip_install(folder / arguments[-1], site)
        return ""
    path = os.pathsep.join(map(str, [ROOT, folder / "calendar", site]))
    done = subprocess.run(
        [sys.executable, *COMMANDS[program], *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    if output:
        (folder / output).write_text(done.stdout, encoding="utf-8")
    return done.stdout
