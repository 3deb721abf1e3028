"""Tables of runs in several prompt formats or calling formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, pstdev

from runner.analysis.figure_lines import format_interval, format_percent
from runner.analysis.variant_table import ExtraColumn, VariantScore, variant_lines

_AXES = ("calls", "marks", "functions", "prompt")
"""Parts of a prompt format's name."""


def format_lines(scores: Sequence[VariantScore]) -> Iterator[str]:
    """Yield the table of prompt formats, with the spread of scores between formats."""
    values = {each.name: each.score for each in scores if each.score is not None}
    spread = ["", *_sensitivity(values)] if len(values) > 1 else []
    yield from variant_lines("format", scores, between=spread)


def calling_format_lines(scores: Sequence[VariantScore]) -> Iterator[str]:
    """Yield a table of runs: calling format, score, tokens, and shares of unreadable answers."""
    yield from variant_lines("calling format", scores, PROTOCOL_COLUMNS)


def _tokens(score: VariantScore) -> tuple[str, str]:
    totals = score.figures.totals
    if totals is None or not totals.requests:
        return "-", "-"
    known = (totals.prompt_tokens, totals.completion_tokens)
    sent, received = ("-" if count is None else str(count) for count in known)
    return sent, received


def _share(number: int, answers: int) -> str:
    return format_percent(number / answers if answers else None)


PROTOCOL_COLUMNS = (
    ExtraColumn("tokens in", lambda score: _tokens(score)[0]),
    ExtraColumn("tokens out", lambda score: _tokens(score)[1]),
    ExtraColumn("unreadable", lambda score: _share(score.shape.unreadable, score.shape.answers)),
    ExtraColumn("several calls", lambda score: _share(score.shape.several, score.shape.answers)),
)
"""Columns of the table. "unreadable" and "several calls" are percentages of all answers."""


def _sensitivity(values: Mapping[str, float]) -> Iterator[str]:
    best, worst = max(values.values()), min(values.values())
    yield (
        f"{len(values)} formats: "
        f"spread {format_percent(best - worst)} ({format_interval((worst, best))}), "
        f"population standard deviation {format_percent(pstdev(values.values()))}, "
        f"mean {format_percent(fmean(values.values()))}"
    )
    for axis, label in enumerate(_AXES):
        by_choice: dict[str, list[float]] = {}
        for name, value in values.items():
            by_choice.setdefault(name.split("-")[axis], []).append(value)
        if len(by_choice) > 1:
            means = [
                f"{choice} {format_percent(fmean(some))}" for choice, some in by_choice.items()
            ]
            yield f"mean by {label}: {', '.join(means)}"
