"""Initial states of random playthroughs: configs from schemas, and variations of other configs."""

from __future__ import annotations

import inspect
import json
import re
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter

from envs.state import copy_json
from extensions.contract.checked_environment import CheckedEnvironment, StartState
from extensions.contract.generated_values import (
    SPECIAL_TEXTS,
    ShownValue,
    ShownValues,
    ValueRandom,
    draw_value,
    inline_config_schema,
    list_likely,
    list_near,
    shown_in,
)
from extensions.contract.timed_session import CallTimeout
from extensions.worlds.events import reactions_of
from extensions.worlds.timestamps import shift
from extensions.worlds.world_clock import WorldClock

_STEP = re.compile(r"""\.(\w+)|\[(\d+)\]|\[('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\]""")
"""Step of a JSON path: name, index or quoted key."""
_REPAIRS, _SHARE_REPLACED = 12, 0.7
"""``_REPAIRS``: maximum number of repairs of a config. ``_SHARE_REPLACED``: probability that a
repair replaces a value."""
_CONFIGS, _KEPT_CONFIGS = 90, 5
"""``_CONFIGS``: number of configs to generate. ``_KEPT_CONFIGS``: number of valid configs to
use."""
_TRIES = 8
"""Maximum number of attempts to vary a config."""
_SHARE_REMOVED, _SHARE_DEEPER = 0.3, 0.85
EVENT_PREFIX = "check "
"""Prefix of the ids of generated events."""
_NEW_KEYS = ("Ann", "Bob", "Cy")
"""Keys of the entries that ``multiply`` adds."""
_EVENT_MINUTES = 60
"""Minutes from one generated event to the next; each event triggers a reaction."""


@cache
def generated_starts(subject: CheckedEnvironment) -> Sequence[StartState]:
    """Generate configs from the schemas, and return the largest valid configs.

    If the environment has worlds and accepts empty configs, the last start state is empty.
    """
    random = ValueRandom(0)
    found: dict[tuple[int, int], StartState] = {}
    own = subject.own_names
    names = [each for each in own if each == subject.name or each != WorldClock.__name__]
    for number in range(_CONFIGS):
        random.texts = SPECIAL_TEXTS if number % 3 == 0 else ValueRandom.texts
        configs, known = {}, ShownValues()
        for name in reversed(names):
            schema = inline_config_schema(subject.get_class(name).Config)
            configs[name] = draw_value(random, schema, "", known)
            _repair(random, subject, name, configs[name], known)
            known = ShownValues([*known, *shown_in(configs[name])])
        start = StartState(configs.pop(subject.name), worlds=configs)
        if loads(subject, start):
            found.setdefault((len(shown_in([start.config, configs])), len(repr(start))), start)
    empty = StartState({}, worlds={name: {} for name in subject.worlds})
    kept = [found[size] for size in sorted(found)[-_KEPT_CONFIGS:]]
    return [*kept, *([empty] if subject.worlds and loads(subject, empty) else [])]


def _repair(
    random: ValueRandom,
    subject: CheckedEnvironment,
    name: str,
    config: dict[str, Any],
    known: ShownValues,
) -> None:
    """Change invalid values in a config, or remove the objects that contain these values."""
    kind = subject.get_class(name)
    for left in reversed(range(_REPAIRS)):
        problems = kind.check_config(config)
        if not problems:
            return
        path = random.choice(problems).path.removeprefix(f"$.{kind.__name__}")
        place = find_place(config, path)
        if not place:
            return
        holder, key = place[-1]
        value = holder[key]
        shown = [each.value for each in (*known, *shown_in(config))]
        same = [each for each in shown if type(each) is type(value)]
        if same and left > _REPAIRS // 3 and random.random() < _SHARE_REPLACED:
            holder[key] = random.choice([*same, type(value)()])
        else:
            holder, key = place[min(1, len(place) - 1)]
            del holder[key]


def find_place(config: Any, path: str) -> list[tuple[Any, Any]]:
    """Return the objects and lists along a path, each with the next key or index."""
    found: list[tuple[Any, Any]] = []
    here = config
    for name, index, text in _STEP.findall(path):
        key = name or (int(index) if index else literal_eval(text))
        if not (key in here if isinstance(here, dict) else isinstance(here, list)):
            break
        found.append((here, key))
        here = here[key]
    return found


