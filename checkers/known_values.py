"""Values that are known from user messages and results at one point of a conversation.

``contains_value`` tells whether a string contains the exact characters of a value. ``KnownValues``
is more tolerant: case, punctuation and the notation of numbers, dates and currencies may differ,
and a string may consist of known words. The English number words are listed here, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise, permutations
from math import isclose
from typing import Any, NamedTuple

from envs.state import cut

ONES, TENS, MONTHS, ORDINALS = (
    words.split()
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen",
        "twenty thirty forty fifty sixty seventy eighty ninety",
        "january february march april may june july august september october november december",
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth "
        "twenty-first twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth "
        "twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first",
    )
)
NUMBERS = {
    **{word: value for value, word in enumerate(ONES)},
    **{word: 10 * value for value, word in enumerate(TENS, start=2)},
    "pair": 2,
    "trio": 3,
    "dozen": 12,
}
SCALES = {
    "hundred": 100,
    "thousand": 1_000,
    "grand": 1_000,
    "k": 1_000,
    "million": 1_000_000,
    "mn": 1_000_000,
    "billion": 1_000_000_000,
    "bn": 1_000_000_000,
}

_MIN_KNOWN_SHARE = 0.8
_MAX_RESULTS, _MAX_RESULT_CHARS, _MAX_OPERANDS = 6, 2000, 60
"""Limits of the search for a calculation: results, characters per result, and operands."""
_MAX_CHANCE_CHARS = 3

_WORDS: Mapping[str, float] = {
    **NUMBERS,
    **{word: place for place, word in enumerate(ORDINALS[:5], start=1)},
    "half": 0.5,
    "quarter": 0.25,
    "couple": 2,
    "pair": 2,
    "single": 1,
    "once": 1,
    "twice": 2,
    "double": 2,
    "triple": 3,
}
_SCALES: Mapping[str, float] = {**SCALES, "m": 1e6, "dozen": 12, "%": 0.01, "percent": 0.01}
_ABBREVIATIONS: Mapping[str, tuple[str, ...]] = {
    "km": ("kilometre", "kilometer"),
    "kg": ("kilo",),
    "cm": ("centimetre", "centimeter"),
    "m": ("metre", "meter"),
    "mi": ("mile",),
    "lb": ("pound",),
    "ft": ("foot", "feet"),
    "in": ("inch",),
    "usd": ("dollar", "$"),
    "eur": ("euro", "€"),
    "gbp": ("pound", "£", "sterling"),
    "jpy": ("yen", "¥"),
    "inr": ("rupee", "₹"),
    "rmb": ("yuan", "renminbi"),
    "cny": ("yuan", "renminbi"),
    "cad": ("canadian",),
    "aud": ("australian",),
    "chf": ("franc",),
}
_PIECE = re.compile(
    r"[^\W_\u3040-\u9fff]+(?:(?<=\d)[.,](?=\d)[^\W_\u3040-\u9fff]+)*|[\u3040-\u9fff]+"
)
"""Word or number."""
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_AMOUNT = re.compile(r"(\d[\d,]*(?:\.\d+)?|\.\d+)\s?(%|[a-z]+)?")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_RUN = re.compile(r"[^\W\d_]+|\d+")
_EXPIRY = re.compile(r"(\d{1,2})/(\d{2,4})")


def list_literals(value: Any) -> Iterator[str | int | float]:
    """Yield the strings and numbers in a value; booleans and null are left out."""
    if isinstance(value, Mapping):
        for member in value.values():
            yield from list_literals(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from list_literals(member)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield value


def unescape_text(text: str) -> str:
    """Replace the escape sequences in a result's text."""
    if "\\u" in text:
        text = re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), text)
    return text.replace("\\n", "\n").replace('\\"', '"')


def clip_text(text: str, limit: int = 80) -> str:
    """Return a string as one line, cut to a maximum length."""
    return cut(" ".join(text[: 4 * limit].split()), limit)


def contains_value(literal: str | float, text: str) -> bool:
    """Tell whether a string contains a value; a number must not be part of a longer number."""
    if isinstance(literal, str):
        return literal in text
    return _is_written({repr(literal), f"{literal:g}"}, text, r"(?!\w|\.\d)")


class UnclearOrigin(NamedTuple):
    """A note on a value whose origin is unclear."""

    serious: bool
    why: str


