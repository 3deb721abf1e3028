"""Table of variants: several runs of one command, each compared with the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean, pstdev
from typing import NamedTuple

from checkers.statistics import EntryPair, RunDifference, compare, holm
from runner.analysis.figure_lines import p_text, percent, span
from runner.analysis.figures import RunFigures
from runner.records.record import EpisodeRecord
from runner.show.terminal import table
from trajectories.schema import Category

_AXES = ("calls", "marks", "functions", "prompt")
"""Parts of a prompt format's name."""


class CallShape(NamedTuple):
    """Number of answers, of unreadable answers, and of answers with several calls."""

    answers: int
    unreadable: int
    """Answers with calls that cannot be parsed."""
    several: int
    """Answers with more than one call."""

    @classmethod
    def of(cls, records: Iterable[EpisodeRecord]) -> CallShape:
        """Count the answers of episodes."""
        answers = unreadable = several = 0
        for record in records:
            answers += len(record.steps)
            unreadable += sum(end.why == "unreadable" for end in record.turn_ends)
            for step in record.steps:
                unreadable += any(call.startswith("(unreadable: ") for call in step.calls)
                several += len(step.calls) > 1
        return cls(answers, unreadable, several)


class VariantScore(NamedTuple):
    """Figures of a variant's run."""

    name: str
    figures: RunFigures
    planned: int
    """Number of planned episodes."""
    shape: CallShape = CallShape(0, 0, 0)

    @property
    def score(self) -> float | None:
        """Share of judged episodes that passed; None if unfinished or with too many errors."""
        rate = self.figures.overall
        return rate.value if rate and len(self.figures.outcomes) >= self.planned else None


class VariantDifference(NamedTuple):
    """Comparison of a variant with the first one."""

    difference: RunDifference
    """Variant minus first."""
    corrected: float
    """Holm's p-value, corrected for the number of comparisons."""


class ExtraColumn(NamedTuple):
    """Additional column of the table of variants."""

    heading: str
    cell: Callable[[VariantScore], str]


def pair_entries(first: RunFigures, second: RunFigures) -> list[EntryPair]:
    """Pair the entries that both runs judged."""
    theirs = second.attempts_by_id
    return [
        EntryPair(mine, theirs[id]) for id, mine in first.attempts_by_id.items() if id in theirs
    ]


def compare_with_first(scores: Sequence[VariantScore]) -> Mapping[str, VariantDifference]:
    """Compare each scored variant with the first one, entry by entry."""
    first, *others = scores
    pairs = {
        each.name: pair_entries(first.figures, each.figures)
        for each in others
        if first.score is not None and each.score is not None
    }
    found = {name: compare(some) for name, some in pairs.items() if some}
    corrected = holm([difference.p_value for difference in found.values()])
    return {
        name: VariantDifference(difference, p)
        for (name, difference), p in zip(found.items(), corrected, strict=True)
    }


def variant_lines(
    kind: str,
    scores: Sequence[VariantScore],
    more: Sequence[ExtraColumn] = (),
    between: Sequence[str] = (),
) -> Iterator[str]:
    """Yield the table of variants, each compared with the first.

    Args:
        kind: Word for a variant, such as ``format``.
        scores: At least one.
        more: Columns before those of the comparison.
        between: Lines below the table.
    """
    categories = [
        c for c in Category if any(o.category == c for s in scores for o in s.figures.outcomes)
    ]
    columns = categories if len(categories) > 1 else []
    compared = compare_with_first(scores)
    heading = [kind, "passed", "failed", "errors", "not run", *columns, "score"]
    heading += [column.heading for column in more]
    rows = [[*_cells(each, columns), *(column.cell(each) for column in more)] for each in scores]
    if len(scores) > 1:
        heading += DIFFERENCE_HEADING
        for row, each in zip(rows, scores, strict=True):
            row += difference_cells(compared.get(each.name))
    yield table([heading, *rows])
    if compared:
        yield (
            f"difference from {scores[0].name}, entry by entry; p, Holm: corrected for "
            f"{len(compared)} {kind}s"
        )
    yield from between
    unscored = sum(each.score is None for each in scores)
    if unscored:
        yield f"unfinished or too many errors for a score: {unscored} of {len(scores)} {kind}s"


DIFFERENCE_HEADING = ("difference", "95%", "p", "p, Holm")


def difference_cells(against: VariantDifference | None) -> list[str]:
    """Return the cells for ``DIFFERENCE_HEADING``, in percentage points."""
    if against is None:
        return ["-"] * len(DIFFERENCE_HEADING)
    found = against.difference
    low, high = (100 * bound for bound in found.interval)
    return [
        f"{100 * found.difference:+.1f}",
        f"{low:+.1f} to {high:+.1f}",
        p_text(found.p_value),
        p_text(against.corrected),
    ]


def _cells(score: VariantScore, categories: Sequence[Category]) -> list[str]:
    ended = [outcome.outcome for outcome in score.figures.outcomes]
    rates = score.figures.rates
    return [
        score.name,
        *(str(ended.count(name)) for name in ("passed", "failed", "error")),
        str(score.planned - len(ended)),
        *(percent(rates[c].value if c in rates else None) for c in categories),
        percent(score.score),
    ]


def format_lines(scores: Sequence[VariantScore]) -> Iterator[str]:
    """Yield the table of prompt formats, with the sensitivity to the format."""
    values = {each.name: each.score for each in scores if each.score is not None}
    spread = ["", *_sensitivity(values)] if len(values) > 1 else []
    yield from variant_lines("format", scores, between=spread)


def calling_format_lines(scores: Sequence[VariantScore]) -> Iterator[str]:
    """Yield the table of calling formats, with tokens and forms of calls."""
    yield from variant_lines("calling format", scores, PROTOCOL_COLUMNS)


def _tokens(score: VariantScore) -> tuple[str, str]:
    totals = score.figures.totals
    if totals is None or not totals.requests:
        return "-", "-"
    return str(totals.prompt_tokens), str(totals.completion_tokens)


def _share(number: int, answers: int) -> str:
    return percent(number / answers if answers else None)


PROTOCOL_COLUMNS = (
    ExtraColumn("tokens in", lambda score: _tokens(score)[0]),
    ExtraColumn("tokens out", lambda score: _tokens(score)[1]),
    ExtraColumn("unreadable", lambda score: _share(score.shape.unreadable, score.shape.answers)),
    ExtraColumn("several calls", lambda score: _share(score.shape.several, score.shape.answers)),
)
"""Shares are of all answers."""


def _sensitivity(values: Mapping[str, float]) -> Iterator[str]:
    best, worst = max(values.values()), min(values.values())
    yield (
        f"spread {percent(best - worst)} ({span((worst, best))}), standard "
        f"deviation {percent(pstdev(values.values()))}, mean {percent(fmean(values.values()))}, "
        f"over {len(values)} formats"
    )
    for axis, label in enumerate(_AXES):
        by_choice: dict[str, list[float]] = {}
        for name, value in values.items():
            by_choice.setdefault(name.split("-")[axis], []).append(value)
        if len(by_choice) > 1:
            means = [f"{choice} {percent(fmean(some))}" for choice, some in by_choice.items()]
            yield f"mean by {label}: {', '.join(means)}"
