"""Rules for prohibited and undone calls, dictated orders, and the working directory.

A turn with a prohibited call fails, even if a later call undoes the prohibited call. A turn with
an undone visible call fails, unless the ground truth also has the visible call. If the user
dictates an order, it holds for ground-truth calls only; the state decides on other calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from checkers.evidence import CallEvidence, StateEvidence
from checkers.reasons import Reason
from checkers.verdict import ExecutedTurn, Failure
from envs.calls import Call
from envs.state import Difference

if TYPE_CHECKING:
    from checkers.entry_queries import EntryQueries

_PLACE = "_path"
"""Field with the working directory; the comparison of snapshots ignores this field."""
_MAX_REPLAYED = 200_000
"""Maximum number of calls per turn that the search for undone visible calls replays."""


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
    """Check the last turn for undone visible calls, a wrong order, and a wrong directory."""
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
    """Check the last turn for a visible call that was not needed and that a later call undid."""
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
        "the items are in another order than the user asked for",
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
