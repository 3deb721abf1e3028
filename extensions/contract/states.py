"""The checks of the world: how configs make it, and what calls do to it.

Played are random calls.
"""

from __future__ import annotations

import io
import json
import sys
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from contextlib import redirect_stdout
from functools import partial
from typing import Any

from envs.backend import copy_json
from envs.calls import Call
from envs.errors import BackendFault, InvalidArgument
from envs.random_stream import RandomStream
from envs.results import Result
from envs.schema import check_value, result_defect
from envs.state import Snapshot, brief
from envs.tool import Tool
from extensions.contract.lines import line_in, returning_line
from extensions.contract.play import Play, change, explore, on_plays, scripts
from extensions.contract.subject import Broken, Subject, World

_NO_OBJECTS: tuple[Any, ...] = (None, [], "text", 1)


def example(subject: Subject) -> None:
    """Load the example and the empty config."""
    for key, field in subject.backend.RENAMED.items():
        if subject.backend.KEYS.get(key) != field:
            message = f"RENAMED says {key!r}: {field!r}, which are no key and field"
            raise subject.broken(message, "RENAMED")
    problems = subject.backend.check_config(copy_json(subject.example))
    if problems:
        if problems[0].path == f"$.{subject.name}":
            # Where it is references that breaks, its line says more.
            deque(subject.backend.references(copy_json(subject.example)), maxlen=0)
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
            if "_load" in vars(subject.backend):
                raise subject.at_line("_load", field, message)
            raise subject.broken(message, field)


def unknown_keys(subject: Subject) -> None:
    """Give a key that no config has."""
    path = f"$.{subject.name}.no_such_key"
    problems = subject.backend.check_config({"no_such_key": 1})
    if [problem.path for problem in problems] != [path]:
        message = f"a config with an unknown key is not refused at {path}; make Config a TypedDict"
        found = subject.broken(message, "Config")
        check = partial(subject.backend.check_config, {"no_such_key": 1})
        raise Broken(returning_line(subject.source, check) or found.place, found.message)


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


@on_plays
def inputs(subject: Subject, play: Play) -> None:
    """Play, and look whether config, bulky material and defaults are as before."""
    before = _inputs(subject, play)
    for call, _ in play.steps():
        found = change(before, _inputs(subject, play))
        if found:
            advice = "assign a new value instead"
            raise subject.broken(f"{call} changes {found} in place; {advice}", call, "values")


