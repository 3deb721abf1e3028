"""What a model did in excess: deeds for good that nobody asked for, and calls that it made up.

Both are counted, whether the entry passes or not, in one walk over the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from checkers.scene import Scene
from checkers.verdict import Hallucinated, TurnOutcome, Verdict
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
