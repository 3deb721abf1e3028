"""The command ``turnwise volume``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from turnwise.runner.commands import DONE
from turnwise.runner.commands.options import argument
from turnwise.runner.records.recorded_run import open_run
from turnwise.runner.show.terminal import say

EXAMPLE = "turnwise volume runs/mine"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Which run."""

    folder: Path = argument("a run folder", "FOLDER")


def run(options: Options) -> int:
    """Print how many calls each episode has."""
    for record in open_run(options.folder).records:
        say(f"{record.id}: {record.extensions['volume'].calls} calls")
    return DONE
