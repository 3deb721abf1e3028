"""Comparison of an episode's calls with the ground-truth calls, to find the first wrong call.

The calls of a turn may come in any order. A value is *off the path* if it never occurs in the
ground truth's turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from checkers.causes.trace import TracedCall, TracedTurn
from envs.calls import Call
from envs.errors import MalformedCall
from envs.registry import backend_class
from envs.state import ABSENT, Difference, Snapshot, cut, cut_repr
from envs.tool import Tool, parameters

_SHOWN = 3


class CallEffect(NamedTuple):
    """One executed call and its effect."""

    step: int
    position: int
    traced: TracedCall
    name: str
    tool: Tool | None
    """The function; None if the name is unknown."""
    offered: bool
    arguments: Mapping[str, Any]
    """Values by parameter, including defaults; ABSENT for a missing required parameter."""
    changes: tuple[Difference, ...]
    """Changes that the call made to the compared state; ``expected`` is the value before the call,
    ``actual`` the value after it."""
    moved: bool
    """Whether the call changed any state, even the working directory."""

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.traced.result.ok

    @property
    def text(self) -> str:
        """The call as a Python expression, or the parse error of a malformed call."""
        return str(self.traced.call)

    @property
    def result(self) -> str:
        """Text of the result, as the model read it."""
        return self.traced.result.text


class CallAlignment(NamedTuple):
    """Differences between the calls of the model and the ground truth in a turn."""

    missing: tuple[CallEffect, ...]
    extra: tuple[CallEffect, ...]
    displaced: tuple[tuple[CallEffect, CallEffect], ...]
    """Pairs of equal calls whose effects differ; each pair begins with the ground truth's call."""


class ArgumentMismatch(NamedTuple):
    """A wrong argument of a call."""

    parameter: str
    expected: Any
    got: Any


def describe_argument(parameter: str, allowed: Sequence[Any], given: Any) -> str:
    """Describe a wrong argument; if ``allowed`` is empty, the argument should not be given."""
    name = cut(parameter, 100)
    if not allowed:
        return f"{name} should not be given, but is {_show(given)}"
    right = " or ".join(map(_show, allowed[:3]))
    return f"{name} should be {right}, but is {'missing' if given is ABSENT else _show(given)}"


def _show(value: Any) -> str:
    return cut(str(value), 60) if isinstance(value, Call) else cut_repr(value, 60)


def join_descriptions(wrong: Sequence[str]) -> str:
    """Join the descriptions of the first few wrong arguments."""
    shown = "; ".join(wrong[:_SHOWN])
    return f"{shown}; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else shown


def list_effects(turn: TracedTurn) -> tuple[CallEffect, ...]:
    """Return the calls of a turn with their effects, in order."""
    before, acts = turn.before, []
    for number, step in enumerate(turn.steps):
        for index, traced in enumerate(step):
            acts.append(_make_effect((number, index), traced, before, turn.offered))
            before = traced.after
    return tuple(acts)


def match_effects(truth: TracedTurn, model: TracedTurn) -> CallAlignment:
    """Match the calls of a turn with the calls of its ground truth.

    Round 1 pairs equal calls with equal effects. Round 2 pairs other calls with equal effects.
    Round 3 pairs equal calls if the model's call succeeded. Each round prefers earlier calls.
    """
    missing, extra = list(list_effects(truth)), list(list_effects(model))
    _take_pairs(
        missing, extra, lambda one, other: _is_equal(one, other) and _has_same_effect(one, other)
    )
    _take_pairs(missing, extra, _has_same_effect)
    displaced = _take_pairs(missing, extra, lambda one, other: _is_equal(one, other) and other.ok)
    return CallAlignment(tuple(missing), tuple(extra), tuple(displaced))


