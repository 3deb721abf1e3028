"""The command ``turnwise runs``: the run folders there are, how far they got, what they scored."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.analysis.figure_lines import percent
from runner.analysis.figures import RunFigures
from runner.commands import DONE
from runner.commands.options import argument
from runner.commands.shared import JsonOption, note
from runner.records.shelf import ShelvedRun, shelved
from runner.show.terminal import clipped, say, say_json, table

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
        say_json({"runs": [*map(_json, found)]})
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
        clipped(name, _LONGEST),
        clipped(run.definition.model if run.definition else "-", _LONGEST),
        f"{len(run.episodes)}/{planned}",
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


def _json(run: ShelvedRun) -> dict[str, Any]:
    rate = RunFigures(run.episodes).overall
    definition = run.definition
    return {
        "folder": str(run.folder),
        "state": run.state,
        "problem": run.problem,
        "created": run.created,
        "model": definition and definition.model,
        "dataset": definition and definition.dataset._asdict(),
        "profile": definition and definition.profile,
        "episodes": len(run.episodes),
        "planned": run.planned,
        "errors": run.errors,
        "score": rate and rate.value,
        "interval": rate and rate.interval,
        "resume": run.resume,
    }
