"""Reader of numbers and their units in an answer; numbers may be in digits or in words.

Digits in names (``USR305``), times, dates, versions, ordinals and list markers are ignored.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import NamedTuple

from checkers.answer_text.dates import list_days
from checkers.answer_text.number_words import list_number_words
from checkers.answer_text.units import SIGNS, find_named_units, find_units, singular, units
from checkers.answer_text.words import FinalAnswer, split_words
from checkers.known_values import SCALES
from checkers.required_info import MAX_DECIMALS, Number

_DIGITS = re.compile(r"(?<!\w)(?:\d+(?:[.,']\d+)*|(?<!\.)\.\d+)")
_GROUPS = re.compile(r"(?<![\w.,])\d{1,3}(?: \d{3}){1,5}(?:[.,]\d{1,2})?(?!\w|[.,]\d)")
_LETTERS = re.compile(r"[^\W\d_]+")
_TIME = re.compile(
    r"(?<!\d)(?:\d{1,2}:\d{2}(?::\d{2})?(?!\d)|\d{1,2}(?:[:.]\d{2})? ?[ap]\.?m\b)", re.IGNORECASE
)
_ITEM_MARK = re.compile(r"^[ >]*(?:[-+•] )?\d{1,3}[.)](?= \S)", re.MULTILINE)
_FRACTION = re.compile(r"(?<![\w./])(?:(\d{1,6})(?: | and ))?(\d{1,2})/(\d{1,2})(?![\w/])")
_AND_A_HALF = re.compile(r"(?: |-)and(?: |-)a(?: |-)half\b")
_SCALE = re.compile(r" (hundred|thousand|grand|million|billion|bn|mn|k)\b", re.IGNORECASE)
_ORDINALS = ("st", "nd", "rd", "th")

_WHOLE = re.compile(r"\d+")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}([,'])\d{3}(?:\1\d{3})*(?:\.\d+)?")
_POINTS_FOR_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})")
_POINT = re.compile(r"\d*\.\d+")
_COMMA = re.compile(r"\d+,\d{1,2}|0,\d+")
_SEVERAL = re.compile(r"\d+(?:,\d+)+")

_LESS = re.compile(
    r"\b(?:down|fell|fallen|falls|falling|lost|loss|losing|lower|drop(?:ped|ping)?|decreased?|"
    r"declined?|slipped|minus|negative|below|off|short|debt|owe|overdrawn)\b",
    re.IGNORECASE,
)
_OTHER_THAN = (["more", "than"], ["less", "than"], ["fewer", "than"])
_NEGATED = {"not", "t", "never", "no", "without", "cannot"}
_NONE_OF = {"no", "any", "zero", "without"}
_NONE = re.compile(r"\b(?:none|nothing|nobody|no one|empty)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[;!?\n]|[.,](?=\s|$)")
_NEAR, _AHEAD = 4, 8
"""Maximum number of words between a number and its noun."""
_MAX_NUMBER_CHARS = 300
_MAX_CONTEXT_CHARS = 100


class NumberMention(NamedTuple):
    """Part of a string that may be a number."""

    value: Decimal
    decimals: int
    """Decimal places: 1 for ``1.5``; -2 for ``1.5k``, because it is exact only to hundreds."""
    start: int
    end: int
    units: frozenset[str]


def list_mentions(answer: FinalAnswer) -> list[NumberMention]:
    """Return all numbers that an answer may mention; ambiguous digits give two numbers."""
    text = answer.text
    found = [*_read_fractions(text), *_read_digits(text)]
    for value, start, end in list_number_words(answer):
        found.append(_make_mention(text, value, 0, start, end))
    return sorted(set(found), key=lambda mention: (mention.start, mention.end, mention.value))


def _read_fractions(text: str) -> Iterator[NumberMention]:
    for match in _FRACTION.finditer(text):
        if int(match[3]):
            value = Decimal(match[1] or 0) + Decimal(match[2]) / Decimal(match[3])
            yield NumberMention(value, 6, *match.span(), find_units(text, *match.span()))


def _read_digits(text: str) -> Iterator[NumberMention]:
    hidden = bytearray(len(text))
    spans = [(day.start, day.end) for day in list_days(text) if day.certain]
    for pattern in (_TIME, _ITEM_MARK):
        spans += [match.span() for match in pattern.finditer(text)]
    for start, end in spans:
        hidden[start:end] = b"\1" * (end - start)
    for pattern in (_DIGITS, _GROUPS):
        for match in pattern.finditer(text):
            sign = _read_sign(text, match.start())
            if not hidden[match.start()] and sign and not _is_in_name(text, match.end()):
                for value, decimals in _read_values(match[0][:_MAX_NUMBER_CHARS]):
                    yield _make_mention(text, sign * value, decimals, *match.span())


def _read_sign(text: str, start: int) -> int:
    """Return 1 or -1 as the sign of a number; return 0 for digits inside a name."""
    place = start - 1
    while place >= 0 and text[place] in SIGNS and text[place] not in "%'\"°":
        place -= 1
    if place < 0 or text[place] != "-":
        return 1
    earlier = text[place - 1] if place else " "
    if earlier.isalpha() or earlier == "_":
        return 0
    return 1 if earlier.isdigit() or earlier in "%)" else -1


def _is_in_name(text: str, end: int) -> bool:
    after = _LETTERS.match(text, end)
    if after is None:
        return text[end : end + 1] == "_"
    letters = after[0]
    known = letters.casefold() in SCALES or letters in ("m", "M", "b", "B") or bool(units(letters))
    return letters.casefold() in _ORDINALS or not known


def _read_values(digits: str) -> Iterator[tuple[Decimal, int]]:
    """Yield pairs of a number and its count of decimals: (12.5, 1) for "12,5"."""
    if " " in digits or _COMMA.fullmatch(digits):
        digits = digits.replace(" ", "").replace(",", ".")
    elif _THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "").replace("'", "")
    elif _POINTS_FOR_THOUSANDS.fullmatch(digits):
        digits = digits.replace(".", "").replace(",", ".")
    elif _SEVERAL.fullmatch(digits):
        yield from ((Decimal(part), 0) for part in digits.split(","))
    if _WHOLE.fullmatch(digits) or _POINT.fullmatch(digits):
        yield Decimal(digits), len(digits.partition(".")[2])


def _make_mention(text: str, value: Decimal, decimals: int, start: int, end: int) -> NumberMention:
    scale = 1
    if (letters := _LETTERS.match(text, end)) and (
        scale := _read_scale(text, start, letters[0])
    ) > 1:
        end = letters.end()
    elif match := _SCALE.match(text, end):
        scale, end = SCALES[match[1].casefold()], match.end()
    elif half := _AND_A_HALF.match(text, end):
        value, decimals, end = value + Decimal("0.5"), decimals + 1, half.end()
    digits = len(str(scale)) - 1
    return NumberMention(value * scale, decimals - digits, start, end, find_units(text, start, end))


def _read_scale(text: str, start: int, letters: str) -> int:
    """Return the factor of a suffix after digits: 1,000 for ``k``, and 1 for other letters."""
    if letters == "M" or (letters == "m" and text[start - 1 : start] in ("$", "€", "£")):
        return SCALES["million"]
    return SCALES.get(letters.casefold(), 1)


def list_matching_mentions(
    fact: Number, answer: FinalAnswer, found: list[NumberMention]
) -> Iterator[NumberMention]:
    """Yield the numbers in an answer that have the value and the unit of a required number."""
    wanted = find_named_units(fact.unit) if fact.unit else frozenset()
    thing = [word.text for word in split_words(fact.unit)][-1:] if fact.unit and not wanted else []
    owners = _find_owners(thing[0], answer, found) if thing else set()
    for mention in found:
        if (owners and mention.start not in owners) or (
            wanted and mention.units and not wanted & mention.units
        ):
            continue
        if _is_value(fact, mention, answer.text) and not (
            answer.turned_down(mention.start) or answer.before(mention.start, 2) in _OTHER_THAN
        ):
            yield mention
    if fact.number == 0:
        yield from _find_zeros(thing, answer)


def _is_value(fact: Number, mention: NumberMention, text: str) -> bool:
    """Tell whether a number in an answer equals a fact's number within the tolerance."""
    number, value = Decimal(str(fact.number)), mention.value
    if number < 0 < value and _LESS.search(_get_clause(text, mention)):
        value = -value
    if abs(value - number) <= Decimal(str(fact.tolerance)):
        return True
    if fact.decimals is None:
        return False
    step = Decimal(1).scaleb(-min(MAX_DECIMALS, max(fact.decimals, mention.decimals)))
    return value in [number.quantize(step, mode) for mode in (ROUND_HALF_UP, ROUND_HALF_EVEN)]


