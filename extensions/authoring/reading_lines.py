"""What readers found of the entries of a data set, in rows and lines for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from extensions.authoring.standing import EntryStanding, Opinion, ReaderTally, State, changed
from runner.analysis.figure_lines import percent, span


def reader_rows(tallies: Iterable[ReaderTally]) -> list[list[str]]:
    """Return a heading and, per reader and category, what was found."""
    rows = [["reader", "category", "read", *Opinion, "not sound", "95% interval"]]
    for tally in tallies:
        counts = [str(tally.found[opinion]) for opinion in Opinion]
        share = [percent(tally.not_sound), span(tally.interval)]
        rows.append([tally.reader, tally.category, str(tally.found.total()), *counts, *share])
    return rows


def state_rows(entries: Sequence[EntryStanding]) -> list[list[str]]:
    """Return a heading and, per category, how many entries stand where."""
    rows = [["category", *State, "not since the last change"]]
    for category in dict.fromkeys(standing.category for standing in entries):
        members = [standing for standing in entries if standing.category is category]
        states = Counter(standing.state for standing in members)
        counts = [str(states[state]) for state in State]
        rows.append([category, *counts, str(len(changed(members)))])
    return rows


def standing_lines(standing: EntryStanding) -> Iterator[str]:
    """Yield where an entry stands, and what each reader found."""
    since = "; not read since its last change" if changed([standing]) else ""
    yield f"{standing.entry}: {standing.state}{since}"
    for reading in standing.readings:
        said = [f"reader {reading.reader}: {reading.found}"]
        said += [reading.reason] if reading.reason else []
        ends = {
            "mended": reading.mended,
            "kept": reading.kept,
            "withdrawn": reading.withdrawn,
        }
        said += [f"{end}: {how}" for end, how in ends.items() if how]
        yield "; ".join(said)
