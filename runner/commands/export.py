"""The command ``turnwise export``: a kept run in the formats of others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from runner.commands import DONE
from runner.commands.options import argument, index, option, switch
from runner.records.export import export_bfcl, export_openai_messages
from runner.records.run import read_run
from runner.show.terminal import say
from trajectories.errors import DataError

EXAMPLE = "turnwise export runs/mine --format bfcl"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Which run to write, and how."""

    run: Path = argument("folder of the run", "RUN")
    format: Literal["bfcl", "openai-messages"] = option("what to write", required=True)
    output: Path | None = option(
        "bfcl: the folder for MODEL/GROUP/; openai-messages: the file (default: bfcl or "
        "openai-messages.jsonl in RUN)",
        "PATH",
        flags=("--output", "-o"),
    )
    trial: int | None = option("bfcl: which trial, counted from 0 (default: 0)", "N", read=index)
    model: str | None = option("bfcl: a name that BFCL knows, instead of the run's", "NAME")
    only_passed: bool = switch("openai-messages: leave out what failed")


def run(options: Options) -> int:
    """Write a run in another format."""
    _check(options)
    kept = read_run(options.run)
    if options.format == "bfcl":
        folder = options.output or options.run / "bfcl"
        for path in export_bfcl(kept, folder, trial=options.trial or 0, model=options.model):
            say(str(path))
    else:
        path = options.output or options.run / "openai-messages.jsonl"
        named = options.output is not None
        count = export_openai_messages(kept, path, only_passed=options.only_passed, named=named)
        say(f"{path}: {count} transcripts")
    return DONE


def _check(options: Options) -> None:
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
