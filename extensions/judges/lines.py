"""What ``turnwise judge`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from envs.state import cut
from extensions.judges.judging import Agreed, Confusion, Preference
from extensions.judges.tally import Anchored, Labelled, Lengths, Part, PassRate, RunLabels, WinRate
from runner.analysis.figure_lines import percent, span
from runner.show.terminal import table

_SHOWN = 5
_LONGEST = 160


def lines(tally: RunLabels, *, allow_errors: bool) -> Iterator[str]:
    """Yield what the labels of a run come to."""
    yield from _counted(tally)
    if not tally.is_rated and not allow_errors:
        yield f"no rate: {percent(tally.failed_share)} of the votes failed (--allow-errors)"
        return
    if tally.rate is not None:
        yield from _rate("pass rate", tally.rate)
    if tally.chats is not None:
        yield from _rate("relevance of the answers of chats", tally.chats)
    if tally.anchored is not None:
        yield ""
        yield from _anchored(tally.anchored)
    if tally.with_people is not None:
        yield ""
        yield from _agreed("the judge", "people", tally.with_people)


def _counted(tally: RunLabels) -> Iterator[str]:
    asked = tally.asked
    if tally.votes:
        each = f"{tally.votes / asked:.2f} an episode"
        yield f"{tally.votes} votes on {asked} episodes, {each}, {tally.abstained} abstentions"
    unasked = len({e.exhibit.key for e in tally.found if not e.cast})
    if unasked:
        yield f"{unasked} episodes fail by how a turn ended, which is on record: nothing is asked"
    if tally.failed:
        yield f"{tally.failed} episodes have no label, since a vote failed"
    if tally.pending:
        yield f"{tally.pending} episodes have not all votes that they need"


def _rate(name: str, rate: PassRate) -> Iterator[str]:
    counts = ", ".join(f"{label} {count}" for label, count in rate.counts.items())
    yield (
        f"{name}: {percent(rate.half)} ({span(rate.interval)}); unsure as failed "
        f"{percent(rate.lower)}, as passed {percent(rate.upper)}; {counts} of {rate.labelled}"
    )
    if rate.rounds is not None:
        rounds, mean, deviation = rate.rounds
        yield (
            f"by round of votes, {rounds} of them: {100 * mean:.1f} +- {100 * deviation:.1f} "
            "(mean and standard deviation; unsure counts half)"
        )


def _anchored(anchored: Anchored) -> Iterator[str]:
    yield from _agreed("the judge", "the verdicts", anchored.whole)
    if len(anchored.categories) > 1:
        yield ""
        yield table([_PART_HEADING, *map(_part_row, anchored.categories)])
    if anchored.causes:
        yield ""
        yield table(
            [
                ["cause of failure", "failed", "judge passes"],
                *[
                    [part.name, str(part.total), percent(part.judged_passed)]
                    for part in anchored.causes
                ],
            ]
        )
    yield from _lengths(anchored.lengths)
    yield from _disagreements(anchored.disagreements)


_PART_HEADING = ["category", "labels", "judge passes", "verdict passes", "agreement", "kappa"]


def _part_row(part: Part) -> list[str]:
    confusion = part.confusion
    return [
        part.name,
        str(part.total),
        percent(part.judged_passed),
        percent(confusion.passed / part.total),
        percent(confusion.agreement),
        _number(confusion.kappa),
    ]


def _agreed(judge: str, other: str, found: Agreed) -> Iterator[str]:
    """Yield how two agree, as a table and as figures."""
    yield f"{judge} beside {other}: {found.confusion.total} labels, {found.clusters} scenarios"
    yield _crossed(judge, found.confusion)
    shown = []
    for name, value in found.figures.items():
        interval = found.intervals[name]
        if name == "kappa":
            between = f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else ""
            shown.append(f"kappa {_number(value)}{between}")
        else:
            between = f" ({span(interval)})" if interval and value is not None else ""
            shown.append(f"{name} {percent(value)}{between}")
    yield "; ".join(shown)


def _crossed(judge: str, found: Confusion) -> str:
    return table(
        [
            [f"{judge} says", "passed", "failed"],
            ["pass", str(found.right_pass), str(found.wrong_pass)],
            ["fail", str(found.wrong_fail), str(found.right_fail)],
            ["unsure", str(found.passed_unsure), str(found.failed_unsure)],
        ]
    )


def _lengths(found: Lengths) -> Iterator[str]:
    if found.right is None or found.wrong is None:
        return
    thirds = ", ".join(f"{name} {percent(share)}" for name, _, share in found.thirds)
    yield (
        f"answers have {found.right:.0f} characters (median) where the judge is right and "
        f"{found.wrong:.0f} where not; wrong by length: {thirds}"
    )


def _disagreements(found: Sequence[Labelled]) -> Iterator[str]:
    if found:
        shown = "--disagreements FILE has all, with what the judge read"
        yield f"{len(found)} disagreements, the first of them ({shown}):"
    for each in found[:_SHOWN]:
        (id, trial), verdict = each.exhibit.key, "passed" if each.passed else "failed"
        place = f"{id}, trial {trial}" + ("" if each.turn is None else f", turn {each.turn}")
        cause = f" ({each.cause})" if each.cause else ""
        why = next((why for why in each.whys if why), "")
        said = f"  {place}: judge {each.label}, verdict {verdict}{cause}"
        yield cut(f"{said}; {why}" if why else said, _LONGEST)


def win_lines(rates: Sequence[WinRate], reference: str, *, allow_errors: bool) -> Iterator[str]:
    """Yield what runs come to against the first."""
    yield f"win rate against {reference}, of entries that are labelled pass or fail in both"
    rows = [["run", "compared", "win", "tie", "lose", "win + tie/2", "95%"]]
    for rate in rates:
        shown = rate.rate is not None and (rate.is_rated or allow_errors)
        interval = rate.interval
        rows.append(
            [
                rate.name,
                str(len(rate.wins)),
                *_shares(rate.counts, len(rate.wins)),
                percent(rate.rate) if shown else "-",
                span(interval) if shown and interval else "-",
            ]
        )
    yield table(rows)
    for rate in rates:
        by = rate.to_json()["by"]
        yield (
            f"{rate.name}: {by['label']} decided by label, {by['same']} the same, {by['votes']} "
            f"put to the judge in {rate.votes} votes of two requests; both orders agree in "
            f"{percent(rate.consistency)}; shown first is preferred in {percent(rate.first_share)}"
        )
        if rate.left_out:
            yield f"  {rate.left_out} common entries are left out: unsure, or without a label"
        if rate.failed or rate.pending:
            yield f"  {rate.failed} without a vote that failed, {rate.pending} not finished"


def _shares(counts: Mapping[Preference, int], total: int) -> list[str]:
    return [percent(count / total) if total else "-" for count in counts.values()]


def people_lines(found: Agreed) -> Iterator[str]:
    """Yield how the verdicts stand against what people say."""
    yield from _agreed("the verdict", "people", found)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
