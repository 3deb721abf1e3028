"""Whether a model chose the functions that were needed, and whether it called them aright.

What is needed are the calls of the ground truth. They are counted, whether the entry passes or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
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
    needed = functions = arguments = strangers = 0
    names: Set[str] = frozenset()
    for turn, right in enumerate(truth):
        left: list[object] = [*model[turn].calls] if turn < len(model) else []
        needed += len(right.calls)
        if not left:
            continue
        wanted = []
        for call in right.calls:
            if call in left:  # most are as written
                left.remove(call)
                functions += 1
                arguments += 1
            else:
                wanted.append(call)
        given = [call for call in left if isinstance(call, Call)]
        if wanted and given:
            asked = [call for call in wanted if isinstance(call, Call)]
            meant = _taken(asked, given, partial(_as_meant, scene))
            functions += meant + _taken(asked, given, _same_function)
            arguments += meant
        if given:
            names = names or {*_names(truth)}
            others = [call.name for call in given if call.name not in names]
            offered = scene.offered(turn) if others else ()
            strangers += sum(name in offered for name in others)
    return Selected(needed, functions, arguments, strangers)


def _names(outcomes: Sequence[TurnOutcome]) -> Iterator[str]:
    for outcome in outcomes:
        for call in outcome.calls:
            if isinstance(call, Call):
                yield call.name


def _taken(wanted: list[Call], given: list[Call], equal: Callable[[Call, Call], bool]) -> int:
    """Take pairs of equals out of two lists, and return how many there were."""
    found = 0
    for call in tuple(wanted):
        other = next((place for place, one in enumerate(given) if equal(call, one)), None)
        if other is not None:
            wanted.remove(call)
            del given[other]
            found += 1
    return found


def _as_meant(scene: Scene, one: Call, other: Call) -> bool:
    if one.name != other.name:
        return False
    if not (one.args or other.args) and one.kwargs.keys() == other.kwargs.keys():
        # They are not as written, and nothing is to be filled in.
        return False
    return scene.filled(one) == scene.filled(other)


def _same_function(one: Call, other: Call) -> bool:
    return one.name == other.name