class KnownValues:
    """Values that are known at one point of a conversation."""

    def __init__(self, known: str = "") -> None:
        self.heard = ""
        self.seen = [known]
        self._spoken: set[float] = set()

    def hear(self, words: str) -> None:
        """Add a message of the user."""
        self.heard += f"\n{words}"
        self._spoken |= list_spoken_numbers(words)

    def see(self, text: str) -> None:
        """Add a result."""
        self.seen.append(unescape_text(text))

    def doubt(self, literal: str | float, document: str = "") -> UnclearOrigin | None:
        """Return a note if the origin of a literal is unclear, else None."""
        if isinstance(literal, str):
            return self._text_doubt(literal, document)
        if self._knows_number(literal) or _has_number(literal, document):
            return None
        if worked := self._worked_out(literal):
            why = f"{literal!r} is not in the conversation, but equals {worked}"
            return UnclearOrigin(False, why)
        return UnclearOrigin(True, f"{literal!r} is in no message and no result")

    def _text_doubt(self, text: str, document: str) -> UnclearOrigin | None:
        sources = [self.heard, document, *self.seen]
        if not _normalise(text).strip() or any(_contains(source, text) for source in sources):
            return None
        if self._is_told_otherwise(text):
            return None
        words = _normalise(text).split()
        strange = [word for word in words if not self._knows_word(word, sources)]
        if not strange:
            return self._pieced_doubt(text, words, sources)
        unknown = clip_text(", ".join(dict.fromkeys(strange)), 60)
        if any(char.isdigit() for word in strange for char in word) or (
            1 - len(strange) / len(words) < _MIN_KNOWN_SHARE
        ):
            why = f"{clip_text(text, 60)!r}: {unknown} is in no message and no result"
            return UnclearOrigin(True, why)
        return UnclearOrigin(False, f"all words of the string are known, except {unknown}")

    def _pieced_doubt(
        self, text: str, words: list[str], sources: list[str]
    ) -> UnclearOrigin | None:
        pieces = _split_pieces(words, [_normalise(source) for source in sources])
        if all(min(map(len, pair)) < 2 for pair in pairwise(pieces)):
            return None
        message = f"{clip_text(text, 60)!r}: the words are known, but not in this order"
        return UnclearOrigin(True, message)

    def _knows_word(self, word: str, sources: list[str]) -> bool:
        if any(f" {word} " in _normalise(source) for source in sources):
            return True
        try:
            return self._knows_number(_parse_value(word))
        except ValueError:
            return False

    def _knows_number(self, number: float) -> bool:
        if any(isclose(abs(number), spoken, rel_tol=1e-9) for spoken in self._spoken):
            return True
        return any(_has_number(number, source) for source in [self.heard, *self.seen])

    def _is_told_otherwise(self, text: str) -> bool:
        """Tell whether the user wrote a value differently, such as "May 5" for a date."""
        low = self.heard.casefold()
        if date := _DATE.fullmatch(text):
            month, day = int(date[2]), int(date[3])
            return _has_month(low, month) and self._tells_day(low, month, day)
        on, _, at = text.partition("T")
        if at and _DATE.fullmatch(on):
            return at in self.heard and (on in self.heard or self._is_told_otherwise(on))
        if expiry := _EXPIRY.fullmatch(text):
            return _has_month(low, int(expiry[1])) and expiry[2][-2:] in low
        if text.casefold() in _ABBREVIATIONS:
            return any(word in low for word in _ABBREVIATIONS[text.casefold()])
        runs = _RUN.findall(text)
        if len(runs) > 1 and text.isalnum():
            # Parts of an id such as AB12 may be known separately.
            heard = _normalise(self.heard)
            return all(f" {run.casefold()} " in heard for run in runs)
        try:
            return self._knows_number(float(text))
        except ValueError:
            return False

    def _tells_day(self, words: str, month: int, day: int) -> bool:
        """Tell whether the user named a day, for example as a date or as "last day" of a month."""
        days = self._spoken_days(words)
        if day in days or (day >= _DAYS[month - 1] and "last day" in words):
            return True
        counted = re.findall(r"\b(\w++) days? (?:after|later|from)\b", words)
        return any(
            day - count in days
            for word in counted
            for count in list_spoken_numbers(word)
            if count < day
        )

    def _spoken_days(self, words: str) -> set[int]:
        days = re.findall(r"(?<!\d)(\d{1,2})(?=st|nd|rd|th|\b)", words)
        return {*map(int, days), *map(int, self._spoken)}

    def _worked_out(self, number: float) -> str:
        """Return a calculation of ``number`` from two known numbers, or "" if there is none."""
        recent = " ".join([text[-_MAX_RESULT_CHARS:] for text in self.seen[1:][-_MAX_RESULTS:]])
        found = {_parse_value(match) for match in _NUMBER.findall(recent)}
        known = sorted({*self._spoken, *found})[:_MAX_OPERANDS]
        for left, right in permutations(known, 2):
            for sign, value in (("+", left + right), ("-", left - right), ("*", left * right)):
                if value and isclose(value, number, rel_tol=1e-6, abs_tol=1e-9):
                    return f"{left:g} {sign} {right:g}"
            if right and isclose(left / right, number, rel_tol=1e-4):
                return f"{left:g} / {right:g}"
        return ""


