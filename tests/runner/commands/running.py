"""Running one command in this process, with its errors as they are."""

from __future__ import annotations

from runner.cli import all_commands, module_of
from runner.commands.options import parse, parser_of


def run(name: str, *words: object) -> int:
    """Run a command and return its exit status; what it complains of is raised."""
    command = all_commands()[name]
    module = module_of(name, command)
    parser = parser_of(module.Options, name, command.text, module.EXAMPLE)
    status: int = module.run(parse(module.Options, parser, [str(word) for word in words]))
    return status
