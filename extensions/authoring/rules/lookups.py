"""Bounded search: calls of read-only functions, with known values as arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from checkers.known_values import contains_value, list_literals, list_spoken_numbers, unescape_text
from envs.calls import Call
from envs.errors import BackendFault
from envs.results import Result, encode
from envs.schema import make_spec
from envs.session import Session
from envs.tool import Tool, parameters
from extensions.authoring.making.maker_helpers import candidate_calls
from extensions.authoring.rules.word_matching import split_name
from extensions.authoring.user_message_values import list_spoken_values
from trajectories.vocabulary import split_words

CALLS = 120
"""Maximum calls of each function."""
PER_EPISODE = 50
"""The session is restored after this number of calls."""
VALUES = 60
"""Maximum number of values that are taken from results."""
CALCULATOR = "MathAPI"
"""Backend without state: the same arguments always give the same result."""

SMALL = 100
"""Whole numbers below this absolute value often occur in results by chance."""
MIN_CODES = 5
"""A document with at least this number of codes is assumed to list all valid codes."""

COMMON = frozenset(
    re.findall(
        r"\S+",
        """
        a about after again all also am an and any are as at be been before but by can come could
        did do does done for from get give go had has have he her here his how i if in into is it
        its just know let like make may me more my need new no not now of off on one only or other
        our out over own please put same say see she should show so some sure take tell thank thanks
        that the their them then there these they this those through to too up us want was we well
        were what when where which who will with would yes you your I I'm it's I'd don't
        """,
    )
)
"""Words that are not names."""

_CODE = re.compile(r"\b[A-Z]{3}\b")
MAX_SHOWN = 20
"""Maximum number of values in a short result; a user can refer to each of these values."""

_KEY = re.compile(r'"((?:[^"\\]|\\.)*)": ')


class ReadingCall:
    """Read-only call with its result and backend."""

    def __init__(self, call: Call, result: Result, backend: str) -> None:
        self.call = call
        self.result = result
        self.backend = backend

    @cached_property
    def text(self) -> str:
        """The values in the result, joined to one string."""
        return render_values(self.result)

    def shows(self, value: str | float, name: str) -> bool:
        """Tell whether the result has a value; a small number must be in a field like ``name``."""
        if is_small(value):
            wanted = set(split_name(name))
            return any(
                value == member and wanted.intersection(split_name(key))
                for key, member in _members(self.result)
            )
        return contains_value(value, self.text)


def lookups(
    session: Session, offered: Collection[str], said: Sequence[str], shown: Sequence[Result]
) -> Iterator[ReadingCall]:
    """Yield read calls in two rounds.

    The arguments of the first round are known values. The arguments of the second round are values
    from the results of the first round. All calls run in a fork of the session.
    """
    tools = [
        tool
        for name, tool in session.tools.items()
        if name in offered and not tool.writes and tool.backend != CALCULATOR
    ]
    known = _known_values(said, shown)
    fork = session.fork(checks_arguments=False)
    first = list(_read(fork, tools, known))
    yield from first
    fresh = dict.fromkeys(value for lookup in first for value in list_literals(lookup.result.held))
    new = [value for value in list(fresh)[:VALUES] if value not in known]
    yield from _read(fork, [tool for tool in tools if parameters(tool)], new)


def _known_values(said: Sequence[str], shown: Sequence[Result]) -> list[object]:
    heard = list_spoken_values(list(reversed(said)))
    heard += [number for words in reversed(said) for number in sorted(list_spoken_numbers(words))]
    # Names come before other words, as they are more likely arguments.
    heard.sort(key=lambda value: isinstance(value, str) and value.islower())
    read = [value for result in reversed(shown) for value in list_literals(result.held)]
    # In a long listing, the values that the user means may be anywhere.
    words = {word for word in split_words("\n".join(said)) if word.isalpha()}
    read.sort(key=lambda value: words.isdisjoint(split_words(str(value))))
    known = {repr(v): v for v in [*heard, *read[:VALUES]] if v != "" and v not in COMMON}
    return list(known.values())


def _read(
    session: Session, tools: Sequence[Tool], known: Sequence[object]
) -> Iterator[ReadingCall]:
    origin = session.snapshot()
    for tool in tools:
        for count, call in enumerate(_calls(tool, known)):
            if count % PER_EPISODE == 0:
                session.restore(origin)
            try:
                result = session.call(call)
            except BackendFault:
                continue
            if result.ok:
                yield ReadingCall(call, result, tool.backend)


def _calls(tool: Tool, known: Sequence[object]) -> Iterator[Call]:
    """Yield calls with known values, or with the codes in the function's document."""
    codes = _CODE.findall(render_document(tool))
    if len(set(codes)) < MIN_CODES:
        return candidate_calls(tool, known, CALLS)
    numbers = [value for value in known if isinstance(value, (int, float))]
    return candidate_calls(tool, [*dict.fromkeys(codes), *numbers[:6]], 6 * CALLS)


def _members(result: Result) -> Iterator[tuple[str, object]]:
    left = [result.held]
    while left:
        value = left.pop()
        if isinstance(value, Mapping):
            yield from value.items()
            left += value.values()
        elif isinstance(value, (list, tuple)):
            left += value


def is_small(value: str | float) -> bool:
    """Tell whether a value is a small whole number. Small numbers often occur by chance."""
    return not isinstance(value, str) and abs(value) < SMALL and value == int(value)


def has_few_values(result: Result) -> bool:
    """Tell whether a result has so few values that a user can refer to each value."""
    return sum(1 for _ in list_literals(result.held)) <= MAX_SHOWN


def render_values(result: Result) -> str:
    """Format a result as text, but omit numbers in field names, such as 5 in ``MA(5)``."""
    return unescape_text(_KEY.sub(_unnumbered, result.text))


def _unnumbered(key: re.Match[str]) -> str:
    # An object may be listed under its id, which is a value.
    return key[0] if key[1].isalnum() else re.sub(r"\d", "", key[0])


@lru_cache(maxsize=512)
def render_document(tool: Tool) -> str:
    """Format a function's document as text."""
    return encode(make_spec(tool).document())


@lru_cache(maxsize=512)
def render_parameters(tool: Tool) -> Mapping[str, str]:
    """Return each parameter's schema as text, with enum, default and description."""
    return {
        p.name: json.dumps(dict(p.schema), ensure_ascii=False) for p in make_spec(tool).parameters
    }
