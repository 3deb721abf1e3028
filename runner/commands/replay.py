"""The command ``turnwise replay``: one trajectory, step by step, beside its ground truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.analysis.breakpoints import read_place, stops, visit
from runner.analysis.runs import source_name
from runner.analysis.view import EpisodePart, WithState
from runner.analysis.writing import Document, Transcript
from runner.commands import DONE
from runner.commands.one_episode import (
    EpisodeOptions,
    examined_episode,
    examined_truth,
)
from runner.commands.options import index, option, switch
from runner.commands.shared import JsonOption, note, show
from runner.episodes.examined import Examined
from runner.show.terminal import say_json, visible
from trajectories.errors import DataError

EXAMPLE = "turnwise replay multi_turn_base_0 --run runs/mine"


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption, EpisodeOptions):
    """Which episode to show, and which part of it."""

    run: Path | None = option("recorded run to show instead of the ground truth", "PATH")
    trial: int = option("which trial of the run", "N", default=0, read=index)
    turn: int | None = option("show only this turn, from 0", "N", read=index)
    step: int | None = option("show only this step of a turn", "N", read=index)
    only_diff: bool = switch("show only what is not as in the ground truth")
    places: tuple[str, ...] = option(
        "stop in a debugger before a call, such as turn=2,step=1 or turn=2,step=1,call=3",
        "PLACE",
        default=(),
        flags=("--break",),
    )
    events: tuple[str, ...] = option(
        "stop before what leaves the ground truth (divergence), is refused (error), or calls a "
        "function (call:NAME)",
        "EVENT",
        default=(),
        flags=("--break-on",),
    )


def run(options: Options) -> int:
    """Show one trajectory, or stop in it."""
    if options.places or options.events:
        return _debug(options)
    examined, source = _examined(options)
    part = EpisodePart(options.turn, options.step, options.only_diff)
    if options.json:
        say_json(examined.show(Document(source, part)))
    else:
        show(examined.show(Transcript(source, part)))
    return DONE


def _debug(options: Options) -> int:
    given = {
        "--json": options.json,
        "--only-diff": options.only_diff,
        "--turn": options.turn is not None,
        "--step": options.step is not None,
    }
    for flag, there in given.items():
        if there:
            raise DataError(flag, "is about the transcript, which --break does not print")
    places = [read_place(text) for text in options.places]
    found, _ = _examined(options)
    examined = found.show(WithState("to stop at"))
    for stop in stops(examined, places, options.events):
        note(visible(str(stop)))
        visit(examined, stop)
    return DONE


def _examined(options: Options) -> tuple[Examined, str]:
    """Return the episode that the user named, and what to call the source of its calls."""
    if options.run is None:
        return examined_truth(options), "ground truth"
    run, examined = examined_episode(options, options.run, options.trial)
    return examined, f"run {source_name(run, examined)}"
