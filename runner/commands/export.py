"""The command ``turnwise export``: a kept run in the formats of others."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from runner.commands.common import DONE, index, new_command
from runner.records.export import export_bfcl, export_openai_messages
from runner.records.store import read_run
from trajectories.errors import DataError

FORMATS = ("bfcl", "openai-messages")


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "Write a run as result files of BFCL, or as chat transcripts for fine-tuning."
    parser = new_command(commands, "export", _export, text)
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of the run")
    parser.add_argument("--format", choices=FORMATS, required=True, help="what to write")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="PATH",
        help="bfcl: the folder for MODEL/GROUP/; openai-messages: the file "
        "(default: bfcl or openai-messages.jsonl in RUN)",
    )
    parser.add_argument(
        "--trial", type=index, metavar="N", help="bfcl: which trial, counted from 0 (0)"
    )
    parser.add_argument(
        "--model", metavar="NAME", help="bfcl: a name that BFCL knows, instead of the run's"
    )
    parser.add_argument(
        "--only-passed", action="store_true", help="openai-messages: leave out what failed"
    )


def _export(options: argparse.Namespace) -> int:
    _check(options)
    run = read_run(options.run)
    if options.format == "bfcl":
        folder = options.output or options.run / "bfcl"
        for path in export_bfcl(run, folder, trial=options.trial or 0, model=options.model):
            print(path)
    else:
        path = options.output or options.run / "openai-messages.jsonl"
        count = export_openai_messages(run, path, only_passed=options.only_passed)
        print(f"{path}: {count} transcripts")
    return DONE


def _check(options: argparse.Namespace) -> None:
    """Refuse options that the format has no use for.

    Raises:
        DataError: There is one.
    """
    given = {
        "--trial": ("bfcl", options.trial is not None),
        "--model": ("bfcl", options.model is not None),
        "--only-passed": ("openai-messages", options.only_passed),
    }
    for flag, (format, there) in given.items():
        if there and options.format != format:
            raise DataError(flag, f"is for --format {format}, not {options.format}")
