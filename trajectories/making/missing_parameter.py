"""Missing parameter: a request leaves out a value, and the user supplies it one turn later.

Until then nothing should be done, so the value must not be found anywhere else.
"""

from __future__ import annotations

import json
from dataclasses import replace

from trajectories.errors import DataError
from trajectories.making.notes import Notes, derived_id, derived_provenance
from trajectories.making.replay import calls, readings, start
from trajectories.schema import Category, Message, Trajectory, Turn
from trajectories.told import documents, literals, readable, shown, spoken_values, stands_in, words


def leave_out_value(base: Trajectory, notes: Notes) -> Trajectory:
    """Return the trajectory whose request lacks a value until the turn after.

    Args:
        base: The trajectory to make harder.
        notes: What its author noted.

    Raises:
        DataError: There is no such turn, or the value can be found without the user.
    """
    if not found_only_in_answer(base, notes):
        raise DataError(
            base.id,
            "missing_parameter: what the answer supplies is known or readable before it; "
            "leave out another value",
        )
    return replace(
        base,
        id=derived_id(base, Category.MISSING_PARAMETER),
        category=Category.MISSING_PARAMETER,
        turns=split_turn(base.turns, notes),
        provenance=derived_provenance(base),
    )


def split_turn(turns: tuple[Turn, ...], notes: Notes) -> tuple[Turn, ...]:
    """Return turns of which one has become a request without a value and the user's answer.

    Raises:
        DataError: There is no such turn.
    """
    note = notes.missing_parameter
    if not 0 <= note.turn < len(turns):
        raise DataError(notes.base, f"missing_parameter.turn: there is no turn {note.turn}")
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
    if not 0 <= note.turn < len(base.turns):
        raise DataError(base.id, f"missing_parameter.turn: there is no turn {note.turn}")
    session = start(base)
    results = [r for turn in base.turns[: note.turn] for r in session.play(calls(turn))]
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
    known = [*spoken_values(said), *(v for r in results for v in literals(r.value))]
    # What a calculator makes of known numbers is no reading of a missing one.
    tools = [tool for tool in session.tools.values() if tool.backend != "MathAPI"]
    for result in readings(session, tools, known):
        text = readable(result.text)
        supplied = [value for value in supplied if not stands_in(value, text)]
    return supplied
