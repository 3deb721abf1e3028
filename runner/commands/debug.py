"""The command ``turnwise debug``: step through one episode in the terminal."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from runner.analysis.examined import Examined
from runner.commands.common import DONE, add_data_options, add_profile_options, index, new_command
from runner.commands.inspecting import examined_episode, examined_truth, with_state
from trajectories.errors import DataError


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "Step through one trajectory, back and forth, and try what other calls would do."
    parser = new_command(commands, "debug", _debug, text)
    parser.add_argument("id", metavar="ID", help="id of the trajectory")
    parser.add_argument(
        "--run", type=Path, metavar="PATH", help="recorded run to step through beside the truth"
    )
    parser.add_argument(
        "--trial", type=index, default=0, metavar="N", help="which trial of the run (default: 0)"
    )
    add_data_options(parser)
    add_profile_options(parser)


def _debug(options: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise DataError("debug", "needs a terminal; without one, turnwise replay prints the same")
    try:
        from runner.analysis.debugger.app import Debugger
    except ModuleNotFoundError as error:
        raise DataError(
            "debug", f"{error.name} is missing: pip install 'turnwise[debug]'"
        ) from None
    debugger = Debugger(*_episode(options))
    debugger.run()
    return debugger.return_code or DONE


def _episode(options: argparse.Namespace) -> tuple[Examined, str]:
    """Return the episode that the user named, and what to call where it is from."""
    if options.run is None:
        examined = with_state(examined_truth(options), "to step through")
        return examined, options.dataset or "ground truth"
    run, found = examined_episode(options, options.run, options.trial)
    examined = with_state(found, "to step through")
    if examined.model is None or not examined.model.turns:
        why = examined.recorded and examined.recorded.error
        raise DataError(str(run.path), f"there are no steps of {options.id}: {why or 'no turn'}")
    return examined, f"{run.name}, trial {options.trial}" if run.definition else run.name
