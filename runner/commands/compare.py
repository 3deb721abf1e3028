"""The command ``turnwise compare``: two runs over the same entries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from runner.analysis.comparison import RunComparison, compare_runs
from runner.analysis.comparison_lines import lines
from runner.analysis.report.pages import comparison_page
from runner.analysis.runs import data_change, plain_dataset_of
from runner.commands import DONE
from runner.commands.one_episode import rules_of
from runner.commands.options import argument, option
from runner.commands.shared import (
    DatasetOption,
    ErrataOption,
    JsonOption,
    JudgingOptions,
    TellingOption,
    note,
    show,
)
from runner.data.errata import open_errata
from runner.records.files import written
from runner.records.run import open_run
from runner.show.terminal import say_json
from trajectories.errors import DataError

EXAMPLE = "turnwise compare runs/a runs/b --html comparison.html"


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOption, JsonOption, JudgingOptions, ErrataOption, TellingOption):
    """Which runs to compare."""

    run_a: Path = argument("run folder, result file, or folder of them", "RUN_A")
    run_b: Path = argument("the other run", "RUN_B")
    html: Path | None = option("also write a page", "FILE")


def run(options: Options) -> int:
    """Print who flips between two runs, and whether that is more than noise."""
    comparison = _comparison(options)
    if options.html is not None:
        with written(options.html) as file:
            file.write(comparison_page(comparison))
        note(f"wrote {options.html}")
    if options.json:
        say_json(comparison.to_json())
    else:
        show(lines(comparison))
    return DONE


def _comparison(options: Options) -> RunComparison:
    first, second = open_run(options.run_a), open_run(options.run_b)
    dataset = plain_dataset_of(first, options.dataset, note)
    change = data_change(second, dataset)
    if change is not None:
        note(f"{second.path}: {change}")
    (profile, limit), (other, other_limit) = (
        rules_of(run, dataset, options) for run in (first, second)
    )
    if profile.name != other.name:
        message = f"{first.path} was judged by {profile.name}, {second.path} by {other.name}"
        raise DataError("--profile", f"{message}: say which of them holds for both")
    what = (first, second), dataset, profile, (limit, other_limit)
    told = options.require_told
    comparison = compare_runs(*what, require_told=told)
    readings = open_errata(options.errata, dataset, note)
    if readings is None:
        return comparison
    return replace(comparison, mended=compare_runs(*what, readings, require_told=told))
