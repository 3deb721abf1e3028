"""Reviews of our data, with one record per review and a review status per entry.

A review contains the fingerprint of the reviewed version. If the entry changes later, the
review stays in the file, and the status of the entry says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field, TypeAdapter

from checkers.statistics import wilson
from envs.errors import DataError
from extensions.judges.agreement import cohen_kappa
from trajectories.dataset import DATA
from trajectories.fingerprint import fingerprint
from trajectories.jsonl import read_objects
from trajectories.record_validation import validate_record
from trajectories.schema import Category, StrictRecord, Trajectory

RECORD = DATA / "readings.jsonl"
"""Reviews of the built-in data set."""


class ReviewOutcome(StrEnum):
    """Verdict of a reviewer on an entry."""

    SOUND = "sound"
    """A model that acts sensibly passes; any other model fails."""
    ARGUABLE = "arguable"
    """Some sensible models would fail."""
    WRONG = "wrong"
    """Most of the sensible models would fail, or the category is wrong."""


class ReviewState(StrEnum):
    """State of an entry after all its reviews."""

    SOUND = "sound"
    """All reviewers found the entry sound, and nobody changed the entry."""
    MENDED = "corrected"
    """The entry was corrected after a review."""
    OPEN = "open"
    """A reviewer found the entry arguable or wrong, and nobody changed the entry."""
    WITHDRAWN = "withdrawn"
    """The entry was removed from the data."""
    UNREAD = "not reviewed"


def parse_category(entry: str) -> Category:
    """Return the category at the start of an entry's id."""
    return max((each for each in Category if entry.startswith(f"{each}_")), key=len)


@dataclass(frozen=True)
class Review(StrictRecord):
    """Review of an entry by one reviewer; the field ``found`` is named ``class`` in the file."""

    entry: str
    reader: str
    found: Annotated[ReviewOutcome, Field(alias="class")]
    read: str
    """Fingerprint of the reviewed entry."""
    reason: str = ""
    """Reason of the outcome; required unless the entry is sound."""
    mended: str = ""
    """Description of the correction. ``kept`` or ``withdrawn`` explains why an entry has no
    correction."""
    kept: str = ""
    withdrawn: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the review is an objection to the current version of the entry."""
        return self.found is not ReviewOutcome.SOUND and not (self.mended or self.withdrawn)


_ADAPTER = TypeAdapter(Review)


def read_record(
    path: Path = RECORD, check: Callable[[Review], Iterator[str]] | None = None
) -> list[Review]:
    """Read a file of reviews.

    ``check`` is a function that yields the errors in a review; the default is ``problems``.

    Raises DataError if a line is invalid, contradicts itself, or repeats another line.
    """
    found: dict[tuple[str, str, str], Review] = {}
    for where, line in read_objects(path):
        review = validate_record(_ADAPTER, line, where)
        for contradiction in (check or problems)(review):
            raise DataError(where, contradiction)
        key = (review.entry, review.reader, review.read)
        if key in found:
            message = f"$.entry: duplicate review of {review.entry} by {review.reader}"
            raise DataError(where, message)
        found[key] = review
    return list(found.values())


def withdrawn(readings: Iterable[Review]) -> frozenset[str]:
    """Return the ids of the withdrawn entries."""
    return frozenset(review.entry for review in readings if review.withdrawn)


def problems(reading: Review) -> Iterator[str]:
    """Yield the errors in a review of an entry of the built-in data."""
    if not any(reading.entry.startswith(f"{category}_") for category in Category):
        yield f"$.entry: {reading.entry!r} does not begin with a category"
    if len(reading.reader) != 1 or not "A" <= reading.reader <= "Z":
        yield f"$.reader: must be a letter from A to Z, not {reading.reader!r}"
    yield from contradictions(reading)


def contradictions(reading: Review) -> Iterator[str]:
    """Yield the contradictions in a review."""
    if reading.found is not ReviewOutcome.SOUND and not reading.reason.strip():
        yield f"$.reason: must say why the entry is {reading.found}"
    if sum(map(bool, (reading.mended, reading.kept, reading.withdrawn))) > 1:
        yield "$: use only one of `mended`, `kept` and `withdrawn`"


def to_json(reading: Review) -> dict[str, Any]:
    """Return a review as a JSON object. Fields with default values are omitted."""
    shown: dict[str, Any] = _ADAPTER.dump_python(
        reading, mode="json", by_alias=True, exclude_defaults=True
    )
    return shown


@dataclass(frozen=True)
class EntryReviewStatus:
    """Reviews of an entry. ``now`` is the entry's fingerprint; "" if the entry was withdrawn."""

    entry: str
    now: str
    readings: tuple[Review, ...]

    @property
    def category(self) -> Category:
        """Category of the entry."""
        return parse_category(self.entry)

    @property
    def state(self) -> ReviewState:
        """State of the entry after all its reviews."""
        if not self.readings:
            return ReviewState.UNREAD
        if not self.now:
            return ReviewState.WITHDRAWN
        if any(review.is_open for review in self.readings):
            return ReviewState.OPEN
        corrected = any(review.mended for review in self.readings)
        return ReviewState.MENDED if corrected else ReviewState.SOUND

    @property
    def is_read_as_it_is(self) -> bool:
        """Whether the entry was reviewed after its last change."""
        return any(review.read == self.now for review in self.readings)


