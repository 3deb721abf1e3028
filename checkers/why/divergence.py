"""An episode beside its ground truth: which calls answer which, and where the two parted.

A turn's ground truth passes through several states, and its calls may come in another order. A
value is therefore *off the path* only where it is in none of these states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from checkers.order import missing_results
from checkers.why.trace import Trace, TracedCall, TracedTurn
from envs.calls import Call
from envs.errors import MalformedCall
from envs.registry import backend_class
from envs.results import Result
from envs.state import ABSENT, Difference, Snapshot, brief, cut
from envs.tool import Tool, parameters

_SHOWN = 3
"""Wrong arguments of one call that are told one by one."""


class Act(NamedTuple):
    """One executed call: what was asked for, and what it did."""

    step: int
    """Index of its step in the turn."""
    traced: TracedCall
    name: str
    """The function's name; empty where no call could be read."""
    tool: Tool | None
    """The function; None where there is none of that name."""
    offered: bool
    """Whether the model was shown the function."""
    arguments: Mapping[str, Any]
    """By parameter, with the function's defaults; ABSENT where a required one was not given."""
    changes: tuple[Difference, ...]
    """What it changed of the compared state: expected is before, actual after."""
    moved: bool
    """Whether it changed any state, such as the working directory, which is not compared."""

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.traced.result.ok

    @property
    def text(self) -> str:
        """The call as a Python call expression; the reason where none could be read."""
        return str(self.traced.call)

    @property
    def result(self) -> str:
        """What the model read."""
        return self.traced.result.text


class Alignment(NamedTuple):
    """The acts of a turn that stand alone, and pairs of equal calls that did not do the same."""

    missing: tuple[Act, ...]
    """Those of the ground truth that nothing the model did stands for."""
    extra: tuple[Act, ...]
    """Those of the model that stand for nothing in the ground truth."""
    displaced: tuple[tuple[Act, Act], ...]
    """The ground truth's and the model's."""


class Misfit(NamedTuple):
    """One argument that is not what it should be."""

    parameter: str
    expected: Any
    """ABSENT where none should be given."""
    got: Any
    """ABSENT where none was given."""


def in_words(parameter: str, allowed: Sequence[Any], given: Any) -> str:
    """Return what is wrong with an argument.

    Args:
        parameter: Its name.
        allowed: What it should be, one of these; empty where none should be given.
        given: What it is; ABSENT where none was given.
    """
    name = cut(parameter, 100)
    if not allowed:
        return f"{name} should not be given, is {brief(given, 60)}"
    right = " or ".join(brief(value, 60) for value in allowed[:3])
    return f"{name} should be {right}, is {'left out' if given is ABSENT else brief(given, 60)}"


def listed(wrong: Sequence[str]) -> str:
    """Return what is wrong with several arguments, the first few of them in full."""
    shown = "; ".join(wrong[:_SHOWN])
    return f"{shown}; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else shown


def acts_of(turn: TracedTurn) -> tuple[Act, ...]:
    """Return what the calls of a turn did, in order."""
    before, acts = turn.before, []
    for number, step in enumerate(turn.steps):
        for traced in step:
            acts.append(_act(number, traced, before, turn.offered))
            before = traced.after
    return tuple(acts)


def align(truth: TracedTurn, model: TracedTurn) -> Alignment:
    """Pair the calls of a turn with those of its ground truth.

    Equal calls with equal effect come first, then other calls to the same effect, then equal
    calls to another effect; each pair as early in the turn as can be.
    """
    missing, extra = list(acts_of(truth)), list(acts_of(model))
    _take_pairs(
        missing, extra, lambda one, other: _equal(one, other) and _to_one_effect(one, other)
    )
    _take_pairs(missing, extra, _to_one_effect)
    displaced = _take_pairs(missing, extra, lambda one, other: _equal(one, other) and other.ok)
    return Alignment(tuple(missing), tuple(extra), tuple(displaced))


def misfits(expected: Act, actual: Act) -> list[Misfit]:
    """Return the arguments in which two calls of one function differ, in the parameters' order."""
    pairs = [
        Misfit(name, expected.arguments.get(name, ABSENT), actual.arguments.get(name, ABSENT))
        for name in dict.fromkeys([*expected.arguments, *actual.arguments])
    ]
    return [pair for pair in pairs if pair.expected != pair.got]


def closest(expected: Act, candidates: Iterable[Act]) -> Act | None:
    """Return the call of the same function with the fewest wrong arguments, the first of equals."""
    same = [act for act in candidates if act.name == expected.name]
    return min(same, key=lambda act: len(misfits(expected, act)), default=None)


def touching(changes: Iterable[Difference], others: Iterable[Difference]) -> list[Difference]:
    """Return those differences that are at, above or below the place of another one."""
    return list(filter(reaching(others), changes))


