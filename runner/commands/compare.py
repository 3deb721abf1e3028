"""Command ``turnwise compare``: compares two runs of the same entries."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from envs.errors import DataError
from runner.analysis.comparison import RunComparison, compare_each
from runner.analysis.comparison_lines import lines
from runner.analysis.replayed_runs import describe_data_change, load_plain_dataset
from runner.analysis.report.pages import comparison_page
from runner.commands import BELOW, DONE, RUN_ERROR
from runner.commands.common_options import (
    DatasetOption,
    ErrataOption,
    JsonOption,
    JudgingOptions,
    RequiredInfoOption,
    note,
    percentage,
    show,
    write_pages,
)
from runner.commands.episode_options import rules_of
from runner.commands.options import argument, option
from runner.data.errata import open_errata
from runner.records.durable_files import check_writable
from runner.records.recorded_run import open_run
from runner.show.terminal import format_count, say_json

_MAX_FLIPS = 5
_ROUNDING = 1e-9
EXAMPLE = "turnwise compare runs/a runs/b --html comparison.html"


class ComparisonRule(NamedTuple):
    """Rule that decides whether the second run is worse."""

    name: str
    limit: float = 0.0

    def violation(self, found: RunComparison) -> str | None:
        """Return the reason why the second run counts as worse, or None."""
        overall, lost = found.overall, found.lost
        if self.name == "flips" and lost:
            shown = ", ".join(entry.trajectory.id for entry in lost[:_MAX_FLIPS])
            more = f" and {len(lost) - _MAX_FLIPS} more" if len(lost) > _MAX_FLIPS else ""
            return f"flips: {format_count(len(lost), 'entry')} got worse: {shown}{more}"
        if self.name == "drop" and -overall.difference > self.limit + _ROUNDING:
            return f"drop: the score falls by {-overall.difference:.1%}, limit {self.limit:.1%}"
        if self.name == "significant" and overall.difference < 0 and not overall.is_noise:
            p_value = f"p {overall.p_value:.4f}"
            return f"significant: the score falls by {-overall.difference:.1%}, {p_value}"
        return None


def _rules(text: str) -> tuple[ComparisonRule, ...]:
    found = []
    for part in text.split(","):
        name, equals, limit = part.strip().partition("=")
        if name == "drop" and equals:
            found.append(ComparisonRule(name, percentage(limit)))
        elif name in ("flips", "significant") and not equals:
            found.append(ComparisonRule(name))
        else:
            raise ArgumentTypeError(f"{part!r:.80}: must be `flips`, `drop=2%` or `significant`")
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOption, JsonOption, JudgingOptions, ErrataOption, RequiredInfoOption):
    """Options for the runs to compare."""

    run_a: Path = argument("run folder, result file, or folder of result files", "RUN_A")
    run_b: Path = argument(
        "second run: run folder, result file, or folder of result files", "RUN_B"
    )
    html: Path | None = option("also write an HTML page", "FILE")
    fail_on: tuple[ComparisonRule, ...] | None = option(
        "rules for exit status 4, separated by commas: flips (an entry passes less often), "
        "drop=2% (the score falls by more than 2 points), significant (p below 0.05)",
        "RULES",
        read=_rules,
    )


def run(options: Options) -> int:
    """Print the verdicts that differ between two runs, and a significance test."""
    check_writable(options.html)
    comparison = _compare(options)
    write_pages((options.html, partial(comparison_page, comparison)))
    if options.json:
        say_json(comparison.to_json())
    else:
        show(lines(comparison))
    return DONE if options.fail_on is None else _apply(options.fail_on, comparison)


def _apply(rules: Sequence[ComparisonRule], comparison: RunComparison) -> int:
    missing = comparison.left_out.only_first + comparison.left_out.errors
    if missing:
        note(f"--fail-on: one of the runs has no verdict for {format_count(missing, 'entry')}")
        return RUN_ERROR
    found = [said for rule in rules if (said := rule.violation(comparison))]
    for said in found:
        note(said)
    return BELOW if found else DONE


def _compare(options: Options) -> RunComparison:
    first, second = open_run(options.run_a), open_run(options.run_b)
    dataset = load_plain_dataset(first, options.dataset, note)
    if options.run_a.resolve() == options.run_b.resolve():
        note(f"{options.run_a} is compared with itself")
    change = describe_data_change(second, dataset)
    if change is not None:
        note(f"{second.path}: {change}")
    (profile, limit), (other, other_limit) = (
        rules_of(run, dataset, options) for run in (first, second)
    )
    if profile.name != other.name:
        message = f"{first.path} was judged by {profile.name}, {second.path} by {other.name}"
        raise DataError("--profile", f"{message}; choose one profile for both runs")
    pair = (first, second), dataset, profile, (limit, other_limit)
    (comparison,) = compare_each(*pair, require_info=options.require_info)
    readings = open_errata(options.errata, dataset, note)
    if readings is None:
        return comparison
    (corrected,) = compare_each(*pair, readings, require_info=options.require_info)
    return replace(comparison, mended=corrected)
