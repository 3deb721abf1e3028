"""Rules of the strict profile.

A guess of the model may change neither the state nor a result. The rules find three kinds of
guesses: a value that the user gives later, a function that is offered later, and an argument
without effect on the state.

A turn with a prohibited call fails, even if a later call undoes the prohibited call. A turn also
fails if a call undoes a visible call that is not in the ground truth. If the user asks
for an order, the ground-truth calls must be in this order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from checkers.evidence import CallEvidence, StateEvidence
from checkers.known_values import KnownValues, UnclearOrigin, contains_value, list_literals
from checkers.reasons import Reason
from checkers.verdict import ExecutedTurn, Failure
from envs.calls import Call
from envs.errors import UnknownFunction
from envs.state import Difference

if TYPE_CHECKING:
    from checkers.entry_queries import EntryQueries

_PLACE = "_path"
"""Field with the working directory; the comparison of snapshots ignores this field."""
_MAX_REPLAYED = 200_000
"""Maximum calls to replay; a longer search is skipped."""


def check_prohibited(model: Sequence[ExecutedTurn], scene: EntryQueries) -> Failure | None:
    """Check that the last turn has no successful call that the user has prohibited."""
    prohibited = scene.prohibited(len(model) - 1)
    if not prohibited:
        return None
    for call in _list_done(model[-1]):
        for rule in prohibited:
            if call.name == rule.name and _includes(scene.filled(call), rule.kwargs):
                message = f"the user has ruled out {rule}"
                return _make_failure(Reason.PROHIBITED_CALL, message, call)
    return None


def check_trace(
    expected: ExecutedTurn, model: Sequence[ExecutedTurn], scene: EntryQueries
) -> Failure | None:
    """Check the last turn for calls that were undone, a wrong order and a wrong directory."""
    if undone := _check_undone(expected, model, scene):
        return undone
    for right in scene.ordered(len(model) - 1):
        check = _check_items if len(right) == 1 else _check_calls
        if failure := check(right, _list_done(model[-1]), scene):
            return failure
    theirs = model[-1].snapshot.states
    wrong = [
        Difference(f"{name}.working_directory", fields[_PLACE], theirs[name][_PLACE])
        for name, fields in expected.snapshot.states.items()
        if scene.stays(len(model) - 1)
        and _PLACE in fields
        and fields[_PLACE] != theirs[name][_PLACE]
    ]
    return Failure(Reason.STATE_MISMATCH, StateEvidence(lambda: wrong)) if wrong else None


def _check_undone(
    expected: ExecutedTurn, model: Sequence[ExecutedTurn], scene: EntryQueries
) -> Failure | None:
    """Find an unneeded visible call that a later call undid."""
    made = zip(model[-1].calls, model[-1].results, strict=True)
    changes = [(place, call) for place, (call, result) in enumerate(made) if result.changed]
    visible = scene.visible if changes else ()
    acts = [(p, c) for p, c in changes if isinstance(c, Call) and c.name in visible]
    if len(acts) * len(changes) * sum(len(turn.calls) for turn in model) > _MAX_REPLAYED:
        return None
    right = [scene.deed(call) for call in _list_done(expected)] if acts else []
    for place, call in acts:
        if (deed := scene.deed(call)) in right:
            right.remove(deed)
        elif any(scene.ends_alike(model, frozenset((place, p))) for p, _ in changes if p > place):
            message = "a later call undoes this call, but other people have seen its effect"
            return _make_failure(Reason.PROHIBITED_CALL, message, call)
    return None


def _make_failure(reason: Reason, message: str, call: Call) -> Failure:
    return Failure(reason, CallEvidence(reason, message, call.name, actual=str(call)))


def _list_done(outcome: ExecutedTurn) -> list[Call]:
    made = zip(outcome.calls, outcome.results, strict=True)
    return [call for call, result in made if result.ok and isinstance(call, Call)]


def _includes(given: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Tell whether arguments include the expected values; lists may have more items."""
    return all(
        name in given
        and (
            all(member in given[name] for member in value)
            if isinstance(value, list) and isinstance(given[name], (list, tuple))
            else _includes(given[name], value)
            if isinstance(value, dict) and isinstance(given[name], dict)
            else given[name] == value
        )
        for name, value in wanted.items()
    )


def _check_items(
    right: Sequence[Call], done: Sequence[Call], scene: EntryQueries
) -> Failure | None:
    expected = scene.filled(right[0])
    calls = [scene.filled(call) for call in done if call.name == right[0].name]
    joined = dict(expected)
    for name in [name for name, value in expected.items() if isinstance(value, list)]:
        parts = [given.get(name) for given in calls]  # several calls can have the items together
        joined[name] = [item for part in parts if isinstance(part, (list, tuple)) for item in part]
    same = [each for each in (*calls, joined) if _sort_items(each) == _sort_items(expected)]
    if not same or any(given == expected for given in same):
        return None
    name = next(name for name, value in expected.items() if same[0].get(name) != value)
    evidence = CallEvidence(
        Reason.WRONG_ORDER,
        "the items are not in the order that the user asked for",
        right[0].name,
        name,
        expected=expected[name],
        actual=repr(same[0][name]),
    )
    return Failure(Reason.WRONG_ORDER, evidence)


def _sort_items(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: sorted(map(repr, value)) if isinstance(value, (list, tuple)) else value
        for name, value in given.items()
    }


def _check_calls(
    right: Sequence[Call], done: Sequence[Call], scene: EntryQueries
) -> Failure | None:
    reached, before = -1, right[0]
    deeds = [scene.deed(call) for call in done]
    for call in right:
        wanted = scene.deed(call)
        places = [place for place, deed in enumerate(deeds) if deed == wanted]
        if not places:
            continue
        later = [place for place in places if place > reached]
        if not later:
            message = f"the user wanted this call after {before}"
            return _make_failure(Reason.WRONG_ORDER, message, call)
        reached, before = later[0], call
    return None


def check_waiting(model: Sequence[ExecutedTurn], scene: EntryQueries) -> Failure | None:
    """Check the last turn, which needs no calls.

    The turn fails if the model calls an unknown function or guesses a value. Read calls without
    a guess are allowed.
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
