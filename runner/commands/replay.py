"""The command ``turnwise replay``: one trajectory, step by step, beside its ground truth."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.analysis.breakpoints import read_place, stops, visit
from runner.analysis.examined import Examined
from runner.analysis.transcript import Selection, shown_turns
from runner.analysis.writing import document, lines
from runner.commands.common import (
    DONE,
    add_data_options,
    add_profile_options,
    index,
    new_command,
    note,
)
from runner.commands.inspecting import (
    examined_episode,
    examined_truth,
    show,
    source_name,
    with_state,
)
from runner.show.terminal import visible
from trajectories.errors import DataError

if TYPE_CHECKING:
    from runner.analysis.single_turn import ExaminedAnswer


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "Show one trajectory step by step, and where it left the ground truth."
    parser = new_command(commands, "replay", _replay, text)
    parser.add_argument("id", metavar="ID", help="id of the trajectory")
    parser.add_argument(
        "--run", type=Path, metavar="PATH", help="recorded run to show instead of the ground truth"
    )
    parser.add_argument(
        "--trial", type=index, default=0, metavar="N", help="which trial of the run (default: 0)"
    )
    parser.add_argument("--turn", type=index, metavar="N", help="show only this turn, from 0")
    parser.add_argument("--step", type=index, metavar="N", help="show only this step of a turn")
    parser.add_argument(
        "--only-diff", action="store_true", help="show only what is not as in the ground truth"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--break",
        action="append",
        default=[],
        dest="places",
        metavar="PLACE",
        help="stop in a debugger before a call, such as turn=2,step=1 or turn=2,step=1,call=3",
    )
    parser.add_argument(
        "--break-on",
        action="append",
        default=[],
        dest="events",
        metavar="EVENT",
        help="stop before what leaves the ground truth (divergence), is refused (error), or calls "
        "a function (call:NAME)",
    )
    add_data_options(parser)
    add_profile_options(parser)


def _replay(options: argparse.Namespace) -> int:
    if options.places or options.events:
        return _debug(options)
    examined, source = _examined(options)
    if not isinstance(examined, Examined):
        return _replay_answer(examined, source, options)
    selection = Selection(options.turn, options.step, options.only_diff)
    turns = shown_turns(examined, selection)
    if options.json:
        print(json.dumps(document(examined, turns, source), indent=2))
    else:
        show(lines(examined, turns, source))
    return DONE


def _replay_answer(examined: ExaminedAnswer, source: str, options: argparse.Namespace) -> int:
    from runner.analysis import answer_writing

    for flag, wanted in (("--turn", options.turn), ("--step", options.step)):
        if wanted:
            raise DataError(flag, f"{wanted} is not there; {options.id} is one turn of one step")
    if options.json:
        shown = answer_writing.document(examined, source, only_diff=options.only_diff)
        print(json.dumps(shown, indent=2))
    else:
        show(answer_writing.lines(examined, source, only_diff=options.only_diff))
    return DONE


def _debug(options: argparse.Namespace) -> int:
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
    examined = with_state(found, "to stop at")
    for stop in stops(examined, places, options.events):
        note(visible(str(stop)))
        visit(examined, stop)
    return DONE


def _examined(options: argparse.Namespace) -> tuple[Examined | ExaminedAnswer, str]:
    """Return the episode that the user named, and what to call the source of its calls."""
    if options.run is None:
        return examined_truth(options), "ground truth"
    run, examined = examined_episode(options, options.run, options.trial)
    return examined, f"run {source_name(run, examined)}"
