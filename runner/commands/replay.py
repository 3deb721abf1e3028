"""Command ``turnwise replay``: shows one episode step by step beside its ground truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.analysis.breakpoints import read_place, stops, visit
from runner.analysis.episode_output import EpisodeJson, EpisodeText
from runner.analysis.replayed_runs import source_name
from runner.analysis.view import EpisodePart, StatefulPart
from runner.commands import DONE
from runner.commands.one_episode import EpisodeOptions, execute_episode, execute_truth
from runner.commands.options import index, option, positive, switch
from runner.commands.shared import JsonOption, note, show
from runner.episodes.rejudged import RejudgedEpisode
from runner.show.terminal import say_json, visible
from trajectories.errors import DataError

EXAMPLE = "turnwise replay multi_turn_base_0 --run runs/mine"


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption, EpisodeOptions):
    """The episode, and the part of it to show."""

    run: Path | None = option("recorded run (default: the ground truth)", "PATH")
    trial: int = option("trial of the run, from 0", "N", default=0, read=index)
    turn: int | None = option("show only this turn, from 1", "N", read=positive)
    step: int | None = option("show only this step of the turns, from 1", "N", read=positive)
    only_diff: bool = switch("show only differences from the ground truth")
    places: tuple[str, ...] = option(
        "open a debugger before a call, counted from 1: turn=2,step=1 or turn=2,step=1,call=3; "
        "repeatable",
        "PLACE",
        default=(),
        flags=("--break",),
    )
    events: tuple[str, ...] = option(
        "open a debugger at the divergence (the cause of the failure), each error or call:NAME; "
        "repeatable",
        "EVENT",
        default=(),
        flags=("--break-on",),
    )


def run(options: Options) -> int:
    """Show one episode, or stop in it."""
    if options.places or options.events:
        return _debug(options)
    examined, source = _load_episode(options)
    turn, step = (each and each - 1 for each in (options.turn, options.step))
    part = EpisodePart(turn, step, options.only_diff)
    if options.json:
        say_json(examined.show(EpisodeJson(source, part)))
    else:
        show(examined.show(EpisodeText(source, part)))
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
            raise DataError(flag, "cannot be combined with --break or --break-on; leave it out")
    places = [read_place(text) for text in options.places]
    found, _ = _load_episode(options)
    examined = found.show(StatefulPart("to stop at"))
    for stop in stops(examined, places, options.events):
        note(visible(str(stop)))
        if stop.moment.diverges and examined.diagnosis:
            note(visible(f"cause: {examined.diagnosis.sentence}"))
        visit(examined, stop)
    return DONE


def _load_episode(options: Options) -> tuple[RejudgedEpisode, str]:
    """Return the chosen episode and the name of its source."""
    if options.run is None:
        return execute_truth(options), "ground truth"
    run, examined = execute_episode(options, options.run, options.trial)
    return examined, f"run {source_name(run, examined)}"
