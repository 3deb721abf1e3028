"""The command ``turnwise health``: whether what REST entries ask is up."""

from __future__ import annotations

import argparse
from typing import Any

from runner.commands.common import DONE, RUN_ERROR, add_data_options, new_command, note
from runner.data import choose


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "Ask every web service that REST entries need, and list those that are down."
    parser = new_command(commands, "health", _health, text)
    add_data_options(parser)
    parser.add_argument(
        "--allow-network",
        action="store_true",
        help="ask other machines too, where entries name them",
    )


def _health(options: argparse.Namespace) -> int:
    # They bring network libraries along, which no other command should have to load.
    from runner.data.rest.web import ask_all, getter

    wanted = choose.categories(options.category or "rest", options.dataset)
    dataset = choose.dataset(options.dataset, wanted, note)
    endpoints = ask_all(dataset.trajectories.values(), getter(options.allow_network))
    for endpoint in endpoints:
        state = f"down: {endpoint.problem}" if endpoint.problem else "up"
        print(f"{endpoint.trajectory}  {endpoint.url}  {state}")
    down = sum(e.problem is not None for e in endpoints)
    note(f"{len(endpoints) - down} of {len(endpoints)} endpoints are up")
    return RUN_ERROR if down else DONE
