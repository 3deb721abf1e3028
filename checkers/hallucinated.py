"""Calls that a model made up: of functions or with parameters that are not there, or for nothing.

They are counted, whether the entry passes or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from checkers.scene import Scene
from checkers.verdict import Hallucinated, TurnOutcome
from envs.calls import Call, inner_calls

_MOST_NAME = 100
"""Characters of a name that are kept."""


def made_up_in_turns(
    truth: Sequence[TurnOutcome], model: Sequence[TurnOutcome], scene: Scene
) -> Hallucinated:
    """Return what executed calls made up.

    None fits in a turn in which nothing is to be done; what only looks there does no harm.
    """
    functions: list[str] = []
    parameters: list[str] = []
    needless: list[str] = []
    for turn, (right, outcome) in enumerate(zip(truth, model, strict=False)):
        offered = scene.offered(turn) if outcome.calls else ()
        for call, result in zip(outcome.calls, outcome.results, strict=True):
            if not isinstance(call, Call):
                continue
            if result.changed and not right.acted:
                needless.append(_short(call.name))
            if result.ok and not call.nested and call.name in offered:
                continue
            for each in (call, *inner_calls(call)):
                if each.name not in offered:
                    functions.append(_short(each.name))
                else:
                    parameters += _unknown(each, scene.parameters(each.name))
    return Hallucinated(tuple(functions), tuple(parameters), tuple(needless))


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


def _unknown(call: Call, known: Collection[str]) -> Iterator[str]:
    """Yield the parameters of a call that its function does not have; beyond all, the position."""
    for position in range(len(known), len(call.args)):
        yield f"{_short(call.name)}.{position + 1}"
    for name in call.kwargs:
        if name not in known:
            yield f"{_short(call.name)}.{_short(name)}"


def _short(name: str) -> str:
    return name[:_MOST_NAME]
