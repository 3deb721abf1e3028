"""What the checker should reject, and what it should accept, beside the ground truth as it is.

Every ground truth is altered in ways of which it is known beforehand whether a careful judge minds
them, by seed, so that the same data gives the same alterations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, permutations
from random import Random
from typing import NamedTuple

from checkers.told import literals
from envs.calls import Call, parse_call
from envs.errors import BackendFault, MalformedCall
from envs.results import Result
from envs.tool import parameters
from extensions.authoring.making.base import candidate_calls
from extensions.authoring.rules.entry import Entry, TruthStep

_TRIED = 40
"""So many calls of a function are tried to find one that does as is wanted."""
_FUNCTIONS = 12
"""So many functions are tried."""
_ORDERS = 23
"""So many other orders of a turn are tried."""
_UNTOLD = "Quixotebury 77193"
"""A text that nobody tells."""

Calls = Sequence[Call | MalformedCall]


class Alteration(NamedTuple):
    """One altered turn, judged."""

    id: str
    turn: int
    calls: tuple[str, ...]
    """The calls of the turn."""
    reason: str | None
    """Why the checker rejects it; None where it accepts."""


class Tally(NamedTuple):
    """How alterations of one kind are judged."""

    name: str
    is_wrong: bool
    """Whether they should be rejected; where not, they should be accepted."""
    variants: int
    unlike: tuple[Alteration, ...]
    """Those that are judged otherwise than they should be."""


def tallies(entries: Iterable[Entry], names: Collection[str] = ()) -> list[Tally]:
    """Alter the ground truth of many entries, and count what the checker says.

    Args:
        entries: Whose ground truth.
        names: Of the kinds of alteration; none for all of them.
    """
    kinds = {name: kind for name, kind in _KINDS.items() if name in names or not names}
    counts = dict.fromkeys(kinds, 0)
    unlike: dict[str, list[Alteration]] = {name: [] for name in kinds}
    for entry in (entry for entry in entries if not entry.fault):
        for name, (is_wrong, alter) in kinds.items():
            for turn in range(len(entry.calls)):
                for calls in alter(entry, turn):
                    counts[name] += 1
                    found = _judged(entry, turn, calls)
                    if (found.reason is not None) != is_wrong:
                        unlike[name].append(found)
    return [
        Tally(name, is_wrong, counts[name], tuple(unlike[name]))
        for name, (is_wrong, _) in kinds.items()
    ]


def _judged(entry: Entry, turn: int, calls: Calls) -> Alteration:
    texts = tuple(map(str, calls))
    try:
        failure = entry.rejection(turn, calls)
    except BackendFault as fault:
        return Alteration(entry.trajectory.id, turn, texts, str(fault))
    return Alteration(entry.trajectory.id, turn, texts, failure and failure.reason.value)


def _wrong_functions(entry: Entry, turn: int) -> Iterator[Calls]:
    """Yield the turn with another function of the same backend for one call each.

    A call that may be left out, and functions that the entry accepts instead, are none of them.
    """
    for step in entry.turns[turn]:
        if isinstance(step.call, Call) and not entry.accepts_without(step):
            tools = entry.template.tools
            if step.call.name not in tools:
                continue
            own = tools[step.call.name].backend
            right = {step.call.name, *_accepted(entry, step)}
            others = [t for t in tools.values() if t.backend == own and t.name not in right]
            if not others:
                continue
            tool = _source(entry, turn, step.position).choice(others)
            names = [parameter.name for parameter in parameters(tool)]
            values = entry.arguments(step.call).values()
            yield entry.instead(step, Call(tool.name, (), dict(zip(names, values, strict=False))))


def _accepted(entry: Entry, step: TruthStep) -> Iterator[str]:
    """Yield the functions of what an entry accepts instead of a call."""
    turn = entry.trajectory.turns[step.turn]
    for alternative in turn.accepts:
        if alternative.call == turn.ground_truth[step.position]:
            yield from (parse_call(text).name for text in alternative.instead)


def _harmful_writes(entry: Entry, turn: int) -> Iterator[Calls]:
    """Yield the turn with a call at its end that changes what is compared."""
    session = entry.starts[turn].fork()
    session.play(entry.calls[turn])
    state = session.snapshot()

    def harms(call: Call) -> bool:
        there = session.fork()
        return there.call(call).changed and there.snapshot() != state

    for call in _found(entry, turn, harms, writes=True):
        yield [*entry.calls[turn], call]


def _harmless_reads(entry: Entry, turn: int) -> Iterator[Calls]:
    """Yield the turn with one read more, somewhere in it."""
    calls = entry.calls[turn]
    place = _source(entry, turn).randint(0, len(calls))
    session = entry.starts[turn].fork()
    session.play(calls[:place])
    for call in _found(entry, turn, lambda call: session.fork().call(call).ok, writes=False):
        yield [*calls[:place], call, *calls[place:]]


def _found(
    entry: Entry, turn: int, fits: Callable[[Call], bool], *, writes: bool
) -> Iterator[Call]:
    """Yield the first call that does as is wanted, with values out of the entry, if any does."""
    known = list(dict.fromkeys(literals([entry.trajectory.config, *_arguments(entry)])))
    source = _source(entry, turn)
    offered = entry.trajectory.offered(tuple(entry.template.tools), turn)
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


def _failing_first(entry: Entry, turn: int) -> Iterator[Calls]:
    """Yield the turn after a call of it with an argument that its function does not take."""
    for call in entry.calls[turn][:1]:
        if isinstance(call, Call):
            broken = call._replace(kwargs={**call.kwargs, "surely_not_a_parameter": 1})
            yield [broken, *entry.calls[turn]]


def _other_orders(entry: Entry, turn: int) -> Iterator[Calls]:
    """Yield the turn in other orders that give the same results and the same state."""
    calls, truth = entry.calls[turn], entry.truth[turn]
    orders = islice(permutations(range(len(calls))), 1, _ORDERS + 1)
    for order in orders if len(calls) > 1 else ():
        session = entry.starts[turn].fork()
        results: dict[int, Result] = {index: session.call(calls[index]) for index in order}
        same = all(results[i].text == expected.text for i, expected in enumerate(truth.results))
        if same and session.snapshot() == truth.snapshot:
            yield [calls[index] for index in order]


def _guesses(entry: Entry, turn: int) -> Iterator[Calls]:
    """Yield a turn that waits with the call that it waits for, and an invented value."""
    for call in _awaited(entry, turn):
        waiting = entry.scene.waiting(turn, call.name)
        given = entry.arguments(call)
        guess = {name: _invented(given[name]) for name in given if name in waiting}
        if guess:
            yield [Call(call.name, (), {**given, **guess})]


def _absent_functions(entry: Entry, turn: int) -> Iterator[Calls]:
    """Yield a turn that waits with a call of what is handed over later."""
    offered = entry.trajectory.offered(tuple(entry.template.tools), turn)
    for call in _awaited(entry, turn):
        if call.name not in offered:
            yield [call]
            return


def _awaited(entry: Entry, turn: int) -> list[Call]:
    """Return the calls of the turn that completes one in which nothing is to be done."""
    if entry.calls[turn] or entry.trajectory.turns[turn].only_asks:
        return []
    later = next((calls for calls in entry.calls[turn:] if calls), [])
    return [call for call in later if isinstance(call, Call)]


def _invented(value: object) -> object:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return type(value)(77193)
    return [_UNTOLD] if isinstance(value, (list, tuple)) else _UNTOLD


def _arguments(entry: Entry) -> Iterator[object]:
    return (entry.arguments(call) for calls in entry.calls for call in calls)


def _source(entry: Entry, turn: int, position: int = 0) -> Random:
    return Random(f"{entry.trajectory.id} {turn} {position}")


_KINDS: Mapping[str, tuple[bool, Callable[[Entry, int], Iterator[Calls]]]] = {
    "another function in a call's place": (True, _wrong_functions),
    "a harmful write more": (True, _harmful_writes),
    "an invented value while it waits": (True, _guesses),
    "an absent function while it waits": (True, _absent_functions),
    "a harmless read more": (False, _harmless_reads),
    "a failing call first": (False, _failing_first),
    "another order to the same end": (False, _other_orders),
}
"""Whether the checker should reject it, and what makes it."""
