"""Checks of field declarations, config keys, config types and the loading of configs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, get_type_hints

from envs import plain_functions, schema
from envs.backend import Backend
from envs.errors import DataError
from envs.state import ABSENT, copy_json, cut_repr
from envs.tool import ENDLESS, find_json_error
from extensions.contract import source_places
from extensions.contract.checked_environment import (
    CheckedEnvironment,
    ContractViolation,
    StartState,
)
from extensions.contract.generated_values import (
    ShownValues,
    ValueRandom,
    draw_value,
    inline_config_schema,
)
from extensions.contract.source_lines import changing_line
from extensions.contract.start_states import generated_starts
from extensions.contract.timed_session import CallTimeout, TimedSession

_KNOWN = frozenset(vars(Backend)) | {"Config", "_abc_impl"}
_DRAWN_CONFIGS, _PARTIAL_CONFIGS = 10, 5
"""``_DRAWN_CONFIGS``: number of random configs that fit the schema. ``_PARTIAL_CONFIGS``: number of
configs that are copied without one of their keys."""


def fields(subject: CheckedEnvironment) -> None:
    """Check that all fields are annotated and every config key is used."""
    backend = subject.backend
    for name, value in vars(backend).items():
        if name in _KNOWN or name in backend.FIELDS or _is_code(value):
            continue
        if name.startswith("__") or name in backend.__annotations__:
            continue
        advice = f"annotate it (`{name}: {type(value).__name__}`), or move it out of the class"
        raise subject.broken(f"{name} has no annotation, so it is not state; {advice}", name)
    taken = {*backend.KEYS, *_read_by_load(subject)}
    for key in backend.Config.__annotations__:
        if key not in taken:
            advice = "add a field of this name, or read the key in `_load`"
            raise subject.config_broken(key, f"the key {key} has no effect; {advice}")


def _is_code(value: object) -> bool:
    return callable(value) or isinstance(value, (classmethod, staticmethod, property))


class _ReadKeys(dict[str, Any]):
    def __init__(self, config: Mapping[str, Any], names: set[str]) -> None:
        super().__init__(config)
        self._names = names

    def get(self, key: str, default: Any = None) -> Any:
        self._names.add(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self._names.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._names.add(str(key))
        return super().__contains__(key)


def _read_by_load(subject: CheckedEnvironment) -> set[str]:
    if subject.backend._load is Backend._load:
        return set()
    names: set[str] = set()
    for start in subject.starts:
        live = subject.backend()
        live.__dict__.update(subject.backend.FIELDS)
        config = copy_json(start.config)
        for key in config.keys() & subject.backend.KEYS.keys():
            setattr(live, subject.backend.KEYS[key], config[key])
        load = partial(live._load, _ReadKeys(config, names), start.pack)
        # Other checks find errors and endless loops of loading.
        with suppress(Exception, SystemExit, CallTimeout):
            subject.in_time("loading a config", load)
    code = subject.backend._load.__code__
    return names | {const for const in code.co_consts if isinstance(const, str)}


def config_types(subject: CheckedEnvironment) -> None:
    """Check that all types of a config are JSON types.

    This check skips backends of plain functions.
    """
    config = subject.backend.Config
    if subject.backend.check_config.__module__ == plain_functions.__name__:
        return
    for key, kind in get_type_hints(config, include_extras=True).items():
        defect = find_json_error(kind, (ENDLESS,))
        if defect:
            advice = "declare a JSON type, and convert the value in _load"
            raise subject.config_broken(key, f"the key {key}: {defect}; {advice}")
    try:
        schema.make_config_schema(config)
    except DataError as error:
        raise subject.config_broken("", str(error)) from None


def loading(subject: CheckedEnvironment) -> None:
    """Check that loading does not change the config, and that the state is a copy of the config."""
    for start in (StartState(subject.example), StartState({}), *generated_starts(subject)):
        session = subject.session(start)
        check_config_is_kept(subject, start, session)
        for name in subject.own_names:
            config = session.configs[name]
            theirs = {id(part): path for path, part in _parts(config, "config")}
            for field, value in session.backends[name].__dict__.items():
                for path, part in _parts(value, field):
                    if id(part) in theirs:
                        message = f"{path} is the same object as {theirs[id(part)]}; use copy_json"
                        raise subject.at_load(name, field, message)


def references(subject: CheckedEnvironment) -> None:
    """Check that the method ``references`` raises no error, even if config keys are missing."""
    random = ValueRandom(0)
    for name in subject.own_names:
        kind = subject.get_class(name)
        spec = inline_config_schema(kind.Config)
        given = [subject.configs_of(each)[name] for each in generated_starts(subject)]
        given += [subject.configs_of(start)[name] for start in subject.starts]
        drawn = [draw_value(random, spec, "", ShownValues()) for _ in range(_DRAWN_CONFIGS)]
        whole = sorted([*given, *drawn], key=lambda config: len(repr(config)))
        partial_configs = [
            {each: value for each, value in config.items() if each != key}
            for config in whole[-_PARTIAL_CONFIGS:]
            for key in config
        ]
        for config in [*whole, *partial_configs]:
            if not schema.check_config(name, kind.Config, config):
                _check_references(subject, name, kind, config)


def _check_references(
    subject: CheckedEnvironment, name: str, kind: type[Backend], config: Mapping[str, Any]
) -> None:
    before = copy_json(config)
    line = None
    try:
        deque(kind.references(config), maxlen=0)
        if config == before:
            return
        said = "changes the config in place"
    except Exception as error:
        said = f"raises {type(error).__name__}: {error}"
        line = subject.line_of(error)
    advice = "yield a path and a message for each error; the config may lack keys"
    message = f"{name}: `references` {said} for the config {cut_repr(before, 300)}; {advice}"
    raise ContractViolation(line or source_places.member(kind, "references"), message)


def check_config_is_kept(
    subject: CheckedEnvironment, start: StartState, session: TimedSession
) -> None:
    """Raise a finding if loading has changed the config of a session."""
    given = subject.configs_of(start)
    for name in subject.own_names:
        if session.configs[name] != given[name]:
            raise _changed(subject, name, session.configs[name], given[name])


def _changed(
    subject: CheckedEnvironment, name: str, config: Mapping[str, Any], before: Mapping[str, Any]
) -> ContractViolation:
    values = {**config, **before}
    key = next(k for k in values if config.get(k, ABSENT) != before.get(k, ABSENT))
    message = f"`_load` changes {key} of the config; copy the value before you change it"
    kind = subject.get_class(name)
    found = subject.at_load(name, kind.KEYS.get(key, key), message)
    given = copy_json(before)
    line = changing_line(subject.source, partial(kind.load, given), lambda: repr(given))
    return ContractViolation(line[0] if line else found.place, found.message)


def _parts(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield path, value
        for key, member in value.items():
            yield from _parts(member, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        if isinstance(value, list):
            yield path, value
        for index, member in enumerate(value):
            yield from _parts(member, f"{path}[{index}]")
