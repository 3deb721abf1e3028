"""The command ``turnwise``: its commands, what ends it, and with which exit status."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import NoReturn

from envs import __version__
from envs.errors import BackendFault
from runner.commands.common import DONE, INTERRUPTED, RUN_ERROR, USER_ERROR, note
from trajectories.errors import DataError

_COMMANDS = (
    "eval",
    "score",
    "table",
    "replay",
    "debug",
    "align",
    "verify",
    "compare",
    "report",
    "search",
    "exec",
    "serve",
    "dataset",
    "graph",
    "validate",
    "audit",
    "export",
    "tools",
    "check-env",
    "new-env",
    "health",
)
"""In the order of the help text; each is a module of ``runner.commands``."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = _parser(arguments).parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # What the terminal cannot show must not end the run.
            stream.reconfigure(errors="backslashreplace")
    try:
        status: int = options.command(options)
    except DataError as error:
        return _complain(error, USER_ERROR)
    except BackendFault as error:
        return _complain(error, RUN_ERROR)
    except BrokenPipeError:
        # The reader of our output has gone; there is nobody left to tell.
        sys.stderr.close()
        return DONE
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    return status


def _complain(error: object, status: int) -> int:
    note(str(error))
    return status


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(USER_ERROR, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(prog="turnwise", description="Simulate and judge tool-calling agents.")
    parser.add_argument("--version", action="version", version=f"turnwise {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    # A command loads what it alone needs, so where one is named, no other one is loaded.
    named = [name for name in arguments[:1] if name in _COMMANDS]
    for name in named or _COMMANDS:
        import_module(f"{__package__}.commands.{name.replace('-', '_')}").add_command(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