def compute_statuses(
    trajectories: Mapping[str, Trajectory], readings: Iterable[Review]
) -> list[EntryReviewStatus]:
    """Return the review status of each entry, including withdrawn entries."""
    found: dict[str, list[Review]] = {id: [] for id in trajectories}
    categories = {trajectory.category for trajectory in trajectories.values()}
    for review in readings:
        if parse_category(review.entry) in categories:
            found.setdefault(review.entry, []).append(review)
    now = {id: fingerprint(trajectory) for id, trajectory in trajectories.items()}
    return [EntryReviewStatus(id, now.get(id, ""), tuple(each)) for id, each in found.items()]


def summary(entries: Sequence[EntryReviewStatus]) -> str:
    """Format the number of entries in each state as one line."""
    states = Counter(status.state for status in entries)
    always = (ReviewState.SOUND, ReviewState.MENDED, ReviewState.WITHDRAWN)
    return ", ".join(f"{states[s]} {s}" for s in ReviewState if s in always or states[s])


def changed(entries: Iterable[EntryReviewStatus]) -> list[str]:
    """Return the ids of the entries that were changed after the last review."""
    return [
        each.entry for each in entries if each.now and each.readings and not each.is_read_as_it_is
    ]


class ReviewerTally(NamedTuple):
    """Outcomes of one reviewer in one category."""

    reader: str
    category: Category
    found: Counter[ReviewOutcome]

    @property
    def not_sound(self) -> float:
        """Share of the entries with an outcome other than ``sound``, from 0 to 1."""
        return 1 - self.found[ReviewOutcome.SOUND] / self.found.total()

    @property
    def interval(self) -> tuple[float, float]:
        """95% Wilson score interval of the share ``not_sound``."""
        total = self.found.total()
        return wilson(total - self.found[ReviewOutcome.SOUND], total)


def tallies(readings: Iterable[Review]) -> list[ReviewerTally]:
    """Count the outcomes of each reviewer by category."""
    counts: dict[tuple[str, Category], Counter[ReviewOutcome]] = {}
    for review in readings:
        key = (review.reader, parse_category(review.entry))
        counts.setdefault(key, Counter())[review.found] += 1
    order = list(Category)
    keys = sorted(counts, key=lambda key: (key[0], order.index(key[1])))
    return [ReviewerTally(*key, counts[key]) for key in keys]


class ReviewerAgreement(NamedTuple):
    """Agreement of two reviewers."""

    readers: tuple[str, str]
    unchanged: bool
    """Whether to count only entries that did not change between the two reviews."""
    entries: int
    alike: int
    kappa: float | None
    """Cohen's kappa; None if all outcomes are the same."""


def compute_agreements(readings: Iterable[Review]) -> list[ReviewerAgreement]:
    """Return the agreement of each pair of reviewers.

    A pair has a second record if some entries changed between the reviews.
    """
    found: dict[str, dict[str, dict[str, ReviewOutcome]]] = {}
    for review in readings:
        by_entry = found.setdefault(review.reader, {})
        by_entry.setdefault(review.entry, {})[review.read] = review.found
    made = []
    for first, second in combinations(sorted(found), 2):
        one, other = found[first], found[second]
        pairs = [_pair(one[entry], other[entry]) for entry in one if entry in other]
        same = sum(same for same, _, _ in pairs)
        for unchanged in (True, False) if same < len(pairs) else (True,):
            counted = [(a, b) for same, a, b in pairs if same or not unchanged]
            alike = sum(a == b for a, b in counted)
            kappa = cohen_kappa(Counter(counted))
            made.append(ReviewerAgreement((first, second), unchanged, len(counted), alike, kappa))
    return [each for each in made if each.entries]


def _pair(
    one: Mapping[str, ReviewOutcome], other: Mapping[str, ReviewOutcome]
) -> tuple[bool, ReviewOutcome, ReviewOutcome]:
    """Tell whether two reviewers saw the same version, and return both outcomes."""
    for read in reversed(list(one)):
        if read in other:
            return True, one[read], other[read]
    return False, list(one.values())[-1], list(other.values())[-1]