def _split_pieces(words: list[str], sources: list[str]) -> list[list[str]]:
    """Split ``words``, from left to right, into the longest groups that a source contains."""
    pieces: list[list[str]] = []
    for word in words:
        longer = [*pieces[-1], word] if pieces else [word]
        if pieces and any(f" {' '.join(longer)} " in source for source in sources):
            pieces[-1] = longer
        else:
            pieces.append([word])
    return pieces


def list_spoken_numbers(words: str) -> set[float]:
    """Return the numbers in a user's message; "5k" gives 5 and 5,000."""
    low = words.casefold()
    found: set[float] = set()
    for digits, scale in _AMOUNT.findall(low):
        value = _parse_value(digits)
        found |= {value, value * _SCALES.get(scale, 1)}
    tokens = re.findall(r"[a-z]+", low)
    for token in tokens:
        if token in _WORDS:
            found.add(_WORDS[token])
    for token, following in pairwise(tokens):
        if following in _SCALES:
            found.add(_WORDS.get(token, 1) * _SCALES[following])
        if token in TENS and following in ONES:
            found.add(_WORDS[token] + _WORDS[following])
    return found


def _parse_value(digits: str) -> float:
    return float(digits.replace(",", ""))


def _has_month(words: str, month: int) -> bool:
    if not 1 <= month <= 12:
        return False
    name = MONTHS[month - 1]
    if re.search(rf"\b{ORDINALS[month - 1]} month\b", words):
        return True
    numeric = rf"(?<!\d)0?{month}[/.-]|[/.-]0?{month}(?!\d)"
    return bool(re.search(rf"\b{name[:3]}(?:{name[3:]}|t)?\b|{numeric}", words))


def _has_number(number: float, text: str) -> bool:
    size = abs(number)
    forms = {repr(size), f"{size:g}", f"{size:,}", f"{size:.2f}", f"{size:.1f}", f"{size:,.2f}"}
    if float(size).is_integer():
        forms |= {str(int(size)), f"{int(size):,}"}
    exact = [form for form in forms if isclose(_parse_value(form), size, rel_tol=1e-9)]
    exact += [form.replace(".", ",") for form in exact if "," not in form]  # as in German
    return _is_written(exact, text, r"(?:\.0+)?(?!\d|[.,]\d)")


def _is_written(forms: Iterable[str], text: str, end: str) -> bool:
    """Tell whether ``text`` contains one of ``forms``, but not as part of a longer number."""
    there = [re.escape(form) for form in forms if form in text]
    return (
        bool(there)
        and re.search(rf"(?<![^\W\u3040-\u9fff]|\.)(?:{'|'.join(there)}){end}", text) is not None
    )


def _contains(source: str, text: str) -> bool:
    if text in source and len(text) > _MAX_CHANCE_CHARS:
        return True
    plain = _normalise(text)
    if plain in _normalise(source):
        return True
    squashed = plain.replace(" ", "")
    return len(squashed) > _MAX_CHANCE_CHARS and squashed in _squash(source)


@lru_cache(maxsize=512)
def _normalise(text: str) -> str:
    """Return a string's words in lower case, separated by single spaces."""
    return f" {' '.join(_PIECE.findall(text.casefold()))} "


@lru_cache(maxsize=512)
def _squash(text: str) -> str:
    return _normalise(text).replace(" ", "")
