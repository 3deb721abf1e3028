"""Command ``turnwise compare``: compares two runs of the same entries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from runner.analysis.comparison import RunComparison, compare_runs
from runner.analysis.comparison_lines import lines
from runner.analysis.replayed_runs import describe_data_change, load_plain_dataset
from runner.analysis.report.pages import comparison_page
from runner.commands import DONE
from runner.commands.one_episode import rules_of
from runner.commands.options import argument, option
from runner.commands.shared import (
    DatasetOption,
    ErrataOption,
    JsonOption,
    JudgingOptions,
    RequiredInfoOption,
    note,
    show,
)
from runner.data.errata import open_errata
from runner.records.files import check_writable, written
from runner.records.run import open_run
from runner.show.terminal import say_json
from trajectories.errors import DataError

EXAMPLE = "turnwise compare runs/a runs/b --html comparison.html"


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOption, JsonOption, JudgingOptions, ErrataOption, RequiredInfoOption):
    """The runs to compare."""

    run_a: Path = argument("run folder, result file, or folder of result files", "RUN_A")
    run_b: Path = argument("the other run", "RUN_B")
    html: Path | None = option("also write an HTML page", "FILE")


def run(options: Options) -> int:
    """Print the verdicts that differ between two runs, and a significance test."""
    check_writable(options.html)
    comparison = _compare(options)
    if options.html is not None:
        with written(options.html) as file:
            file.write(comparison_page(comparison))
        note(f"wrote {options.html}")
    if options.json:
        say_json(comparison.to_json())
    else:
        show(lines(comparison))
    return DONE


def _compare(options: Options) -> RunComparison:
    first, second = open_run(options.run_a), open_run(options.run_b)
    if options.run_a.resolve() == options.run_b.resolve():
        note(f"{options.run_a} is compared with itself")
    dataset = load_plain_dataset(first, options.dataset, note)
    change = describe_data_change(second, dataset)
    if change is not None:
        note(f"{second.path}: {change}")
    (profile, limit), (other, other_limit) = (
        rules_of(run, dataset, options) for run in (first, second)
    )
    if profile.name != other.name:
        message = f"{first.path} was judged by {profile.name}, {second.path} by {other.name}"
        raise DataError("--profile", f"{message}; name one profile for both")
    pair = (first, second), dataset, profile, (limit, other_limit)
    comparison = compare_runs(*pair, require_info=options.require_info)
    readings = open_errata(options.errata, dataset, note)
    if readings is None:
        return comparison
    corrected = compare_runs(*pair, readings, require_info=options.require_info)
    return replace(comparison, mended=corrected)
