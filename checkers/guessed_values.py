"""Detection of guesses: invented argument values and calls of functions that do not exist.

Some guesses change neither the state nor a result. The module finds a value that the user gives
only later, a function that is offered only later, and an argument that does not change the state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from checkers.evidence import CallEvidence
from checkers.known_values import KnownValues, UnclearOrigin, contains_value, list_literals
from checkers.reasons import Reason
from checkers.verdict import ExecutedTurn, Failure
from envs.calls import Call
from envs.errors import UnknownFunction

if TYPE_CHECKING:
    from checkers.entry_queries import EntryQueries


def check_waiting(model: Sequence[ExecutedTurn], scene: EntryQueries) -> Failure | None:
    """Check the last turn, which needs no calls.

    The turn fails if a called function does not exist, or if the model invents a value that the
    user gives later. Calls of read functions are allowed if they contain no invented value.
    """
    turn = len(model) - 1
    for position, (call, result) in enumerate(zip(model[-1].calls, model[-1].results, strict=True)):
        if isinstance(result.error, UnknownFunction):
            name = call.name if isinstance(call, Call) else None
            evidence = CallEvidence(Reason.ABSENT_FUNCTION, "the function does not exist yet", name)
            return Failure(Reason.ABSENT_FUNCTION, evidence)
        if isinstance(call, Call) and not _is_plainly_said(call, model, scene):
            failure = _check_arguments(model, position, scene.waiting(turn, call.name), scene)
            if failure is not None:
                return failure
    return None


def check_untraced(
    truth: Sequence[ExecutedTurn], model: Sequence[ExecutedTurn], scene: EntryQueries
) -> Failure | None:
    """Find guessed arguments in the last turn, even if the final state is right."""
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
            failure = _check_arguments(model, place, ignored, scene, call)
            if failure is not None:
                return failure
    return None


def _check_arguments(
    model: Sequence[ExecutedTurn],
    position: int,
    parameters: Collection[str],
    scene: EntryQueries,
    right: Call | None = None,
) -> Failure | None:
    if not parameters:
        return None
    call = model[-1].calls[position]
    assert isinstance(call, Call)
    told = _collect_known(model, position, scene)
    expected = scene.arguments(right) if right else {}
    for name, value in scene.arguments(call).items():
        if name not in parameters or next(_list_unknown(expected.get(name), told), None):
            continue
        for doubt in _list_unknown(value, told):
            reason, given = Reason.GUESSED_ARGUMENT, repr(value)
            return Failure(reason, CallEvidence(reason, doubt.why, call.name, name, actual=given))
    return None


def _is_plainly_said(call: Call, model: Sequence[ExecutedTurn], scene: EntryQueries) -> bool:
    said = "\n".join(map(scene.words, range(len(model))))
    return all(contains_value(value, said) for value in list_literals(scene.arguments(call)))


def _collect_known(
    model: Sequence[ExecutedTurn], position: int, scene: EntryQueries
) -> KnownValues:
    told = KnownValues()
    for turn in range(len(model)):
        told.hear(scene.words(turn))
    earlier = [result for outcome in model[:-1] for result in outcome.results]
    for result in (*earlier, *model[-1].results[:position]):
        told.see(result.text)
    return told


def _list_unknown(value: Any, told: KnownValues) -> Iterator[UnclearOrigin]:
    doubts = (told.doubt(literal) for literal in list_literals(value))
    return (doubt for doubt in doubts if doubt is not None and doubt.serious)
