"""The command ``turnwise report``: runs as one HTML file.

What it does is in ``runner.analysis.report``, which is imported only when the command is run.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from runner.commands.common import DONE, add_profile_options, new_command, note, written
from runner.commands.inspecting import rules_of


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "Write runs as one HTML file: scores, episodes, every step with its state."
    parser = new_command(commands, "report", _report, text)
    parser.add_argument(
        "runs",
        nargs="+",
        type=Path,
        metavar="RUN",
        help="a run folder, a result file, or a folder of such",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("report.html"),
        metavar="FILE",
        help="where to write it (default: %(default)s)",
    )
    parser.add_argument(
        "--dataset",
        metavar="NAME",
        help="what the runs are of, where they do not say: bfcl, bfcl:FOLDER or a trajectory file",
    )
    add_profile_options(parser)


def _report(options: argparse.Namespace) -> int:
    from runner.analysis.report.run_report import report
    from runner.analysis.report.viewing import view
    from runner.analysis.source import dataset_of, open_run

    runs = []
    for path in options.runs:
        source = open_run(path)
        dataset = dataset_of(source, options.dataset, note)
        runs.append(view(source, dataset, *rules_of(source, dataset, options)))
    text = report(runs)
    with written(options.output) as file:
        file.write(text)
    print(options.output)
    return DONE
