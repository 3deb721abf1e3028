"""What a model did in excess, and how well it chose functions; counted whether it passes or not.

In excess are deeds for good that nobody asked for, and calls that it made up. Functions that were
needed are those of the ground truth's calls.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from functools import partial

from checkers.scene import Scene
from checkers.verdict import Hallucinated, Selected, TurnOutcome, Verdict
from envs.calls import Call, inner_calls

_MOST_NAME = 100
"""Characters of a name that are kept."""


def with_excess(
    verdict: Verdict, truth: Sequence[TurnOutcome], model: Sequence[TurnOutcome], scene: Scene
) -> Verdict:
    """Return a verdict with what executed calls did in excess.

    None fits in a turn in which nothing is to be done; what only looks there does no harm.
    """
    deeds: list[Call] = []
    functions: list[str] = []
    parameters: list[str] = []
    needless: list[str] = []
    irreversible, at_first = scene.irreversible, scene.withheld(0)
    for turn, (results, _, _, calls) in enumerate(model):
        if not calls:
            continue
        idle, withheld = not truth[turn].acted, at_first and scene.withheld(turn)
        for call, result in zip(calls, results, strict=True):
            if type(call) is not Call:
                continue
            name, _, _, nested = call
            if idle and result.changed:
                needless.append(_short(name))
            if result.error is None:
                if name in irreversible:
                    deeds.append(call)
                if not nested and name not in withheld:
                    continue
            for each in (call, *inner_calls(call)) if nested else (call,):
                if each.name not in scene.offered(turn):
                    functions.append(_short(each.name))
                else:
                    parameters += _unknown(each, scene.parameters(each.name))
    beyond = _beyond(deeds, scene)
    if not (beyond or functions or parameters or needless):
        return verdict
    made_up = Hallucinated(tuple(functions), tuple(parameters), tuple(needless))
    return verdict._replace(irreversible=beyond, hallucinated=made_up)


def made_up_in_answer(
    calls: Sequence[Call], offered: Mapping[str, Collection[str]], *, fits: bool
) -> Hallucinated:
    """Return what the calls of a single turn made up.

    Args:
        calls: All that were made.
        offered: Function to its parameters.
        fits: Whether any function does.
    """
    functions = [_short(call.name) for call in calls if call.name not in offered]
    parameters = [
        name
        for call in calls
        if call.name in offered
        for name in _unknown(call, offered[call.name])
    ]
    needless = () if fits else [_short(call.name) for call in calls]
    return Hallucinated(tuple(functions), tuple(parameters), tuple(needless))


def _beyond(deeds: Sequence[Call], scene: Scene) -> tuple[str, ...]:
    """Return the deeds that the ground truth does not have, in whatever turn, as call texts.

    The same deed counts once for each time that the ground truth does it.
    """
    if not deeds:
        return ()
    right = scene.right_calls({call.name for call in deeds})
    # Most deeds are written as in the ground truth; what a deed is takes longer to find out.
    beyond = _without(deeds, right)
    if beyond and right:
        beyond = _without(beyond, right, scene.deed)
    return tuple([str(call) for call in beyond])


def _without(
    deeds: Sequence[Call], right: list[Call], told_by: Callable[[Call], object] | None = None
) -> list[Call]:
    """Return the deeds that have none among the right ones, from which theirs are taken out."""
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


def _unknown(call: Call, known: Collection[str]) -> Iterator[str]:
    """Yield the parameters of a call that its function does not have; beyond all, the position."""
    for position in range(len(known), len(call.args)):
        yield f"{_short(call.name)}.{position + 1}"
    for name in call.kwargs:
        if name not in known:
            yield f"{_short(call.name)}.{_short(name)}"


def _short(name: str) -> str:
    return name[:_MOST_NAME]


def selected_in_turns(
    truth: Sequence[TurnOutcome], model: Sequence[TurnOutcome], scene: Scene
) -> Selected:
    """Return what executed calls chose, turn by turn; of turns that were not reached nothing.

    A call of the ground truth counts as chosen where its function is called in its turn, as often
    as it is needed; its arguments are right where all are equal, defaults filled in.
    """
    needed = same = meant = named = strangers = 0
    names: Set[str] = frozenset()
    for turn, right in enumerate(truth):
        wanted = right.calls
        needed += len(wanted)
        made = model[turn].calls if turn < len(model) else ()
        if made == wanted:  # most turns are
            same += len(wanted)
            continue
        left: list[object] = [*made]
        missed = []
        for call in wanted:
            if call in left:  # most are as written
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
            meant += _taken(asked, given, partial(_as_meant, scene))
            named += _taken(asked, given)
        names = names or _names(truth)
        others = [call.name for call in given if call.name not in names]
        if others:
            offered = scene.offered(turn)
            strangers += sum(name in offered for name in others)
    return Selected(needed, same + meant + named, same + meant, strangers)


def _names(outcomes: Sequence[TurnOutcome]) -> Set[str]:
    return {call.name for outcome in outcomes for call in outcome.calls if isinstance(call, Call)}


def _taken(
    wanted: list[Call], given: list[Call], equal: Callable[[Call, Call], bool] | None = None
) -> int:
    """Take pairs of the same function out of two lists, and return how many there were."""
    found = 0
    for call in tuple(wanted):
        for place, other in enumerate(given):
            if call.name == other.name and (equal is None or equal(call, other)):
                wanted.remove(call)
                del given[place]
                found += 1
                break
    return found


def _as_meant(scene: Scene, one: Call, other: Call) -> bool:
    if not (one.args or other.args) and one.kwargs.keys() == other.kwargs.keys():
        # They are not as written, and nothing is to be filled in.
        return False
    return scene.filled(one) == scene.filled(other)
