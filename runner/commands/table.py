"""Command ``turnwise table``: prints a table of the scores of runs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from checkers.profile import PROFILES
from runner.analysis.figure_lines import csv_rows, table_lines
from runner.analysis.report.pages import scores_page
from runner.analysis.run_scores import RunScores, ScoringRules, corrected_scores, open_scores
from runner.commands import DONE
from runner.commands.common_options import (
    REASONS,
    DatasetOption,
    ErrataOption,
    GpuPriceOption,
    JsonOption,
    JudgingOptions,
    RequiredInfoOption,
    note,
)
from runner.commands.options import argument, option, switch
from runner.records.durable_files import check_writable, write_files
from runner.show.terminal import say, say_json

EXAMPLE = "turnwise table runs/a runs/b --html scores.html"
NOTES = REASONS


@dataclass(frozen=True, kw_only=True)
class Options(
    DatasetOption, JsonOption, JudgingOptions, ErrataOption, RequiredInfoOption, GpuPriceOption
):
    """Options for the runs and the output files."""

    runs: tuple[Path, ...] = argument(
        "run folder, result file, folder of result files, or verdict file (--output)", "RUN"
    )
    tag: str | None = option("only episodes of entries with this tag", "TAG")
    csv: Path | None = option("also write a CSV file", "FILE")
    html: Path | None = option("also write an HTML page", "FILE")
    allow_errors: bool = switch("print a score even with more than 2% errors")


def run(options: Options) -> int:
    """Print the scores of runs, and write them as CSV or HTML."""
    check_writable(options.csv, options.html)
    profile = PROFILES[options.profile] if options.profile else None
    rules = ScoringRules(
        options.dataset, profile, options.step_limit, options.require_info, options.gpu_price
    )
    runs = []
    for run in options.runs:
        runs.append(open_scores(run, rules, note, allow_errors=options.allow_errors))
        if options.tag is not None:
            runs[-1] = runs[-1].with_tag(options.tag)
        mended = corrected_scores(runs[-1], rules, options.errata, note)
        runs += [mended] if mended else []
    names = [run.name for run in runs]
    folders = [f" ({run.path.name})" if names.count(run.name) > 1 else "" for run in runs]
    named = [run._replace(name=run.name + at) for run, at in zip(runs, folders, strict=True)]
    pages = ((options.csv, _csv_text), (options.html, scores_page))
    files = {path: map(str.encode, [make(named)]) for path, make in pages if path is not None}
    write_files(files, named=True)
    for path in files:
        note(f"wrote {path}")
    if options.json:
        say_json({"runs": [run.to_json() for run in runs]})
    else:
        for line in table_lines(named):
            say(line)
    return DONE


def _csv_text(runs: Sequence[RunScores]) -> str:
    file = StringIO()
    csv.writer(file, lineterminator="\n").writerows(csv_rows(runs))
    return file.getvalue()
