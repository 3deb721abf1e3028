"""An answer as words: plain text without marks of layout, its words, and where phrases stand."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple
from unicodedata import combining, normalize

LONGEST = 20_000
"""Characters of an answer that are read, from its start."""

_MARKS = str.maketrans(
    {
        **dict.fromkeys("*`~\\\N{ZERO WIDTH SPACE}\N{WORD JOINER}\N{VARIATION SELECTOR-16}"),
        **dict.fromkeys("\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}\t\r", " "),
        **dict.fromkeys("\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}", "'"),
        **dict.fromkeys("\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}", '"'),
        **dict.fromkeys("\N{MINUS SIGN}\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{EN DASH}", "-"),
        "\N{VULGAR FRACTION ONE HALF}": " 1/2",
        "\N{VULGAR FRACTION ONE QUARTER}": " 1/4",
        "\N{VULGAR FRACTION THREE QUARTERS}": " 3/4",
        **dict.fromkeys("\N{WHITE HEAVY CHECK MARK}\N{CHECK MARK}\N{HEAVY CHECK MARK}", " true "),
        **dict.fromkeys("\N{CROSS MARK}\N{BALLOT X}\N{HEAVY BALLOT X}", " false "),
    }
)
_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_TURNS_DOWN = {"not", "never", "excluding", "except", "without"}
_FILLERS = {"a", "an", "the", "yet", "as", "marked", "listed", "currently", "on", "for"}
_PARTING = re.compile(r"[^\w\s'\"]")
_SHORT = 4
"""Words of the longest phrase that a negation right before it turns down."""


class Word(NamedTuple):
    """One word of a text, without regard to case and accents."""

    text: str
    start: int
    end: int


_start = attrgetter("start")


class Utterance:
    """The words of an assistant at the end of a turn."""

    def __init__(self, answer: str) -> None:
        self.text = answer[:LONGEST].translate(_MARKS)
        self.words = words(self.text)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            places.setdefault(word.text, []).append(place)
        return places

    def find(self, phrase: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each place where a phrase stands and is not turned down."""
        wanted = [word.text for word in words(phrase.translate(_MARKS))]
        for place in self._places.get(wanted[0], ()) if wanted else ():
            found = self.words[place : place + len(wanted)]
            if [word.text for word in found] == wanted and not (
                len(wanted) <= _SHORT and self.turned_down(found[0].start)
            ):
                yield found[0].start, found[-1].end

    def turned_down(self, start: int) -> bool:
        """Tell whether what starts at a place has a negation right before it."""
        before = self.before(start)
        while before and before[-1] in _FILLERS:
            before.pop()
        return bool(before) and (
            before[-1] in _TURNS_DOWN
            or before[-2:] in (["no", "longer"], ["instead", "of"], ["rather", "than"])
            or (before[-1] == "t" and len(before) > 1 and before[-2].endswith("n"))
        )

    def before(self, start: int, most: int = 4) -> list[str]:
        """Return the last words before a place that no mark but quotes parts from it."""
        place = bisect_left(self.words, start, key=_start)
        found: list[str] = []
        for word in reversed(self.words[max(0, place - most) : place]):
            if _PARTING.search(self.text, word.end, start):
                break
            found.append(word.text)
            start = word.start
        return found[::-1]


def words(text: str) -> list[Word]:
    """Return the words of a text; a number with its separators is one word."""
    found = []
    for match in _WORD.finditer(text):
        token = match[0]
        if token[0].isdigit() and _THOUSANDS.fullmatch(token):
            token = token.replace(",", "")
        found.append(Word(folded(token), match.start(), match.end()))
    return found


def folded(text: str) -> str:
    """Return a text without case and accents."""
    if text.isascii():
        return text.lower()
    bare = normalize("NFKD", text.casefold())
    return "".join([char for char in bare if not combining(char)])


def stems(text: str) -> list[str]:
    """Return the words of a text without their commonest endings."""
    return [stem(word.text) for word in words(text)]


def stem(word: str) -> str:
    """Return a word without its commonest endings: locked, locks and locking are lock."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2 and word[-2:] != "ss":
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    if word.endswith("ll") and len(word) > 4:
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word
