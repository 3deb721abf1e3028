"""Command ``turnwise report``: writes an HTML report on runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.analysis.corrected_judging import judge_of
from runner.analysis.replayed_runs import dataset_of, replay_run
from runner.analysis.report.run_report import report
from runner.commands import DONE
from runner.commands.common_options import (
    DatasetOption,
    ErrataOption,
    GpuPriceOption,
    JudgingOptions,
    RequiredInfoOption,
    note,
)
from runner.commands.episode_options import rules_of
from runner.commands.offline_judging import correction_for
from runner.commands.options import argument, option
from runner.records.durable_files import check_writable, write_output
from runner.records.recorded_run import open_run
from runner.show.terminal import say

EXAMPLE = "turnwise report runs/mine --output report.html"


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOption, JudgingOptions, ErrataOption, RequiredInfoOption, GpuPriceOption):
    """Options for the runs and the output file."""

    runs: tuple[Path, ...] = argument("run folder, result file, or folder of result files", "RUN")
    output: Path = option(
        "HTML file to write", "FILE", default=Path("report.html"), flags=("--output", "-o")
    )


def run(options: Options) -> int:
    """Write the report."""
    check_writable(options.output)
    runs = []
    for path in options.runs:
        source = open_run(path)
        dataset = dataset_of(source, options.dataset, note)
        profile, limit = rules_of(source, dataset, options)
        judge, require_info = judge_of(source, profile, limit), options.require_info
        mend = correction_for(options, dataset, profile, judge, require_info=require_info)
        replayed = replay_run(source, dataset, profile, limit, require_info=require_info)
        runs.append(replayed._replace(mend=mend))
    write_output(options.output, report(runs, options.gpu_price))
    say(options.output)
    return DONE
