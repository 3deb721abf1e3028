"""Plain-text tables and the score table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from checkers.score import Score, score
from runner.evaluate import Judged
from trajectories.schema import Category


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as aligned columns: the first flush left, the others flush right.

    Args:
        rows: The heading first; all of the same length.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        first, *others = [
            cell.rjust(width) if index else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join([first, *others]).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def score_table(judged: Iterable[Judged]) -> str:
    """Return the score of every category, and of all when there are several."""
    outcomes = list(judged)
    rows = [["category", "entries", "passed", "score", "95% interval", "turns passed", "errors"]]
    present = [c for c in Category if any(outcome.category is c for outcome in outcomes)]
    for category in present:
        rows.append(_row(category, [o for o in outcomes if o.category is category]))
    if len(present) > 1:
        rows.append(_row("all", outcomes))
    return table(rows)


def _row(name: str, outcomes: Sequence[Judged]) -> list[str]:
    total = score(o.verdict for o in outcomes if o.verdict is not None)
    low, high = total.interval
    return [
        name,
        str(len(outcomes)),
        f"{total.passed} of {total.entries}",
        f"{100 * total.rate:.1f}%" if total.entries else "-",
        f"{100 * low:.1f}% to {100 * high:.1f}%" if total.entries else "-",
        _turns(total),
        str(len(outcomes) - total.entries),
    ]


def _turns(total: Score) -> str:
    return f"{total.turns_passed} of {total.turns}"
