"""Lines that ``turnwise judge`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envs.state import cut
from extensions.judges.label_figures import (
    AnswerLengths,
    LabelGroup,
    LabelledUnit,
    PassRate,
    RunLabels,
    VerdictAgreement,
    WinRate,
)
from extensions.judges.label_rules import AgreementFigures
from runner.analysis.figure_lines import format_interval, format_percent
from runner.show.terminal import draw_bar, format_count, table

_SHOWN = 5
_MAX_LINE_CHARS = 160


def lines(tally: RunLabels, *, allow_errors: bool) -> Iterator[str]:
    """Yield the metrics of a run's labels."""
    yield from _format_counts(tally)
    if not tally.is_rated and not allow_errors:
        failed = format_percent(tally.failed_share)
        yield f"no rate: {failed} of the votes failed; --allow-errors prints the rate anyway"
        return
    if tally.rate is not None:
        yield from _format_rate("pass rate", tally.rate)
    if tally.chats is not None:
        yield from _format_rate("relevance of chat answers", tally.chats)
    if tally.anchored is not None:
        yield ""
        yield from _format_verdicts(tally.anchored)
    if tally.with_people is not None:
        yield ""
        yield from format_agreement("judge model", "people", tally.with_people)


def _format_counts(tally: RunLabels) -> Iterator[str]:
    asked = tally.asked
    if tally.votes:
        each = f"{tally.votes / asked:.2f} per episode"
        votes, episodes = format_count(tally.votes, "vote"), format_count(asked, "episode")
        abstentions = format_count(tally.abstained, "abstention")
        yield f"{votes} on {episodes} ({each}), {abstentions}"
    unasked = len({e.exhibit.key for e in tally.found if not e.cast})
    if unasked:
        failed = format_count(unasked, "episode")
        yield f"failed, because a turn has no answer: {failed}"
    if tally.failed:
        yield f"no label, because a request failed: {format_count(tally.failed, 'episode')}"
    if tally.pending:
        pending = format_count(tally.pending, "episode")
        yield f"votes are missing for {pending}; run the same command again"


def _format_rate(name: str, rate: PassRate) -> Iterator[str]:
    counts = ", ".join(f"{label} {count}" for label, count in rate.counts.items())
    yield (
        f"{name}: {format_percent(rate.half)} ({format_interval(rate.interval)}); "
        f"{format_percent(rate.lower)} if unsure means fail, "
        f"{format_percent(rate.upper)} if unsure means pass; "
        f"{format_count(rate.labelled, 'label')}: {counts}"
    )
    yield f"{' ' * len(name)}  {draw_bar(rate.half)}"
    if rate.rounds is not None:
        rounds, mean, deviation = rate.rounds
        yield (
            f"{rounds} rounds of votes: {100 * mean:.1f} +- {100 * deviation:.1f} "
            "(mean and population standard deviation; unsure counts half)"
        )


def _format_verdicts(anchored: VerdictAgreement) -> Iterator[str]:
    yield from format_agreement("judge model", "verdicts", anchored.whole)
    if len(anchored.categories) > 1:
        yield ""
        yield table([_PART_HEADING, *map(_make_row, anchored.categories)])
    if anchored.causes:
        rows = [["cause of failure", "failed", "judge passes"]]
        for part in anchored.causes:
            rows.append([part.name, str(part.total), format_percent(part.judged_passed)])
        yield ""
        yield table(rows)
    yield from _format_lengths(anchored.lengths)
    yield from _format_disagreements(anchored.disagreements)


_PART_HEADING = ["category", "labels", "judge passes", "verdict passes", "agreement", "kappa"]


def _make_row(part: LabelGroup) -> list[str]:
    confusion = part.confusion
    return [
        part.name,
        str(part.total),
        format_percent(part.judged_passed),
        format_percent(confusion.passed / part.total),
        format_percent(confusion.agreement),
        _format_number(confusion.kappa),
    ]


def format_agreement(judge: str, other: str, found: AgreementFigures) -> Iterator[str]:
    """Yield the confusion matrix of two raters, and its metrics."""
    confusion = found.confusion
    yield f"{judge} against {other}: {confusion.total} labels, {found.clusters} scenarios"
    yield table(
        [
            [judge, "passed", "failed"],
            ["pass", str(confusion.right_pass), str(confusion.wrong_pass)],
            ["fail", str(confusion.wrong_fail), str(confusion.right_fail)],
            ["unsure", str(confusion.passed_unsure), str(confusion.failed_unsure)],
        ]
    )
    shown = []
    for name, value in found.figures.items():
        interval = found.intervals[name]
        if name == "kappa":
            between = f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else ""
            shown.append(f"kappa {_format_number(value)}{between}")
        else:
            between = f" ({format_interval(interval)})" if interval and value is not None else ""
            shown.append(f"{name} {format_percent(value)}{between}")
    yield "; ".join(shown)


def _format_lengths(found: AnswerLengths) -> Iterator[str]:
    if found.right is None or found.wrong is None:
        return
    thirds = ", ".join(f"{name} {format_percent(share)}" for name, _, share in found.thirds)
    yield (
        f"median answer length: {found.right:.0f} characters with right labels, "
        f"{found.wrong:.0f} with wrong labels"
    )
    yield f"wrong labels by answer length: {thirds}"


def _format_disagreements(found: Sequence[LabelledUnit]) -> Iterator[str]:
    if found:
        yield f"first of {len(found)} disagreements (--disagreements FILE lists all of them):"
    for each in found[:_SHOWN]:
        (id, trial), verdict = each.exhibit.key, "passed" if each.passed else "failed"
        place = f"{id}, trial {trial}" + ("" if each.turn is None else f", turn {each.turn + 1}")
        cause = f" ({each.cause})" if each.cause else ""
        why = next((why for why in each.whys if why), "")
        line = f"  {place}: judge {each.label}, verdict {verdict}{cause}"
        yield cut(f"{line}; {why}" if why else line, _MAX_LINE_CHARS)


def format_win_rates(
    rates: Sequence[WinRate], reference: str, *, allow_errors: bool
) -> Iterator[str]:
    """Yield the win rates of runs against the first run."""
    yield f"win rate against {reference}, for entries with a label in both runs"
    rows = [["run", "compared", "win", "tie", "lose", "win + tie/2", "95%", ""]]
    for rate in rates:
        shown = rate.rate is not None and (rate.is_rated or allow_errors)
        interval = rate.interval
        total = len(rate.wins)
        rows.append(
            [
                rate.name,
                str(total),
                *[
                    format_percent(count / total) if total else "-"
                    for count in rate.counts.values()
                ],
                format_percent(rate.rate) if shown else "-",
                format_interval(interval) if shown and interval else "-",
                draw_bar(rate.rate or 0) if shown else "",
            ]
        )
    yield table(rows)
    for rate in rates:
        by = rate.to_json()["by"]
        yield (
            f"{rate.name}: {by['label']} entries have different labels, {by['same']} have equal "
            f"episodes, and {by['votes']} were decided by {rate.votes} votes each. Each vote "
            "compares the two episodes in both orders. The order has no effect in "
            f"{format_percent(rate.consistency)} of the votes. Without ties, the episode "
            f"shown first wins {format_percent(rate.first_share)} of the comparisons."
        )
        if rate.left_out:
            yield (
                f"  {rate.left_out} entries are omitted: in one or both runs, the label is missing "
                "or unsure"
            )
        if rate.failed or rate.pending:
            yield (
                f"  a request failed for {rate.failed} entries; votes are missing for "
                f"{rate.pending} entries"
            )


def _format_number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
