"""The command ``turnwise report``: runs as one HTML file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.analysis.mended import judge_of
from runner.analysis.report.run_report import report
from runner.analysis.runs import dataset_of, view_run
from runner.commands import DONE
from runner.commands.judging import mend_for
from runner.commands.one_episode import rules_of
from runner.commands.options import argument, option
from runner.commands.shared import (
    DatasetOption,
    ErrataOption,
    GpuPriceOption,
    JudgingOptions,
    TellingOption,
    note,
)
from runner.records.files import written
from runner.records.run import open_run
from runner.show.terminal import say

EXAMPLE = "turnwise report runs/mine --output report.html"


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOption, JudgingOptions, ErrataOption, TellingOption, GpuPriceOption):
    """Which runs to report on, and where."""

    runs: tuple[Path, ...] = argument("a run folder, a result file, or a folder of such", "RUN")
    output: Path = option(
        "where to write it", "FILE", default=Path("report.html"), flags=("--output", "-o")
    )


def run(options: Options) -> int:
    """Write the report."""
    runs = []
    for path in options.runs:
        source = open_run(path)
        dataset = dataset_of(source, options.dataset, note)
        profile, limit = rules_of(source, dataset, options)
        mend = mend_for(options, dataset, profile, judge_of(source, profile, limit))
        viewed = view_run(source, dataset, profile, limit, require_told=options.require_told)
        runs.append(viewed._replace(mend=mend))
    text = report(runs, options.gpu_price)
    with written(options.output) as file:
        file.write(text)
    say(options.output)
    return DONE
