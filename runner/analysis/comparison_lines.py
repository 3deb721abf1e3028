"""Output of ``compare``: changed outcomes, differences by category and cause, conclusion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from checkers.statistics import POWER, RunDifference
from runner.analysis.comparison import ComparedEntry, RunComparison
from runner.analysis.figure_lines import errata_line, format_figure, format_p_value, progress_text
from runner.analysis.figure_table import beside_scores
from runner.show.terminal import OutputLine, cut_to_terminal, format_count, table

_WIDTH = 160
_HEADING = ("entries", "A", "B", "B minus A", "95%")


def lines(comparison: RunComparison) -> Iterator[OutputLine]:
    """Yield the lines of a comparison, with the conclusion last."""
    yield from _heading(comparison)
    yield from _flips("A passes more often than B", comparison.lost)
    yield from _flips("B passes more often than A", comparison.gained)
    yield OutputLine("")
    yield from map(OutputLine, table(_category_rows(comparison)).splitlines())
    if comparison.measures:
        yield OutputLine("")
        rows = [["measure", *_HEADING, "A higher", "B higher", "p"]]
        rows += [_row(name, difference) for name, difference in comparison.measures.items()]
        yield from map(OutputLine, table(rows).splitlines())
    if comparison.causes:
        yield OutputLine("")
        yield from map(OutputLine, table(_cause_rows(comparison)).splitlines())
    if beside := beside_scores(comparison.figures):
        sides = [
            [label, *(format_figure(row, figures) for row in beside)]
            for label, figures in zip("AB", comparison.figures, strict=True)
        ]
        yield OutputLine("")
        heading = ["", *(row.label for row in beside)]
        yield from map(OutputLine, table([heading, *sides]).splitlines())
    yield OutputLine("")
    yield from conclusion(comparison)


def conclusion(comparison: RunComparison) -> Iterator[OutputLine]:
    """Yield the conclusion: the better run, the p-value, and the number of entries needed."""
    overall = comparison.overall
    yield OutputLine(_finding(overall), "strong")
    yield OutputLine(f"p is from {_test(comparison)}.")
    if overall.is_noise and overall.needed:
        yield OutputLine(_what_would_settle(comparison, overall.needed))
    if comparison.mended:
        yield OutputLine(f"Corrected: {_finding(comparison.mended.overall)}", "strong")
        yield OutputLine(errata_line(comparison.mended.readings))


def _heading(comparison: RunComparison) -> Iterator[OutputLine]:
    data, left_out, trials = comparison.dataset, comparison.left_out, comparison.trials
    for label, run in zip("AB", comparison.runs, strict=True):
        part = progress_text(run.progress)
        yield OutputLine(f"{label}  {run.name}{part and f', {part}'}", "strong")
    tried = "one trial" if trials == (1, 1) else f"up to {trials[0]} (A) and {trials[1]} (B) trials"
    count = len(comparison.entries)
    yield OutputLine(
        f"{count} common {'entry' if count == 1 else 'entries'}, {tried} each; "
        f"data {data.name} {data.version}, profile {comparison.profile.name}"
    )
    reasons = {
        "only in A": left_out.only_first,
        "only in B": left_out.only_second,
        "without a judged trial": left_out.errors,
    }
    shown = [f"{count} {reason}" for reason, count in reasons.items() if count]
    if shown:
        yield OutputLine(f"left out: {', '.join(shown)}")


def _flips(title: str, entries: Sequence[ComparedEntry]) -> Iterator[OutputLine]:
    yield OutputLine("")
    yield OutputLine(f"{title}: {len(entries)}", "strong")
    width = max((len(entry.trajectory.id) for entry in entries), default=0)
    for entry in entries:
        why = entry.diagnosis
        said = why.sentence if why else ""
        first, second = entry.pair
        rates = f"{first.passed}/{first.trials} {second.passed}/{second.trials}  "
        if first.trials == second.trials == 1:
            rates = ""
        yield OutputLine(
            cut_to_terminal(f"  {entry.trajectory.id:{width}}  {rates}{said}".rstrip(), _WIDTH)
        )


def _category_rows(comparison: RunComparison) -> list[list[str]]:
    rows = [["category", *_HEADING, "A better", "B better", "p"]]
    mended = _differences(comparison.mended) if comparison.mended else {}
    for name, difference in _differences(comparison).items():
        rows.append(_row(name, difference))
        if name in mended:
            rows.append(_row(f"{name}, corrected", mended[name]))
    return rows


def _differences(comparison: RunComparison) -> dict[str, RunDifference]:
    found = {str(name): difference for name, difference in comparison.categories.items()}
    return {**found, "all": comparison.overall} if len(found) > 1 else found


def _row(name: str, difference: RunDifference) -> list[str]:
    low, high = difference.interval
    return [
        name,
        str(difference.entries),
        f"{100 * difference.first:.1f}%",
        f"{100 * difference.second:.1f}%",
        f"{100 * difference.difference:+.1f}",
        f"{100 * low:+.1f} to {100 * high:+.1f}",
        str(difference.worse),
        str(difference.better),
        format_p_value(difference.p_value),
    ]


def _cause_rows(comparison: RunComparison) -> list[list[str]]:
    rows = [["cause of failure", "A", "B", "B minus A", "p"]]
    for count in comparison.causes:
        first, second = (100 * share for share in comparison.cause_shares(count))
        figures = [f"{first:.1f}%", f"{second:.1f}%", f"{second - first:+.1f}"]
        rows.append([count.cause.value, *figures, format_p_value(count.p_value)])
    return rows


def _finding(overall: RunDifference) -> str:
    low, high = overall.interval
    p = f"p {format_p_value(overall.p_value, relation=True)}"
    if not overall.worse and not overall.better:
        return "All entries have equal scores in A and B, so the runs cannot be distinguished."
    if overall.is_noise:
        sure = f"95% {100 * low:+.1f} to {100 * high:+.1f}, {p}"
        return f"Within noise: B minus A is {100 * overall.difference:+.1f} points ({sure})."
    better, worse = "B", "A"
    if overall.difference < 0:
        better, worse, low, high = worse, better, -high, -low
    sure = f"95% {100 * low:.1f} to {100 * high:.1f}, {p}"
    points = f"{100 * abs(overall.difference):.1f} points"
    return f"{better} is better than {worse} by {points} ({sure})."


def _test(comparison: RunComparison) -> str:
    clusters = len({entry.trajectory.base for entry in comparison.entries})
    mcnemar = comparison.overall.mcnemar
    if mcnemar is not None and clusters == len(comparison.entries):
        return "McNemar's exact test"
    test = f"an exact sign-flip test across {format_count(clusters, 'scenario')}"
    if mcnemar is None:
        return test
    return f"{test}; McNemar's exact test for independent entries: {format_p_value(mcnemar)}"


def _what_would_settle(comparison: RunComparison, needed: int) -> str:
    entries, trials = len(comparison.entries), max(comparison.trials)
    aim = f"To detect this difference with {POWER:.0%} power, about {needed:,} entries are needed"
    if needed <= entries:
        return f"{aim}; the runs have {entries:,}."
    more = ceil(trials * needed / entries)
    return (
        f"{aim} ({needed - entries:,} more than now). "
        f"Alternatively, run at least {more} trials per entry in both runs (now: {trials})."
    )
