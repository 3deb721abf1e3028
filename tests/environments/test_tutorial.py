"""The tutorial, docs/tutorials/environment.md: files are written and commands run in its order."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.environments.installing import pip_install

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs" / "tutorials" / "environment.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = {"turnwise": ["-m", "runner.cli"], "pytest": ["-m", "pytest", "-q"]}


def test_it_is_short():
    # It ends with a shared world and an event.
    assert TUTORIAL.count("\n") < 350
    assert (ROOT / "envs" / "README.md").read_text(encoding="utf-8").count("\n") < 200


@pytest.mark.slow
def test_its_commands_and_code_work(tmp_path):
    written, commands, done = set(), Commands(tmp_path), []
    for language, file, text in BLOCK.findall(TUTORIAL):
        if language == "sh":
            done += [commands.run(line) for line in text.splitlines()]
        elif file:
            with (tmp_path / file).open("a" if file in written else "w", encoding="utf-8") as code:
                code.write(text)
            written.add(file)
    assert len(written) == 4
    [scored] = [said for said in done if re.search(r"^base .*100\.0", said, re.MULTILINE)]
    assert scored
    [served] = [said for said in done if said.startswith("served")]
    assert served == "served create_event, list_events"
    assert " passed, 0 failed" in done[-1]


class Commands:
    """Runs commands in a folder; what is installed editably is found in its sources."""

    def __init__(self, folder):
        self.folder = folder
        self.path = [ROOT, folder / "calendar", folder / "site"]

    def run(self, line):
        """Run a command and return what it prints."""
        command, _, output = line.partition(" > ")
        program, *arguments = command.split()
        if program == "pip":
            self.pip(*arguments)
            return ""
        if arguments[:2] == ["env", "serve"]:
            return asyncio.run(self.served(arguments))
        said = self.python(*COMMANDS[program], *arguments)
        if output:
            (self.folder / output).write_text(said, encoding="utf-8")
        return said

    def pip(self, action, *arguments):
        """Install or make a package, without a network."""
        package = self.folder / arguments[-1]
        if action == "wheel":
            quiet = ["--quiet", "--no-build-isolation", "--no-index"]
            self.python("-m", "pip", "wheel", *quiet, *arguments)
        elif package.suffix == ".whl":
            # Whoever installs a wheel has no sources.
            pip_install(package, self.folder / "fresh")
            self.path = [ROOT, self.folder / "fresh"]
        else:
            pip_install(package, self.folder / "site")

    def python(self, *arguments):
        """Run Python and return what it prints."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}\n{done.stdout}{done.stderr}"
        return done.stdout

    def environment(self):
        return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, self.path))}

    async def served(self, arguments):
        """Start a server as an MCP client does, and say what it offers."""
        command = [*COMMANDS["turnwise"], *arguments]
        server = StdioServerParameters(
            command=sys.executable, args=command, env=self.environment(), cwd=self.folder
        )
        async with Client(server) as client:
            made = await client.call_tool(
                "create_event", {"title": "Review", "start": "2026-03-03T14:00"}
            )
            assert json.loads(made.content[0].text)["id"] == 3
            offered = await client.list_tools()
        return f"served {', '.join(tool.name for tool in offered.tools)}"
