"""Missing parameter and missing function: something lacks, and comes one turn later.

A request leaves out a value, or what a turn needs is held out. Until it comes nothing should be
done, so the value must not be found anywhere else, and no other function may do what is asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from checkers.told import literals, readable, spoken_values, stands_in
from envs.calls import Call
from envs.results import Result
from envs.session import Session
from envs.state import Snapshot
from envs.tool import Tool
from extensions.authoring.making.base import calls, candidate_calls, derived, readings, start
from extensions.authoring.making.scenarios import Notes
from trajectories.errors import DataError
from trajectories.schema import Category, Message, Trajectory, Turn
from trajectories.told import documents, shown, words


def leave_out_value(base: Trajectory, notes: Notes) -> Trajectory:
    """Return the trajectory whose request lacks a value until the turn after.

    Raises:
        DataError: There is no such turn, or the value can be found without the user.
    """
    if not found_only_in_answer(base, notes):
        raise DataError(
            base.id,
            "missing_parameter: what the answer supplies is known or readable before it; "
            "leave out another value",
        )
    return derived(base, Category.MISSING_PARAMETER, turns=split_turn(base.turns, notes))


def split_turn(turns: tuple[Turn, ...], notes: Notes) -> tuple[Turn, ...]:
    """Return turns of which one has become a request without a value and the user's answer.

    Raises:
        DataError: There is no such turn.
    """
    note = notes.missing_parameter
    _check_turn(notes.base, "missing_parameter", note.turn, turns)
    request = Turn((Message("user", note.without),), ())
    answer = replace(turns[note.turn], messages=(Message("user", note.answer),))
    return (*turns[: note.turn], request, answer, *turns[note.turn + 1 :])


def found_only_in_answer(base: Trajectory, notes: Notes) -> list[str | int | float]:
    """Return the values that the turn needs, that the answer tells, and that nothing else does.

    Looked through are the user's words so far, the function documents with their defaults, the
    whole state without its secrets, earlier results, and the results of a bounded search over the
    functions that only read.

    Raises:
        DataError: There is no such turn.
    """
    note = notes.missing_parameter
    _check_turn(base.id, "missing_parameter", note.turn, base.turns)
    session, results = _before(base, note.turn)
    said = [*words(base.turns[: note.turn]), note.without]
    told = [*said, documents(base.environments)]
    told.append(json.dumps(shown(base.config), ensure_ascii=False))
    told.append(json.dumps(shown(session.snapshot().to_json()), ensure_ascii=False))
    told += [readable(result.text) for result in results]
    truth = calls(base.turns[note.turn])
    supplied = [
        value
        for call in truth
        for value in literals(call.kwargs)
        if stands_in(value, note.answer) and not any(stands_in(value, text) for text in told)
    ]
    if not supplied:
        return []
    session = session.fork(checks_arguments=False)
    known = [*spoken_values(said), *(v for r in results for v in literals(r.held))]
    # What a calculator makes of known numbers is no reading of a missing one.
    tools = [tool for tool in session.tools.values() if tool.backend != "MathAPI"]
    for result in readings(session, tools, known):
        text = readable(result.text)
        supplied = [value for value in supplied if not stands_in(value, text)]
    return supplied


def _check_turn(base: str, field: str, turn: int, turns: Sequence[Turn]) -> None:
    if not 0 <= turn < len(turns):
        raise DataError(base, f"{field}.turn: there is no turn {turn}")


def _before(base: Trajectory, turn: int) -> tuple[Session, list[Result]]:
    """Return a session as it is when a turn begins, and the results of all earlier turns."""
    session = start(base)
    return session, [r for earlier in base.turns[:turn] for r in session.play(calls(earlier))]


CALLS_PER_FUNCTION = 60
"""Combinations of known values that are tried for each function."""
FIRST_CALLS = 40
"""Different states that are gone on from in search of a pair."""
SECOND_CALLS = 12
"""Combinations that are tried for each function as the second of a pair."""
STEPS = 6
"""Intermediate results of each function that a calculation is gone on from."""


def hold_out(base: Trajectory, notes: Notes) -> Trajectory:
    """Return the trajectory of which a turn's functions come one turn later.

    Raises:
        DataError: The functions are not needed in that turn, or are needed earlier, or others do
            the same.
    """
    instead = done_otherwise(base, notes)
    if instead:
        shown = ", ".join(map(str, instead))
        raise DataError(base.id, f"missing_function: {shown} does the same")
    return derived(base, Category.MISSING_FUNCTION, turns=delay_turn(base.turns, notes))


def delay_turn(turns: Sequence[Turn], notes: Notes, index: int | None = None) -> tuple[Turn, ...]:
    """Return turns of which one has become a request and a turn that hands functions over.

    The index is where the noted turn is now, if it has moved.
    """
    place = notes.missing_function.turn if index is None else index
    request = Turn(turns[place].messages, ())
    handover = replace(turns[place], messages=(), offers=notes.missing_function.held_out)
    return (*turns[:place], request, handover, *turns[place + 1 :])


def done_otherwise(base: Trajectory, notes: Notes) -> list[Call]:
    """Return calls of other functions that do what the held-out ones would; none is as it must be.

    Bounded: for functions that write, single calls and pairs of calls are tried, with values out of
    the ground truth, the user's words and the results so far. Where the held-out functions only
    read, it is the texts of their results that no other function may give.

    Raises:
        DataError: The functions are not needed in that turn, or are needed earlier.
    """
    _check(base, notes)
    note = notes.missing_function
    session, results = _before(base, note.turn)
    truth = calls(base.turns[note.turn])
    known = _known(base, note.turn, truth, results)
    before = session.snapshot()
    done = session.play(truth)
    goal = session.snapshot()
    held_out = set(note.held_out)
    # Searching without them is faster, and finds rather more than less.
    session = session.fork(checks_arguments=False)
    changing = any(r.changed and call.name in held_out for call, r in zip(truth, done, strict=True))
    if changing:
        # What the state is to hold is most likely an argument of whatever leads there.
        wanted_values = [v for there in before.differences(goal) for v in literals(there.actual)]
        session.restore(before)
        return _writes_instead(session, truth, held_out, _unique([*wanted_values, *known]), goal)
    wanted = [r.text for call, r in zip(truth, done, strict=True) if call.name in held_out]
    return _reads_instead(session, before, truth, held_out, known, wanted)


def _check(base: Trajectory, notes: Notes) -> None:
    note = notes.missing_function
    _check_turn(base.id, "missing_function", note.turn, base.turns)
    if not note.functions:
        raise DataError(base.id, "missing_function.functions: names no function")
    needed = {call.name for call in calls(base.turns[note.turn])}
    for name in note.functions:
        if name not in needed:
            raise DataError(base.id, f"missing_function: turn {note.turn} does not call {name}")
    for name in note.stand_ins:
        if name in needed:
            raise DataError(base.id, f"missing_function: {name} is needed and stands in for none")
    for name in note.held_out:
        for index in range(note.turn):
            if name in {call.name for call in calls(base.turns[index])}:
                raise DataError(base.id, f"missing_function: {name} is needed in turn {index}")


def _known(
    base: Trajectory, turn: int, truth: Sequence[Call], results: Sequence[Result]
) -> list[object]:
    """Return values to try, the likeliest first."""
    whole = [value for call in truth for value in call.kwargs.values()]
    parts = [value for call in truth for value in literals(call.kwargs)]
    read = [value for result in reversed(results) for value in literals(result.held)]
    said = spoken_values([*words(base.turns[turn : turn + 1]), *words(base.turns[:turn])])
    return _unique([*whole, *parts, *read, *said])


def _unique(values: Sequence[object]) -> list[object]:
    """Return values without repetitions and empty texts."""
    return list({repr(value): value for value in values if value != ""}.values())


def _writes_instead(
    session: Session,
    truth: Sequence[Call],
    held_out: set[str],
    known: Sequence[object],
    goal: Snapshot,
) -> list[Call]:
    """Search for calls that lead to the same state in the place of the held-out ones."""
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
    # Restored before each call, as a search is no episode and has not its bounds.
    for call in _candidates(session, held_out, known, CALLS_PER_FUNCTION):
        session.restore(origin)
        if session.call(call).changed:
            here = session.snapshot()
            if arrives():
                return [call]
            if len(reached) < FIRST_CALLS and all(here != other for _, other in reached):
                reached.append((call, here))
    seconds = list(_candidates(session, held_out, known, SECOND_CALLS))
    for first, here in reached:
        for second in seconds:
            session.restore(here)
            if session.call(second).changed and arrives():
                return [first, second]
    return []


def _candidates(
    session: Session, held_out: set[str], known: Sequence[object], limit: int
) -> Iterator[Call]:
    tools = [t for t in session.tools.values() if t.writes and t.name not in held_out]
    return chain.from_iterable(candidate_calls(tool, known, limit) for tool in tools)


def _reads_instead(
    session: Session,
    before: Snapshot,
    truth: Sequence[Call],
    held_out: set[str],
    known: Sequence[object],
    wanted: Sequence[str],
) -> list[Call]:
    """Search for calls that give every result text that the held-out ones give."""
    session.restore(before)
    place = next(i for i, call in enumerate(truth) if call.name in held_out)
    session.play(truth[:place])
    tools = [t for t in session.tools.values() if not t.writes and t.name not in held_out]
    # What only a held-out function tells cannot be an argument before it is there.
    usable = [value for value in known if not any(f" {value}}}" in f" {text}" for text in wanted)]
    found: dict[str, Call] = {}
    _read_all(session, tools, usable, CALLS_PER_FUNCTION, found)
    calculators = [tool for tool in tools if tool.backend == "MathAPI"]
    numbers = _numbers_at_hand(truth[place], usable)
    counts = [len(value) for value in truth[place].kwargs.values() if isinstance(value, list)]
    for calculator in calculators:
        steps = _read_all(session, [calculator], numbers, SECOND_CALLS**2, found)
        for step in steps[:STEPS]:
            nearby = [step, 100, *counts, *numbers[:2]]
            _read_all(session, calculators, nearby, SECOND_CALLS, found)
    return [found[text] for text in wanted] if all(text in found for text in wanted) else []


def _read_all(
    session: Session,
    tools: Sequence[Tool],
    known: Sequence[object],
    limit: int,
    found: dict[str, Call],
) -> list[object]:
    """Call functions with known values, note which call gives which text, and return the values."""
    values: list[object] = []
    here = session.snapshot()
    for tool in tools:
        for call in candidate_calls(tool, known, limit):
            session.restore(here)
            result = session.call(call)
            if result.ok:
                found.setdefault(result.text, call)
                values += literals(result.held)
    return list(dict.fromkeys(values))


def _numbers_at_hand(call: Call, known: Sequence[object]) -> list[object]:
    """Return the numbers that a calculation may start from, and what is as good as they are."""
    given = [value for value in literals(call.kwargs) if not isinstance(value, str)]
    given = [value for value in given if value in known]
    whole = [value for value in call.kwargs.values() if isinstance(value, list)]
    counts = [len(numbers) for numbers in whole]
    negative = [-value for value in given]
    inverse = [1 / value for value in given if value]
    signed = [[given[0], *negative[1:]]] if given else []
    return [*given, *counts, *whole, *signed, *negative, *inverse, 100, 0.5, 2]
