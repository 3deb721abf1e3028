"""Command ``turnwise table``: prints a table of the scores of runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from checkers.profile import PROFILES
from runner.analysis.figure_lines import csv_rows, csv_text, table_lines
from runner.analysis.report.pages import scores_page
from runner.analysis.run_scores import ScoringRules, corrected_scores, open_scores
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
    write_pages,
)
from runner.commands.options import argument, option, switch
from runner.records.durable_files import check_writable
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
    table = partial(csv_text, csv_rows(named))
    write_pages((options.csv, table), (options.html, partial(scores_page, named)))
    if options.json:
        say_json({"runs": [run.to_json() for run in runs]})
    else:
        for line in table_lines(named):
            say(line)
    return DONE
