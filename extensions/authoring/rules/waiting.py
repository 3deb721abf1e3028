"""WAITS: a turn in which nothing is to be done waits for something, and in vain for nothing.

A turn that asks and has no ground truth is right where what it needs comes afterwards: a value
that the user tells only then, or a function that is handed over then. The value must not be known
before, nor be any value that one likes; what the function tells must not be had by other ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from checkers.told import Told, literals
from envs.calls import Call
from envs.results import Result
from extensions.authoring.rules.entry import Entry, TruthStep
from extensions.authoring.rules.lookups import (
    documented,
    is_small,
    lookups,
    tells_little,
    values_text,
)
from extensions.authoring.rules.problem import Problem, Severity, brief
from extensions.authoring.rules.substitutes import calculated, told_otherwise
from extensions.authoring.rules.wording import cues, words_in
from trajectories.schema import Category
from trajectories.told import words

WAITS = "WAITS"

LACKS_VALUE = (Category.MISSING_PARAMETER, Category.COMPOSITE)
LACKS_FUNCTION = (Category.MISSING_FUNCTION, Category.COMPOSITE)

SHORTEST = 3
"""Shorter texts stand in words by chance."""

_ANY = re.compile(r"\b(?:any|anything|non-?empty|whatever)\b", re.IGNORECASE)
_REQUEST = re.compile(
    r"\?|\b(?:please|can you|could you|would you|i need|i want|i'd like|let's|let me|show|tell|"
    r"give|make|send|check|find|add|put|get|set|book|buy|sell|cancel|close|open|read|post|look|"
    r"take|what|which|who|how|when|where)\b",
    re.IGNORECASE,
)


def check_waiting(entry: Entry) -> Iterator[Problem]:
    """Yield turns that wait without need, and entries of which no turn waits as it should."""
    turns, category = entry.trajectory.turns, entry.trajectory.category
    for_value = for_function = False
    for index, turn in enumerate(turns):
        if turn.ground_truth or turn.only_asks or not turn.messages:
            continue
        values = _waiting_values(entry, index)
        if values and category in LACKS_VALUE:
            yield from _missing(entry, index, values)
        if index + 1 < len(turns) and turns[index + 1].offers:
            for_function, for_value = True, for_value or bool(values)
            yield from _held_out(entry, index + 1)
        elif category in LACKS_VALUE and (values or _lacks_anything(entry, index)):
            for_value = True
        elif _asks(entry, index):
            message = (
                "asks for something, has no ground truth, and nothing that it needs comes later"
            )
            yield entry.problem(WAITS, Severity.WARNING, index, "ground_truth", message)
    if category in LACKS_VALUE and not for_value:
        message = f"{category}: no turn lacks a value that the next one tells"
        yield entry.problem(WAITS, Severity.WARNING, None, "turns", message)
    if category in LACKS_FUNCTION and not for_function:
        message = f"{category}: no turn lacks a function that the next one hands over"
        yield entry.problem(WAITS, Severity.WARNING, None, "turns", message)


def _asks(entry: Entry, index: int) -> bool:
    """Tell whether a turn's words ask for anything; thanks do not."""
    said = " ".join(words([entry.trajectory.turns[index]]))
    if _REQUEST.search(said):
        return True
    heard = set(words_in(said))
    return any(heard.intersection(cues(name)) for name in entry.offered(index))


class _Waiting(NamedTuple):
    """What a turn waits for: a value of a later call that words in between tell."""

    step: TruthStep
    name: str
    """Of the parameter."""
    literal: str | float


def _waiting_values(entry: Entry, index: int) -> list[_Waiting]:
    """Return what a turn waits for, to be told before the next one that has a ground truth."""
    calls = next((steps for steps in entry.turns[index + 1 :] if steps), [])
    return [
        _Waiting(step, name, literal)
        for step in calls
        for name, value in entry.arguments(step.call).items()
        if name in entry.scene.waiting(index, _called(step))
        for literal in literals(value)
    ]


def _told_by(entry: Entry, index: int) -> Told:
    """Return what words and short results have told by the end of a turn."""
    told = Told()
    for said in words(entry.trajectory.turns[: index + 1]):
        told.hear(said)
    for result in _shown_before(entry, index):
        if tells_little(result):
            told.see(values_text(result))
    return told


def _shown_before(entry: Entry, index: int) -> list[Result]:
    return [r for outcome in entry.truth[:index] for r in outcome.results if r.ok]


def _lacks_anything(entry: Entry, index: int) -> bool:
    """Tell whether later words tell something, be it in other words than the calls have it."""
    turns = entry.trajectory.turns
    following = next((i for i in range(index + 1, len(turns)) if turns[i].ground_truth), None)
    if following is None or not words(turns[index + 1 : following + 1]):
        return False
    told = _told_by(entry, index)
    return any(
        told.doubt(literal) is not None
        for step in entry.turns[following]
        for literal in literals(entry.arguments(step.call))
    )


def _missing(entry: Entry, index: int, values: Sequence[_Waiting]) -> Iterator[Problem]:
    """Yield what makes it needless to wait for a value."""
    told = _told_by(entry, index)
    new = [v for v in values if _is_chance(v.literal) or told.doubt(v.literal) is not None]
    if not new:
        why = f"{brief(values[0].literal)!r}, which has been told or shown before"
    elif loose := next((value for value in new if _takes_any(entry, value)), None):
        why = f"{loose.name} of {_called(loose.step)}, which takes any value by its document"
    else:
        tellers = [_teller(entry, index, value) for value in new]
        if not all(tellers):
            return
        why = f"{brief(new[0].literal)!r}, which {tellers[0]} tells"
    yield entry.problem(WAITS, Severity.WARNING, index, "messages", f"waits for {why}")


def _is_chance(value: str | float) -> bool:
    """Tell whether a value stands in words by chance."""
    return len(value) < SHORTEST if isinstance(value, str) else is_small(value)


def _takes_any(entry: Entry, value: _Waiting) -> bool:
    step = value.step
    if not _ANY.search(documented(step.before.tools[_called(step)])):
        return False
    return value.name in entry.scene.ignored(step.turn, step.position)


def _teller(entry: Entry, index: int, value: _Waiting) -> str:
    """Return a call that tells a value and little else; empty where there is none."""
    said = words(entry.trajectory.turns[: index + 1])
    session = entry.turns[value.step.turn][0].before
    for lookup in lookups(session, entry.offered(index), said, _shown_before(entry, index)):
        if lookup.shows(value.literal, value.name) and tells_little(lookup.result):
            return str(lookup.call)
    return ""


def _called(step: TruthStep) -> str:
    return step.call.name if isinstance(step.call, Call) else "a call"


def _held_out(entry: Entry, index: int) -> Iterator[Problem]:
    """Yield held-out functions of which all that they tell can be had otherwise."""
    offers = entry.trajectory.turns[index].offers
    late = [step for step in entry.turns[index] if _called(step) in offers]
    if not late or any(step.result.changed or not step.result.ok for step in late):
        return
    offered = entry.offered(index - 1)
    instead = []
    for step in late:
        teller = calculated(step, offered) or told_otherwise(entry, step, offered)
        if not teller:
            return
        instead.append(teller)
    names = ", ".join(dict.fromkeys(map(_called, late)))
    message = f"hands over {names}, whose facts can be had without: {brief(instead[0], 120)}"
    yield entry.problem(WAITS, Severity.WARNING, index, "offers", message)
