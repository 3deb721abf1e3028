"""Counts of mistakes in an episode, such as hallucinated calls.

The counts include passed and failed episodes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING

from checkers.verdict import ExecutedTurn, Hallucinations, SelectionCounts, Verdict
from envs.calls import Call, list_inner_calls

if TYPE_CHECKING:
    from checkers.entry_queries import EntryQueries

_MAX_NAME_CHARS = 100


def count_extra_calls(
    verdict: Verdict,
    truth: Sequence[ExecutedTurn],
    model: Sequence[ExecutedTurn],
    scene: EntryQueries,
) -> Verdict:
    """Return a copy of a verdict with the episode's irreversible calls and hallucinations.

    In a turn that needs no calls, a call counts as unneeded only if it changes the state.
    """
    deeds: list[Call] = []
    functions: list[str] = []
    parameters: list[str] = []
    needless: list[str] = []
    irreversible, withheld = scene.irreversible, scene.withheld(0)
    for turn, (results, _, _, calls) in enumerate(model):
        if not calls:
            continue
        idle, withheld = not truth[turn].acted, withheld and scene.withheld(turn)
        for call, result in zip(calls, results, strict=True):
            if type(call) is not Call:
                continue
            name, _, _, nested = call
            if result.error is None and not (idle or withheld or nested or name in irreversible):
                continue  # the most common case
            if idle and result.changed:
                needless.append(_shorten(name))
            if result.error is None:
                if name in irreversible:
                    deeds.append(call)
                if not nested and name not in withheld:
                    continue
            for each in (call, *list_inner_calls(call)) if nested else (call,):
                if each.name not in scene.offered(turn):
                    functions.append(_shorten(each.name))
                else:
                    parameters += _list_unknown_parameters(each, scene.parameters(each.name))
    beyond = _list_unrequested(deeds, scene)
    if not (beyond or functions or parameters or needless):
        return verdict
    made_up = Hallucinations(tuple(functions), tuple(parameters), tuple(needless))
    return verdict._replace(irreversible=beyond, hallucinated=made_up)


def count_hallucinations(
    calls: Sequence[Call], offered: Mapping[str, Collection[str]], *, fits: bool
) -> Hallucinations:
    """Return the hallucinations in the calls of a single-turn entry.

    ``fits`` is true if an offered function suits the request.
    """
    functions = [_shorten(call.name) for call in calls if call.name not in offered]
    parameters = [
        name
        for call in calls
        if call.name in offered
        for name in _list_unknown_parameters(call, offered[call.name])
    ]
    needless = () if fits else [_shorten(call.name) for call in calls]
    return Hallucinations(tuple(functions), tuple(parameters), tuple(needless))


def _list_unrequested(deeds: Sequence[Call], scene: EntryQueries) -> tuple[str, ...]:
    if not deeds:
        return ()
    right = scene.right_calls({call.name for call in deeds})
    # Most calls are written as in the ground truth; comparing their effects takes longer.
    beyond = _remove_matches(deeds, right)
    if beyond and right:
        beyond = _remove_matches(beyond, right, scene.deed)
    return tuple([str(call) for call in beyond])


def _remove_matches(
    deeds: Sequence[Call], right: list[Call], told_by: Callable[[Call], object] | None = None
) -> list[Call]:
    """Remove matching pairs from two lists of calls; return the first list's unmatched calls."""
    left: list[object] = [*map(told_by, right)] if told_by else [*right]
    beyond = []
    for call in deeds:
        deed = told_by(call) if told_by else call
        if deed in left:
            position = left.index(deed)
            del left[position], right[position]
        else:
            beyond.append(call)
    return beyond


def _list_unknown_parameters(call: Call, known: Collection[str]) -> Iterator[str]:
    """Yield the unknown argument names, and the positions of excess positional arguments."""
    for position in range(len(known), len(call.args)):
        yield f"{_shorten(call.name)}.{position + 1}"
    for name in call.kwargs:
        if name not in known:
            yield f"{_shorten(call.name)}.{_shorten(name)}"


def _shorten(name: str) -> str:
    return name[:_MAX_NAME_CHARS]


def count_selection(
    truth: Sequence[ExecutedTurn], model: Sequence[ExecutedTurn], scene: EntryQueries
) -> SelectionCounts:
    """Count the needed calls that the model made.

    A needed call counts only if the model calls its function in the same turn. An omitted
    argument has its default value.
    """
    needed = same = meant = named = strangers = 0
    names: Set[str] = frozenset()
    for turn, right in enumerate(truth):
        wanted = right.calls
        needed += len(wanted)
        made = model[turn].calls if turn < len(model) else ()
        if made == wanted:  # the most common case
            same += len(wanted)
            continue
        left: list[object] = [*made]
        missed = []
        for call in wanted:
            if call in left:  # the most common case
                left.remove(call)
                same += 1
            else:
                missed.append(call)
        given = [call for call in left if isinstance(call, Call)]
        if not given:
            continue
        if missed:
            called = {call.name for call in given}
            asked = [call for call in missed if isinstance(call, Call) and call.name in called]
            if asked:
                meant += _remove_pairs(asked, given, partial(_has_equal_arguments, scene))
                named += _remove_pairs(asked, given)
        names = names or _collect_names(truth)
        others = [call.name for call in given if call.name not in names]
        if others:
            offered = scene.offered(turn)
            strangers += sum(name in offered for name in others)
    return SelectionCounts(needed, same + meant + named, same + meant, strangers)


def _collect_names(outcomes: Sequence[ExecutedTurn]) -> Set[str]:
    return {call.name for outcome in outcomes for call in outcome.calls if isinstance(call, Call)}


def _remove_pairs(
    wanted: list[Call], given: list[Call], equal: Callable[[Call, Call], bool] | None = None
) -> int:
    """Remove pairs of matching calls, one from each list, and return the number of pairs."""
    found = 0
    for call in tuple(wanted):
        for place, other in enumerate(given):
            if call.name == other.name and (equal is None or equal(call, other)):
                wanted.remove(call)
                del given[place]
                found += 1
                break
    return found


def _has_equal_arguments(scene: EntryQueries, one: Call, other: Call) -> bool:
    if not (one.args or other.args) and one.kwargs.keys() == other.kwargs.keys():
        # The calls differ, and defaults make no difference.
        return False
    return scene.filled(one) == scene.filled(other)
