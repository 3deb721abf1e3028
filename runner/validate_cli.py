"""The commands ``turnwise validate`` and ``turnwise audit``: their options.

What they do is in ``runner.validate_report``. It imports what makes schemas, which no other command
needs, so that happens only when one of them is run.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from trajectories.rules.problem import Severity
from trajectories.schema import Category


def add_commands(commands: Any) -> None:
    """Add both commands to those of the command line."""
    _add_validate(commands)
    _add_audit(commands)


# --- validate ---------------------------------------------------------------------------------


def _add_validate(commands: Any) -> None:
    text = "Check a data set by rule: ground truth, configs, questions, documents."
    parser = commands.add_parser("validate", help=text, description=text)
    parser.set_defaults(command=_validate)
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
    from runner.validate_report import run_validate

    return run_validate(options)


# --- audit ---------------------------------------------------------------------------------


def _add_audit(commands: Any) -> None:
    text = "List entries that all models fail, and those where most agree against the ground truth."
    parser = commands.add_parser("audit", help=text, description=text)
    parser.set_defaults(command=_audit)
    parser.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="one model's result file or folder"
    )
    parser.add_argument(
        "--dataset",
        metavar="NAME",
        default="bfcl",
        help="what the runs are of: bfcl, bfcl:FOLDER or a trajectory file (default: %(default)s)",
    )
    parser.add_argument(
        "--errata", type=Path, metavar="FILE", help="corrected ground truth; scores become two"
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")


def _audit(options: argparse.Namespace) -> int:
    from runner.validate_report import run_audit

    return run_audit(options)
