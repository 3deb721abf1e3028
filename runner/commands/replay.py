"""The command ``turnwise replay``: one trajectory, call by call."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from runner import choose
from runner.commands.common import (
    DONE,
    add_data_options,
    add_profile_options,
    new_command,
    note,
    profile_of,
)
from runner.prepare import prepare
from runner.replay import replay
from runner.scripts import Script, oracle, recorded


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    parser = new_command(commands, "replay", _replay, "Show one trajectory, call by call.")
    parser.add_argument("id", metavar="ID", help="id of the trajectory")
    parser.add_argument(
        "--run", type=Path, metavar="PATH", help="recorded run to show instead of the ground truth"
    )
    add_data_options(parser)
    add_profile_options(parser)


def _replay(options: argparse.Namespace) -> int:
    name = options.dataset or ("bfcl" if options.id.startswith("multi_turn_") else None)
    wanted = choose.categories(options.category, None)
    dataset = choose.dataset(name, wanted, note)
    profile = profile_of(options, dataset)
    trajectory = choose.trajectory(dataset, options.id)
    prepared = prepare(dataset, trajectory, profile)
    script: Script | None = oracle(trajectory)
    if options.run:
        entry, mode = choose.recorded_entry(options.run, options.id)
        script = None
        if entry.turns is not None:
            script = recorded(entry.turns, profile.decoders[mode], profile)
    for line in replay(prepared, script, profile, options.step_limit):
        print(line)
    return DONE
