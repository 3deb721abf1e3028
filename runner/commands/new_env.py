"""The command ``turnwise new-env``: a new environment, small and whole, to be rewritten."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from runner.commands.common import DONE, new_command, written


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "Make a new environment, with tests and a trajectory, to be rewritten."
    parser = new_command(commands, "new-env", _new_env, text)
    parser.add_argument("name", metavar="NAME", help="name of its class, such as CalendarAPI")
    parser.add_argument(
        "--path",
        type=Path,
        metavar="DIR",
        help="make a package of your own in this new folder (default: add to this checkout)",
    )


def _new_env(options: argparse.Namespace) -> int:
    from runner.commands.scaffold.plan import in_checkout, in_package

    plan = in_package(options.name, options.path) if options.path else in_checkout(options.name)
    for path, text in plan.files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with written(path) as file:
            file.write(text)
        print(path)
    print("\nNow:")
    for command in plan.commands:
        print(f"  {command}")
    return DONE
