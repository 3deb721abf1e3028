"""The command ``turnwise align``: several runs of one trajectory side by side."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.analysis.align import MOST, Column, align, document, lines
from runner.analysis.report.align_page import align_page
from runner.analysis.runs import source_name
from runner.analysis.view import WithState
from runner.commands import DONE
from runner.commands.one_episode import EpisodeOptions, examined_episodes
from runner.commands.options import index, option
from runner.commands.shared import JsonOption, note, show
from runner.records.files import written
from runner.show.terminal import say_json
from trajectories.errors import DataError

EXAMPLE = "turnwise align multi_turn_base_0 --run runs/a --run runs/b"


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption, EpisodeOptions):
    """Which episodes to put side by side."""

    runs: tuple[Path, ...] = option(
        "recorded run; once for each, or once for the trials of one run",
        "PATH",
        required=True,
        flags=("--run",),
    )
    trials: tuple[int, ...] = option(
        "which trial of the runs; may be repeated (default: 0, of a single run all)",
        "N",
        default=(),
        read=index,
        flags=("--trial",),
    )
    html: Path | None = option("also write a page", "FILE")


def run(options: Options) -> int:
    """Show several runs of one trajectory, and the step where they part."""
    trials = options.trials or (None if len(options.runs) == 1 else [0])
    columns = [column for path in options.runs for column in _columns(options, path, trials)]
    if not 2 <= len(columns) <= MOST:
        raise DataError("--run", f"there must be 2 to {MOST} episodes to align, not {len(columns)}")
    alignment = align(columns)
    if options.html is not None:
        with written(options.html) as file:
            file.write(align_page(alignment))
        note(f"wrote {options.html}")
    if options.json:
        say_json(document(alignment))
    else:
        show(lines(alignment, max(80, shutil.get_terminal_size().columns)))
    return DONE


def _columns(options: Options, path: Path, trials: Sequence[int] | None) -> list[Column]:
    run, episodes = examined_episodes(options, path, trials)
    return [
        Column(source_name(run, examined), examined.show(WithState("to put side by side")))
        for examined in episodes
    ]