def _inputs(subject: Subject, play: Play) -> dict[str, Any]:
    return {
        "config": copy_json(play.session.config),
        "pack": repr(play.world.pack),
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


@on_plays
def arguments(subject: Subject, play: Play) -> None:
    """Make calls with and without the check of arguments, and compare."""
    strict = play.session.fork(checks_arguments=True)
    for call, result in play.steps():
        checked = strict.call(call)
        if checked.text != result.text:
            tool = subject.backend.TOOLS[call.name]
            message = f"{call} fits the schema and gives {checked.text}"
            raise subject.broken(message, call, part=_unfit(tool, call))


def _unfit(tool: Tool, call: Call) -> str | None:
    """Return the parameter whose argument is not taken."""
    for name, value in call.kwargs.items():
        try:
            check_value(tool, name, value)
        except InvalidArgument:
            return name
    return None


def ends(subject: Subject) -> None:
    """Load, and play whatever there is; who waits for ever says where."""
    for world in subject.worlds:
        subject.session(world)
    scripts(subject)


class _Heard(io.StringIO):
    """Standard output that keeps the line of the source which wrote to it first."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self._source = source
        self.line: str | None = None

    def write(self, text: str) -> int:
        self.line = self.line or line_in(self._source, sys._getframe(1))
        return super().write(text)


def output(subject: Subject) -> None:
    """Listen to plays: what is printed gets among the answers of ``exec`` and of servers."""

    def examine(play: Play) -> None:
        heard = _Heard(subject.source)
        with redirect_stdout(heard):
            deque(play.steps(), maxlen=0)
        if heard.getvalue():
            call = play.calls[-1]
            message = f"{call} prints {brief(heard.getvalue())}; return what the model shall read"
            found = subject.broken(message, call)
            raise Broken(heard.line or found.place, found.message)

    explore(subject, examine)


@on_plays
def plain(subject: Subject, play: Play) -> None:
    """Look for values in the state that are of no plain kind."""
    _check_plain(subject, play)
    for call, result in play.steps():
        if result.ok:
            _check_plain(subject, play, call)


def _check_plain(subject: Subject, play: Play, call: Call | None = None) -> None:
    for field, value in play.session.snapshot().compared()[subject.name].items():
        odd = _odd(value)
        if odd is not None:
            what = f"{call} puts {odd!r:.60} into {field}" if call else f"{field} holds {odd!r:.60}"
            message = f"{what}, which JSON cannot say; keep text or numbers"
            raise subject.broken(message, call or field, _oddities if call else None)


def _oddities(state: Mapping[str, Any]) -> list[str]:
    return [repr(_odd(value)) for value in state.values()]


def _odd(value: Any) -> object:
    """Return the first thing in a value of the state that is neither plain nor a collection."""
    if isinstance(value, Mapping):
        inside: Collection[Any] = [*value, *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        inside = value
    else:
        return None if value is None or isinstance(value, (str, bool, int, float)) else value
    return next((odd for each in inside if (odd := _odd(each)) is not None), None)


@on_plays
def faults(subject: Subject, play: Play) -> None:
    """Look for calls on which a function breaks."""
    try:
        deque(play.steps(), maxlen=0)
    except BackendFault as fault:
        message = f"{fault}; refuse by raising a ToolError"
        found = subject.broken(message, play.calls[-1])
        cause = fault.__cause__
        raise Broken((cause and subject.line_of(cause)) or found.place, found.message) from fault


def refusals(subject: Subject) -> None:
    """Compare the world before and after refused calls, but for functions marked as exceptions."""
    for tool in subject.tools:
        if tool.keeps_on_refusal is not None and not tool.keeps_on_refusal.strip():
            raise subject.broken("say why its refusals leave a change: the reason is empty", tool)

    def examine(play: Play) -> None:
        for call, result, found in _changes(play):
            tool = subject.backend.TOOLS[call.name]
            if not result.ok and tool.keeps_on_refusal is None and found:
                advice = "assign new values instead of changing the old ones in place"
                raise subject.broken(
                    f"{call} is refused and changes {found}; {advice}", tool, "values"
                )

    explore(subject, examine)


@on_plays
def reads(subject: Subject, play: Play) -> None:
    """Compare the world before and after calls of functions that only read."""
    streams = {name for name, v in subject.backend.FIELDS.items() if isinstance(v, RandomStream)}
    for call, _, found in _changes(play, streams):
        tool = subject.backend.TOOLS[call.name]
        if not tool.writes and found:
            message = f"{call} changes {found}; mark the function @writes"
            raise subject.broken(message, tool, "state")


def _changes(
    play: Play, without: Collection[str] = ()
) -> Iterator[tuple[Call, Result, str | None]]:
    """Yield each call of a play with the first of the fields that it changes, but for some."""
    before = play.state()
    for call, result in play.steps():
        after = play.state()
        seen = ({k: v for k, v in s.items() if k not in without} for s in (before, after))
        yield call, result, change(*seen)
        before = after


@on_plays
def results(subject: Subject, play: Play) -> None:
    """Look at every result."""
    for call, result in play.steps():
        tool = subject.backend.TOOLS[call.name]
        defect = _result_defect(result) or (result.ok and result_defect(tool, result.held)) or None
        if defect and not subject.excepts("results", tool):
            raise subject.broken(f"{call} gives {brief(result.held)}, {defect}", tool, "result")


def _result_defect(result: Result) -> str | None:
    if result.error is not None:
        return None if result.error.message else "an error without a message"
    try:
        written = json.loads(json.dumps(result.held, allow_nan=False))
    except (TypeError, ValueError) as error:
        return f"which is no JSON: {error}"
    if isinstance(written, dict) and set(written) != set(result.held):
        return "whose keys are not all text"
    if isinstance(written, dict) and "error" in written:
        return "an error that is returned; raise a ToolError, so that the call counts as refused"
    return None


@on_plays
def snapshots(subject: Subject, play: Play) -> None:
    """Look at a snapshot, and at earlier results, again after further calls."""
    start = play.session.snapshot()
    before, seen = play.state(), start.digest()
    made: list[tuple[Result, str]] = []
    for call, result in play.steps():
        if start.digest() != seen:
            advice = "assign new values instead of changing the old ones in place"
            raise subject.broken(f"{call} changes an earlier snapshot; {advice}", call, "values")
        for earlier, text in made:
            if Result(earlier.held).text != text:
                raise subject.broken(f"{call} changes an earlier result, {text}", call, "values")
        if result.ok:
            made.append((result, result.text))
    play.session.restore(start)
    found = change(before, play.state())
    if found:
        raise subject.broken(f"a restored snapshot differs at {found}")


@on_plays
def forks(subject: Subject, play: Play) -> None:
    """Play on one of two forks, then the same on the other."""
    fork = play.session.fork()
    seen = fork.snapshot().digest()
    made: list[tuple[Call, Result]] = []
    for call, result in play.steps():
        if fork.snapshot().digest() != seen:
            raise subject.broken(f"{call} changes a fork made before it", call, "values")
        made.append((call, result))
    for call, result in made:
        again = fork.call(call).text
        if again != result.text:
            message = f"{call} gives {result.text}, and {again} in a fork of the same state"
            raise subject.broken(f"{message}; keep all state in annotated fields", call, "again")
