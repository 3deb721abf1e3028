"""The command ``turnwise completion``: commands and options, completed by the user's shell."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import argcomplete
from argcomplete.shell_integration import shellcode

from envs.lazy import lazily
from runner.commands import DONE
from runner.commands.options import argument, fill

EXAMPLE = 'eval "$(turnwise completion bash)"'


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is to be completed where."""

    shell: Literal["bash", "zsh", "fish"] = argument("which shell", "SHELL")


def run(options: Options) -> int:
    """Print a script for the shell to read when it starts."""
    print(shellcode(["turnwise"], shell=options.shell))
    return DONE


def complete(commands: Mapping[str, Any]) -> None:
    """Answer a shell that asks how its line goes on, and end the program."""
    line = os.environ.get("COMP_LINE", "").split()[1:]
    top = argparse.ArgumentParser(prog="turnwise")
    families: dict[str, Any] = {"": top.add_subparsers()}
    for name, command in commands.items():
        family, _, action = name.rpartition(" ")
        if family not in families:
            families[family] = families[""].add_parser(family).add_subparsers()
        parser = families[family].add_parser(action, help=command.text)
        # A command's options take its module, so no other one's is loaded.
        if line[: len(name.split())] == name.split():
            path = name.replace(" ", ".").replace("-", "_")
            fill(parser, lazily(f".{path}", __package__).Options)
    argcomplete.autocomplete(top, always_complete_options=False)
