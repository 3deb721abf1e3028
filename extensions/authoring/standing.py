"""How the entries of our data stand with those who read them: one record a reading, and its sum.

A reading holds for the entry as it was then, which a hash tells: an entry that has changed since
keeps its readings, and is seen to have been read before its last change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field, TypeAdapter

from checkers.statistics import cohen_kappa, wilson
from trajectories.dataset import DATA
from trajectories.errors import DataError
from trajectories.fingerprint import fingerprint
from trajectories.jsonl import read_objects
from trajectories.schema import Category, Strict, Trajectory
from trajectories.validation import validated

RECORD = DATA / "readings.jsonl"
"""The readings of the data set that comes with the package."""


class Opinion(StrEnum):
    """What a reader found an entry to be."""

    SOUND = "sound"
    """A sensible model passes, and only one that does what is asked."""
    ARGUABLE = "arguable"
    """Some sensible models would be failed."""
    WRONG = "wrong"
    """Most sensible models would be failed, or what its category promises does not hold."""


class State(StrEnum):
    """Where an entry stands after all its readings."""

    SOUND = "sound"
    """All readers found it so, and nothing was changed for them."""
    MENDED = "mended"
    """It was changed for what a reader said, and no reader's objection is left."""
    OPEN = "open"
    """A reader found it arguable or wrong, and it stays as it was."""
    WITHDRAWN = "withdrawn"
    """It is in the data no more."""
    UNREAD = "not read"
    """Nobody has read it."""


def category_of(entry: str) -> Category:
    """Return the category of an entry of our data, which its id begins with."""
    return max((each for each in Category if entry.startswith(f"{each}_")), key=len)


@dataclass(frozen=True)
class Reading(Strict):
    """What one reader found one entry to be, and what came of it, of which there is one at most.

    Attributes:
        entry: Its id.
        reader: A capital letter.
        found: What it was found to be; ``class`` in the file.
        read: The entry's ``fingerprint`` when it was read.
        reason: Why; needed unless it was found sound.
        mended: How it was mended for that.
        kept: Why it was not changed.
        withdrawn: Why it was taken out of the data.
    """

    entry: str
    reader: str
    found: Annotated[Opinion, Field(alias="class")]
    read: str
    reason: str = ""
    mended: str = ""
    kept: str = ""
    withdrawn: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it is an objection that nothing came of."""
        return self.found is not Opinion.SOUND and not (self.mended or self.withdrawn)


_ADAPTER = TypeAdapter(Reading)


def read_record(path: Path = RECORD) -> list[Reading]:
    """Read a record of readings.

    Raises:
        DataError: A line is none, contradicts itself, or repeats another one.
    """
    found: dict[tuple[str, str, str], Reading] = {}
    for where, line in read_objects(path):
        reading = validated(_ADAPTER, line, where)
        for problem in problems(reading):
            raise DataError(where, problem)
        key = (reading.entry, reading.reader, reading.read)
        if key in found:
            raise DataError(where, f"$.entry: {reading.entry} is read by {reading.reader} above")
        found[key] = reading
    return list(found.values())


def withdrawn(readings: Iterable[Reading]) -> frozenset[str]:
    """Return the ids of the entries that were taken out of the data."""
    return frozenset(reading.entry for reading in readings if reading.withdrawn)


def problems(reading: Reading) -> Iterator[str]:
    """Yield how a reading contradicts itself."""
    if not any(reading.entry.startswith(f"{category}_") for category in Category):
        yield f"$.entry: {reading.entry!r} begins with no category"
    if len(reading.reader) != 1 or not "A" <= reading.reader <= "Z":
        yield f"$.reader: must be a letter from A to Z, is {reading.reader!r}"
    if reading.found is not Opinion.SOUND and not reading.reason.strip():
        yield f"$.reason: must say why it is {reading.found}"
    if sum(map(bool, (reading.mended, reading.kept, reading.withdrawn))) > 1:
        yield "$: is mended, kept or withdrawn, one of them"


def to_json(reading: Reading) -> dict[str, Any]:
    """Return the JSON object that stands for a reading, without members at their default."""
    shown: dict[str, Any] = _ADAPTER.dump_python(
        reading, mode="json", by_alias=True, exclude_defaults=True
    )
    return shown


@dataclass(frozen=True)
class EntryStanding:
    """Where one entry stands.

    Attributes:
        entry: Its id.
        now: Its ``fingerprint``; empty where it is in the data no more.
        readings: What its readers found.
    """

    entry: str
    now: str
    readings: tuple[Reading, ...]

    @property
    def category(self) -> Category:
        """The entry's category."""
        return category_of(self.entry)

    @property
    def state(self) -> State:
        """What all its readings come to."""
        if not self.readings:
            return State.UNREAD
        if not self.now:
            return State.WITHDRAWN
        if any(reading.is_open for reading in self.readings):
            return State.OPEN
        mended = any(reading.mended for reading in self.readings)
        return State.MENDED if mended else State.SOUND

    @property
    def is_read_as_it_is(self) -> bool:
        """Whether somebody has read it since its last change."""
        return any(reading.read == self.now for reading in self.readings)


