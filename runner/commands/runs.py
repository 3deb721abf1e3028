"""The command ``turnwise runs``: the run folders there are, how far they got, what they scored."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envs.state import cut
from runner.analysis.figure_lines import percent
from runner.analysis.figures import RunFigures
from runner.analysis.listing import run_json
from runner.commands import DONE
from runner.commands.options import argument
from runner.commands.shared import JsonOption, note
from runner.records.shelf import ShelvedRun, shelved
from runner.show.terminal import say, say_json, table

EXAMPLE = "turnwise runs runs"

_LONGEST = 26
"""Characters of a name in the table."""


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption):
    """Where to look."""

    folder: Path = argument(
        "folder with run folders in it", "FOLDER", required=False, default=Path("runs")
    )


def run(options: Options) -> int:
    """Print every run of a folder, and how those go on that are not finished."""
    found = list(shelved(options.folder))
    if options.json:
        say_json({"runs": [*map(run_json, found)]})
        return DONE
    if not found:
        note(f"{options.folder}: there is no run in it")
        return DONE
    heading = ["run", "model", "done", "score", "state"]
    say(table([heading, *(_row(each, options.folder) for each in found)]))
    for line in _remarks(found):
        say(line)
    return DONE


def _row(run: ShelvedRun, folder: Path) -> list[str]:
    name = str(run.folder.relative_to(folder)) if run.folder != folder else run.folder.name
    planned = "?" if run.planned is None else run.planned
    rate = RunFigures(run.episodes).overall
    return [
        cut(name, _LONGEST),
        cut(run.definition.model if run.definition else "-", _LONGEST),
        f"{run.done}/{planned}",
        percent(rate and rate.value),
        run.state,
    ]


def _remarks(found: list[ShelvedRun]) -> Iterator[str]:
    for run in found:
        if run.problem is not None:
            yield f"damaged: {run.problem}"
        elif run.resume is not None:
            left = f"{run.errors} errors" if run.state == "finished" else "not finished"
            yield f"{run.folder}: {left}; go on with {shlex.join(run.resume)}"
