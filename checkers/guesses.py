"""Guesses: values that nobody has told, and functions that are not there.

A guess is looked for in two places, where state and results cannot show it: in a turn that waits
for something to be told or handed over, and in an argument that nothing depends on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from checkers.evidence import CallEvidence
from checkers.reasons import Reason
from checkers.scene import Scene
from checkers.told import Doubt, Told, literals, stands_in
from checkers.verdict import Failure, TurnOutcome
from envs.calls import Call
from envs.errors import UnknownFunction


def check_waiting(model: Sequence[TurnOutcome], scene: Scene) -> Failure | None:
    """Check the last of some turns, in which nothing is to be done.

    A call of a function that is not there fails it, and so does a value for a parameter that waits
    to be told, if neither the user's words nor a result has told it. What else is read is free.

    Args:
        model: Outcome of the model's calls, up to the turn.
        scene: Whatever else is to be known of the entry.
    """
    turn = len(model) - 1
    for position, (call, result) in enumerate(zip(model[-1].calls, model[-1].results, strict=True)):
        if isinstance(result.error, UnknownFunction):
            name = call.name if isinstance(call, Call) else None
            evidence = CallEvidence(Reason.ABSENT_FUNCTION, "is not there, at least not yet", name)
            return Failure(Reason.ABSENT_FUNCTION, evidence)
        if isinstance(call, Call) and not _is_plainly_said(call, model, scene):
            failure = _guessed(model, position, scene.waiting(turn, call.name), scene)
            if failure is not None:
                return failure
    return None


def check_untraced(
    truth: Sequence[TurnOutcome], model: Sequence[TurnOutcome], scene: Scene
) -> Failure | None:
    """Check the last of some turns, whose state is right, for guesses that left no trace in it.

    Args:
        truth: Outcome of the ground truth, up to the turn.
        model: Outcome of the model's calls, up to the turn.
        scene: Whatever else is to be known of the entry.
    """
    turn, made = len(model) - 1, model[-1].calls
    for position, result in enumerate(truth[-1].results):
        if not result.changed:
            continue
        call = truth[-1].calls[position]
        if call in made or not isinstance(call, Call):
            continue
        same = [
            place
            for place, other in enumerate(made)
            if isinstance(other, Call)
            and other.name == call.name
            and other not in truth[-1].calls
            and not _is_plainly_said(other, model, scene)
        ]
        ignored = scene.ignored(turn, position) if same else ()
        for place in same:
            failure = _guessed(model, place, ignored, scene, call)
            if failure is not None:
                return failure
    return None


def _guessed(
    model: Sequence[TurnOutcome],
    position: int,
    parameters: Collection[str],
    scene: Scene,
    right: Call | None = None,
) -> Failure | None:
    """Check some arguments of a call of the last turn for values that nobody had told by then.

    Where the right call has such a value itself, something has to be made up.
    """
    if not parameters:
        return None
    call = model[-1].calls[position]
    assert isinstance(call, Call)
    told = _told(model, position, scene)
    expected = scene.arguments(right) if right else {}
    for name, value in scene.arguments(call).items():
        if name not in parameters or next(_untold(expected.get(name), told), None):
            continue
        for doubt in _untold(value, told):
            reason, given = Reason.GUESSED_ARGUMENT, repr(value)
            return Failure(reason, CallEvidence(reason, doubt.why, call.name, name, actual=given))
    return None


def _is_plainly_said(call: Call, model: Sequence[TurnOutcome], scene: Scene) -> bool:
    """Tell whether the user has said all values of a call as they are, which is seen at once."""
    said = "\n".join(map(scene.words, range(len(model))))
    return all(stands_in(value, said) for value in literals(scene.arguments(call)))


def _told(model: Sequence[TurnOutcome], position: int, scene: Scene) -> Told:
    """Return what is known before a call of the last turn."""
    told = Told()
    for turn in range(len(model)):
        told.hear(scene.words(turn))
    earlier = [result for outcome in model[:-1] for result in outcome.results]
    for result in (*earlier, *model[-1].results[:position]):
        told.see(result.text)
    return told


def _untold(value: Any, told: Told) -> Iterator[Doubt]:
    """Yield what is to be said of the parts of a value that are made up, by all that is known."""
    doubts = (told.doubt(literal) for literal in literals(value))
    return (doubt for doubt in doubts if doubt is not None and doubt.serious)
