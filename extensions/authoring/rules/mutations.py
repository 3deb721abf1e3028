"""Alterations of the ground truth that the checker should reject or accept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, permutations
from random import Random
from typing import NamedTuple

from checkers.known_values import list_literals
from envs.calls import Call, parse_call
from envs.errors import BackendFault, MalformedCall
from envs.results import Result
from envs.tool import parameters
from extensions.authoring.making.maker_helpers import candidate_calls
from extensions.authoring.rules.replayed_entry import Entry, TruthStep

_TRIED, _FUNCTIONS = 40, 12
"""Limits of a search: ``_TRIED`` calls per function, and ``_FUNCTIONS`` functions."""
_ORDERS = 23
"""Maximum number of orders that are tried for the calls of a turn."""
_UNTOLD = "Quixotebury 77193"
"""String that no entry contains."""

Calls = Sequence[Call | MalformedCall]


class AlteredTurn(NamedTuple):
    """Turn with altered calls, and the reason for its rejection."""

    id: str
    turn: int
    calls: tuple[str, ...]
    reason: str | None
    """Reason of the rejection; None if the checker accepts the turn."""


class AlterationCounts(NamedTuple):
    """Verdicts on one kind of alteration."""

    name: str
    is_wrong: bool
    """Whether the checker should reject these alterations."""
    variants: int
    unlike: tuple[AlteredTurn, ...]
    """Altered turns that the checker judges wrongly."""


def tallies(entries: Iterable[Entry], names: Collection[str] = ()) -> list[AlterationCounts]:
    """Count the right verdicts on altered ground truths; ``names`` selects the alterations."""
    kinds = {name: kind for name, kind in _KINDS.items() if name in names or not names}
    counts = dict.fromkeys(kinds, 0)
    unlike: dict[str, list[AlteredTurn]] = {name: [] for name in kinds}
    for entry in (entry for entry in entries if not entry.fault):
        for name, (is_wrong, alter) in kinds.items():
            for turn in range(len(entry.calls)):
                for calls in alter(entry, turn):
                    counts[name] += 1
                    found = _judge(entry, turn, calls)
                    if (found.reason is not None) != is_wrong:
                        unlike[name].append(found)
    return [
        AlterationCounts(name, is_wrong, counts[name], tuple(unlike[name]))
        for name, (is_wrong, _) in kinds.items()
    ]


def _judge(entry: Entry, turn: int, calls: Calls) -> AlteredTurn:
    try:
        failure = entry.rejection(turn, calls)
        reason = failure and failure.reason.value
    except BackendFault as fault:
        reason = str(fault)
    return AlteredTurn(entry.trajectory.id, turn, tuple(map(str, calls)), reason)


def _replace_functions(entry: Entry, turn: int) -> Iterator[Calls]:
    """Yield versions of the turn, each with one call replaced by a call of another function.

    Optional calls are not replaced. The new function is not an accepted alternative of the entry.
    """
    tools = entry.template.tools
    for step in entry.turns[turn]:
        if step.function not in tools or entry.accepts_without(step):
            continue
        own = tools[step.function].backend
        right = {step.function, *_accepted_functions(entry, step)}
        others = [t for t in tools.values() if t.backend == own and t.name not in right]
        if not others:
            continue
        tool = _random(entry, turn, step.position).choice(others)
        names = [parameter.name for parameter in parameters(tool)]
        values = entry.arguments(step.call).values()
        yield entry.instead(step, Call(tool.name, (), dict(zip(names, values, strict=False))))


def _accepted_functions(entry: Entry, step: TruthStep) -> Iterator[str]:
    turn = entry.trajectory.turns[step.turn]
    for alternative in turn.accepts:
        if alternative.call == turn.ground_truth[step.position]:
            yield from (parse_call(text).name for text in alternative.instead)


def _append_harmful_write(entry: Entry, turn: int) -> Iterator[Calls]:
    """Yield the turn's calls followed by a call that makes the final state wrong."""
    session = entry.starts[turn].fork()
    session.play(entry.calls[turn])
    state = session.snapshot()

    def harms(call: Call) -> bool:
        fork = session.fork()
        return fork.call(call).changed and fork.snapshot() != state

    for call in _find_call(entry, turn, harms, writes=True):
        yield [*entry.calls[turn], call]


