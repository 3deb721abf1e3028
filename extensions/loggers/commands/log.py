"""Command that sends a run to an experiment tracker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from envs.errors import require_extra
from extensions.loggers.logged_run import load_logged_run
from extensions.loggers.trackers import TRACKERS, Tracker
from runner.commands import DONE
from runner.commands.common_options import DatasetOption, note
from runner.commands.options import argument, option
from runner.show.terminal import say

EXAMPLE = "turnwise log runs/mine --to mlflow --project tool-calling"


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOption):
    """Options of ``log``; the tracker itself is configured by environment variables."""

    run: Path = argument("run folder, result file, or folder of result files", "RUN")
    to: Tracker = option("tracker", required=True)
    project: str = option(
        "MLflow experiment or W&B project (default: turnwise)", "NAME", default="turnwise"
    )


def run(options: Options) -> int:
    """Send the run and print its address in the tracker."""
    found = load_logged_run(options.run, options.dataset, note)
    with require_extra("loggers", f"--to {options.to}"):
        address = TRACKERS[options.to](found, options.project)
    say(address)
    return DONE
