"""Whether a model chose the functions that were needed, and whether it called them aright.

What is needed are the calls of the ground truth. They are counted, whether the entry passes or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import partial

from checkers.scene import Scene
from checkers.verdict import Selected, TurnOutcome
from envs.calls import Call


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
    """Take pairs of the same function out of two lists, and return how many there were.

    Args:
        wanted: The one list.
        given: The other.
        equal: What else is to be true of a pair.
    """
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
