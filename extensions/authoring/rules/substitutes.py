"""What a held-out function tells, had without it: from other functions, by reading or reckoning.

Facts are compared loosely: values whatever the name of their member, texts within texts, line by
line, and of a sentence the names and numbers in it. The search is bounded; it refutes, and does not
prove.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from math import isclose

from checkers.told import literals, stands_in
from envs.calls import Call
from extensions.authoring.rules.entry import Entry, TruthStep
from extensions.authoring.rules.lookups import (
    CALCULATOR,
    Lookup,
    is_small,
    lookups,
    tells_little,
    values_text,
)
from trajectories.told import words

LONG = 4
"""So many characters has a text that is told from others by itself."""
MOST_ADDED = 12
"""Up to so many numbers of one function are added up in pairs."""

_MARK = re.compile(r"^\s*[-+<>*]\s+")
_TOKEN = re.compile(r"[\w@#.:/$%-]*\w")


def calculated(step: TruthStep, offered: Collection[str]) -> str:
    """Return how a calculator's result is had from others of its functions; empty if it is not."""
    call = step.call
    if not isinstance(call, Call) or step.before.tools[call.name].backend != CALCULATOR:
        return ""
    others = [name for name, tool in step.before.tools.items() if tool.backend == CALCULATOR]
    others = [name for name in others if name in offered]
    if not others or call.name == "standard_deviation":
        return ""
    if call.name == "logarithm" and not any(
        isinstance(value, (int, float)) and isclose(value, round(value), abs_tol=1e-9)
        for value in literals(step.result.held)
    ):
        return ""
    if call.name == "square_root" and "power" not in offered:
        return ""
    return f"{call} is reckoned by {', '.join(others[:3])}"


def told_otherwise(entry: Entry, step: TruthStep, offered: Collection[str]) -> str:
    """Return which calls give all facts that a call gives; empty where none was found."""
    said = words(entry.trajectory.turns[: step.turn + 1])
    earlier = [r for outcome in entry.truth[: step.turn] for r in outcome.results if r.ok]
    facts = list(dict.fromkeys(literals(step.result.held)))
    if not facts:
        return ""
    found = list(lookups(step.before, offered, said, earlier))
    known = "\n".join([*said, *map(values_text, earlier)])
    used: list[str] = []
    for fact in facts:
        teller = _teller(fact, step, found, known)
        if teller is None:
            return ""
        used += [teller] if teller else []
    # What has been told before needs no other function; that is said elsewhere.
    return ", ".join(dict.fromkeys(used))


def _teller(fact: str | float, step: TruthStep, found: Sequence[Lookup], known: str) -> str | None:
    """Return what tells a fact, an empty text where it is known already, None for nothing."""
    if isinstance(fact, str):
        return _text_teller(fact, found, known)
    telling = not is_small(fact)
    if telling and stands_in(fact, known):
        return ""
    about = _about(step)
    for there in found:
        alike = bool(about & set(map(str, literals(there.call.kwargs))))
        if (alike or (telling and tells_little(there.result))) and stands_in(fact, there.text):
            return str(there.call)
    return None


def _text_teller(text: str, found: Sequence[Lookup], known: str) -> str | None:
    tellers = []
    for line in _lines(text):
        if len(line) >= LONG and line in known:
            continue
        teller = next((str(there.call) for there in found if line in there.text), None)
        if teller is None:
            return _sentence_teller(text, found, known)
        tellers.append(teller)
    return ", ".join(dict.fromkeys(tellers))


def _lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        bare = _MARK.sub("", line).strip()
        if bare:
            yield bare


def _sentence_teller(text: str, found: Sequence[Lookup], known: str) -> str | None:
    """Return what tells all names and numbers in a sentence."""
    tokens = _TOKEN.findall(text)[1:] if " " in text else []
    first = _TOKEN.findall(text)[:1]
    telling = [t for t in tokens if t[0].isupper()] + [
        t for t in [*first, *tokens] if any(map(str.isdigit, t))
    ]
    if not telling:
        return None
    tellers = []
    for token in dict.fromkeys(telling):
        number = _number(token)
        value: str | float = token if number is None else number
        if stands_in(value, known):
            continue
        teller = next((str(there.call) for there in found if stands_in(value, there.text)), None)
        if teller is None and number is not None:
            teller = _added(number, found)
        if teller is None:
            return None
        tellers.append(teller)
    return ", ".join(dict.fromkeys(tellers))


def _number(token: str) -> int | float | None:
    try:
        return int(token) if token.isdecimal() else float(token)
    except ValueError:
        return None


def _added(number: float, found: Sequence[Lookup]) -> str | None:
    """Return two calls of one function, alike but for what they ask about, that add up to one."""
    groups: dict[str, list[tuple[float, str]]] = {}
    for there in found:
        numbers = [v for v in literals(there.result.held) if not isinstance(v, str)]
        if len(numbers) == 1:
            alike = f"{there.call.name} {list(there.call.kwargs.values())[1:]}"
            groups.setdefault(alike, []).append((numbers[0], str(there.call)))
    for group in groups.values():
        for (one, call), (other, second) in combinations(group[:MOST_ADDED], 2):
            if isclose(one + other, number):
                return f"{call} and {second}"
    return None


def _about(step: TruthStep) -> set[str]:
    """Return what a call asks about."""
    return set(map(str, literals(step.call.kwargs))) if isinstance(step.call, Call) else set()
