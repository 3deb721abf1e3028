"""The command ``turnwise validate``: a data set, checked by rule.

What it does is in ``runner.commands.validate_report``. That imports what makes schemas, which few
commands need, so it happens only when the command is run.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from runner.commands.common import new_command
from trajectories.rules.problem import Severity
from trajectories.schema import Category


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "Check a data set by rule: ground truth, configs, questions, documents."
    parser = new_command(commands, "validate", _validate, text)
    parser.add_argument(
        "path", nargs="?", metavar="PATH", help="trajectory file, or folder of them"
    )
    parser.add_argument(
        "--dataset",
        metavar="NAME",
        help="bfcl or bfcl:FOLDER; by default the data that comes along",
    )
    parser.add_argument(
        "--category",
        metavar="NAMES",
        help=f"only these categories, separated by commas: {', '.join(Category)}",
    )
    parser.add_argument("--rules", metavar="IDS", help="only these rules, separated by commas")
    parser.add_argument(
        "--allow",
        type=Path,
        metavar="FILE",
        help="reviewed exceptions, each with its reason; for the data that comes along its own",
    )
    parser.add_argument(
        "--severity",
        choices=[severity.value for severity in Severity],
        default=Severity.WARNING.value,
        help="list problems from this severity on (default: %(default)s); all are counted",
    )
    parser.add_argument(
        "--mutations",
        action="store_true",
        help="print which share of altered ground truths the checker rejects, and nothing else",
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")


def _validate(options: argparse.Namespace) -> int:
    from runner.commands.validate_report import run_validate

    return run_validate(options)
