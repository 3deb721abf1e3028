"""What generated bulk talks of: people, firms, towns, goods and events that nobody made up before.

One that has words to do without gives names and lines of text; the same seed and the same words
give the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import chain
from random import Random
from string import Formatter
from typing import NamedTuple, TypeVar

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


class Phrases(NamedTuple):
    """Patterns of texts; the slots in them are filled from the vocabulary."""

    lines: tuple[str, ...]
    """Notes of a day, which they begin with."""
    subjects: tuple[str, ...]
    """What something could be about."""
    remarks: Mapping[str, tuple[str, ...]] = {}
    """What somebody says, by where: message, tweet, comment. Notes without their day if none."""
    matters: tuple[tuple[str, str], ...] = ()
    """A subject and what there is to say of it; without any, a subject and two notes."""
    files: tuple[str, ...] = ()
    """Names of files; subjects if none."""


NOTES = Phrases(
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
"""What stands in a long context."""


_POOLS: Mapping[str, Sequence[str]] = {
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
"""How often a number is drawn anew, for a range may have no other."""
_LONG = 4
"""Letters from which on a word counts as meant where another one begins with it."""


def tokens(text: str) -> list[str]:
    """Return the words of a text, in small letters."""
    return _WORD.findall(text.casefold())


def clashing(
    spoken: Collection[str], names: Collection[str], phrases: Phrases = NOTES
) -> frozenset[str]:
    """Return the words of the vocabulary, and of some names, that a request could mean."""
    ours = {word for pool in (*_POOLS.values(), names) for text in pool for word in tokens(text)}
    ours |= {*_fixed_words(phrases)}
    return frozenset(word for word in ours if any(_alike(word, said) for said in spoken))


def _fixed_words(phrases: Phrases) -> Iterator[str]:
    said = chain.from_iterable(phrases.remarks.values())
    matters = chain.from_iterable(phrases.matters)
    for text in chain(phrases.lines, phrases.subjects, said, matters, phrases.files):
        for fixed, *_ in Formatter().parse(text):
            yield from (word for word in tokens(fixed) if len(word) > _LONG)


def _alike(word: str, said: str) -> bool:
    if min(len(word), len(said)) < _LONG:
        return word == said
    return word.startswith(said) or said.startswith(word)


class Draws:
    """What ``Random`` draws from the same seed, in a third of the time.

    Args:
        seed: Any text.
    """

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)
        self._bits = self.random.getrandbits

    def below(self, count: int) -> int:
        """Draw a whole number from 0, below another one."""
        width = count.bit_length()
        drawn = self._bits(width)
        while drawn >= count:
            drawn = self._bits(width)
        return drawn

    def choice(self, pool: Sequence[_Member]) -> _Member:
        """Draw a member, each with the same chance."""
        # As below(), which would be called a million times.
        count = len(pool)
        width = count.bit_length()
        drawn = self._bits(width)
        while drawn >= count:
            drawn = self._bits(width)
        return pool[drawn]

    def sample(self, pool: Sequence[_Member], count: int) -> list[_Member]:
        """Draw so many members, none twice, of a few hundred at most."""
        left, drawn = list(pool), []
        for size in range(len(left), len(left) - count, -1):
            at = self.below(size)
            drawn.append(left[at])
            left[at] = left[size - 1]
        return drawn


class Vocabulary(Draws):
    """Names, dates and lines of text, drawn from a seed.

    Args:
        seed: Any text.
        without: Words that are not used.
        latest: The day before which everything happens.
        phrases: Patterns of texts.
    """

    def __init__(
        self, seed: str, without: Collection[str], latest: date, phrases: Phrases = NOTES
    ) -> None:
        super().__init__(seed)
        self._share = self.random.random
        self._without = frozenset(without)
        # Most requests name no number and no day, and nothing need be written out for them.
        self._numbers = frozenset(word for word in self._without if _NUMBER.fullmatch(word))
        self._days = frozenset(word for word in self._without if _DAY.fullmatch(word))
        self._latest = latest
        self._pools = {kind: self._allowed(pool) for kind, pool in _POOLS.items()}
        self._lines = self._allowed(phrases.lines)
        self._subjects = self._allowed(phrases.subjects)
        self._remarks = {kind: self._allowed(said) for kind, said in phrases.remarks.items()}
        allowed = self._allowed([f"{subject}\n{text}" for subject, text in phrases.matters])
        self._matters = [
            (subject, text) for subject, _, text in (m.partition("\n") for m in allowed)
        ]
        self._files = self._allowed(phrases.files)

    def _allowed(self, pool: Sequence[str]) -> list[str]:
        return [text for text in pool if self.permits(text)] or list(pool[:1])

    def permits(self, text: str) -> bool:
        """Tell whether a text does without the words that it has to."""
        return self._without.isdisjoint(tokens(text))

    def one(self, kind: str) -> str:
        """Return one of a kind: first, last, firm, town, goods, event, card_type, status."""
        return self.choice(self._pools[kind])

    def person(self) -> str:
        """Return somebody's full name."""
        pools = self._pools
        return f"{self.choice(pools['first'])} {self.choice(pools['last'])}"

    def namesakes(self, people: Collection[str]) -> list[str]:
        """Return names that share one part with some people, as far as no request takes them."""
        found = []
        for full in people:
            first, _, last = full.rpartition(" ")
            if first and last.isdigit():
                found.append(f"{first} {self.random.randint(20, 99)}")
            elif first:
                found += [f"{first} {self.one('last')}", f"{self.one('first')} {last}"]
        return [name for name in dict.fromkeys(found) if self.permits(name) and name not in people]

    def day(self, within: int = 400) -> date:
        """Return a day before the latest one, by at most so many days, that no request names."""
        day = self._latest - timedelta(1 + self.below(within))
        if not self._days:
            return day
        draws = (self._latest - timedelta(1 + self.below(within)) for _ in range(_DRAWS - 1))
        return next((d for d in chain([day], draws) if f"{d:%m-%d}" not in self._days), day)

    def line(self) -> str:
        """Return something that was noted on a day."""
        return self._filled(self.choice(self._lines))

    def remark(self, kind: str) -> str:
        """Return something that somebody says, without a day, in a message, tweet or comment."""
        if kind in self._remarks:
            text = self._filled(self.random.choice(self._remarks[kind]))
        else:
            text = self.line().partition(": ")[2]
        return text[0].upper() + text[1:]

    def matter(self) -> tuple[str, str]:
        """Return what a ticket is about, and what it says."""
        if not self._matters:
            return self.subject(), "\n".join(self.lines(2))
        subject, text = self.random.choice(self._matters)
        slots = self._slots(text)
        title = subject.format(**slots)
        return title[0].upper() + title[1:], text.format(**slots)

    def file(self) -> str:
        """Return what a file could be called after."""
        return self._filled(self.random.choice(self._files)) if self._files else self.subject()

    def page(self) -> str:
        """Return what a file could hold."""
        return "\n".join(self.lines(self.random.randint(2, 5))) if self._files else self.line()

    def lines(self, count: int) -> list[str]:
        """Return notes in the order of their days."""
        return sorted(self.line() for _ in range(count))

    def subject(self) -> str:
        """Return what a ticket or a message could be about."""
        return self._filled(self.choice(self._subjects))

    def number(self, low: int, high: int) -> int:
        """Return a whole number from low to high that no request waits for."""
        width = high - low + 1
        number = low + self.below(width)
        if self._numbers and f"{number:g}" in self._numbers:
            return self._unheard(lambda: low + self.below(width))
        return number

    def amount(self, low: float, high: float) -> float:
        """Return a number of two decimals that no request waits for."""
        amount = round(low + (high - low) * self._share(), 2)
        if self._numbers and f"{amount:g}" in self._numbers:
            return self._unheard(lambda: round(low + (high - low) * self._share(), 2))
        return amount

    def _unheard(self, draw: Callable[[], _Number]) -> _Number:
        """Return the next drawn number that stands in no request; in the end any."""
        drawn = (draw() for _ in range(_DRAWS - 1))
        found = next((number for number in drawn if f"{number:g}" not in self._numbers), None)
        return draw() if found is None else found

    def _filled(self, text: str) -> str:
        return text.format(**self._slots(text))

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
        for name in ("person", "firm"):
            if f"{{{name}_2}}" in text:
                slots[f"{name}_2"] = self._another(name, slots[name])
        return slots

    def _another(self, kind: str, than: object) -> str:
        """Return a person or a firm, another one if that comes up soon."""
        draw = self.person if kind == "person" else lambda: self.one(kind)
        drawn = [draw() for _ in range(3)]
        return next((name for name in drawn if name != than), drawn[0])
