"""Terminal tables and lines for the reviews of a data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from checkers.statistics import wilson
from extensions.authoring.review_status import (
    EntryReviewStatus,
    ReviewerAgreement,
    ReviewerTally,
    ReviewOutcome,
    ReviewState,
    changed,
)
from runner.analysis.figure_lines import format_interval, format_percent


def make_reviewer_rows(tallies: Iterable[ReviewerTally]) -> list[list[str]]:
    """Return a heading, and one row of outcomes for each reviewer and category."""
    rows = [["reviewer", "category", "reviewed", *ReviewOutcome, "not sound", "95% interval"]]
    for tally in tallies:
        counts = [str(tally.found[opinion]) for opinion in ReviewOutcome]
        share = [format_percent(tally.not_sound), format_interval(tally.interval)]
        rows.append([tally.reader, tally.category, str(tally.found.total()), *counts, *share])
    return rows


def make_agreement_rows(agreements: Iterable[ReviewerAgreement]) -> list[list[str]]:
    """Return a heading, and one row for each pair of reviewers and each group of entries."""
    rows = [["reviewers", "entries", "same outcome", "share", "95% interval", "Cohen's kappa"]]
    for found in agreements:
        share = [format_percent(found.alike / found.entries)]
        share.append(format_interval(wilson(found.alike, found.entries)))
        kappa = "undefined" if found.kappa is None else f"{found.kappa:.2f}"
        kind = "unchanged" if found.unchanged else "all common"
        same = f"{found.alike} of {found.entries}"
        rows.append([" and ".join(found.readers), kind, same, *share, kappa])
    return rows


def make_state_rows(entries: Sequence[EntryReviewStatus]) -> list[list[str]]:
    """Return a heading and one row of review states per category."""
    rows = [["category", *ReviewState, "changed since"]]
    for category in dict.fromkeys(status.category for status in entries):
        members = [status for status in entries if status.category is category]
        states = Counter(status.state for status in members)
        counts = [str(states[state]) for state in ReviewState]
        rows.append([category, *counts, str(len(changed(members)))])
    return rows


def describe_status(standing: EntryReviewStatus) -> Iterator[str]:
    """Yield an entry's review state and its reviews."""
    since = "; changed since its last review" if changed([standing]) else ""
    yield f"{standing.entry}: {standing.state}{since}"
    for review in standing.readings:
        parts = [f"reviewer {review.reader}: {review.found}"]
        parts += [review.reason] if review.reason else []
        ends = {"corrected": review.mended, "kept": review.kept, "withdrawn": review.withdrawn}
        parts += [f"{end}: {how}" for end, how in ends.items() if how]
        yield "; ".join(parts)
