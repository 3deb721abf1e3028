"""An experiment on the list of functions as text: a table an axis, slopes, CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from extensions.experiments.vary_scores import AxisScore, Experiment, LevelScore
from runner.analysis.figure_lines import csv_cell, p_text, percent
from runner.show.terminal import table, visible

_HEADING = (
    "offered",
    "passed",
    "function",
    "arguments",
    "distractors",
    "invented",
    "tokens in",
    "latency s",
    "difference",
    "95%",
    "p",
    "p, Holm",
)
CSV_HEADING = (
    "model",
    "axis",
    "at",
    "level",
    "run",
    "episodes",
    "errors",
    "tools",
    "measure",
    "value",
    "low",
    "high",
    "p",
    "p_holm",
)


def experiment_lines(experiments: Sequence[Experiment]) -> Iterator[str]:
    """Yield the lines that show experiments, one of each model."""
    for number, found in enumerate(experiments):
        if number:
            yield ""
        design = f", design {found.design}" if found.design else ""
        data = f"data {visible(found.dataset)}, profile {found.profile}{design}"
        yield f"{visible(found.model)}: {data}"
        for axis in found.axes:
            yield ""
            yield from _axis_lines(axis, paired=found.design != "latin")
    yield ""
    yield (
        "offered: functions, on average; function: needed calls whose function was called; "
        "arguments: those with all arguments right;"
    )
    yield (
        "distractors: calls of functions that are not needed; invented: functions and parameters; "
        "tokens in: an episode"
    )


def _axis_lines(axis: AxisScore, *, paired: bool) -> Iterator[str]:
    at = ", ".join(f"{name}={level}" for name, level in axis.rest.items())
    yield f"{axis.axis}{f', at {visible(at)}' if at else ''}"
    yield table([[axis.axis, *_HEADING], *map(_row, axis.levels)])
    compared = sum(each.difference is not None for each in axis.levels)
    if compared:
        how = "entry by entry" if paired else "other entries at every level"
        yield f"difference from {visible(axis.levels[0].level)}, {how}; Holm over {compared} levels"
    left = [each.level for each in axis.levels if not each.scored]
    if left:
        yield f"unfinished, or with too many errors: {visible(', '.join(left))}"
    for name, slope in axis.slopes.items():
        low, high = (100 * bound for bound in slope.interval)
        yield (
            f"{name}: {100 * slope.value:+.2f} points for every doubling of the functions "
            f"(95% {low:+.2f} to {high:+.2f})"
        )
    if axis.bias is not None:
        yield (
            f"position bias {axis.bias:.3f}: half the distance of right choices by place from even"
        )


def _row(each: LevelScore) -> list[str]:
    chosen, found = each.selection, each.difference
    differs = ["-"] * 4
    if found is not None and each.corrected is not None:
        low, high = (100 * bound for bound in found.interval)
        differs = [
            f"{100 * found.difference:+.1f}",
            f"{low:+.1f} to {high:+.1f}",
            p_text(found.p_value),
            p_text(each.corrected),
        ]
    shares = (each.passed, each.function_right, each.arguments_right)
    return [
        visible(each.level),
        f"{each.tools:.1f}",
        *(percent(share and share[0]) for share in shares),
        f"{chosen.distractors} ({percent(chosen.distractor_calls.share)})" if chosen else "-",
        f"{each.invented('functions')} and {each.invented('parameters')}",
        "-" if each.tokens is None else f"{each.tokens:.0f}",
        "-" if each.latency is None else f"{each.latency:.3f}",
        *differs,
    ]


def csv_rows(experiments: Sequence[Experiment]) -> Iterator[Sequence[object]]:
    """Yield the rows of a CSV file: one per level and measure, and per slope."""
    yield CSV_HEADING
    for found in experiments:
        for axis in found.axes:
            at = csv_cell(visible(" ".join(f"{k}={v}" for k, v in axis.rest.items())))
            head = (csv_cell(visible(found.model)), axis.axis, at)
            for each in axis.levels:
                yield from _csv_of(each, head)
            for name, slope in axis.slopes.items():
                measure = f"slope per doubling/{name.replace(' ', '_')}"
                yield (*head, "", "", "", "", "", measure, slope.value, *slope.interval, "", "")


def _csv_of(each: LevelScore, head: Sequence[object]) -> Iterator[Sequence[object]]:
    episodes = len(each.figures.outcomes)
    names = csv_cell(visible(each.level)), csv_cell(visible(each.run))
    mine = (*head, *names, episodes, each.figures.errors, each.tools)
    shares = {
        "passed": each.passed,
        "function_right": each.function_right,
        "arguments_right": each.arguments_right,
    }
    for name, share in shares.items():
        value, (low, high) = share or ("", ("", ""))
        yield (*mine, name, value, low, high, "", "")
    chosen = each.selection
    figures: dict[str, object] = {
        "distractor_calls": chosen and chosen.distractors,
        "invented_functions": each.invented("functions"),
        "invented_parameters": each.invented("parameters"),
        "tokens_in": each.tokens,
        "latency": each.latency,
    }
    for name, figure in figures.items():
        yield (*mine, name, "" if figure is None else figure, "", "", "", "")
    if found := each.difference:
        p_values = found.p_value, each.corrected
        yield (*mine, "difference", found.difference, *found.interval, *p_values)
