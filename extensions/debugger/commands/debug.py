"""The command ``turnwise debug``: step through one episode in the terminal."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envs.lazy import lazily
from runner.commands import DONE
from runner.commands.one_episode import EpisodeOptions, examined_episode, examined_truth
from runner.commands.options import index, option
from runner.episodes.examined import ExaminedCalls, ExaminedTurns
from trajectories.errors import DataError, needing

if TYPE_CHECKING:
    from textual.app import App

    from extensions.debugger import answer_app, app
else:
    # They need an extra.
    app = lazily("extensions.debugger.app")
    answer_app = lazily("extensions.debugger.answer_app")

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
    debugger = _screen(options)
    debugger.run()
    return debugger.return_code or DONE


def _screen(options: Options) -> App[None]:
    """Return the screen of the episode that the user named."""
    if options.run is None:
        name = options.dataset or "ground truth"
        return examined_truth(options).show(_Screen(name, name))
    run, examined = examined_episode(options, options.run, options.trial)
    name = f"{run.name}, trial {options.trial}" if run.definition else run.name
    return examined.show(_Screen(name, str(run.path)))


@dataclass(frozen=True)
class _Screen:
    """Makes the screen that steps through an episode."""

    source: str
    where: str

    def turns(self, examined: ExaminedTurns) -> App[None]:
        """Return the screen of turns.

        Raises:
            DataError: There are no steps of them on record.
        """
        if examined.recorded and not (examined.model and examined.model.turns):
            why = examined.recorded.error or "no turn"
            raise DataError(self.where, f"there are no steps of {examined.trajectory.id}: {why}")
        with needing("debug", "debug"):
            return app.Debugger(examined, self.source)

    def pairs(self, examined: ExaminedCalls) -> App[None]:
        """Return the screen of one answer."""
        with needing("debug", "debug"):
            return answer_app.AnswerDebugger(examined, self.source)
