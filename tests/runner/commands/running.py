"""Running one command in this process, with its errors as they are."""

from __future__ import annotations

from runner.cli import all_commands, read_options


def run(name: str, *words: object) -> int:
    """Run a command and return its exit status; what it complains of is raised."""
    module, options = read_options(name, all_commands()[name], [str(word) for word in words])
    status: int = module.run(options)
    return status