def _get_clause(text: str, mention: NumberMention) -> str:
    before = _CLAUSE_END.split(text[max(0, mention.start - _MAX_CONTEXT_CHARS) : mention.start])[-1]
    return before + _CLAUSE_END.split(text[mention.end : mention.end + _MAX_CONTEXT_CHARS])[0]


def _find_owners(thing: str, answer: FinalAnswer, found: list[NumberMention]) -> set[int]:
    """Return the start positions of the numbers that belong to a noun such as "messages".

    The number can be before or after the noun, as in "3 new messages" and "messages: 3".
    """
    by_end: dict[int, list[NumberMention]] = {}
    for mention in found:
        by_end.setdefault(mention.end, []).append(mention)
    starts, ends = [mention.start for mention in found], sorted(by_end)
    owners: set[int] = set()
    for place, word in enumerate(answer.words):
        if singular(word.text) != singular(thing):
            continue
        earlier, later = bisect_right(ends, word.start) - 1, bisect_right(starts, word.start)
        near = answer.words[max(0, place - _NEAR)].start
        ahead = answer.words[min(len(answer.words) - 1, place + _AHEAD)].end
        if (
            earlier >= 0
            and _is_same_clause(answer.text, max(near, ends[earlier]), word.start)
            and (ends[earlier] >= near)
        ):
            owners.update(m.start for m in by_end[ends[earlier]])
        elif (
            later < len(found)
            and starts[later] < ahead
            and _is_same_clause(answer.text, word.end, starts[later])
        ):
            owners.add(starts[later])
    return owners


def _is_same_clause(text: str, start: int, end: int) -> bool:
    return not _CLAUSE_END.search(text, start, end)


def _find_zeros(thing: list[str], answer: FinalAnswer) -> Iterator[NumberMention]:
    """Yield the number 0 for each phrase such as "no messages" or "not any messages"."""
    places = [match.span() for match in _NONE.finditer(answer.text)]
    for word in answer.words:
        if thing and singular(word.text) == singular(thing[0]):
            before = answer.before(word.start, _AHEAD)
            if _NONE_OF & {*before[-3:]} and ("any" not in before or _NEGATED & {*before}):
                places.append((word.start, word.end))
    for start, end in places:
        yield NumberMention(Decimal(0), 0, start, end, frozenset())
