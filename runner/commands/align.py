"""The command ``turnwise align``: several runs of one trajectory side by side."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from runner.analysis.align import MOST, Column, align, document, lines
from runner.commands.common import DONE, add_data_options, add_profile_options, index, new_command
from runner.commands.inspecting import examined_episodes, show, source_name, with_state
from trajectories.errors import DataError


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "Show up to five runs of one trajectory side by side, and the step where they part."
    parser = new_command(commands, "align", _align, text)
    parser.add_argument("id", metavar="ID", help="id of the trajectory")
    parser.add_argument(
        "--run",
        action="append",
        required=True,
        type=Path,
        metavar="PATH",
        dest="runs",
        help="recorded run; once for each, or once for the trials of one run",
    )
    parser.add_argument(
        "--trial",
        action="append",
        type=index,
        metavar="N",
        dest="trials",
        help="which trial of the runs; may be repeated (default: 0, of a single run all)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_data_options(parser)
    add_profile_options(parser)


def _align(options: argparse.Namespace) -> int:
    trials = options.trials or (None if len(options.runs) == 1 else [0])
    columns = [column for path in options.runs for column in _columns(options, path, trials)]
    if not 2 <= len(columns) <= MOST:
        raise DataError("--run", f"there must be 2 to {MOST} episodes to align, not {len(columns)}")
    alignment = align(columns)
    if options.json:
        print(json.dumps(document(alignment), indent=2))
    else:
        show(lines(alignment, max(80, shutil.get_terminal_size().columns)))
    return DONE


def _columns(options: argparse.Namespace, path: Path, trials: list[int] | None) -> list[Column]:
    run, episodes = examined_episodes(options, path, trials)
    return [
        Column(source_name(run, examined), with_state(examined, "to put side by side"))
        for examined in episodes
    ]
