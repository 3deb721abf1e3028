"""What functions that only read tell at one point, asked for what is known there: bounded."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from checkers.told import literals, readable, spoken_numbers, spoken_values, stands_in
from envs.calls import Call
from envs.errors import BackendFault
from envs.results import Result, encode
from envs.schema import spec
from envs.session import Session
from envs.tool import Tool, parameters
from extensions.authoring.making.base import candidate_calls
from extensions.authoring.rules.wording import words_of

CALLS = 120
"""Combinations of known values that are tried for each function."""
PER_EPISODE = 50
"""After so many calls it is as if another episode began: what one may make is bounded."""
VALUES = 60
"""Known values that are tried, the latest first."""
CALCULATOR = "MathAPI"
"""Its functions tell nothing of the world, only of their arguments."""

SMALL = 100
"""Smaller whole numbers stand in results by chance."""
FEWEST_CODES = 5
"""From so many on they are a list of all that there are."""

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
"""Words that nothing is called."""

_CODE = re.compile(r"\b[A-Z]{3}\b")
MOST_SHOWN = 20
"""A result with more values tells one of them by chance, and not which of them is meant."""

_KEY = re.compile(r'"((?:[^"\\]|\\.)*)": ')


class Lookup:
    """A call that only reads, what it gave, and the backend that it asks."""

    def __init__(self, call: Call, result: Result, backend: str) -> None:
        self.call = call
        self.result = result
        self.backend = backend

    @cached_property
    def text(self) -> str:
        """The values that it shows."""
        return values_text(self.result)

    def shows(self, value: str | float, name: str) -> bool:
        """Tell whether it shows a value that is wanted under a name; a small number only there."""
        if is_small(value):
            wanted = set(words_of(name))
            return any(
                value == there and wanted.intersection(words_of(key))
                for key, there in _members(self.result)
            )
        return stands_in(value, self.text)


def lookups(
    session: Session, offered: Collection[str], said: Sequence[str], shown: Sequence[Result]
) -> Iterator[Lookup]:
    """Yield what can be looked up: from what is known, then from what that shows.

    Args:
        session: Where it is asked; forked, never called.
        offered: Functions that may be called.
        said: What the user has said so far, in order.
        shown: Earlier results, in order.
    """
    tools = [
        tool
        for name, tool in session.tools.items()
        if name in offered and not tool.writes and tool.backend != CALCULATOR
    ]
    known = _known(said, shown)
    there = session.fork(checks_arguments=False)
    first = list(_asked(there, tools, known))
    yield from first
    fresh = {value: None for lookup in first for value in literals(lookup.result.held)}
    new = [value for value in list(fresh)[:VALUES] if value not in known]
    yield from _asked(there, [tool for tool in tools if parameters(tool)], new)


def _known(said: Sequence[str], shown: Sequence[Result]) -> list[object]:
    heard = spoken_values(list(reversed(said)))
    heard += [number for words in reversed(said) for number in sorted(spoken_numbers(words))]
    # Names come before other words, as more is asked by them.
    heard.sort(key=lambda value: isinstance(value, str) and value.islower())
    read = [value for result in reversed(shown) for value in literals(result.held)]
    known = {repr(v): v for v in [*heard, *read[:VALUES]] if v != "" and v not in COMMON}
    return list(known.values())


def _asked(session: Session, tools: Sequence[Tool], known: Sequence[object]) -> Iterator[Lookup]:
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
                yield Lookup(call, result, tool.backend)


def _calls(tool: Tool, known: Sequence[object]) -> Iterator[Call]:
    """Yield calls to try; codes that a document lists are known to whoever reads it."""
    codes = _CODE.findall(documented(tool))
    if len(set(codes)) < FEWEST_CODES:
        return candidate_calls(tool, known, CALLS)
    numbers = [value for value in known if isinstance(value, (int, float))]
    return candidate_calls(tool, [*dict.fromkeys(codes), *numbers[:6]], 6 * CALLS)


def _members(result: Result) -> Iterator[tuple[str, object]]:
    """Yield the members of all objects in a result, by name."""
    left = [result.held]
    while left:
        value = left.pop()
        if isinstance(value, Mapping):
            yield from value.items()
            left += value.values()
        elif isinstance(value, (list, tuple)):
            left += value


def is_small(value: str | float) -> bool:
    """Tell whether a value is a whole number that stands in words and results by chance."""
    return not isinstance(value, str) and abs(value) < SMALL and value == int(value)


def tells_little(result: Result) -> bool:
    """Tell whether a result has so few values that one of them is hardly there by chance."""
    return sum(1 for _ in literals(result.held)) <= MOST_SHOWN


def values_text(result: Result) -> str:
    """Return a result as text that tells its values: a name such as MA(5) tells no number."""
    return readable(_KEY.sub(_unnumbered, result.text))


def _unnumbered(key: re.Match[str]) -> str:
    # An object may be listed under its id, which is a value.
    return key[0] if key[1].isalnum() else re.sub(r"\d", "", key[0])


@lru_cache(maxsize=512)
def documented(tool: Tool) -> str:
    """Return all that a function's document says."""
    return encode(spec(tool).document())
