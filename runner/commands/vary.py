"""The command ``turnwise vary``: what became of experiments on the list of functions."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from runner.analysis.report.curve_page import curve_page
from runner.analysis.vary_lines import csv_rows, experiment_lines
from runner.analysis.vary_scores import experiment_json, experiment_of
from runner.commands import DONE
from runner.commands.options import argument, option, switch
from runner.commands.shared import JsonOption, note
from runner.records.files import written
from runner.show.terminal import say, say_json
from trajectories.errors import DataError

EXAMPLE = "turnwise vary runs/mine --html curves.html"
MOST = 5
"""Experiments that there are colours for."""


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption):
    """Which experiments to sum up, and where."""

    folders: tuple[Path, ...] = argument(
        f"folder of eval --vary; up to {MOST}, one of each model", "FOLDER"
    )
    csv: Path | None = option("also write rows of CSV", "FILE")
    html: Path | None = option("also write a page with curves", "FILE")
    allow_errors: bool = switch(
        "give a score however many episodes ended in an error that is not the model's"
    )


def run(options: Options) -> int:
    """Print what became of experiments, and write it where that is wanted."""
    if len(options.folders) > MOST:
        raise DataError("FOLDER", f"up to {MOST} experiments stand beside each other")
    found = [experiment_of(each, allow_errors=options.allow_errors) for each in options.folders]
    if options.csv is not None:
        with written(options.csv) as file:
            csv.writer(file, lineterminator="\n").writerows(csv_rows(found))
        note(f"wrote {options.csv}")
    if options.html is not None:
        with written(options.html) as file:
            file.write(curve_page(found))
        note(f"wrote {options.html}")
    if options.json:
        say_json({"experiments": [experiment_json(each) for each in found]})
    else:
        for line in experiment_lines(found):
            say(line)
    return DONE
