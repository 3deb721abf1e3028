"""The command ``turnwise compare``: two runs over the same entries.

What it does is in ``runner.analysis``, which is imported only when the command is run.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.commands.common import DONE, add_profile_options, new_command, note, written
from trajectories.errors import DataError

if TYPE_CHECKING:
    from runner.analysis.comparison import RunComparison


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "Compare two runs over the entries that both have: who flips, and is it more than noise."
    parser = new_command(commands, "compare", _compare, text)
    for name in ("RUN_A", "RUN_B"):
        parser.add_argument(
            name.lower(), type=Path, metavar=name, help="run folder, result file, or folder of them"
        )
    parser.add_argument(
        "--dataset",
        metavar="NAME",
        help="what the runs are of, where they do not say: bfcl, bfcl:FOLDER or a trajectory file",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page that shows it")
    add_profile_options(parser)


def _compare(options: argparse.Namespace) -> int:
    from runner.analysis.comparison_lines import lines
    from runner.commands.inspecting import show

    comparison = _comparison(options)
    if options.html is not None:
        from runner.analysis.report.comparison_page import comparison_page

        with written(options.html) as file:
            file.write(comparison_page(comparison))
        note(f"wrote {options.html}")
    if options.json:
        print(json.dumps(comparison.to_json(), indent=2))
    else:
        show(lines(comparison))
    return DONE


def _comparison(options: argparse.Namespace) -> RunComparison:
    from runner.analysis.comparison import compare_runs
    from runner.analysis.source import data_change, dataset_of, open_run
    from runner.commands.inspecting import rules_of

    first, second = open_run(options.run_a), open_run(options.run_b)
    dataset = dataset_of(first, options.dataset, note)
    change = data_change(second, dataset)
    if change is not None:
        note(f"{second.path}: {change}")
    (profile, limit), (other, other_limit) = (
        rules_of(run, dataset, options) for run in (first, second)
    )
    if profile.name != other.name:
        message = f"{first.path} was judged by {profile.name}, {second.path} by {other.name}"
        raise DataError("--profile", f"{message}: say which of them holds for both")
    return compare_runs((first, second), dataset, profile, (limit, other_limit))