def reaching(others: Iterable[Difference]) -> Callable[[Difference], bool]:
    """Return what tells whether a difference touches one of these."""
    places = {other.path for other in others}
    above = {outer for place in places for outer in _outer(place)}
    return lambda change: change.path in above or not places.isdisjoint(_outer(change.path))


def _act(step: int, traced: TracedCall, before: Snapshot, offered: frozenset[str]) -> Act:
    call = traced.call
    tool = None if isinstance(call, MalformedCall) else _tool(before, call.name)
    return Act(
        step,
        traced,
        name="" if isinstance(call, MalformedCall) else call.name,
        tool=tool,
        offered=not isinstance(call, MalformedCall) and call.name in offered,
        arguments={} if isinstance(call, MalformedCall) else _arguments(call, tool),
        changes=tuple(before.differences(traced.after)),
        moved=before.states != traced.after.states,
    )


def _tool(state: Snapshot, name: str) -> Tool | None:
    found = None
    for environment in state.states:
        # As in a session, a later backend wins a clash.
        found = backend_class(environment).TOOLS.get(name, found)
    return found


def _arguments(call: Call, tool: Tool | None) -> dict[str, Any]:
    known = parameters(tool) if tool else ()
    # Positions beyond the parameters have no name, so their number is it.
    names = [*(p.name for p in known), *map(str, range(len(known), len(call.args)))]
    defaults = {p.name: ABSENT if p.default is p.empty else p.default for p in known}
    return {**defaults, **dict(zip(names, call.args, strict=False)), **call.kwargs}


def _outer(path: str) -> Iterator[str]:
    """Yield a path and those of what it is in; a bracket or dot in a key gives no path at all."""
    yield path
    for index, character in enumerate(path):
        if character in ".[":
            yield path[:index]


def _equal(one: Act, other: Act) -> bool:
    return bool(one.name) and one.name == other.name and one.arguments == other.arguments


def _to_one_effect(one: Act, other: Act) -> bool:
    return (
        one.tool is not None
        and other.tool is not None
        and one.tool.backend == other.tool.backend
        and one.changes == other.changes
        and one.result == other.result
    )


def _take_pairs(
    missing: list[Act], extra: list[Act], alike: Callable[[Act, Act], bool]
) -> list[tuple[Act, Act]]:
    """Take the pairs that are alike out of both lists, and return them."""
    pairs = []
    for expected in tuple(missing):
        index = next((i for i, act in enumerate(extra) if alike(expected, act)), None)
        if index is not None:
            pairs.append((expected, extra.pop(index)))
    taken = [id(expected) for expected, _ in pairs]
    missing[:] = [act for act in missing if id(act) not in taken]
    return pairs


class Divergence(NamedTuple):
    """The place where an episode left the ground truth."""

    turn: int
    step: int
    """Index among the turn's steps with calls; their number, where ``call`` is None."""
    call: int | None
    """Index in the step; None at the end of the turn, when what is wrong is missing."""
    differences: tuple[Difference, ...]
    """Where the state is wrong: what the ground truth has at the end of the turn, and what is
    there. Empty where only results are missing."""


def first_divergence(truth: Trace, model: Trace) -> Divergence | None:
    """Return where an episode left the ground truth first, or None where it never did.

    A detour that is over by the end of its turn is none: it is the state at the end of a turn that
    counts, and whether its results were seen by then.
    """
    seen: list[Result] = []
    for turn, (expected, actual) in enumerate(zip(truth.turns, model.turns, strict=False)):
        outcome = actual.outcome
        seen += outcome.results
        if expected.after != actual.after:
            return _departure(turn, expected, actual)
        needed = expected.outcome
        if needed.acted and (not outcome.acted or missing_results(needed.results, seen)):
            return Divergence(turn, len(actual.steps), None, ())
    return None


def off_path(truth_turn: TracedTurn, state: Snapshot) -> list[Difference]:
    """Return where a state of the model's has what the ground truth has at no moment of a turn.

    Returns:
        The differences from the state that the ground truth ends the turn in.
    """
    off = truth_turn.after.differences(state)
    for moment in (truth_turn.before, *[call.after for call in truth_turn.calls[:-1]]):
        if off:
            off = touching(off, moment.differences(state))
    return off


def _departure(turn: int, expected: TracedTurn, actual: TracedTurn) -> Divergence:
    """Return the first call that put something off the path which stayed so, or the turn's end."""
    lasting = off_path(expected, actual.after)
    if lasting:
        state = None
        for step, calls in enumerate(actual.steps):
            for index, call in enumerate(calls):
                if call.after is state:
                    continue
                state = call.after
                off = touching(off_path(expected, state), lasting)
                if off:
                    return Divergence(turn, step, index, tuple(off))
    missing = expected.after.differences(actual.after)
    return Divergence(turn, len(actual.steps), None, tuple(missing))
