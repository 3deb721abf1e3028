"""Command ``turnwise completion``: completion of commands and options in the shell."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import argcomplete
from argcomplete.shell_integration import shellcode

from runner.commands import DONE
from runner.commands.options import add_options, argument
from runner.extension import Command

EXAMPLE = 'eval "$(turnwise completion bash)"'


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the shell."""

    shell: Literal["bash", "zsh", "fish"] = argument("bash, zsh or fish", "SHELL")


def run(options: Options) -> int:
    """Print a script for the shell's startup file."""
    print(shellcode(["turnwise"], shell=options.shell))
    return DONE


def complete(commands: Mapping[str, Command], module_of: Callable[[str, Command], Any]) -> None:
    """Print the completions of the command line that the shell is editing, and exit."""
    line = os.environ.get("COMP_LINE", "").split()[1:]
    top = argparse.ArgumentParser(prog="turnwise")
    families: dict[str, Any] = {"": top.add_subparsers()}
    for name, command in commands.items():
        family, _, action = name.rpartition(" ")
        if family not in families:
            families[family] = families[""].add_parser(family).add_subparsers()
        parser = families[family].add_parser(action, help=command.text)
        # Only the module of the command on the line is loaded.
        if line[: len(name.split())] == name.split():
            add_options(parser, module_of(name, command).Options)
    argcomplete.autocomplete(top, always_complete_options=False)
