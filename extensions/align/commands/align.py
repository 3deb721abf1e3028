"""Command ``turnwise align``: shows episodes of one entry side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from envs.errors import DataError
from extensions.align.align_page import align_page
from extensions.align.alignment import MAX_RUNS, AlignedRun, align, document, lines
from runner.analysis.episode_view import MultiTurnRequirement
from runner.analysis.replayed_runs import source_name
from runner.commands import DONE
from runner.commands.common_options import JsonOption, show, write_pages
from runner.commands.episode_options import EpisodeOptions, execute_episodes
from runner.commands.options import index, option
from runner.records.durable_files import check_writable
from runner.show.terminal import format_count, say_json, terminal_width

EXAMPLE = "turnwise align multi_turn_base_0 --run runs/a --run runs/b"


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption, EpisodeOptions):
    """Options for the episodes to align."""

    runs: tuple[Path, ...] = option(
        "recorded run; repeatable", "PATH", required=True, flags=("--run",)
    )
    trials: tuple[int, ...] = option(
        "trial to show; repeatable (default: trial 0, or all trials if --run is given once)",
        "N",
        default=(),
        read=index,
        flags=("--trial",),
    )
    html: Path | None = option("also write an HTML page", "FILE")


def run(options: Options) -> int:
    """Show the episodes, and the step where they diverge."""
    check_writable(options.html)
    trials = options.trials or (None if len(options.runs) == 1 else [0])
    columns = [column for path in options.runs for column in _columns(options, path, trials)]
    if not 2 <= len(columns) <= MAX_RUNS:
        why = (
            f"selects {format_count(len(columns), 'episode')}; "
            f"use --run and --trial to select 2 to {MAX_RUNS} episodes"
        )
        raise DataError("--run", why)
    alignment = align(columns)
    write_pages((options.html, partial(align_page, alignment)))
    if options.json:
        say_json(document(alignment))
    else:
        show(lines(alignment, max(80, terminal_width())))
    return DONE


def _columns(options: Options, path: Path, trials: Sequence[int] | None) -> list[AlignedRun]:
    run, episodes = execute_episodes(options, path, trials)
    return [
        AlignedRun(source_name(run, examined), examined.show(MultiTurnRequirement("to align")))
        for examined in episodes
    ]
