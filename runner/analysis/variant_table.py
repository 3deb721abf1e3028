"""Table of variants, that is, of several runs of one command."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from checkers.statistics import EntryPair, RunDifference, compare, holm
from runner.analysis.figure_lines import format_p_value, format_percent
from runner.analysis.figures import RunFigures
from runner.records.episode_record import EpisodeRecord
from runner.show.terminal import format_count, table
from trajectories.schema import Category


class AnswerCounts(NamedTuple):
    """Number of answers, of unreadable answers, and of answers with several calls."""

    answers: int
    unreadable: int
    several: int

    @classmethod
    def of(cls, records: Iterable[EpisodeRecord]) -> AnswerCounts:
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
    """Metrics of a variant's run."""

    name: str
    figures: RunFigures
    planned: int
    shape: AnswerCounts = AnswerCounts(0, 0, 0)

    @property
    def score(self) -> float | None:
        """Share of judged episodes that passed. An unfinished run or too many errors give None."""
        rate = self.figures.overall
        return rate.value if rate and len(self.figures.outcomes) >= self.planned else None


class VariantDifference(NamedTuple):
    """Comparison of a variant with the first variant."""

    difference: RunDifference
    corrected: float


class ExtraColumn(NamedTuple):
    """Additional column in the table of variants."""

    heading: str
    cell: Callable[[VariantScore], str]


def pair_entries(first: RunFigures, second: RunFigures) -> list[EntryPair]:
    """Pair the entries that were judged in both runs."""
    theirs = second.attempts_by_id
    return [
        EntryPair(mine, theirs[id]) for id, mine in first.attempts_by_id.items() if id in theirs
    ]


def compare_with_first(scores: Sequence[VariantScore]) -> Mapping[str, VariantDifference]:
    """Compare each variant with the first variant, entry by entry."""
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
    """Yield the table of variants, each compared with the first variant.

    The columns in ``more`` come before the comparison's columns. The lines in ``between`` follow
    the table.
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
            f'differences from {scores[0].name} cover the same entries; the column "p, Holm" is '
            f"corrected for {format_count(len(compared), 'comparison')}"
        )
    yield from between
    unscored = sum(each.score is None for each in scores)
    if unscored:
        yield (
            f"{unscored} of {len(scores)} {kind}s have no score (unfinished, or too many errors)"
        )


DIFFERENCE_HEADING = ("difference", "95%", "p", "p, Holm")


def difference_cells(against: VariantDifference | None) -> list[str]:
    """Return the cells for ``DIFFERENCE_HEADING``; differences are in percentage points."""
    if against is None:
        return ["-"] * len(DIFFERENCE_HEADING)
    found = against.difference
    low, high = (100 * bound for bound in found.interval)
    return [
        f"{100 * found.difference:+.1f}",
        f"{low:+.1f} to {high:+.1f}",
        format_p_value(found.p_value),
        format_p_value(against.corrected),
    ]


def _cells(score: VariantScore, categories: Sequence[Category]) -> list[str]:
    ended = [outcome.outcome for outcome in score.figures.outcomes]
    rates = score.figures.rates
    return [
        score.name,
        *(str(ended.count(name)) for name in ("passed", "failed", "error")),
        str(score.planned - len(ended)),
        *(format_percent(rates[c].value if c in rates else None) for c in categories),
        format_percent(score.score),
    ]
