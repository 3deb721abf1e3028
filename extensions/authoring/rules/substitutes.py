"""Search for read calls or calculations that can replace a held-out function.

Facts are compared loosely. Only the value of a field counts, not the name of the field. If a string
is a sentence, only its names and numbers are searched for. The search is bounded: it can find a
substitute, but cannot prove that no substitute exists.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from math import isclose

from checkers.known_values import contains_value, list_literals
from envs.calls import Call
from extensions.authoring.rules.lookups import (
    CALCULATOR,
    ReadingCall,
    has_few_values,
    is_small,
    lookups,
    render_values,
)
from extensions.authoring.rules.replayed_entry import Entry, TruthStep
from extensions.authoring.user_message_values import parse_number
from trajectories.replay_queries import list_messages

MIN_CHARS = 4
"""Minimum length of a line that is searched for; shorter lines occur in any text by chance."""
MAX_ADDED = 12
"""For each function, sums of two results are tried. At most this many results are used."""

_MARK = re.compile(r"^\s*[-+<>*]\s+")
_TOKEN = re.compile(r"[\w@#.:/$%-]*\w")


def find_calculation(step: TruthStep, offered: Collection[str]) -> str:
    """Return the names of calculator functions that can replace the call of a step."""
    call = step.call
    if not isinstance(call, Call) or step.before.tools[call.name].backend != CALCULATOR:
        return ""
    tools = step.before.tools.items()
    others = [name for name, tool in tools if tool.backend == CALCULATOR and name in offered]
    if not others or call.name == "standard_deviation":
        return ""
    if call.name == "logarithm" and not any(
        isinstance(value, (int, float)) and isclose(value, round(value), abs_tol=1e-9)
        for value in list_literals(step.result.held)
    ):
        return ""
    if call.name == "square_root" and "power" not in offered:
        return ""
    return f"{', '.join(others[:3])} (in place of {call})"


def find_other_sources(entry: Entry, step: TruthStep, offered: Collection[str]) -> str:
    """Return calls whose results together contain all facts of a step's result, or ""."""
    said = list_messages(entry.trajectory.turns[: step.turn + 1])
    earlier = [r for outcome in entry.truth[: step.turn] for r in outcome.results if r.ok]
    facts = list(dict.fromkeys(list_literals(step.result.held)))
    if not facts:
        return ""
    found = list(lookups(step.before, offered, said, earlier))
    known = "\n".join([*said, *map(render_values, earlier)])
    used: list[str] = []
    for fact in facts:
        source = _find_source(fact, step, found, known)
        if source is None:
            return ""
        used += [source] if source else []
    return ", ".join(dict.fromkeys(used))


def _find_source(
    fact: str | float, step: TruthStep, found: Sequence[ReadingCall], known: str
) -> str | None:
    """Return a call that shows a fact. For a known fact, return "" instead."""
    if isinstance(fact, str):
        return _find_text_source(fact, found, known)
    distinctive = not is_small(fact)
    if distinctive and contains_value(fact, known):
        return ""
    about = set(map(str, list_literals(step.call.kwargs))) if isinstance(step.call, Call) else set()
    for lookup in found:
        alike = bool(about & set(map(str, list_literals(lookup.call.kwargs))))
        counts = alike or (distinctive and has_few_values(lookup.result))
        if counts and contains_value(fact, lookup.text):
            return str(lookup.call)
    return None


def _find_text_source(text: str, found: Sequence[ReadingCall], known: str) -> str | None:
    sources = []
    for line in _lines(text):
        if len(line) >= MIN_CHARS and line in known:
            continue
        source = next((str(lookup.call) for lookup in found if line in lookup.text), None)
        if source is None:
            return _find_sentence_source(text, found, known)
        sources.append(source)
    return ", ".join(dict.fromkeys(sources))


def _lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        bare = _MARK.sub("", line).strip()
        if bare:
            yield bare


def _find_sentence_source(text: str, found: Sequence[ReadingCall], known: str) -> str | None:
    tokens = _TOKEN.findall(text)[1:] if " " in text else []
    first = _TOKEN.findall(text)[:1]
    facts = [t for t in tokens if t[0].isupper()] + [
        t for t in [*first, *tokens] if any(map(str.isdigit, t))
    ]
    if not facts:
        return None
    sources = []
    for token in dict.fromkeys(facts):
        value = parse_number(token)
        if contains_value(value, known):
            continue
        calls = (str(lookup.call) for lookup in found if contains_value(value, lookup.text))
        source = next(calls, None)
        if source is None and not isinstance(value, str):
            source = _find_sum(value, found)
        if source is None:
            return None
        sources.append(source)
    return ", ".join(dict.fromkeys(sources))


def _find_sum(number: float, found: Sequence[ReadingCall]) -> str | None:
    groups: dict[str, list[tuple[float, str]]] = {}
    for lookup in found:
        numbers = [v for v in list_literals(lookup.result.held) if not isinstance(v, str)]
        if len(numbers) == 1:
            alike = f"{lookup.call.name} {list(lookup.call.kwargs.values())[1:]}"
            groups.setdefault(alike, []).append((numbers[0], str(lookup.call)))
    for group in groups.values():
        for (one, call), (other, second) in combinations(group[:MAX_ADDED], 2):
            if isclose(one + other, number):
                return f"{call} and {second}"
    return None
