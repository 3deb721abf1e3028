"""Check that the state after each call can be loaded as a config and keeps its types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from envs.calls import Call
from envs.state import cut, cut_repr, has_changed
from extensions.contract.boundary_plays import boundary_scripts
from extensions.contract.checked_environment import CheckedEnvironment, ContractViolation
from extensions.contract.random_play import RandomPlay, explore
from extensions.contract.start_states import EVENT_PREFIX
from extensions.contract.timed_session import CallTimeout

_PLAIN = frozenset({str, int, float, bool, type(None), list, dict})
"""Types of values that a config has after loading."""
_ADVICE: Mapping[type, str] = {
    tuple: "store list(...)", set: "store sorted(...)", frozenset: "store sorted(...)",
}  # fmt: skip
_IS_TOO_LARGE = re.compile(r"should be less than|should have at most")
"""Messages about a maximum, such as a stock of at most 100. The maximum limits only configs
that authors write; calls may produce larger values."""
_PLAIN_VALUE = "store a plain value"
_MAX_PART = 300
"""In a message, the call and the error text each have at most this number of characters."""


def reached(subject: CheckedEnvironment) -> None:
    """Check the state after each call that changes it."""
    explore(subject, partial(_check_states, subject), boundary_scripts(subject))


def _check_states(subject: CheckedEnvironment, play: RandomPlay) -> None:
    # The arguments of a generated event may not be valid in a config.
    if f"'id': '{EVENT_PREFIX}" in repr(play.start.worlds):
        return
    before = play.session.snapshot().states
    # A default may contradict a config.
    names = [name for name in subject.own_names if not _find_problem(subject, play, name)]
    for call, _ in play.steps():
        after = play.session.snapshot().states
        for name in names:
            is_exempt = subject.excepts("reached states", subject.all_tools[call.name])
            if has_changed(before[name], after[name]) and not is_exempt:
                _check_types(subject, play, call, name, before[name])
                _check_config(subject, play, call, name)
        before = after


def _check_config(subject: CheckedEnvironment, play: RandomPlay, call: Call, name: str) -> None:
    if problem := _find_problem(subject, play, name):
        shown, why = cut(str(call), _MAX_PART), cut(str(problem), _MAX_PART)
        said = f"the state after {shown} cannot be loaded as a config: {why}"
        advice = (
            "make Config and `references` accept this state, or let the function refuse the call"
        )
        raise subject.broken(f"{said}; {advice}", call, "state")


def _find_problem(subject: CheckedEnvironment, play: RandomPlay, name: str) -> object:
    start = subject.start_of(play.session.snapshot(), play.start.pack)
    config = start.config if name == subject.name else start.worlds[name]
    for problem in subject.get_class(name).check_config(config):
        if not _IS_TOO_LARGE.search(problem.message):
            return problem
    return None


def _check_types(
    subject: CheckedEnvironment,
    play: RandomPlay,
    call: Call,
    name: str,
    before: Mapping[str, Any],
) -> None:
    kind = type(play.session.backends[name])
    state = vars(play.session.backends[name])
    for field in kind.KEYS.values():
        value = state.get(field)
        if value is before.get(field) or (found := _find_other_type(value, field)) is None:
            continue
        path, part = found
        try:
            start = subject.start_of(play.session.snapshot(), play.start.pack)
            loaded = vars(subject.session(start).backends[name])[field]
        except (ContractViolation, CallTimeout):
            continue
        # The method `_load` may make the same types.
        if _find_other_type(loaded, field) is None:
            label = f"{name}.{path}"
            name_of = type(part).__name__
            if type(part) in _PLAIN:
                said = f"the {name_of} key {part!r} in {label}"
                advice = f"a config has the key {str(part)!r} instead; store str(key)"
            else:
                said = f"the {name_of} {cut_repr(part, 60)} in {label}"
                advice = (
                    f"a config cannot contain this type; {_ADVICE.get(type(part), _PLAIN_VALUE)}"
                )
            shown = cut(str(call), _MAX_PART)
            message = f"{shown} stores {said}; {advice}, or convert the value in `_load`"
            raise subject.broken(message, call, partial(_find_in_field, field))


def _find_in_field(field: str, state: Mapping[str, Any]) -> object:
    return _find_other_type(state.get(field), field)


def _find_other_type(value: object, path: str) -> tuple[str, object] | None:
    """Return the path and the value of the first part that JSON cannot represent.

    A key that is not a string also counts.
    """
    if type(value) not in _PLAIN:
        return path, value
    if isinstance(value, dict):
        for key, member in value.items():
            if type(key) is not str:
                return path, key
            if found := _find_other_type(member, f"{path}[{key!r}]"):
                return found
    elif isinstance(value, list):
        for index, member in enumerate(value):
            if found := _find_other_type(member, f"{path}[{index}]"):
                return found
    return None
