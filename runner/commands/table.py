"""The command ``turnwise table``: BFCL's table of one run or several.

What it does is in ``runner.analysis``, which is imported only when the command is run.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from checkers.profile import PROFILES
from runner.commands.common import DONE, add_profile_options, new_command, note, written

if TYPE_CHECKING:
    from runner.analysis.run_scores import RunScores


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "Show what runs scored: by category, by BFCL's groups, and overall."
    parser = new_command(commands, "table", _table, text)
    parser.add_argument(
        "runs",
        nargs="+",
        type=Path,
        metavar="RUN",
        help="run folder, result file or folder of such, or verdict lines (--output)",
    )
    for name, what in (("csv", "rows of CSV"), ("json", "one JSON object"), ("html", "a page")):
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help=f"also write it as {what}")
    parser.add_argument(
        "--dataset",
        metavar="NAME",
        help="what result files are of: bfcl, bfcl:FOLDER or a trajectory file",
    )
    parser.add_argument(
        "--allow-errors",
        action="store_true",
        help="give a score however many episodes ended in an error that is not the model's",
    )
    add_profile_options(parser)


def _table(options: argparse.Namespace) -> int:
    from runner.analysis.run_scores import ScoringRules, open_scores
    from runner.analysis.run_scores_text import lines

    profile = PROFILES[options.profile] if options.profile else None
    rules = ScoringRules(options.dataset, profile, options.step_limit)
    runs = [
        open_scores(path, rules, note, allow_errors=options.allow_errors) for path in options.runs
    ]
    writers = (options.csv, _write_csv), (options.json, _write_json), (options.html, _write_page)
    for path, write in writers:
        if path is not None:
            with written(path) as file:
                write(runs, file)
            note(f"wrote {path}")
    for line in lines(runs):
        print(line)
    return DONE


def _write_csv(runs: Sequence[RunScores], file: IO[str]) -> None:
    from runner.analysis.run_scores_text import csv_rows

    csv.writer(file, lineterminator="\n").writerows(csv_rows(runs))


def _write_json(runs: Sequence[RunScores], file: IO[str]) -> None:
    json.dump({"runs": [run.to_json() for run in runs]}, file, indent=2)
    file.write("\n")


def _write_page(runs: Sequence[RunScores], file: IO[str]) -> None:
    from runner.analysis.report.scores_page import scores_page

    file.write(scores_page(runs))
