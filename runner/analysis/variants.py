"""Several runs of one command, its variants, in one table: each beside the first of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean, pstdev
from typing import NamedTuple

from checkers.statistics import Pair, RunDifference, compare, holm
from runner.analysis.figure_lines import p_text, percent, span
from runner.analysis.figures import RunFigures
from runner.records.record import EpisodeRecord
from runner.show.terminal import table
from trajectories.schema import Category

_AXES = ("calls", "marks", "functions", "prompt")
"""What the parts of a prompt format's name are about."""


class CallShape(NamedTuple):
    """What the answers of a run were like, as calls."""

    answers: int
    unreadable: int
    """Those that were meant as calls and could not be read as such."""
    several: int
    """Those with more than one call."""

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
    """How the run of a variant ended."""

    name: str
    figures: RunFigures
    planned: int
    """Number of episodes."""
    shape: CallShape = CallShape(0, 0, 0)

    @property
    def score(self) -> float | None:
        """Share of the judged episodes that passed; None where there is no fair one."""
        judged, ended = self.figures.judged, len(self.figures.outcomes)
        if not judged or not self.figures.scored or ended < self.planned:
            return None
        return sum(o.outcome == "passed" for o in judged) / len(judged)


class Against(NamedTuple):
    """A variant against the first one."""

    difference: RunDifference
    """The variant's less the first one's."""
    corrected: float
    """The p-value, corrected for as many variants as are compared with the first one."""


class MoreColumn(NamedTuple):
    """A further column of the table of variants."""

    heading: str
    cell: Callable[[VariantScore], str]


def pairs_of(first: RunFigures, second: RunFigures) -> list[Pair]:
    """Return the entries of which both runs have judged something."""
    theirs = second.attempts_by_id
    return [Pair(mine, theirs[id]) for id, mine in first.attempts_by_id.items() if id in theirs]


def against_first(scores: Sequence[VariantScore]) -> Mapping[str, Against]:
    """Compare the variants with the first one, entry by entry; those that have a fair score."""
    first, *others = scores
    pairs = {
        each.name: pairs_of(first.figures, each.figures)
        for each in others
        if first.score is not None and each.score is not None
    }
    found = {name: compare(some) for name, some in pairs.items() if some}
    corrected = holm([difference.p_value for difference in found.values()])
    return {
        name: Against(difference, p)
        for (name, difference), p in zip(found.items(), corrected, strict=True)
    }


def variant_lines(
    kind: str,
    scores: Sequence[VariantScore],
    more: Sequence[MoreColumn] = (),
    between: Sequence[str] = (),
) -> Iterator[str]:
    """Yield the lines that show what became of variants.

    Args:
        kind: What one of them is called, such as ``format``.
        scores: At least one; all others are compared with the first.
        more: Columns before those of the comparison.
        between: Lines for under the table.
    """
    categories = [
        c for c in Category if any(o.category == c for s in scores for o in s.figures.outcomes)
    ]
    columns = categories if len(categories) > 1 else []
    compared = against_first(scores)
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
        left_out = f"{unscored} of {len(scores)} {kind}s"
        yield f"unfinished, or with too many errors for a score: {left_out}"


DIFFERENCE_HEADING = ("difference", "95%", "p", "p, Holm")


def difference_cells(against: Against | None) -> list[str]:
    """Return the cells of a comparison in points, under ``DIFFERENCE_HEADING``."""
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
    """Yield the lines that sum up runs in prompt formats: how much the way of asking decides."""
    values = {each.name: each.score for each in scores if each.score is not None}
    spread = ["", *_sensitivity(values)] if len(values) > 1 else []
    yield from variant_lines("format", scores, between=spread)


def protocol_lines(scores: Sequence[VariantScore]) -> Iterator[str]:
    """Yield the lines that sum up runs in protocols: also what they took, and how calls came."""
    yield from variant_lines("protocol", scores, PROTOCOL_COLUMNS)


def _tokens(score: VariantScore) -> tuple[str, str]:
    totals = score.figures.totals
    if totals is None or not totals.requests:
        return "-", "-"
    return str(totals.prompt_tokens), str(totals.completion_tokens)


def _share(number: int, answers: int) -> str:
    return percent(number / answers if answers else None)


PROTOCOL_COLUMNS = (
    MoreColumn("tokens in", lambda score: _tokens(score)[0]),
    MoreColumn("tokens out", lambda score: _tokens(score)[1]),
    MoreColumn("unreadable", lambda score: _share(score.shape.unreadable, score.shape.answers)),
    MoreColumn("several calls", lambda score: _share(score.shape.several, score.shape.answers)),
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
