"""The command ``turnwise audit``: where the data, not the models, may be wrong.

What it does is in ``runner.commands.audit_report``, which is imported only when the command is run.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from runner.commands.common import new_command


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "List entries that all models fail, and those where most agree against the ground truth."
    parser = new_command(commands, "audit", _audit, text)
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
    from runner.commands.audit_report import run_audit

    return run_audit(options)
