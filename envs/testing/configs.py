"""What initial configs keep: they round-trip, and what does not fit is refused with its path."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from envs.state import Snapshot, brief
from envs.testing.play import Play, change, explore
from envs.testing.subject import Broken, Subject, World

_NO_OBJECTS: tuple[Any, ...] = (None, [], "text", 1)


def example(subject: Subject) -> None:
    """Load the example and the empty config."""
    for key, field in subject.backend.RENAMED.items():
        if subject.backend.KEYS.get(key) != field:
            message = f"RENAMED says {key!r}: {field!r}, which are no key and field"
            raise subject.broken(message, member="RENAMED")
    problems = subject.backend.check_config(subject.example)
    if problems:
        raise Broken(f"{subject.example_file}:1", str(problems[0]))
    for world in subject.worlds:
        subject.session(world)


def round_trip(subject: Subject) -> None:
    """Write states as configs and load them."""
    for world in (World({}), World(subject.example)):
        loaded = subject.session(world).snapshot()
        config = _config_of(subject, loaded)
        again = subject.session(World(config)).snapshot()
        differences = loaded.differences(again)
        if differences:
            field = differences[0].path.split(".")[1].split("[")[0]
            message = f"a state written as a config loads otherwise: {differences[0]}"
            raise subject.broken(message, member=field)


def unknown_keys(subject: Subject) -> None:
    """Give a key that no config has."""
    path = f"$.{subject.name}.no_such_key"
    problems = subject.backend.check_config({"no_such_key": 1})
    if [problem.path for problem in problems] != [path]:
        message = f"a config with an unknown key is not refused at {path}; make Config a TypedDict"
        raise subject.broken(message, member="Config")


def wrong_types(subject: Subject) -> None:
    """Give each key a value that is of no JSON type, and something else for the whole."""
    for key in subject.backend.Config.__annotations__:
        path = f"$.{subject.name}.{key}"
        problems = subject.backend.check_config({key: 1j})
        if not problems or any(problem.path != path for problem in problems):
            message = f"a wrong type is not refused at {path}; give the key a type of its own"
            raise subject.config_broken(key, message)
    for config in _NO_OBJECTS:
        if not subject.backend.check_config(config):
            raise subject.broken(f"the config {config!r}, no object, is not refused")


def inputs(subject: Subject) -> None:
    """Play, and look whether config, bulky material and defaults are as before."""

    def examine(play: Play) -> None:
        before = _inputs(subject, play.world)
        for call, _ in play.steps():
            found = change(before, _inputs(subject, play.world))
            if found:
                tool = subject.backend.TOOLS[call.name]
                advice = "assign a new value instead"
                raise subject.broken(f"{call} changes {found} in place; {advice}", tool)

    explore(subject, examine)


def _inputs(subject: Subject, world: World) -> dict[str, Any]:
    return {
        "config": json.loads(json.dumps(world.config)),
        "pack": repr(world.pack),
        "defaults": {name: repr(value) for name, value in subject.backend.FIELDS.items()},
    }


def _config_of(subject: Subject, snapshot: Snapshot) -> Mapping[str, Any]:
    """Return the config that describes a state, as far as its keys say it."""
    backend, state = subject.backend, snapshot.to_json()[subject.name]
    config = {key: state[field] for key, field in backend.KEYS.items() if field in state}
    try:
        written: Mapping[str, Any] = json.loads(json.dumps(config, allow_nan=False))
    except ValueError:
        raise subject.broken(f"its state is no JSON: {brief(config)}") from None
    return written