def vary_starts(
    subject: CheckedEnvironment, random: ValueRandom, starts: Sequence[StartState], number: int
) -> Iterator[StartState]:
    """Yield valid variations of configs.

    The first configs are copies of ``starts[0]`` without one value. The other configs have changed
    values. Every second config with changed values also has planned events.
    """
    whole = subject.configs_of(starts[0])
    removed = [
        {**whole, name: {**config, **loose}}
        for name in whole
        for typed, loose in [_split_typed(subject, name, whole[name])]
        for config in _list_removals(typed)
    ]
    for configs in random.sample(removed, min(number // 3, len(removed))):
        start = StartState(configs.pop(subject.name, {}), worlds=configs)
        if loads(subject, start):
            yield start
    for count in range(number):
        for _ in range(_TRIES):
            start = random.choice(starts)
            configs = subject.configs_of(start)
            if count % 2:
                _add_events(subject, random, configs)
            for _ in range(random.randint(1, 3)):
                name = random.choice([each for each in configs if configs[each]] or [*configs])
                typed, loose = _split_typed(subject, name, configs[name])
                configs[name] = {**_vary(random, typed), **loose}
            varied = StartState(configs.pop(subject.name), worlds=configs)
            if loads(subject, varied):
                yield varied
                break


def _split_typed(
    subject: CheckedEnvironment, name: str, config: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a config into the keys whose types contain no ``Any``, and the other keys."""
    schema = inline_config_schema(subject.get_class(name).Config)
    loose = {
        key
        for key, member in schema.get("properties", {}).items()
        if '"additionalProperties": true' in json.dumps(member)
    }
    return (
        {key: value for key, value in config.items() if key not in loose},
        {key: value for key, value in config.items() if key in loose},
    )


def _list_removals(value: Any) -> Iterator[Any]:
    """Yield copies of a value; each copy lacks one field of an object, or one item of a list."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield {name: each for name, each in value.items() if name != key}
            yield from ({**value, key: changed} for changed in _list_removals(member))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield [*value[:index], *value[index + 1 :]]
            for changed in _list_removals(member):
                yield [*value[:index], changed, *value[index + 1 :]]


def multiply(subject: CheckedEnvironment, start: StartState) -> StartState:
    """Add entries to the mappings of a start state.

    Empty mappings stay empty. If the new start state cannot be loaded, return the given one.
    """
    configs = subject.configs_of(start)
    for name in subject.own_names:
        schema = inline_config_schema(subject.get_class(name).Config)
        for key, value in configs[name].items():
            further = schema.get("properties", {}).get(key, {}).get("additionalProperties")
            if not (isinstance(further, dict) and isinstance(value, dict) and value):
                continue
            first, last = next(iter(value.values())), max(value, key=len)
            numbers = (str(int(last) + step) for step in (1, 2)) if last.isdecimal() else ()
            for new in (*numbers, *_NEW_KEYS):
                if len(value) < len(_NEW_KEYS):
                    value.setdefault(new, copy_json(first))
    many = StartState(configs.pop(subject.name), start.pack, configs)
    return many if loads(subject, many) else start


def list_smaller(subject: CheckedEnvironment, start: StartState) -> Iterator[StartState]:
    """Yield valid configs that lack one value of the given config."""
    configs = {subject.name: start.config, **start.worlds}
    for smaller in _list_removals(configs):
        if subject.name in smaller:
            found = StartState(smaller.pop(subject.name), start.pack, smaller)
            if loads(subject, found):
                yield found


def loads(subject: CheckedEnvironment, start: StartState) -> bool:
    """Tell whether configs have no errors and can be loaded."""
    with suppress(Exception, SystemExit, CallTimeout):
        if not subject.find_problems(start):
            subject.session(start)
            return True
    return False


def _vary(random: ValueRandom, value: Any) -> Any:
    """Change a random part of a JSON value; the schema may forbid the new value."""
    goes_deeper = random.random() < _SHARE_DEEPER
    if isinstance(value, dict) and value and goes_deeper:
        key = random.choice([*value])
        if random.random() < _SHARE_REMOVED:
            return {name: member for name, member in value.items() if name != key}
        return {**value, key: _vary(random, value[key])}
    if isinstance(value, list) and value and goes_deeper:
        index = random.randrange(len(value))
        changed = [] if random.random() < _SHARE_REMOVED else [_vary(random, value[index])]
        return [*value[:index], *changed, *value[index + 1 :]]
    if isinstance(value, bool):
        return not value
    if isinstance(value, (dict, list)):
        return type(value)()
    return random.choice([None, *list_near(value)])


def _add_events(
    subject: CheckedEnvironment, random: ValueRandom, configs: dict[str, dict[str, Any]]
) -> None:
    if WorldClock.__name__ not in configs:
        return
    clock = configs[WorldClock.__name__]
    events = []
    for owner in subject.own_names:
        known = [*shown_in(configs)]
        kind = subject.get_class(owner)
        for name, reaction in reactions_of(kind).items():  # type: ignore[arg-type]  # is hashable
            given = _draw_known(random, reaction, known)
            if given is not None:
                written = ", ".join(f"{key}={value!r}" for key, value in given.items())
                events.append(f"{owner}.{name}({written})")
    now = clock.get("now", WorldClock._now)
    clock["events"] = [
        *clock.get("events", ()),
        *(
            {
                "id": f"{EVENT_PREFIX}{number}",
                "at": shift(now, _EVENT_MINUTES * (number + 1)),
                "does": [call],
            }
            for number, call in enumerate(events)
        ),
    ]


def _draw_known(
    random: ValueRandom, reaction: Callable[..., Any], known: Sequence[ShownValue]
) -> dict[str, Any] | None:
    """Choose known values as a reaction's arguments; None if a required argument has no value."""
    given = {}
    types = get_type_hints(reaction, include_extras=True)
    for name, parameter in [*inspect.signature(reaction).parameters.items()][1:]:
        fitting = list_likely(TypeAdapter(types.get(name, Any)).json_schema(), name, known)
        if fitting:
            given[name] = random.choice(fitting)
        elif parameter.default is parameter.empty:
            return None
    return given
