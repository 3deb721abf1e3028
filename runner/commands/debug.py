"""The command ``turnwise debug``: step through one episode in the terminal."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envs.lazy import lazily
from runner.analysis.view import WithState
from runner.commands import DONE
from runner.commands.one_episode import EpisodeOptions, examined_episode, examined_truth
from runner.commands.options import index, option
from runner.episodes.examined import ExaminedTurns
from trajectories.errors import DataError, needing

if TYPE_CHECKING:
    from runner.analysis.debugger import app
else:
    # It needs an extra.
    app = lazily("..analysis.debugger.app", __package__)

EXAMPLE = "turnwise debug multi_turn_base_0 --run runs/mine"


@dataclass(frozen=True, kw_only=True)
class Options(EpisodeOptions):
    """Which episode to step through."""

    run: Path | None = option("recorded run to step through beside the truth", "PATH")
    trial: int = option("which trial of the run", "N", default=0, read=index)


def run(options: Options) -> int:
    """Open the debugger on one trajectory."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise DataError("debug", "needs a terminal; without one, turnwise replay prints the same")
    with needing("debug", "debug"):
        debugger_of = app.Debugger
    debugger = debugger_of(*_episode(options))
    debugger.run()
    return debugger.return_code or DONE


def _episode(options: Options) -> tuple[ExaminedTurns, str]:
    """Return the episode that the user named, and what to call where it is from."""
    if options.run is None:
        examined = examined_truth(options).show(WithState("to step through"))
        return examined, options.dataset or "ground truth"
    run, found = examined_episode(options, options.run, options.trial)
    examined = found.show(WithState("to step through"))
    if examined.model is None or not examined.model.turns:
        why = examined.recorded and examined.recorded.error
        raise DataError(str(run.path), f"there are no steps of {options.id}: {why or 'no turn'}")
    return examined, f"{run.name}, trial {options.trial}" if run.definition else run.name
