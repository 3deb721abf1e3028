"""Command ``turnwise debug``: steps through one episode in the terminal."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envs.errors import DataError, require_extra
from envs.lazy_modules import lazy_module
from runner.commands import DONE
from runner.commands.episode_options import EpisodeOptions, execute_episode, execute_truth
from runner.commands.options import index, option
from runner.episodes.rejudged_episode import RejudgedMultiTurn, RejudgedSingleTurn

if TYPE_CHECKING:
    from extensions.debugger import app, single_turn_app
    from extensions.debugger.widgets import PaneScreen
else:
    # These modules need an extra.
    app = lazy_module("extensions.debugger.app")
    single_turn_app = lazy_module("extensions.debugger.single_turn_app")

EXAMPLE = "turnwise debug multi_turn_base_0 --run runs/mine"


@dataclass(frozen=True, kw_only=True)
class Options(EpisodeOptions):
    """Options for the episode."""

    run: Path | None = option("recorded run (default: the ground truth)", "PATH")
    trial: int = option("trial number, starting at 0", "N", default=0, read=index, needs="--run")


def run(options: Options) -> int:
    """Open the debugger on one episode."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise DataError("debug", "needs a terminal; without a terminal, use turnwise replay")
    debugger = _make_screen(options)
    debugger.run()
    if debugger.has_unreadable_input:
        raise DataError("debug", "the terminal sent unreadable input; use UTF-8 in the terminal")
    return debugger.return_code or DONE


def _make_screen(options: Options) -> PaneScreen:
    if options.run is None:
        name = options.dataset or "ground truth"
        return execute_truth(options).show(_ScreenFactory(name, name))
    run, examined = execute_episode(options, options.run, options.trial)
    name = f"{run.name}, trial {options.trial}" if run.definition else run.name
    return examined.show(_ScreenFactory(name, str(run.path)))


@dataclass(frozen=True)
class _ScreenFactory:
    """Factory of the screen for an episode."""

    source: str
    where: str

    def turns(self, examined: RejudgedMultiTurn) -> PaneScreen:
        """Return the screen of a multi-turn entry.

        Raises DataError if the episode has no recorded steps.
        """
        if examined.recorded and not (examined.model and examined.model.turns):
            why = examined.recorded.error or "no turn"
            raise DataError(self.where, f"{examined.trajectory.id} has no recorded steps: {why}")
        with require_extra("debug", "debug"):
            return app.Debugger(examined, self.source)

    def pairs(self, examined: RejudgedSingleTurn) -> PaneScreen:
        """Return the screen of a single-turn entry."""
        with require_extra("debug", "debug"):
            return single_turn_app.SingleTurnDebugger(examined, self.source)
