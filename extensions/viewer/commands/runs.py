"""Command ``turnwise runs``: lists the runs of a folder with progress and scores."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envs.errors import DataError
from extensions.viewer.run_index import run_json
from runner.analysis.catalog_figures import run_figures
from runner.analysis.figure_lines import score_cell
from runner.commands import DONE
from runner.commands.common_options import JsonOption, note
from runner.commands.options import argument, option
from runner.records.run_catalog import CatalogRun, read_catalog_run, run_folders
from runner.show.terminal import cut_to_terminal, format_count, say, say_json, table, terminal_width

EXAMPLE = "turnwise runs runs"

_MIN_NAMES_CHARS = 30
"""Minimum total width, in characters, of the two columns ``run`` and ``model``."""


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption):
    """Options for the folder."""

    folder: Path = argument(
        "folder that contains run folders", "FOLDER", required=False, default=Path("runs")
    )
    tag: str | None = option("only runs with this tag", "TAG")


def list_runs(folder: Path) -> Iterator[CatalogRun]:
    """Yield the runs in and below a folder, ordered by path.

    Raises DataError if the folder does not exist.
    """
    if not folder.is_dir():
        raise DataError(str(folder), "is not a folder; give a folder that contains runs")
    yield from map(read_catalog_run, run_folders(folder))


def run(options: Options) -> int:
    """Print every run of a folder, and the commands that resume unfinished runs."""
    tag = options.tag
    found = [run for run in list_runs(options.folder) if tag in (None, *run.annotation.tags)]
    if options.json:
        say_json({"runs": [*map(run_json, found)]})
        return DONE
    if not found:
        advice = "; turnwise eval creates a run" if tag is None else f" with the tag {tag}"
        note(f"{options.folder}: contains no run{advice}")
        return DONE
    heading = ["run", "model", "score (95%)", "done", "state", "tags"]
    rows = [heading, *(_row(each, options.folder) for each in found)]
    if not any(each.annotation.tags for each in found):
        rows = [row[:-1] for row in rows]
    say(table(_cut_names(rows), split=False))
    for line in _remarks(found):
        say(line)
    return DONE


def _row(run: CatalogRun, folder: Path) -> list[str]:
    name = str(run.folder.relative_to(folder)) if run.folder != folder else run.folder.name
    planned = "?" if run.planned is None else run.planned
    rate = run_figures(run).overall
    return [
        name,
        run.definition.model if run.definition else "-",
        score_cell(rate) if rate else "-",
        f"{run.progress.done}/{planned}",
        run.state,
        ", ".join(run.annotation.tags),
    ]


def _cut_names(rows: list[list[str]]) -> list[list[str]]:
    """Shorten run names and model names so that each row fits the terminal."""
    name, model, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    room = max(terminal_width() - sum(others) - 2 * len(others) - 2, _MIN_NAMES_CHARS)
    model = min(model, max(room // 2, room - name))
    limits = room - model, model
    return [[*map(cut_to_terminal, row[:2], limits), *row[2:]] for row in rows]


def _remarks(found: list[CatalogRun]) -> Iterator[str]:
    for run in found:
        if run.problem is not None:
            yield f"damaged: {run.problem}"
        elif run.resume is not None:
            left = format_count(run.errors, "error") if run.state == "finished" else "not finished"
            yield f"{run.folder}: {left}; resume with {shlex.join(run.resume)}"