def _insert_harmless_read(entry: Entry, turn: int) -> Iterator[Calls]:
    calls = entry.calls[turn]
    place = _random(entry, turn).randint(0, len(calls))
    session = entry.starts[turn].fork()
    session.play(calls[:place])
    for call in _find_call(entry, turn, lambda call: session.fork().call(call).ok, writes=False):
        yield [*calls[:place], call, *calls[place:]]


def _find_call(
    entry: Entry, turn: int, fits: Callable[[Call], bool], *, writes: bool
) -> Iterator[Call]:
    arguments = [entry.arguments(call) for calls in entry.calls for call in calls]
    known = list(dict.fromkeys(list_literals([entry.trajectory.config, *arguments])))
    source = _random(entry, turn)
    offered = entry.offered(turn)
    tools = [
        tool
        for tool in entry.template.tools.values()
        if tool.writes == writes
        and tool.name in offered
        and not (entry.calls[turn] == [] and entry.scene.waiting(turn, tool.name))
    ]
    for tool in source.sample(tools, min(len(tools), _FUNCTIONS)):
        source.shuffle(known)
        call = next(filter(fits, candidate_calls(tool, known[:_TRIED], _TRIED)), None)
        if call is not None:
            yield call
            return


def _prepend_failing_call(entry: Entry, turn: int) -> Iterator[Calls]:
    """Insert a failing call at the start: a copy of the first call with an unknown argument."""
    for call in entry.calls[turn][:1]:
        if isinstance(call, Call):
            broken = call._replace(kwargs={**call.kwargs, "surely_not_a_parameter": 1})
            yield [broken, *entry.calls[turn]]


def _reorder(entry: Entry, turn: int) -> Iterator[Calls]:
    """Yield the turn's calls in other orders that give the same results and the same state."""
    if entry.trajectory.turns[turn].ordered:
        return
    calls, truth = entry.calls[turn], entry.truth[turn]
    orders = islice(permutations(range(len(calls))), 1, _ORDERS + 1)
    for order in orders if len(calls) > 1 else ():
        session = entry.starts[turn].fork()
        results: dict[int, Result] = {index: session.call(calls[index]) for index in order}
        same = all(results[i].text == expected.text for i, expected in enumerate(truth.results))
        if same and session.snapshot() == truth.snapshot:
            yield [calls[index] for index in order]


def _guess_value(entry: Entry, turn: int) -> Iterator[Calls]:
    """Yield calls with guesses: invented values replace values that the user states later."""
    for call in _awaited_calls(entry, turn):
        waiting = entry.scene.waiting(turn, call.name)
        given = entry.arguments(call)
        guess = {name: _invent(given[name]) for name in given if name in waiting}
        if guess:
            yield [Call(call.name, (), {**given, **guess})]


def _call_absent_function(entry: Entry, turn: int) -> Iterator[Calls]:
    offered = entry.offered(turn)
    for call in _awaited_calls(entry, turn):
        if call.name not in offered:
            yield [call]
            return


def _awaited_calls(entry: Entry, turn: int) -> list[Call]:
    if entry.calls[turn] or entry.trajectory.turns[turn].only_asks:
        return []
    later = next((calls for calls in entry.calls[turn:] if calls), [])
    return [call for call in later if isinstance(call, Call)]


def _invent(value: object) -> object:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return type(value)(77193)
    return [_UNTOLD] if isinstance(value, (list, tuple)) else _UNTOLD


def _random(entry: Entry, turn: int, position: int = 0) -> Random:
    return Random(f"{entry.trajectory.id} {turn} {position}")


_KINDS: Mapping[str, tuple[bool, Callable[[Entry, int], Iterator[Calls]]]] = {
    "one function replaced": (True, _replace_functions),
    "a harmful write added": (True, _append_harmful_write),
    "an invented value for a missing parameter": (True, _guess_value),
    "a call of a function that is offered later": (True, _call_absent_function),
    "a harmless read added": (False, _insert_harmless_read),
    "a failing call first": (False, _prepend_failing_call),
    "another order with the same results": (False, _reorder),
}
"""Kinds of changes. True means that the checker should reject the change."""
