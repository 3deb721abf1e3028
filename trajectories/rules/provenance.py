"""PROVENANCE: every value in a ground-truth argument has been told or shown before it is used.

Sources are what the user has said so far, the initial config but for its secrets, which no function
shows, the function's own document (a default, a closed choice), and earlier results. Matching is
tolerant: case, punctuation, number formats and words for numbers, dates and currencies; a text may
be put together from told words. What is left over is flagged, for a person to say how it comes
about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise, permutations
from math import isclose
from typing import Any

from envs.calls import Call
from envs.registry import backend_class
from envs.schema import spec
from envs.state import to_json
from envs.tool import Tool
from trajectories.literals import literals
from trajectories.rules.entry import Entry, Step
from trajectories.rules.problem import Problem, Severity, brief

PROVENANCE = "PROVENANCE"

SECRETS = ("access_token", "password")
"""Members of a config that no function shows."""

_MOST_TOLD = 0.8
"""Share of told words from which on a text is a rewording."""

_ONES, _TENS, _MONTHS = (
    words.split()
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen",
        "twenty thirty forty fifty sixty seventy eighty ninety",
        "january february march april may june july august september october november december",
    )
)
_WORDS: Mapping[str, float] = {
    **{word: value for value, word in enumerate(_ONES)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
    "half": 0.5,
    "quarter": 0.25,
    "dozen": 12,
    "couple": 2,
    "pair": 2,
    "single": 1,
    "once": 1,
    "twice": 2,
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
}
_SCALES: Mapping[str, float] = {
    "hundred": 1e2,
    "thousand": 1e3,
    "grand": 1e3,
    "k": 1e3,
    "million": 1e6,
    "m": 1e6,
    "billion": 1e9,
    "dozen": 12,
    "%": 0.01,
    "percent": 0.01,
}
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
_PIECE = re.compile(r"[^\W_]+(?:(?<=\d)[.,](?=\d)[^\W_]+)*")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_AMOUNT = re.compile(r"(\d[\d,]*(?:\.\d+)?|\.\d+)\s?(%|[a-z]+)?")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_EXPIRY = re.compile(r"(\d{1,2})/(\d{2,4})")


def check(entry: Entry) -> Iterator[Problem]:
    """Yield values of the ground truth that nothing before them has told or shown."""
    for step, name, literal, told in _used(entry):
        document = _documents(entry.template.tools[_name(step)]).get(name, "")
        if found := told.verdict(literal, document):
            field = f"{step.field}.{name}"
            yield entry.problem(PROVENANCE, found[0], step.turn, field, found[1])


def _used(entry: Entry) -> Iterator[tuple[Step, str, str | float, Told]]:
    """Yield call, parameter and literal, with what is known at that point."""
    pack = entry.dataset.pack(entry.trajectory)
    files = "\n".join(pack.extra_files) if pack else ""
    told = Told(f"{_known_at_first(entry)}\n{files}")
    for turn, steps in zip(entry.trajectory.turns, entry.turns, strict=True):
        for message in turn.messages:
            told.hear(message.content)
        for step in steps:
            for name, value in entry.arguments(step.call).items():
                for literal in literals(value):
                    yield step, name, literal, told
            if step.result.ok:
                told.see(step.result.text)


def _name(step: Step) -> str:
    assert isinstance(step.call, Call)
    return step.call.name


class Told:
    """What is known at one point of a conversation.

    Args:
        config: What can be looked up from the start, as text.
    """

    def __init__(self, config: str) -> None:
        self.heard = ""
        self.seen = [config]
        self._spoken: set[float] = set()

    def hear(self, words: str) -> None:
        """Take in what the user says."""
        self.heard += f"\n{words}"
        self._spoken |= spoken_numbers(words)

    def see(self, text: str) -> None:
        """Take in a result."""
        if "\\u" in text:
            text = re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), text)
        self.seen.append(text.replace("\\n", "\n").replace('\\"', '"'))

    def verdict(self, literal: str | float, document: str) -> tuple[Severity, str] | None:
        """Return what is to be said of a literal; nothing where its origin is plain.

        Args:
            literal: A text or number.
            document: What the function's document says of the parameter.
        """
        if isinstance(literal, str):
            return self._text_verdict(literal, document)
        if self._knows_number(literal) or _stands(literal, document):
            return None
        if worked := self._worked_out(literal):
            return Severity.INFO, f"{literal!r} stands nowhere, but is {worked}"
        return Severity.WARNING, f"{literal!r} was told by nobody and shown by nothing"

    def _text_verdict(self, text: str, document: str) -> tuple[Severity, str] | None:
        sources = [self.heard, document, *self.seen]
        if not _plain(text).strip() or any(_contains(source, text) for source in sources):
            return None
        if self._is_told_otherwise(text):
            return None
        words = _plain(text).split()
        strange = [word for word in words if not self._knows_word(word, sources)]
        if not strange:
            return self._pieced_verdict(text, words, sources)
        shown = brief(", ".join(dict.fromkeys(strange)), 60)
        if any(char.isdigit() for word in strange for char in word) or (
            1 - len(strange) / len(words) < _MOST_TOLD
        ):
            message = f"{brief(text, 60)!r}: nobody told and nothing showed {shown}"
            return Severity.WARNING, message
        return Severity.INFO, f"a text of told words but for {shown}"

    def _pieced_verdict(
        self, text: str, words: list[str], sources: list[str]
    ) -> tuple[Severity, str] | None:
        """Tell told words that are filled in, as in a form, from such that stand in a new order."""
        pieces = _pieces(words, [_plain(source) for source in sources])
        if all(min(map(len, pair)) < 2 for pair in pairwise(pieces)):
            return None
        message = f"{brief(text, 60)!r}: its words were told, but nowhere in this order"
        return Severity.WARNING, message

    def _knows_word(self, word: str, sources: list[str]) -> bool:
        if any(f" {word} " in _plain(source) for source in sources):
            return True
        try:
            return self._knows_number(_value(word))
        except ValueError:
            return False

    def _knows_number(self, number: float) -> bool:
        if any(isclose(abs(number), spoken, rel_tol=1e-9) for spoken in self._spoken):
            return True
        return any(_stands(number, source) for source in [self.heard, *self.seen])

    def _is_told_otherwise(self, text: str) -> bool:
        """Tell whether a date, currency or number in text form was told in another form."""
        low = self.heard.casefold()
        if date := _DATE.fullmatch(text):
            return _tells_month(low, int(date[2])) and int(date[3]) in self._spoken_days(low)
        if expiry := _EXPIRY.fullmatch(text):
            return _tells_month(low, int(expiry[1])) and expiry[2][-2:] in low
        if text.casefold() in _ABBREVIATIONS:
            return any(word in low for word in _ABBREVIATIONS[text.casefold()])
        try:
            return self._knows_number(float(text))
        except ValueError:
            return False

    def _spoken_days(self, words: str) -> set[int]:
        return {int(day) for day in re.findall(r"(?<!\d)(\d{1,2})(?=st|nd|rd|th|\b)", words)} | {
            int(number) for number in self._spoken
        }

    def _worked_out(self, number: float) -> str:
        """Return how a number follows from two that were told; empty where it does not."""
        shown = " ".join([text[-2000:] for text in self.seen[1:][-6:]])
        found = {_value(match) for match in _NUMBER.findall(shown)}
        known = sorted({*self._spoken, *found})[:60]
        for left, right in permutations(known, 2):
            for sign, value in (("+", left + right), ("-", left - right), ("*", left * right)):
                if value and isclose(value, number, rel_tol=1e-6, abs_tol=1e-9):
                    return f"{left:g} {sign} {right:g}"
            if right and isclose(left / right, number, rel_tol=1e-4):
                return f"{left:g} / {right:g}"
        return ""


def _pieces(words: list[str], sources: list[str]) -> list[list[str]]:
    """Cut words into the longest pieces that stand in a source, from the left."""
    pieces: list[list[str]] = []
    for word in words:
        longer = [*pieces[-1], word] if pieces else [word]
        if pieces and any(f" {' '.join(longer)} " in source for source in sources):
            pieces[-1] = longer
        else:
            pieces.append([word])
    return pieces


def spoken_numbers(words: str) -> set[float]:
    """Return the numbers that a user says, in digits or words, with scales such as k and %."""
    low = words.casefold()
    found: set[float] = set()
    for digits, scale in _AMOUNT.findall(low):
        value = _value(digits)
        found |= {value, value * _SCALES.get(scale, 1)}
    tokens = re.findall(r"[a-z]+", low)
    for token in tokens:
        if token in _WORDS:
            found.add(_WORDS[token])
    for token, following in pairwise(tokens):
        if following in _SCALES:
            found.add(_WORDS.get(token, 1) * _SCALES[following])
        if token in _TENS and following in _ONES:
            found.add(_WORDS[token] + _WORDS[following])
    return found


def _value(digits: str) -> float:
    return float(digits.replace(",", ""))


def _tells_month(words: str, month: int) -> bool:
    if not 1 <= month <= 12:
        return False
    name = _MONTHS[month - 1]
    numeric = rf"(?<!\d)0?{month}[/.-]|[/.-]0?{month}(?!\d)"
    return bool(re.search(rf"\b{name[:3]}(?:{name[3:]}|t)?\b|{numeric}", words))


def _stands(number: float, text: str) -> bool:
    """Tell whether a number stands in a text, however it is written."""
    size = abs(number)
    forms = {repr(size), f"{size:g}", f"{size:,}", f"{size:.2f}", f"{size:.1f}", f"{size:,.2f}"}
    if float(size).is_integer():
        forms |= {str(int(size)), f"{int(size):,}"}
    exact = [form for form in forms if isclose(_value(form), size, rel_tol=1e-9)]
    if not any(form in text for form in exact):
        return False
    written = "|".join(map(re.escape, exact))
    return re.search(rf"(?<![\w.])(?:{written})(?:\.0+)?(?!\d|[.,]\d)", text) is not None


def _contains(source: str, text: str) -> bool:
    if text in source and len(text) > 3:
        return True
    plain = _plain(text)
    if plain in _plain(source):
        return True
    squashed = plain.replace(" ", "")
    return len(squashed) > 3 and squashed in _squashed(source)


@lru_cache(maxsize=512)
def _plain(text: str) -> str:
    """Return a text in lower case with single blanks for all that is no letter and no digit."""
    return f" {' '.join(_PIECE.findall(text.casefold()))} "


@lru_cache(maxsize=512)
def _squashed(text: str) -> str:
    return _plain(text).replace(" ", "")


@lru_cache(maxsize=256)
def _documents(tool: Tool) -> Mapping[str, str]:
    """Return what the function's document says of each parameter: choices, default, advice."""
    return {p.name: json.dumps(dict(p.schema), ensure_ascii=False) for p in spec(tool).parameters}


def _known_at_first(entry: Entry) -> str:
    """Return what can be looked up in the initial state, as text."""
    known: dict[str, Any] = {}
    for environment in entry.trajectory.environments:
        backend = backend_class(environment)
        config = entry.trajectory.config.get(environment, {})
        defaults = {
            key: to_json(backend.FIELDS[field])
            for key, field in backend.KEYS.items()
            if key not in config
        }
        known[environment] = _shown({**defaults, **config})
    return json.dumps(known, ensure_ascii=False).replace("\\n", "\n").replace('\\"', '"')


def _shown(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _shown(member) for key, member in value.items() if key not in SECRETS}
    return [_shown(member) for member in value] if isinstance(value, list) else value