def list_mismatches(expected: CallEffect, actual: CallEffect) -> list[ArgumentMismatch]:
    """Return the arguments that differ between two calls of one function, in parameter order.

    Missing arguments come first, as they make a call fail. Arguments with nested calls come last.
    """
    pairs = [
        ArgumentMismatch(
            name, expected.arguments.get(name, ABSENT), actual.arguments.get(name, ABSENT)
        )
        for name in dict.fromkeys([*expected.arguments, *actual.arguments])
    ]
    wrong = [pair for pair in pairs if pair.expected != pair.got]
    return sorted(wrong, key=lambda pair: (isinstance(pair.got, Call), pair.got is not ABSENT))


def find_closest(expected: CallEffect, candidates: Iterable[CallEffect]) -> CallEffect | None:
    """Return the candidate that calls the same function and has the fewest wrong arguments."""
    same = [act for act in candidates if act.name == expected.name]
    return min(same, key=lambda act: len(list_mismatches(expected, act)), default=None)


def filter_touching(
    changes: Iterable[Difference], others: Iterable[Difference]
) -> list[Difference]:
    """Return the changes that overlap a change in ``others``."""
    return list(filter(make_touch_test(others), changes))


def make_touch_test(others: Iterable[Difference]) -> Callable[[Difference], bool]:
    """Return the test that ``filter_touching`` applies to each change."""
    places = {other.path for other in others}
    above = {outer for place in places for outer in _list_outer_paths(place)}
    return lambda change: (
        change.path in above or not places.isdisjoint(_list_outer_paths(change.path))
    )


def _make_effect(
    place: tuple[int, int], traced: TracedCall, before: Snapshot, offered: frozenset[str]
) -> CallEffect:
    call = traced.call
    tool = None if isinstance(call, MalformedCall) else _find_tool(before, call.name)
    return CallEffect(
        *place,
        traced,
        name="" if isinstance(call, MalformedCall) else call.name,
        tool=tool,
        offered=not isinstance(call, MalformedCall) and call.name in offered,
        arguments={} if isinstance(call, MalformedCall) else _bind_arguments(call, tool),
        changes=tuple(before.differences(traced.after)),
        moved=before.states != traced.after.states,
    )


def _find_tool(state: Snapshot, name: str) -> Tool | None:
    found = None
    for environment in state.states:
        # As in a session, later backends override earlier ones.
        found = backend_class(environment).TOOLS.get(name, found)
    return found


def _bind_arguments(call: Call, tool: Tool | None) -> dict[str, Any]:
    known = parameters(tool) if tool else ()
    # Surplus positional arguments are named by their position.
    names = [*(p.name for p in known), *map(str, range(len(known), len(call.args)))]
    defaults = {p.name: ABSENT if p.default is p.empty else p.default for p in known}
    return {**defaults, **dict(zip(names, call.args, strict=False)), **call.kwargs}


def _list_outer_paths(path: str) -> Iterator[str]:
    yield path
    for index, character in enumerate(path):
        if character in ".[":
            yield path[:index]


def _is_equal(one: CallEffect, other: CallEffect) -> bool:
    return bool(one.name) and one.name == other.name and one.arguments == other.arguments


def _has_same_effect(one: CallEffect, other: CallEffect) -> bool:
    return (
        one.tool is not None
        and other.tool is not None
        and one.tool.backend == other.tool.backend
        and one.changes == other.changes
        and one.result == other.result
    )


def _take_pairs(
    missing: list[CallEffect],
    extra: list[CallEffect],
    alike: Callable[[CallEffect, CallEffect], bool],
) -> list[tuple[CallEffect, CallEffect]]:
    pairs = []
    for expected in tuple(missing):
        index = next((i for i, act in enumerate(extra) if alike(expected, act)), None)
        if index is not None:
            pairs.append((expected, extra.pop(index)))
    taken = [id(expected) for expected, _ in pairs]
    missing[:] = [act for act in missing if id(act) not in taken]
    return pairs


def find_off_path(truth_turn: TracedTurn, state: Snapshot) -> list[Difference]:
    """Return the values in ``state`` that occur in no state of the ground truth in this turn."""
    off = truth_turn.after.differences(state)
    for moment in (truth_turn.before, *[call.after for call in truth_turn.calls[:-1]]):
        if off:
            off = filter_touching(off, moment.differences(state))
    return off
