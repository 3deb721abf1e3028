"""Results of an experiment as text and CSV: a table for each axis, and the slopes of scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from extensions.experiments.experiment_scores import (
    MEASURES,
    AxisScore,
    Experiment,
    LevelScore,
    level_json,
)
from runner.analysis.figure_lines import csv_cell, format_p_value, format_percent
from runner.show.terminal import escape_unprintable, format_count, table

_HEADING = (
    *("offered", "passed", "correct functions", "correct arguments", "distractors", "invented"),
    *("tokens in", "latency s", "difference", "95%", "p", "p, Holm"),
)
CSV_HEADING = (
    *("model", "axis", "at", "level", "run", "episodes", "errors", "tools"),
    *("measure", "value", "low", "high", "p", "p_holm"),
)


def experiment_lines(experiments: Sequence[Experiment]) -> Iterator[str]:
    """Yield the text lines of experiments; each experiment has one model."""
    for number, found in enumerate(experiments):
        if number:
            yield ""
        design = f", design {found.design}" if found.design else ""
        data = f"data {escape_unprintable(found.dataset)}, profile {found.profile}{design}"
        yield f"{escape_unprintable(found.model)}: {data}"
        for axis in found.axes:
            yield ""
            yield from _axis_lines(axis, paired=found.design != "latin")
    yield ""
    yield "offered: mean number of offered functions"
    yield "correct functions: share of needed calls for which the model called the right function"
    yield "correct arguments: share of calls with right arguments, if the function is right"
    yield (
        "distractors: calls of unneeded functions; invented: invented functions and parameters; "
        "tokens in: prompt tokens per episode"
    )


def _axis_lines(axis: AxisScore, *, paired: bool) -> Iterator[str]:
    at = ", ".join(f"{name}={level}" for name, level in axis.rest.items())
    yield f"{axis.axis}{f', at {escape_unprintable(at)}' if at else ''}"
    yield table([[axis.axis, *_HEADING], *map(_make_row, axis.levels)])
    compared = sum(each.difference is not None for each in axis.levels)
    if compared:
        how = "paired by entry" if paired else "each level has different entries"
        first = escape_unprintable(axis.levels[0].level)
        yield f"difference: compared with the level {first}, {how}"
        comparisons = format_count(compared, "comparison")
        yield f"p, Holm: p-value with Holm's correction for {comparisons}"
    unscored = [each.level for each in axis.levels if not each.scored]
    if unscored:
        yield (
            "these levels have no score (unfinished, or too many errors): "
            f"{escape_unprintable(', '.join(unscored))}"
        )
    for name, slope in axis.slopes.items():
        # Zero has no sign: the slopes of equal scores are rounding errors.
        value, low, high = (round(100 * each, 2) + 0.0 for each in (slope.value, *slope.interval))
        yield (
            f"{MEASURES[name]}: {value:+.2f} points for every doubling of the number "
            f"of functions (95% {low:+.2f} to {high:+.2f})"
        )
    if axis.bias is not None:
        meaning = "0 is no bias, 1 is the maximum"
        yield f"position bias {axis.bias:.3f} ({meaning})"


def _make_row(each: LevelScore) -> list[str]:
    chosen, found = each.figures.selection, each.difference
    differs = ["-"] * 4
    if found is not None and each.corrected is not None:
        low, high = (100 * bound for bound in found.interval)
        differs = [
            f"{100 * found.difference:+.1f}",
            f"{low:+.1f} to {high:+.1f}",
            format_p_value(found.p_value),
            format_p_value(each.corrected),
        ]
    shares = (each.passed, each.function_right, each.arguments_right)
    return [
        escape_unprintable(each.level),
        f"{each.tools:.1f}",
        *(format_percent(share and share[0]) for share in shares),
        f"{chosen.distractors} ({format_percent(chosen.distractor_calls.share)})"
        if chosen
        else "-",
        f"{each.invented('functions')} and {each.invented('parameters')}",
        "-" if each.tokens is None else f"{each.tokens:.0f}",
        "-" if each.latency is None else f"{each.latency:.3f}",
        *differs,
    ]


def csv_rows(experiments: Sequence[Experiment]) -> Iterator[Sequence[object]]:
    """Yield CSV rows: one row for each level and measure, and one row for each slope."""
    yield CSV_HEADING
    for found in experiments:
        for axis in found.axes:
            at = csv_cell(escape_unprintable(" ".join(f"{k}={v}" for k, v in axis.rest.items())))
            head = (csv_cell(escape_unprintable(found.model)), axis.axis, at)
            for each in axis.levels:
                yield from _level_rows(each, head)
            for name, slope in axis.slopes.items():
                measure = f"slope per doubling/{name.replace(' ', '_')}"
                yield (*head, "", "", "", "", "", measure, slope.value, *slope.interval, "", "")


def _level_rows(each: LevelScore, head: Sequence[object]) -> Iterator[Sequence[object]]:
    episodes = len(each.figures.outcomes)
    names = csv_cell(escape_unprintable(each.level)), csv_cell(escape_unprintable(each.run))
    prefix = (*head, *names, episodes, each.figures.errors, each.tools)
    shares = (each.passed, each.function_right, each.arguments_right)
    for name, share in zip(("passed", "function_right", "arguments_right"), shares, strict=True):
        value, (low, high) = share or ("", ("", ""))
        yield (*prefix, name, value, low, high, "", "")
    figures, invented = level_json(each), ("invented_functions", "invented_parameters")
    for name in ("distractor_calls", *invented, "tokens_in", "latency"):
        figure = "" if figures[name] is None else figures[name]
        yield (*prefix, name, figure, "", "", "", "")
    if found := each.difference:
        p_values = found.p_value, each.corrected
        yield (*prefix, "difference", found.difference, *found.interval, *p_values)
