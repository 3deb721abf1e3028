"""Maker of variants: a parameter or a function is missing until a later turn.

Before the later turn, a model should make no call that changes state. A missing value
must not be available elsewhere. Other functions must not replace a missing function.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from checkers.known_values import contains_value, list_literals, unescape_text
from envs.calls import Call
from envs.errors import DataError
from envs.results import Result
from envs.session import Session
from envs.state import Snapshot
from envs.tool import Tool
from extensions.authoring.making.maker_helpers import (
    calls,
    candidate_calls,
    derived,
    start,
    successful_calls,
)
from extensions.authoring.making.scenarios import VariantNotes
from extensions.authoring.stated_values import shown, write_documents
from extensions.authoring.user_message_values import list_spoken_values
from trajectories.replay_queries import list_messages
from trajectories.schema import Category, Message, Trajectory, Turn

READS_PER_FUNCTION = 300
"""Maximum number of calls of each read-only function."""


def leave_out_value(base: Trajectory, notes: VariantNotes) -> Trajectory:
    """Return the variant whose request lacks a value; the user states the value one turn later.

    Raises:
        DataError: The turn in ``notes`` does not exist, or the model can find the value without
            the user's answer.
    """
    if not find_supplied_values(base, notes):
        raise DataError(
            base.id,
            "missing_parameter: the model can find the omitted value itself; omit another value",
        )
    return derived(base, Category.MISSING_PARAMETER, turns=split_turn(base.turns, notes))


def split_turn(turns: tuple[Turn, ...], notes: VariantNotes) -> tuple[Turn, ...]:
    """Split a turn in two: a request that lacks a value, and the user's answer with the value.

    Raises DataError if the turn in ``notes`` does not exist.
    """
    note = notes.missing_parameter
    _check_turn(notes.base, "missing_parameter", note.turn, turns)
    asked = turns[note.turn]
    request = Turn((Message("user", note.without),), (), never=asked.never)
    answer = replace(_reorder(asked, notes), messages=(Message("user", note.answer),))
    answer = replace(answer, never=())
    return (*turns[: note.turn], request, answer, *turns[note.turn + 1 :])


def _reorder(turn: Turn, notes: VariantNotes) -> Turn:
    """Put the ground truth of a turn into the order that ``notes.missing_parameter`` requires.

    Raises DataError if no order of the calls meets the requirement.
    """
    groups = notes.missing_parameter.ordered
    if groups is None:
        return turn
    pairs = [pair for group in groups for pair in pairwise(group)]
    texts = turn.ground_truth
    left, order = [*range(len(texts))], list[int]()
    while left:
        waiting = {second for first, second in pairs if first in left}
        free = [position for position in left if position not in waiting]
        if not free or not {*chain(*groups)} <= {*range(len(texts))}:
            raise DataError(notes.base, "missing_parameter.ordered: no order of the calls fits")
        order.append(free[0])
        left.remove(free[0])
    return replace(
        turn,
        ground_truth=tuple([texts[position] for position in order]),
        ordered=tuple([tuple([texts[position] for position in group]) for group in groups]),
    )


def find_supplied_values(base: Trajectory, notes: VariantNotes) -> list[str | int | float]:
    """Return the needed values that the model can learn only from the user's answer.

    Raises DataError if the turn in ``notes`` does not exist.
    """
    note = notes.missing_parameter
    _check_turn(base.id, "missing_parameter", note.turn, base.turns)
    session, results = _play_until(base, note.turn)
    said = [*list_messages(base.turns[: note.turn]), note.without]
    told = [*said, write_documents(base.environments)]
    told.append(json.dumps(shown(base.config), ensure_ascii=False))
    told.append(json.dumps(shown(session.snapshot().to_json()), ensure_ascii=False))
    told += [unescape_text(result.text) for result in results]
    truth = calls(base.turns[note.turn])
    supplied = [
        value
        for call in truth
        for value in list_literals(call.kwargs)
        if contains_value(value, note.answer)
        and not any(contains_value(value, text) for text in told)
    ]
    if not supplied:
        return []
    session = session.fork(checks_arguments=False)
    known = [*list_spoken_values(said), *(v for r in results for v in list_literals(r.held))]
    # A calculator's result from known numbers does not give a missing one away.
    tools = [t for t in session.tools.values() if t.backend != "MathAPI" and not t.writes]
    for _, result in successful_calls(session, tools, known, READS_PER_FUNCTION):
        text = unescape_text(result.text)
        supplied = [value for value in supplied if not contains_value(value, text)]
    return supplied


def _check_turn(base: str, field: str, turn: int, turns: Sequence[Turn]) -> None:
    if not 0 <= turn < len(turns):
        raise DataError(base, f"{field}.turn: turn {turn} does not exist")


def _play_until(base: Trajectory, turn: int) -> tuple[Session, list[Result]]:
    """Return the session at the start of a turn, and all earlier results."""
    session, results = start(base), []
    for earlier in base.turns[:turn]:
        results += session.play(calls(earlier))
        session.end_turn()
    return session, results


CALLS_PER_FUNCTION = 60
"""Maximum number of calls that are tried per function."""
FIRST_CALLS = 40
"""Maximum number of first calls in the search for pairs of calls."""
SECOND_CALLS = 12
"""Maximum number of second calls per function."""
STEPS = 6
"""A calculation uses at most this number of intermediate results."""


def hold_out(base: Trajectory, notes: VariantNotes) -> Trajectory:
    """Return the variant that offers the held-out functions one turn after the request.

    Raises DataError if the notes on the held-out functions contradict the ground truth, or if other
    functions have the same effect.
    """
    instead = find_replacements(base, notes)
    if instead:
        shown = ", ".join(map(str, instead))
        raise DataError(base.id, f"missing_function: {shown} does the same")
    return derived(base, Category.MISSING_FUNCTION, turns=delay_turn(base.turns, notes))


def delay_turn(
    turns: Sequence[Turn], notes: VariantNotes, index: int | None = None
) -> tuple[Turn, ...]:
    """Split a turn in two. The second turn offers the held-out functions.

    ``index`` is the turn's index. The default is in ``notes``.
    """
    place = notes.missing_function.turn if index is None else index
    asked = turns[place]
    request = Turn(asked.messages, (), never=asked.never)
    handover = replace(asked, messages=(), offers=notes.missing_function.held_out, never=())
    return (*turns[:place], request, handover, *turns[place + 1 :])


def find_replacements(base: Trajectory, notes: VariantNotes) -> list[Call]:
    """Return calls of other functions that can replace the held-out functions, or an empty list.

    The search tries a limited number of calls. If a held-out function writes, the search tries
    single calls and pairs of calls. Their arguments come from the ground truth, the user's words
    and earlier results. For a read-only function, the search looks for the same results.

    Raises DataError if the notes on the held-out functions contradict the ground truth.
    """
    _check_notes(base, notes)
    note = notes.missing_function
    session, results = _play_until(base, note.turn)
    truth = calls(base.turns[note.turn])
    known = _candidate_values(base, note.turn, truth, results)
    before = session.snapshot()
    done = session.play(truth)
    goal = session.snapshot()
    held_out = set(note.held_out)
    # The search is faster without argument checks, and misses nothing.
    session = session.fork(checks_arguments=False)
    changing = any(r.changed and call.name in held_out for call, r in zip(truth, done, strict=True))
    if changing:
        # New values of the state are the likeliest arguments.
        wanted_values = [
            v for there in before.differences(goal) for v in list_literals(there.actual)
        ]
        session.restore(before)
        return _find_writes(session, truth, held_out, _unique([*wanted_values, *known]), goal)
    wanted = [r.text for call, r in zip(truth, done, strict=True) if call.name in held_out]
    return _find_reads(session, before, truth, held_out, known, wanted)


def _check_notes(base: Trajectory, notes: VariantNotes) -> None:
    note = notes.missing_function
    _check_turn(base.id, "missing_function", note.turn, base.turns)
    if not note.functions:
        raise DataError(base.id, "missing_function.functions: the list is empty; name a function")
    needed = {call.name for call in calls(base.turns[note.turn])}
    for name in note.functions:
        if name not in needed:
            raise DataError(base.id, f"missing_function: turn {note.turn} does not call {name}")
    for name in note.stand_ins:
        if name in needed:
            message = f"missing_function: {name} is in stand_ins, but turn {note.turn} needs it"
            raise DataError(base.id, message)
    for name in note.held_out:
        for index in range(note.turn):
            if name in {call.name for call in calls(base.turns[index])}:
                raise DataError(base.id, f"missing_function: turn {index} already needs {name}")


def _candidate_values(
    base: Trajectory, turn: int, truth: Sequence[Call], results: Sequence[Result]
) -> list[object]:
    whole = [value for call in truth for value in call.kwargs.values()]
    parts = [value for call in truth for value in list_literals(call.kwargs)]
    read = [value for result in reversed(results) for value in list_literals(result.held)]
    said = list_spoken_values(
        [*list_messages(base.turns[turn : turn + 1]), *list_messages(base.turns[:turn])]
    )
    return _unique([*whole, *parts, *read, *said])


def _unique(values: Sequence[object]) -> list[object]:
    return list({repr(value): value for value in values if value != ""}.values())


def _find_writes(
    session: Session,
    truth: Sequence[Call],
    held_out: set[str],
    known: Sequence[object],
    goal: Snapshot,
) -> list[Call]:
    """Search for calls that lead to the same state as the held-out functions."""
    place = next(i for i, call in enumerate(truth) if call.name in held_out)
    session.play(truth[:place])
    rest = [call for call in truth[place:] if call.name not in held_out]
    origin = session.snapshot()

    def arrives() -> bool:
        session.play(rest)
        return session.snapshot() == goal

    if arrives():
        return rest or [truth[0]]
    session.restore(origin)
    reached: list[tuple[Call, Snapshot]] = []
    # Restored before each call, so that the call limit of an episode does not apply.
    for call in _writing_calls(session, held_out, known, CALLS_PER_FUNCTION):
        session.restore(origin)
        if session.call(call).changed:
            here = session.snapshot()
            if arrives():
                return [call]
            if len(reached) < FIRST_CALLS and all(here != other for _, other in reached):
                reached.append((call, here))
    seconds = list(_writing_calls(session, held_out, known, SECOND_CALLS))
    for first, here in reached:
        for second in seconds:
            session.restore(here)
            if session.call(second).changed and arrives():
                return [first, second]
    return []


def _writing_calls(
    session: Session, held_out: set[str], known: Sequence[object], limit: int
) -> Iterator[Call]:
    tools = [t for t in session.tools.values() if t.writes and t.name not in held_out]
    return chain.from_iterable(candidate_calls(tool, known, limit) for tool in tools)


def _find_reads(
    session: Session,
    before: Snapshot,
    truth: Sequence[Call],
    held_out: set[str],
    known: Sequence[object],
    wanted: Sequence[str],
) -> list[Call]:
    """Find calls of other functions that return the wanted results.

    Return [] if a wanted result is not found.
    """
    session.restore(before)
    place = next(i for i, call in enumerate(truth) if call.name in held_out)
    session.play(truth[:place])
    tools = [t for t in session.tools.values() if not t.writes and t.name not in held_out]
    # Values that only a held-out function shows cannot be arguments yet.
    usable = [value for value in known if not any(f" {value}}}" in f" {text}" for text in wanted)]
    found: dict[str, Call] = {}
    _call_all(session, tools, usable, CALLS_PER_FUNCTION, found)
    calculators = [tool for tool in tools if tool.backend == "MathAPI"]
    numbers = _starting_numbers(truth[place], usable)
    counts = [len(value) for value in truth[place].kwargs.values() if isinstance(value, list)]
    for calculator in calculators:
        steps = _call_all(session, [calculator], numbers, SECOND_CALLS**2, found)
        for step in steps[:STEPS]:
            nearby = [step, 100, *counts, *numbers[:2]]
            _call_all(session, calculators, nearby, SECOND_CALLS, found)
    return [found[text] for text in wanted] if all(text in found for text in wanted) else []


def _call_all(
    session: Session,
    tools: Sequence[Tool],
    known: Sequence[object],
    limit: int,
    found: dict[str, Call],
) -> list[object]:
    values: list[object] = []
    for call, result in successful_calls(session, tools, known, limit):
        found.setdefault(result.text, call)
        values += list_literals(result.held)
    return list(dict.fromkeys(values))


def _starting_numbers(call: Call, known: Sequence[object]) -> list[object]:
    given = [value for value in list_literals(call.kwargs) if not isinstance(value, str)]
    given = [value for value in given if value in known]
    whole = [value for value in call.kwargs.values() if isinstance(value, list)]
    counts = [len(numbers) for numbers in whole]
    negative = [-value for value in given]
    inverse = [1 / value for value in given if value]
    signed = [[given[0], *negative[1:]]] if given else []
    return [*given, *counts, *whole, *signed, *negative, *inverse, 100, 0.5, 2]
