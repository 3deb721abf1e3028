"""Playthroughs with boundary values, such as the last possible date, zero, or an empty account.

Most calls with boundary values fail. Therefore, only the checks ``faults`` and ``reached states``
use these playthroughs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any

from envs.calls import Call
from envs.errors import BackendFault
from envs.state import copy_json, list_differences
from extensions.contract.checked_environment import (
    CheckedEnvironment,
    ContractViolation,
    StartState,
    list_leaves,
)
from extensions.contract.generated_values import inline_config_schema, is_time, list_bounds
from extensions.contract.random_play import (
    PlayMaker,
    RandomPlay,
    RecordedPlay,
    list_proven,
    rich_starts,
    scripts,
)
from extensions.contract.start_states import find_place, generated_starts, loads
from extensions.worlds.world_clock import WorldClock

_TIMES = (
    "9999-12-31T23:59:59", "2024-02-29T00:00:00", "2026-01-31T23:59:00", "0001-01-01T00:00:00",
)  # fmt: skip
"""Boundary times, such as the end of the last possible year."""
_RICH, _LATEST, _OTHER_TIMES = 6, 6, 2
"""``_RICH``: maximum number of large states."""
_MAX_NUMBERS, _MAX_USED_UP = 16, 16
"""``_MAX_NUMBERS``: maximum number of configs with a boundary number. ``_MAX_USED_UP``: maximum
number of playthroughs that use up a field."""
_NEW_NAME = "Nemo"
"""A name that no state contains."""


@cache
def boundary_scripts(subject: CheckedEnvironment) -> Sequence[RecordedPlay]:
    """Return playthroughs that start from or lead to boundary values, such as 0."""
    maker = PlayMaker(subject)
    maker.proven.update({name: [*calls] for name, calls in list_proven(subject).items()})
    rich = rich_starts(subject, scripts(subject), _RICH)
    starts = [*rich, *generated_starts(subject), *subject.starts]
    times, numbers = list_boundary_times(subject, starts), list_boundary_numbers(subject, starts)
    found = [maker.play(start, maker.find_untried) for start in (*times[:_LATEST], *times)]
    found += [maker.play(start, partial(_find_shorter, subject, maker)) for start in times]
    for start in numbers:
        found.append(maker.play(start, maker.find_untried))
        found.append(maker.play(start, partial(_find_new_name, subject)))
    for start, call in list_used_up(subject, scripts(subject)):
        found.append(maker.play(start, partial(_find_after, call, maker)))
    return found


def _find_after(call: Call, maker: PlayMaker, play: RandomPlay) -> Call | None:
    return maker.find_untried(play) if play.calls else call


def _find_shorter(subject: CheckedEnvironment, maker: PlayMaker, play: RandomPlay) -> Call | None:
    """Return a call of an untried function without optional arguments."""
    call = maker.find_untried(play)
    if call is None:
        return None
    needed = {e.name for e in subject.spec(subject.all_tools[call.name]).parameters if e.required}
    given = {name: value for name, value in call.kwargs.items() if name in needed}
    return Call(call.name, (), given)


def _find_new_name(subject: CheckedEnvironment, play: RandomPlay) -> Call | None:
    """Return a successful call with ``_NEW_NAME`` in place of an argument."""
    calls = [
        Call(tool.name, (), {**given[-1], each.name: _NEW_NAME})
        for tool in subject.tools
        if (given := list_proven(subject).get(tool.name))
        for each in subject.spec(tool).parameters
        if each.name in given[-1] and subject.fits(tool, {each.name: _NEW_NAME})
    ]
    return calls[len(play.calls)] if len(play.calls) < len(calls) else None


def list_boundary_times(
    subject: CheckedEnvironment, starts: Sequence[StartState]
) -> list[StartState]:
    """Return valid configs in which one time field, or every time field, has a boundary time."""
    found: dict[tuple[str, str], StartState] = {}
    for time in _TIMES:
        most = len(found) + (_OTHER_TIMES if found else _LATEST)
        for start in starts:
            configs = subject.configs_of(start)
            clock = configs.pop(WorldClock.__name__, None)
            fields = {field: None for field, each in list_leaves(configs) if is_time(each)}
            for field in (*fields, "") if time == _TIMES[0] else ("", *fields):
                # Plans from the first year would cause thousands of events.
                is_early = clock is not None and time < "1000"
                if len(found) == most or (time, field) in found or is_early:
                    continue
                changed = _put_time(configs, "", field, time)
                if clock is not None:
                    is_moved = not field and "1000" < time < "9000"
                    moved = {"now": time[:16], "events": []} if is_moved else {}
                    changed[WorldClock.__name__] = {**clock, **moved}
                varied = StartState(changed.pop(subject.name), start.pack, changed)
                if loads(subject, varied):
                    found[time, field] = varied
    return [*found.values()]


def _put_time(value: Any, name: str, field: str, time: str) -> Any:
    """Return a copy with a new time in ``field``; an empty ``field`` stands for all fields."""
    if isinstance(value, dict):
        return {key: _put_time(each, key, field, time) for key, each in value.items()}
    if isinstance(value, list):
        return [_put_time(each, name, field, time) for each in value]
    return time[: len(value)] if field in ("", name) and is_time(value) else value


def list_boundary_numbers(
    subject: CheckedEnvironment, starts: Sequence[StartState]
) -> list[StartState]:
    """Return valid configs in which one numeric field is 0, 1 or a bound of its schema.

    For each class, one more config has 0 in all numeric fields.
    """
    found: dict[tuple[int, str], StartState] = {}
    for owner in subject.own_names:
        if owner == WorldClock.__name__:
            continue
        schema = inline_config_schema(subject.get_class(owner).Config)
        for start in starts:
            configs = subject.configs_of(start)
            for field, numbers in _list_numbers(schema, configs[owner]).items():
                for rank, number in enumerate(numbers):
                    put = partial(_put_number, field, number)
                    own = _change_numbers(schema, configs[owner], "", put)
                    key = rank, f"{owner}{field}"
                    if key in found or repr(own) == repr(configs[owner]):
                        continue
                    changed = {**configs, owner: own}
                    varied = StartState(changed.pop(subject.name), start.pack, changed)
                    if loads(subject, varied):
                        found[key] = varied
    return [found[key] for key in sorted(found)][:_MAX_NUMBERS]


def _list_numbers(schema: Mapping[str, Any], config: Any) -> dict[str, list[int | float]]:
    """Map each numeric field to boundary numbers; the key ``""`` stands for all fields together."""
    found: dict[str, list[int | float]] = {"": [0]}

    def note(path: str, schema: Mapping[str, Any], value: Any) -> Any:
        found[path] = list_bounds(schema)
        return value

    _change_numbers(schema, config, "", note)
    return found


def _put_number(
    field: str, number: int | float, path: str, schema: Mapping[str, Any], value: Any
) -> Any:
    return number if field in ("", path) and number in list_bounds(schema) else value


def _change_numbers(
    schema: Mapping[str, Any],
    value: Any,
    path: str,
    change: Callable[[str, Mapping[str, Any], Any], Any],
) -> Any:
    """Return a copy of a JSON value; ``change`` replaces each number.

    The function ``change`` receives the path, the schema and the number of a field. It returns the
    new number. In the path, ``*`` stands for a list item, or for a key that the schema does not
    name.
    """
    if isinstance(value, (dict, list)):
        kind = "object" if isinstance(value, dict) else "array"
        part = next((each for each in schema.get("anyOf", ()) if each.get("type") == kind), schema)
        own = part.get("properties", {})
        further = part.get("additionalProperties" if kind == "object" else "items")
        inside = further if isinstance(further, dict) else {}
        if isinstance(value, list):
            return [_change_numbers(inside, each, f"{path}.*", change) for each in value]
        steps = {key: f"{path}.{key if key in own else '*'}" for key in value}
        return {
            key: _change_numbers(own.get(key, inside), each, steps[key], change)
            for key, each in value.items()
        }
    for each in (schema, *schema.get("anyOf", ())):
        if type(value) in (int, float) and each.get("type") in ("integer", "number"):
            return change(path, each, value)
    return value


def list_used_up(
    subject: CheckedEnvironment, played: Sequence[RecordedPlay]
) -> Iterator[tuple[StartState, Call]]:
    """Yield states with a call that uses up a field, for example a balance."""
    seen: set[tuple[str, str]] = set()
    for script in played:
        session = subject.session(script.start)
        after = session.snapshot()
        for call, text in zip(script.calls, script.texts, strict=False):
            before = after
            with suppress(BackendFault):
                session.call(call)
            after = session.snapshot()
            if '"error"' in text or before == after:
                continue
            with suppress(ContractViolation):
                then, now = (subject.configs_of(subject.start_of(each)) for each in (before, after))
                for field, configs in _list_exact(then, now):
                    start = StartState(configs.pop(subject.name), script.start.pack, configs)
                    if (call.name, field) not in seen and loads(subject, start):
                        seen.add((call.name, field))
                        yield start, call
            if len(seen) >= _MAX_USED_UP:
                return


def _list_exact(
    then: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield configs in which the call uses up a field.

    For example, the config has the balance 30 if the payment is 30.
    """
    for difference in list_differences(then, now):
        old, new = difference.expected, difference.actual
        if {type(old), type(new)} <= {int, float} and 0 < new < old:
            configs = copy_json(then)
            holder, key = find_place(configs, f".{difference.path}")[-1]
            holder[key] = old - new
            yield ".".join(difference.path.split(".")[:2]), configs
    for owner, config in then.items():
        for key, value in config.items():
            left = now[owner].get(key)
            if isinstance(value, list) and isinstance(left, list) and 0 < len(left) < len(value):
                part: Any = [each for each in value if each not in left]
            elif isinstance(value, dict) and isinstance(left, dict) and 0 < len(left) < len(value):
                part = {name: each for name, each in value.items() if name not in left}
            else:
                continue
            if part:
                yield f"{owner}.{key}", {**then, owner: {**config, key: part}}
