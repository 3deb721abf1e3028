"""Settings and vocabulary of generated items: invented people, firms, towns, goods and events.

All names and texts depend only on the seed and on the words to avoid.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from random import Random
from sys import intern
from typing import Any, NamedTuple, TypeVar

FIRST_NAMES = (
    "Adela", "Anton", "Beatrix", "Benno", "Carla", "Casper", "Dagmar", "Darian", "Edda",
    "Emeric", "Fenna", "Florin", "Greta", "Gustav", "Hedda", "Henrik", "Ilse", "Isidor",
    "Jolanta", "Jorik", "Katja", "Kilian", "Leonie", "Ludo", "Marit", "Mattis", "Nadja", "Nils",
    "Odile", "Oskar", "Petra", "Quirin", "Romy", "Rurik", "Selma", "Silvan", "Tabea", "Thilo",
    "Ulla", "Valentin", "Wanja", "Wiebke", "Xenia", "Yorick", "Zita",
)  # fmt: skip
LAST_NAMES = (
    "Achterberg", "Amsel", "Bornholt", "Brandis", "Carstens", "Ceder", "Dornbach", "Ekholm",
    "Elsner", "Falkner", "Fenske", "Gerlach", "Grauman", "Halvorsen", "Hesse", "Ibsen",
    "Jansky", "Karlsen", "Kestner", "Lindqvist", "Lorentz", "Merz", "Moorland", "Nadler",
    "Norrby", "Oberlin", "Ostrow", "Pachner", "Quist", "Rautner", "Reiss", "Sandvik", "Seifert",
    "Tauber", "Thorne", "Ulrich", "Vasak", "Vossler", "Wendt", "Wickham", "Yarrow", "Zeller",
)  # fmt: skip
FIRMS = (
    "Aldermoor Mills", "Bluebank Freight", "Copperline Works", "Dunmore Paper", "Eastgate Glass",
    "Fernhill Dairies", "Gallow Street Press", "Harrowby Tools", "Ivory Lane Optics",
    "Junction Tiles", "Kettlewick Foods", "Larkfield Seeds", "Millrace Motors", "Northmoor Felts",
    "Oxbow Brewing", "Parkside Ceramics", "Quillon Systems", "Redfern Timber", "Saltmarsh Cables",
    "Tollbridge Printing", "Underwood Pipes", "Vinery Labels", "Westholm Clocks", "Yewtree Pumps",
)  # fmt: skip
TOWNS = (
    "Ashcombe", "Birkwell", "Cawdon", "Deepford", "Elmsworth", "Fallowby", "Garrick", "Hexley",
    "Inverdale", "Jarrowby", "Kelmscote", "Langport", "Marbury", "Netherby", "Osmotherly",
    "Pendleby", "Quorndon", "Ravensby", "Skelworth", "Tavistone", "Ullerby", "Vennford",
    "Wexcombe", "Yarnbury",
)  # fmt: skip
GOODS = (
    "anchors", "axles", "barrels", "bellows", "candles", "castings", "chisels", "corks",
    "crates", "dowels", "fenders", "flagons", "gaskets", "girders", "hammocks", "hinges",
    "kettles", "ladders", "lanterns", "mattresses", "nozzles", "paddles", "pallets", "parasols",
    "pulleys", "rivets", "saddles", "shingles", "spindles", "tarpaulins", "tassels", "thimbles",
    "trowels", "valves", "washers", "wickets",
)  # fmt: skip
EVENTS = (
    "autumn bazaar", "boiler inspection", "chess evening", "choral rehearsal", "fencing trials",
    "harvest supper", "inventory count", "jumble auction", "kite festival", "lantern procession",
    "model railway show", "orchard walk", "pottery course", "quilting circle", "regatta dinner",
    "stocktaking", "tannery tour", "vintage rally", "wreath workshop", "yard cleanup",
)  # fmt: skip
CARD_TYPES = ("prepaid", "credit", "debit", "corporate")
STATUSES = ("Archived", "Closed", "Resolved")

_MAX_OTHER_ITEMS = 40
"""Maximum items of a kind that is not in ``ItemSettings.kinds``."""
KINDS = (
    "lines", "files", "tickets", "logs", "users", "messages", "tweets", "comments", "following",
    "orders", "transactions", "stocks", "cards", "bookings", "car", "towns",
)  # fmt: skip
MAX_STOCKS = 1_000
"""Maximum number of generated stocks in each of the two sectors."""


class ItemSettings(NamedTuple):
    """Settings of generated items; equal settings give equal items."""

    seed: int
    items: int
    without: tuple[str, ...]
    """Words and days of the entry. Generated items use other words and earlier days."""
    lengthens: bool = True
    """Whether generated text also extends handwritten items, such as the text of a file."""
    kinds: tuple[str, ...] = ()
    """Kinds that get all ``items``; other kinds get fewer. An empty tuple means all kinds."""

    def count(self, kind: str) -> int:
        """Return the number of items of a kind."""
        items = min(self.items, MAX_STOCKS) if kind == "stocks" else self.items
        return items if not self.kinds or kind in self.kinds else min(items, _MAX_OTHER_ITEMS)


class PhraseTemplates(NamedTuple):
    """Templates of texts with slots for the vocabulary."""

    lines: tuple[str, ...]
    """Templates of notes that start with a day."""
    subjects: tuple[str, ...]
    remarks: Mapping[str, tuple[str, ...]] = {}
    """Templates of texts by kind (message, tweet, comment); default: a note without the day."""
    matters: tuple[tuple[str, str], ...] = ()
    """Templates of subjects and texts of tickets; default: a subject and two notes."""
    files: tuple[str, ...] = ()
    """Templates of file names (default: the templates of subjects)."""


NOTES = PhraseTemplates(
    lines=(
        "{day}: {number} {goods} delivered to {firm} in {town}, signed for by {person}.",
        "{day}: {person} moved the {event} to {town}.",
        "{day}: {firm} returned {number} {goods}; {person} is dealing with it.",
        "{day}: {person} reserved {number} seats for the {event}.",
        "{day}: quotation of {firm} for {number} {goods}, {amount} dollars, declined.",
        "{day}: {number} {goods} counted in {town} by {person}.",
        "{day}: {firm} charged {amount} dollars for the {event} in {town}.",
        "{day}: {person} lent {number} {goods} to {firm}.",
    ),
    subjects=(
        "{goods} for the {event}", "{event} in {town}", "{number} {goods} from {firm}",
        "{firm}: {goods}", "{town}, {event}",
    ),
)  # fmt: skip


@cache
def load_phrases() -> tuple[PhraseTemplates, PhraseTemplates]:
    """Return the templates of scenarios and the templates of long contexts."""
    read = json.loads(Path(__file__).with_name("phrases.json").read_text(encoding="utf-8"))
    world = _merge(NOTES, read["world"])
    return world, _merge(world, read["more"])


def _merge(phrases: PhraseTemplates, more: Mapping[str, Any]) -> PhraseTemplates:
    remarks = {
        kind: (*phrases.remarks.get(kind, ()), *more["remarks"][kind]) for kind in more["remarks"]
    }
    return PhraseTemplates(
        (*phrases.lines, *more["lines"]),
        phrases.subjects,
        remarks,
        (*phrases.matters, *((subject, text) for subject, text in more["matters"])),
        (*phrases.files, *more["files"]),
    )


POOLS: Mapping[str, Sequence[str]] = {
    "first": FIRST_NAMES,
    "last": LAST_NAMES,
    "firm": FIRMS,
    "town": TOWNS,
    "goods": GOODS,
    "event": EVENTS,
    "card_type": CARD_TYPES,
    "status": STATUSES,
}
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"-?\d[\d.e+-]*")
_DAY = re.compile(r"\d\d-\d\d")
_Number = TypeVar("_Number", int, float)
_Member = TypeVar("_Member")
_DRAWS = 50
"""Maximum number of draws per value, because a range may have no permitted value."""


def split_words(text: str) -> list[str]:
    """Return the words of a string in lower case."""
    return _WORD.findall(text.casefold())


@lru_cache(maxsize=64)
def _index_words(pool: tuple[str, ...]) -> Mapping[str, Sequence[int]]:
    places: dict[str, list[int]] = {}
    for place, text in enumerate(pool):
        for word in split_words(text):
            places.setdefault(word, []).append(place)
    return places


class FastRandom:
    """Random source that makes the same draws as ``Random`` in a third of the time."""

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)
        self._bits = self.random.getrandbits

    def below(self, count: int) -> int:
        """Return a random integer below ``count``."""
        width = count.bit_length()
        drawn = self._bits(width)
        while drawn >= count:
            drawn = self._bits(width)
        return drawn

    def choice(self, pool: Sequence[_Member]) -> _Member:
        """Draw an item from a sequence."""
        # The code of below(), inlined for a million calls.
        count = len(pool)
        width = count.bit_length()
        drawn = self._bits(width)
        while drawn >= count:
            drawn = self._bits(width)
        return pool[drawn]

    def sample(self, pool: Sequence[_Member], count: int) -> list[_Member]:
        """Draw distinct items from a pool of at most a few hundred."""
        left, drawn = list(pool), []
        for size in range(len(left), len(left) - count, -1):
            at = self.below(size)
            drawn.append(left[at])
            left[at] = left[size - 1]
        return drawn


class Vocabulary(FastRandom):
    """Random names, dates and texts.

    Names and texts avoid the words in ``without``. All days are earlier than ``latest``.
    """

    def __init__(
        self, seed: str, without: Collection[str], latest: date, phrases: PhraseTemplates = NOTES
    ) -> None:
        super().__init__(seed)
        self._share = self.random.random
        self._without = frozenset(without)
        # Mostly empty, so that numbers and days need no formatting.
        self._numbers = frozenset(word for word in self._without if _NUMBER.fullmatch(word))
        self._days = frozenset(word for word in self._without if _DAY.fullmatch(word))
        self._latest = latest
        self._pools = {kind: self._allowed(pool) for kind, pool in POOLS.items()}
        self._lines = self._allowed(phrases.lines)
        self._subjects = self._allowed(phrases.subjects)
        self._remarks = {kind: self._allowed(said) for kind, said in phrases.remarks.items()}
        allowed = self._allowed([f"{subject}\n{text}" for subject, text in phrases.matters])
        self._matters = [(title, text) for title, _, text in (m.partition("\n") for m in allowed)]
        self._files = self._allowed(phrases.files)

    def _allowed(self, pool: Sequence[str], *, fewest: bool = False) -> Sequence[str]:
        pool = tuple(pool)
        places = _index_words(pool)
        barred = Counter(place for word in self._without for place in places.get(word, ()))
        if not barred:
            return pool
        least = min(barred.get(place, 0) for place in range(len(pool))) if fewest else 0
        return [text for at, text in enumerate(pool) if barred.get(at, 0) == least] or pool[:1]

    def permits(self, text: str) -> bool:
        """Tell whether a text avoids the forbidden words."""
        return self._without.isdisjoint(split_words(text))

    def one(self, kind: str) -> str:
        """Return a word of a kind such as ``first`` (name), ``firm`` or ``town``."""
        return self.choice(self._pools[kind])

    def person(self) -> str:
        """Return a full name."""
        pools = self._pools
        return f"{self.choice(pools['first'])} {self.choice(pools['last'])}"

    def namesakes(self, people: Collection[str]) -> list[str]:
        """Return permitted full names that share a first or last name with one of the people."""
        found = []
        for full in people:
            first, _, last = full.rpartition(" ")
            if first and last.isdigit():
                found.append(f"{first} {self.random.randint(20, 99)}")
            elif first:
                found += [f"{first} {self.one('last')}", f"{self.one('first')} {last}"]
        return [name for name in dict.fromkeys(found) if self.permits(name) and name not in people]

    def day(self, within: int = 400) -> date:
        """Return a permitted day at most ``within`` days before the latest day."""
        day = self._latest - timedelta(1 + self.below(within))
        if not self._days:
            return day
        draws = (self._latest - timedelta(1 + self.below(within)) for _ in range(_DRAWS - 1))
        return next((d for d in chain([day], draws) if f"{d:%m-%d}" not in self._days), day)

    def line(self) -> str:
        """Return a note with its day."""
        return self._filled(self.choice(self._lines))

    def remark(self, kind: str) -> str:
        """Return the text of a message, tweet or comment."""
        if kind in self._remarks:
            text = self._filled(self.random.choice(self._remarks[kind]))
        else:
            text = self.line().partition(": ")[2]
        return text[0].upper() + text[1:]

    def matter(self) -> tuple[str, str]:
        """Return the title and description of a ticket."""
        if not self._matters:
            return self.subject(), "\n".join(self.lines(2))
        subject, text = self.random.choice(self._matters)
        slots = self._slots(text)
        title = subject.format(**slots)
        return title[0].upper() + title[1:], text.format(**slots)

    def file(self) -> str:
        """Return the stem of a file name."""
        return self._filled(self.random.choice(self._files)) if self._files else self.subject()

    def page(self) -> str:
        """Return the content of a file."""
        return "\n".join(self.lines(self.random.randint(2, 5))) if self._files else self.line()

    def lines(self, count: int) -> list[str]:
        """Return notes, sorted by day."""
        return sorted(self.line() for _ in range(count))

    def mix(self, first: Collection[Any], second: Collection[Any]) -> list[Any]:
        """Return the items of both groups in one list."""
        return [*first, *second]

    def subject(self) -> str:
        """Return the subject of a ticket or a message."""
        return self._filled(self.choice(self._subjects))

    def number(self, low: int, high: int) -> int:
        """Return a permitted integer between low and high, inclusive."""
        width = high - low + 1
        number = low + self.below(width)
        if self._numbers and f"{number:g}" in self._numbers:
            return self._unheard(lambda: low + self.below(width))
        return number

    def amount(self, low: float, high: float) -> float:
        """Return a permitted number with two decimals."""
        amount = round(low + (high - low) * self._share(), 2)
        if self._numbers and f"{amount:g}" in self._numbers:
            return self._unheard(lambda: round(low + (high - low) * self._share(), 2))
        return amount

    def _unheard(self, draw: Callable[[], _Number]) -> _Number:
        """Draw numbers until a number is permitted."""
        drawn = (draw() for _ in range(_DRAWS - 1))
        found = next((number for number in drawn if f"{number:g}" not in self._numbers), None)
        return draw() if found is None else found

    def _filled(self, text: str) -> str:
        return text.format(**self._slots(text))

    def fill_but_day(self, text: str) -> str:
        """Fill all slots of a template except the slot ``day``."""
        filled = text.format(**{**self._slots(text), "day": "{day}"})
        return filled if filled.startswith("{day}") else filled[0].upper() + filled[1:]

    def _slots(self, text: str) -> dict[str, object]:
        choice, pools = self.choice, self._pools
        slots: dict[str, object] = {
            "day": self.day(),
            "person": self.person(),
            "firm": choice(pools["firm"]),
            "town": choice(pools["town"]),
            "goods": choice(pools["goods"]),
            "event": choice(pools["event"]),
            "number": self.number(2, 90),
            "amount": self.amount(20, 4000),
        }
        for name in ("person", "firm", "number"):
            if f"{{{name}_2}}" in text:
                slots[f"{name}_2"] = self._another(name, slots[name])
        return slots

    def _another(self, kind: str, than: object) -> object:
        draws: Mapping[str, Callable[[], object]] = {
            "person": self.person,
            "firm": lambda: self.one(kind),
            "number": lambda: self.number(2, 90),
        }
        drawn = [draws[kind]() for _ in range(3)]
        return next((name for name in drawn if name != than), drawn[0])


_BODIES = 1500
"""Number of texts per kind (for example, messages) that are generated for long contexts."""
_MIN_CHARS = 16
_IMITATED = 3
"""On average, every third generated text imitates an existing text."""
_CHANGEABLE = re.compile(
    r"\d{4}-\d\d-\d\d|(?<![\w.:-])\d+(?![\w:-]|\.\d)|(?:(?<!\d)|(?<=\d{4}-\d\d-\d\d))\d+\.\d+"
)


@cache
def _fill_bodies(kind: str) -> tuple[str, ...]:
    _, phrases = load_phrases()
    words = Vocabulary(f"bodies {kind}", (), date(2024, 5, 1), phrases)
    templates: Sequence[str] = phrases.lines
    if kind == "matter":
        templates = [f"{subject}\n{text}" for subject, text in phrases.matters]
    elif kind != "line":
        templates = phrases.remarks[kind]
    return tuple([words.fill_but_day(words.choice(templates)) for _ in range(_BODIES)])


@lru_cache(maxsize=256)
def _write_days(latest: date) -> Sequence[str]:
    return [intern(f"{latest - timedelta(before)}") for before in range(1, 401)]


class LargeVocabulary(Vocabulary):
    """Vocabulary of thousands of strings. Some strings imitate existing strings.

    An imitation copies the words of an existing string; numbers and days are new. Each process
    fills the templates once. If every text has forbidden words, the texts with the fewest are used.
    """

    def __init__(
        self, seed: str, without: Collection[str], latest: date, models: Sequence[str] = ()
    ) -> None:
        super().__init__(seed, without, latest)
        self._bodies: dict[str, Sequence[str]] = {}
        days = _write_days(latest)
        allowed = [day for day in days if day[5:] not in self._days] if self._days else days
        self._written_days = allowed or days[:1]
        self._models = [text for text in models if self._can_be_imitated(text)]

    def line(self) -> str:
        """Return a note with its day."""
        return self._draw("line")

    def remark(self, kind: str) -> str:
        """Return the text of a message, tweet or comment."""
        if self._models and not self.below(_IMITATED):
            return self._imitate(self.choice(self._models))
        return self._draw(kind)

    def matter(self) -> tuple[str, str]:
        """Return the title and description of a ticket."""
        if self._models and not self.below(_IMITATED):
            text = self._imitate(self.choice(self._models))
        else:
            text = self._draw("matter")
        title, _, description = text.partition("\n")
        return title, description

    def page(self) -> str:
        """Return the content of a file."""
        return self.line()

    def mix(self, first: Collection[Any], second: Collection[Any]) -> list[Any]:
        """Mix both groups at random; the items of each group keep their order."""
        count = len(first) + len(second)
        places = {*self.sample(range(count), len(second))}
        left, right = iter(first), iter(second)
        return [next(right if place in places else left) for place in range(count)]

    def _draw(self, kind: str) -> str:
        if kind not in self._bodies:
            self._bodies[kind] = self._allowed(_fill_bodies(kind), fewest=True)
        body = self.choice(self._bodies[kind])
        return body.replace("{day}", self.choice(self._written_days)) if "{day}" in body else body

    def _can_be_imitated(self, text: str) -> bool:
        long_enough = len(text) >= _MIN_CHARS and _CHANGEABLE.search(text) is not None
        return long_enough and self.permits(text)

    def _imitate(self, text: str) -> str:
        return _CHANGEABLE.sub(self._change, text)

    def _change(self, found: re.Match[str]) -> str:
        old = found[0]
        if "-" in old:
            return self.choice(self._written_days)
        whole, point, decimals = old.partition(".")
        low, high = 10 ** (len(whole) - 1), 10 ** len(whole) - 1
        new = str(self.number(low, high))
        return f"{new}{point}{self.below(10 ** len(decimals)):0{len(decimals)}}" if point else new
