"""What runs in several prompt formats came to: how much the score depends on the way of asking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, pstdev
from typing import NamedTuple

from runner.analysis.figures import RunFigures
from runner.models.prompting import PromptFormat
from runner.show.table import table
from trajectories.schema import Category

_AXES = ("calls", "marks", "functions", "prompt")
"""What the parts of a format's name are about."""


class FormatScore(NamedTuple):
    """How a run in one format ended."""

    format: PromptFormat
    figures: RunFigures
    planned: int
    """Number of episodes."""

    @property
    def score(self) -> float | None:
        """Share of the judged episodes that passed; None where there is no fair one."""
        judged, ended = self.figures.judged, len(self.figures.outcomes)
        if not judged or not self.figures.scored or ended < self.planned:
            return None
        return sum(o.outcome == "passed" for o in judged) / len(judged)


def lines(scores: Sequence[FormatScore]) -> Iterator[str]:
    """Yield the lines that sum the runs of all formats up.

    Args:
        scores: One per format, in the order in which they are shown.
    """
    categories = [
        c for c in Category if any(o.category == c for s in scores for o in s.figures.outcomes)
    ]
    columns = categories if len(categories) > 1 else []
    heading = ["format", "passed", "failed", "errors", "not run", *columns, "score"]
    yield table([heading, *(_row(score, columns) for score in scores)])
    values = {each.format: each.score for each in scores if each.score is not None}
    if len(values) > 1:
        yield ""
        yield from _sensitivity(values)
    if len(values) < len(scores):
        left_out = f"{len(scores) - len(values)} of {len(scores)} formats"
        yield f"unfinished, or with too many errors for a score: {left_out}"


def _row(score: FormatScore, categories: Sequence[Category]) -> list[str]:
    ended = [outcome.outcome for outcome in score.figures.outcomes]
    rates = score.figures.rates
    return [
        score.format.name,
        *(str(ended.count(name)) for name in ("passed", "failed", "error")),
        str(score.planned - len(ended)),
        *(_percent(rates[c].value if c in rates else None) for c in categories),
        _percent(score.score),
    ]


def _sensitivity(values: Mapping[PromptFormat, float]) -> Iterator[str]:
    best, worst = max(values.values()), min(values.values())
    yield (
        f"spread {_percent(best - worst)} ({_percent(worst)} to {_percent(best)}), standard "
        f"deviation {_percent(pstdev(values.values()))}, mean {_percent(fmean(values.values()))}, "
        f"over {len(values)} formats"
    )
    for axis, label in enumerate(_AXES):
        by_choice: dict[str, list[float]] = {}
        for prompt_format, value in values.items():
            by_choice.setdefault(prompt_format.name.split("-")[axis], []).append(value)
        if len(by_choice) > 1:
            means = [f"{choice} {_percent(fmean(some))}" for choice, some in by_choice.items()]
            yield f"mean by {label}: {', '.join(means)}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}%"
