"""Search for phrases in the words of an answer; the markup is removed first."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple
from unicodedata import combining, normalize

MAX_CHARS = 20_000
"""Only this number of characters of an answer is searched."""

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
_SUPPOSED = re.compile(r" would have\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?;\n]")
_BETWEEN = {"a", "an", "the", "made", "with", "of", "from", "at", "in"}
_DIRECTIONS = {"front", "rear", "back", "left", "right", "driver", "passenger"}
_MAX_BETWEEN = 3
_MAX_NEGATED_WORDS = 4


class Word(NamedTuple):
    """One word of a string, in lower case and without accents."""

    text: str
    start: int
    end: int


_start = attrgetter("start")


class FinalAnswer:
    """Final answer of a turn."""

    def __init__(self, answer: str) -> None:
        self.text = answer[:MAX_CHARS].translate(_MARKS)
        self.words = split_words(self.text)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            places.setdefault(word.text, []).append(place)
        return places

    def find(self, phrase: str) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each occurrence of the phrase; skip negated occurrences."""
        wanted = [word.text for word in split_words(phrase.translate(_MARKS))]
        for place in self._places.get(wanted[0], ()) if wanted else ():
            found = self.words[place : place + len(wanted)]
            if [word.text for word in found] == wanted and not (
                _SUPPOSED.match(self.text, found[-1].end)
                or (len(wanted) <= _MAX_NEGATED_WORDS and self.turned_down(found[0].start))
            ):
                yield found[0].start, found[-1].end

    def find_reordered(self, phrase: str) -> Iterator[tuple[int, int]]:
        """Search for a phrase with words in another order; yield the start and end of each match.

        For example, "tart made with rhubarb" matches the phrase "rhubarb tart".

        Plurals match. The order of two words is free if a comma or a short word is between them.
        The order of compass directions is always free ("north east", "east north").
        """
        wanted = [_make_singular(word.text) for word in split_words(phrase.translate(_MARKS))]
        if len(wanted) < 2 or not all(word.isalpha() and len(word) > 2 for word in wanted):
            return
        for place in range(len(self.words)):
            row: list[Word] = []
            between = False
            for word in self.words[place : place + len(wanted) + _MAX_BETWEEN]:
                same = _make_singular(word.text)
                if same in wanted:
                    row.append(word)
                elif row and same in _BETWEEN:
                    between = True
                else:
                    break
                if len(row) == len(wanted):
                    break
            found = [_make_singular(word.text) for word in row]
            if sorted(found) != sorted(wanted):
                continue
            start, end = row[0].start, row[-1].end
            between = between or "," in self.text[start:end] or _DIRECTIONS.issuperset(wanted)
            if (found == wanted or between) and not (
                _SENTENCE_END.search(self.text, start, end)
                or self.turned_down(start)
                or _SUPPOSED.match(self.text, end)
            ):
                yield start, end

    def turned_down(self, start: int) -> bool:
        """Tell whether a negation precedes a position in the answer."""
        before = self.before(start)
        while before and before[-1] in _FILLERS:
            before.pop()
        return bool(before) and (
            before[-1] in _TURNS_DOWN
            or ["no", "longer"] in [before[place : place + 2] for place in range(len(before))]
            or before[-2:] in (["instead", "of"], ["rather", "than"])
            or (before[-1] == "t" and len(before) > 1 and before[-2].endswith("n"))
        )

    def before(self, start: int, most: int = 4) -> list[str]:
        """Return up to ``most`` words between the last punctuation mark and a position."""
        place = bisect_left(self.words, start, key=_start)
        found: list[str] = []
        for word in reversed(self.words[max(0, place - most) : place]):
            if _PARTING.search(self.text, word.end, start):
                break
            found.append(word.text)
            start = word.start
        return found[::-1]


def split_words(text: str) -> list[Word]:
    """Split a string into words; a number such as "1,000.5" is one word."""
    found = []
    for match in _WORD.finditer(text):
        token = match[0]
        if token[0].isdigit() and _THOUSANDS.fullmatch(token):
            token = token.replace(",", "")
        found.append(Word(fold_text(token), match.start(), match.end()))
    return found


def fold_text(text: str) -> str:
    """Return a string in lower case and without accents."""
    if text.isascii():
        return text.lower()
    bare = normalize("NFKD", text.casefold())
    return "".join([char for char in bare if not combining(char)])


def _make_singular(word: str) -> str:
    plural = len(word) > 3 and word.endswith("s") and word[-2] not in "su"
    return word[:-1] if plural else word


def list_stems(text: str) -> list[str]:
    """Return the stems of a string's words."""
    return [find_stem(word.text) for word in split_words(text)]


def find_stem(word: str) -> str:
    """Return the stem of a word, such as "lock" for "locked", "locks" and "locking"."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2 and word[-2:] != "ss":
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    if word.endswith("ll") and len(word) > 4:
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word
