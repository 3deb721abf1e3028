"""The checks of the world: how configs make it, and what calls do to it on random plays."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from typing import Any

from envs.calls import Call
from envs.errors import BackendFault
from envs.random_stream import RandomStream
from envs.results import Result
from envs.state import Snapshot, brief
from envs.testing.play import Play, change, explore
from envs.testing.subject import Broken, Subject, World

_NO_OBJECTS: tuple[Any, ...] = (None, [], "text", 1)


def example(subject: Subject) -> None:
    """Load the example and the empty config."""
    for key, field in subject.backend.RENAMED.items():
        if subject.backend.KEYS.get(key) != field:
            message = f"RENAMED says {key!r}: {field!r}, which are no key and field"
            raise subject.broken(message, "RENAMED")
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
            raise subject.broken(message, field)


def unknown_keys(subject: Subject) -> None:
    """Give a key that no config has."""
    path = f"$.{subject.name}.no_such_key"
    problems = subject.backend.check_config({"no_such_key": 1})
    if [problem.path for problem in problems] != [path]:
        message = f"a config with an unknown key is not refused at {path}; make Config a TypedDict"
        raise subject.broken(message, "Config")


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
                advice = "assign a new value instead"
                raise subject.broken(f"{call} changes {found} in place; {advice}", call)

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


def arguments(subject: Subject) -> None:
    """Make calls with and without the check of arguments, and compare."""

    def examine(play: Play) -> None:
        strict = play.session.fork(checks_arguments=True)
        for call, result in play.steps():
            checked = strict.call(call)
            if checked.text != result.text:
                raise subject.broken(f"{call} fits the schema and gives {checked.text}", call)

    explore(subject, examine)


def faults(subject: Subject) -> None:
    """Look for calls on which a function breaks."""

    def examine(play: Play) -> None:
        try:
            deque(play.steps(), maxlen=0)
        except BackendFault as fault:
            message = f"{fault}; refuse by raising a ToolError"
            raise subject.broken(message, play.calls[-1]) from fault

    explore(subject, examine)


def refusals(subject: Subject) -> None:
    """Compare the world before and after refused calls, but for functions marked as exceptions."""
    for tool in subject.tools:
        if tool.keeps_on_refusal is not None and not tool.keeps_on_refusal.strip():
            raise subject.broken("say why its refusals leave a change: the reason is empty", tool)

    def examine(play: Play) -> None:
        before = play.state()
        for call, result in play.steps():
            after = play.state()
            tool = subject.backend.TOOLS[call.name]
            found = change(before, after)
            if not result.ok and tool.keeps_on_refusal is None and found:
                advice = "assign new values instead of changing the old ones in place"
                raise subject.broken(f"{call} is refused and changes {found}; {advice}", tool)
            before = after

    explore(subject, examine)


def reads(subject: Subject) -> None:
    """Compare the world before and after calls of functions that only read."""
    streams = {name for name, v in subject.backend.FIELDS.items() if isinstance(v, RandomStream)}

    def examine(play: Play) -> None:
        before = play.state()
        for call, _ in play.steps():
            after = play.state()
            tool = subject.backend.TOOLS[call.name]
            found = change(
                *({k: v for k, v in s.items() if k not in streams} for s in (before, after))
            )
            if not tool.writes and found:
                raise subject.broken(f"{call} changes {found}; mark the function @writes", tool)
            before = after

    explore(subject, examine)


def results(subject: Subject) -> None:
    """Look at every result."""

    def examine(play: Play) -> None:
        for call, result in play.steps():
            tool, defect = subject.backend.TOOLS[call.name], _result_defect(result)
            if defect and not subject.excepts("results", tool):
                raise subject.broken(f"{call} gives {brief(result.value)}, {defect}", tool)

    explore(subject, examine)


def _result_defect(result: Result) -> str | None:
    if result.error is not None:
        return None if result.error.message else "an error without a message"
    try:
        written = json.loads(json.dumps(result.value, allow_nan=False))
    except (TypeError, ValueError) as error:
        return f"which is no JSON: {error}"
    if isinstance(written, dict) and set(written) != set(result.value):
        return "whose keys are not all text"
    if isinstance(written, dict) and "error" in written:
        return "an error that is returned; raise a ToolError, so that the call counts as refused"
    return None


def snapshots(subject: Subject) -> None:
    """Look at a snapshot, and at earlier results, again after further calls."""

    def examine(play: Play) -> None:
        start = play.session.snapshot()
        before, seen = play.state(), start.digest()
        made: list[tuple[Result, str]] = []
        for call, result in play.steps():
            if start.digest() != seen:
                advice = "assign new values instead of changing the old ones in place"
                raise subject.broken(f"{call} changes an earlier snapshot; {advice}", call)
            for earlier, text in made:
                if Result(earlier.value).text != text:
                    raise subject.broken(f"{call} changes an earlier result, {text}", call)
            if result.ok:
                made.append((result, result.text))
        play.session.restore(start)
        found = change(before, play.state())
        if found:
            raise subject.broken(f"a restored snapshot differs at {found}")

    explore(subject, examine)


def forks(subject: Subject) -> None:
    """Play on one of two forks, then the same on the other."""

    def examine(play: Play) -> None:
        fork = play.session.fork()
        seen = fork.snapshot().digest()
        made: list[tuple[Call, Result]] = []
        for call, result in play.steps():
            if fork.snapshot().digest() != seen:
                raise subject.broken(f"{call} changes a fork made before it", call)
            made.append((call, result))
        for call, result in made:
            again = fork.call(call).text
            if again != result.text:
                message = f"{call} gives {result.text}, and {again} in a fork of the same state"
                raise subject.broken(f"{message}; keep all state in annotated fields", call)

    explore(subject, examine)
