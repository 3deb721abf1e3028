"""Running one command in this process, with its errors as they are."""

from __future__ import annotations

from importlib import import_module

from runner.cli import COMMANDS
from runner.commands.options import parse, parser_of


def run(name: str, *words: object) -> int:
    """Run a command and return its exit status; what it complains of is raised."""
    module = import_module(f"runner.commands.{name.replace(' ', '.').replace('-', '_')}")
    parser = parser_of(module.Options, name, COMMANDS[name].text, module.EXAMPLE)
    status: int = module.run(parse(module.Options, parser, [str(word) for word in words]))
    return status