def standings(
    trajectories: Mapping[str, Trajectory], readings: Iterable[Reading]
) -> list[EntryStanding]:
    """Return where entries stand, and those of their categories that were withdrawn."""
    found: dict[str, list[Reading]] = {id: [] for id in trajectories}
    categories = {trajectory.category for trajectory in trajectories.values()}
    for reading in readings:
        if category_of(reading.entry) in categories:
            found.setdefault(reading.entry, []).append(reading)
    now = {id: fingerprint(trajectory) for id, trajectory in trajectories.items()}
    return [EntryStanding(id, now.get(id, ""), tuple(each)) for id, each in found.items()]


def summary(entries: Sequence[EntryStanding]) -> str:
    """Return in one line how many entries stand where."""
    states = Counter(standing.state for standing in entries)
    always = (State.SOUND, State.MENDED, State.WITHDRAWN)
    return ", ".join(f"{states[s]} {s}" for s in State if s in always or states[s])


def changed(entries: Iterable[EntryStanding]) -> list[str]:
    """Return the ids of the entries that were read, but not since their last change."""
    return [
        each.entry for each in entries if each.now and each.readings and not each.is_read_as_it_is
    ]


class ReaderTally(NamedTuple):
    """What one reader found in one category."""

    reader: str
    category: Category
    found: Counter[Opinion]

    @property
    def not_sound(self) -> float:
        """Share of the entries that were not found sound, from 0 to 1."""
        return 1 - self.found[Opinion.SOUND] / self.found.total()

    @property
    def interval(self) -> tuple[float, float]:
        """95% Wilson score interval of that share."""
        total = self.found.total()
        return wilson(total - self.found[Opinion.SOUND], total)


def tallies(readings: Iterable[Reading]) -> list[ReaderTally]:
    """Return what each reader found, by category."""
    counts: dict[tuple[str, Category], Counter[Opinion]] = {}
    for reading in readings:
        key = (reading.reader, category_of(reading.entry))
        counts.setdefault(key, Counter())[reading.found] += 1
    order = list(Category)
    keys = sorted(counts, key=lambda key: (key[0], order.index(key[1])))
    return [ReaderTally(*key, counts[key]) for key in keys]


class ReaderAgreement(NamedTuple):
    """How far two readers agree.

    Attributes:
        readers: Their letters.
        unchanged: Whether only entries count that both have read as the same.
        entries: How many both have read.
        alike: How many of them they found to be the same.
        kappa: Cohen's kappa; None where both always found one and the same.
    """

    readers: tuple[str, str]
    unchanged: bool
    entries: int
    alike: int
    kappa: float | None

    @property
    def text(self) -> str:
        """It as a sentence, with the 95% Wilson score interval of the share found alike."""
        kappa = "none, all alike" if self.kappa is None else f"{self.kappa:.2f}"
        what = "the same words and ground truth" if self.unchanged else "changed in between or not"
        low, high = wilson(self.alike, self.entries)
        return (
            f"{' and '.join(self.readers)}: kappa {kappa}; {self.alike} of {self.entries} "
            f"({low:.1%} to {high:.1%}) found alike that both read, {what}."
        )


def agreements(readings: Iterable[Reading]) -> list[ReaderAgreement]:
    """Return how far any two readers agree: on what both have read as the same, then on all.

    Where all was the same, that is one. Of an entry that a reader has read several times, the
    reading counts that is of the same as the other reader's, else the last.
    """
    found: dict[str, dict[str, dict[str, Opinion]]] = {}
    for reading in readings:
        by_entry = found.setdefault(reading.reader, {})
        by_entry.setdefault(reading.entry, {})[reading.read] = reading.found
    made = []
    for first, second in combinations(sorted(found), 2):
        one, other = found[first], found[second]
        pairs = [_pair(one[entry], other[entry]) for entry in one if entry in other]
        same = sum(same for same, _, _ in pairs)
        for unchanged in (True, False) if same < len(pairs) else (True,):
            counted = [(a, b) for same, a, b in pairs if same or not unchanged]
            alike = sum(a == b for a, b in counted)
            kappa = cohen_kappa(counted)
            made.append(ReaderAgreement((first, second), unchanged, len(counted), alike, kappa))
    return [each for each in made if each.entries]


def _pair(
    one: Mapping[str, Opinion], other: Mapping[str, Opinion]
) -> tuple[bool, Opinion, Opinion]:
    """Return whether two readers have read the same, and what each found."""
    for read in reversed(list(one)):
        if read in other:
            return True, one[read], other[read]
    return False, list(one.values())[-1], list(other.values())[-1]
