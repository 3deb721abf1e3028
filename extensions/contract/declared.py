"""What an environment says its state and its configs are, and that loading keeps to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, get_type_hints

from envs.backend import Backend, copy_json
from envs.tool import ENDLESS, json_defect
from extensions.contract.lines import changing_line
from extensions.contract.subject import Broken, Subject, World
from extensions.contract.watched import TooLong

_KNOWN = frozenset(vars(Backend)) | {"Config", "_abc_impl"}


def fields(subject: Subject) -> None:
    """Look for members that are no state though they seem so, and for keys that do nothing."""
    backend = subject.backend
    for name, value in vars(backend).items():
        if name in _KNOWN or name in backend.FIELDS or _is_code(value):
            continue
        if name.startswith("__") or name in backend.__annotations__:
            continue
        advice = f"annotate it, {name}: {type(value).__name__} = ..., or move it out of the class"
        raise subject.broken(f"{name} has no annotation, so it is no state; {advice}", name)
    taken = {*backend.KEYS, *_read_by_load(subject)}
    for key in backend.Config.__annotations__:
        if key not in taken:
            advice = "add a field of this name, RENAMED, or a _load that reads it"
            raise subject.config_broken(
                key, f"the key {key} has no field and does nothing; {advice}"
            )


def _is_code(value: object) -> bool:
    return callable(value) or isinstance(value, (classmethod, staticmethod, property))


class _Read(dict[str, Any]):
    """A config that notes which keys are asked for."""

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


def _read_by_load(subject: Subject) -> set[str]:
    """Return the keys that the loading of the example and of nothing asks for, beyond fields."""
    if subject.backend._load is Backend._load:
        return set()
    names: set[str] = set()
    for world in subject.worlds:
        live = subject.backend()
        live.__dict__.update(subject.backend.FIELDS)
        config = copy_json(world.config)
        for key in config.keys() & subject.backend.KEYS.keys():
            setattr(live, subject.backend.KEYS[key], config[key])
        load = partial(live._load, _Read(config, names), world.pack)
        # What it stumbles over, or that it has no end, is found where configs are loaded.
        with suppress(Exception, SystemExit, TooLong):
            subject.in_time("loading a config", load)
    code = subject.backend._load.__code__
    return names | {const for const in code.co_consts if isinstance(const, str)}


def config_types(subject: Subject) -> None:
    """Look for types in a config that no JSON file can hold."""
    config = subject.backend.Config
    for key, kind in get_type_hints(config, include_extras=True).items():
        defect = json_defect(kind, (ENDLESS,))
        if defect:
            advice = "take what JSON has, and make it what you need in _load"
            raise subject.config_broken(key, f"the key {key}: {defect}; {advice}")


def loading(subject: Subject) -> None:
    """Load, and look whether the config is as before and shares nothing with the state."""
    for world in (World(subject.example), World({})):
        session = subject.session(world)
        config = session.config
        if config != world.config:
            raise _changed(subject, config, world)
        theirs = {id(part): path for path, part in _parts(config, "config")}
        for field, value in session.backends[subject.name].__dict__.items():
            for path, part in _parts(value, field):
                if id(part) in theirs:
                    message = f"{path} is {theirs[id(part)]} itself; copy it, with copy_json"
                    raise _at_load(subject, field, message)


def _changed(subject: Subject, config: Mapping[str, Any], world: World) -> Broken:
    key = next(key for key in {**config, **world.config} if _differs(key, config, world))
    message = f"_load changes {key} of the config; read it, and set the field"
    found = _at_load(subject, subject.backend.KEYS.get(key, key), message)
    given = copy_json(world.config)
    load = partial(subject.backend.load, given, world.pack)
    line = changing_line(subject.source, load, lambda: repr(given))
    return Broken(line or found.place, found.message)


def _differs(key: str, config: Mapping[str, Any], world: World) -> bool:
    return key not in config or key not in world.config or config[key] != world.config[key]


def _at_load(subject: Subject, field: str, message: str) -> Broken:
    method = "_load" if "_load" in vars(subject.backend) else "load"
    if method not in vars(subject.backend):
        return subject.broken(message)
    return subject.at_line(method, field, message)


def _parts(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the lists and objects in a value, itself among them, with where they are."""
    if isinstance(value, Mapping):
        yield path, value
        for key, member in value.items():
            yield from _parts(member, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        if isinstance(value, list):
            yield path, value
        for index, member in enumerate(value):
            yield from _parts(member, f"{path}[{index}]")
