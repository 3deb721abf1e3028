"""Rule WAITS: if a turn has no ground truth, a value or a function must be missing.

A later turn supplies the missing value or function. The model must not find the value earlier. The
call that needs the value must not accept every value. The results of the missing function must not
be available from other functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from checkers.known_values import KnownValues, list_literals
from envs.results import Result
from extensions.authoring.rules.finding import Finding, Severity, brief
from extensions.authoring.rules.lookups import (
    has_few_values,
    is_small,
    lookups,
    render_document,
    render_values,
)
from extensions.authoring.rules.replayed_entry import Entry, TruthStep
from extensions.authoring.rules.substitutes import find_calculation, find_other_sources
from extensions.authoring.rules.word_matching import cues, split_words
from trajectories.replay_queries import list_messages
from trajectories.schema import Category

WAITS = "WAITS"

LACKS_VALUE = (Category.MISSING_PARAMETER, Category.COMPOSITE)
LACKS_FUNCTION = (Category.MISSING_FUNCTION, Category.COMPOSITE)

MIN_VALUE_CHARS = 3
"""Minimum length of a searched string; a shorter string could also be a part of other words."""

_ANY = re.compile(r"\b(?:any|anything|non-?empty|whatever)\b", re.IGNORECASE)
_REQUEST = re.compile(
    r"\?|\b(?:please|can you|could you|would you|i need|i want|i'd like|let's|let me|show|tell|"
    r"give|make|send|check|find|add|put|get|set|book|buy|sell|cancel|close|open|read|post|look|"
    r"take|what|which|who|how|when|where)\b",
    re.IGNORECASE,
)


def check_waiting(entry: Entry) -> Iterator[Finding]:
    """Report requests that have no ground truth although a model could fulfil them.

    In the categories with missing information, at least one turn must lack a value or function.
    """
    if entry.has_own_criteria:
        return
    turns, category = entry.trajectory.turns, entry.trajectory.category
    for_value = for_function = False
    for index, turn in enumerate(turns):
        if turn.ground_truth or turn.only_asks or not turn.messages:
            continue
        values = _waiting_values(entry, index)
        if values and category in LACKS_VALUE:
            yield from _check_values(entry, index, values)
        if index + 1 < len(turns) and turns[index + 1].offers:
            for_function, for_value = True, for_value or bool(values)
            yield from _check_held_out(entry, index + 1)
        elif category in LACKS_VALUE and (values or _lacks_anything(entry, index)):
            for_value = True
        elif _is_request(entry, index):
            message = "the request has no ground truth, and no later turn completes the request"
            yield entry.finding(WAITS, Severity.WARNING, index, "ground_truth", message)
    if category in LACKS_VALUE and not for_value:
        message = f"in the category {category}, at least one turn must lack a value"
        yield entry.finding(WAITS, Severity.WARNING, None, "turns", message)
    if category in LACKS_FUNCTION and not for_function:
        message = f"in the category {category}, at least one turn must lack a function"
        yield entry.finding(WAITS, Severity.WARNING, None, "turns", message)


def _is_request(entry: Entry, index: int) -> bool:
    said = " ".join(list_messages([entry.trajectory.turns[index]]))
    if _REQUEST.search(said):
        return True
    heard = set(split_words(said))
    return any(heard.intersection(cues(name)) for name in entry.offered(index))


class _AwaitedValue(NamedTuple):
    """A value that a later call needs."""

    step: TruthStep
    parameter: str
    literal: str | float


def _waiting_values(entry: Entry, index: int) -> list[_AwaitedValue]:
    calls = next((steps for steps in entry.turns[index + 1 :] if steps), [])
    return [
        _AwaitedValue(step, name, literal)
        for step in calls
        for name, value in entry.arguments(step.call).items()
        if name in entry.scene.waiting(index, step.function)
        for literal in list_literals(value)
    ]


def _known_values(entry: Entry, index: int) -> KnownValues:
    """Return the values in user messages and short results up to the end of a turn."""
    told = KnownValues()
    for said in list_messages(entry.trajectory.turns[: index + 1]):
        told.hear(said)
    for result in _results_before(entry, index):
        if has_few_values(result):
            told.see(render_values(result))
    return told


def _results_before(entry: Entry, index: int) -> list[Result]:
    return [r for outcome in entry.truth[:index] for r in outcome.results if r.ok]


def _lacks_anything(entry: Entry, index: int) -> bool:
    turns = entry.trajectory.turns
    following = next((i for i in range(index + 1, len(turns)) if turns[i].ground_truth), None)
    if following is None or not list_messages(turns[index + 1 : following + 1]):
        return False
    told = _known_values(entry, index)
    return any(
        told.doubt(literal) is not None
        for step in entry.turns[following]
        for literal in list_literals(entry.arguments(step.call))
    )


def _check_values(entry: Entry, index: int, values: Sequence[_AwaitedValue]) -> Iterator[Finding]:
    told = _known_values(entry, index)
    new = [v for v in values if _is_chance(v.literal) or told.doubt(v.literal) is not None]
    if not new:
        why = f"{brief(values[0].literal)!r}, but this value is already known"
    elif loose := next((value for value in new if _takes_any(entry, value)), None):
        function = loose.step.function
        why = f"{loose.parameter}, but {function} accepts any value"
    else:
        sources = [_find_source(entry, index, value) for value in new]
        if not all(sources):
            return
        why = f"{brief(new[0].literal)!r}, but {sources[0]} shows this value"
    yield entry.finding(WAITS, Severity.WARNING, index, "messages", f"waits for {why}")


def _is_chance(value: str | float) -> bool:
    """Tell whether a value is so short or small that messages can contain the value by chance."""
    return len(value) < MIN_VALUE_CHARS if isinstance(value, str) else is_small(value)


def _takes_any(entry: Entry, value: _AwaitedValue) -> bool:
    step = value.step
    if not _ANY.search(render_document(step.before.tools[step.function])):
        return False
    return value.parameter in entry.scene.ignored(step.turn, step.position)


def _find_source(entry: Entry, index: int, value: _AwaitedValue) -> str:
    """Return a read call that shows the value in a short result, or an empty string."""
    said = list_messages(entry.trajectory.turns[: index + 1])
    session = entry.turns[value.step.turn][0].before
    for lookup in lookups(session, entry.offered(index), said, _results_before(entry, index)):
        if lookup.shows(value.literal, value.parameter) and has_few_values(lookup.result):
            return str(lookup.call)
    return ""


def _check_held_out(entry: Entry, index: int) -> Iterator[Finding]:
    """Report missing functions that other functions can replace."""
    offers = entry.trajectory.turns[index].offers
    late = [step for step in entry.turns[index] if step.function in offers]
    if not late or any(step.result.changed or not step.result.ok for step in late):
        return
    offered = entry.offered(index - 1)
    instead = []
    for step in late:
        source = find_calculation(step, offered) or find_other_sources(entry, step, offered)
        if not source:
            return
        instead.append(source)
    names = ", ".join(dict.fromkeys(step.function for step in late))
    message = f"other calls can replace the missing function {names}: {brief(instead[0], 120)}"
    yield entry.finding(WAITS, Severity.WARNING, index, "offers", message)
