"""The checks of the world: how configs make it, what calls do to it, and many of it side by side.

Played are random calls: alone, in other processes, and in 10,000 sessions of tasks and threads.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from envs.calls import Call
from envs.errors import BackendFault
from envs.random_stream import RandomStream
from envs.results import Result
from envs.session import Session
from envs.state import Snapshot, brief
from envs.testing.play import Play, Script, change, explore, on_plays, scripts
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


@on_plays
def inputs(subject: Subject, play: Play) -> None:
    """Play, and look whether config, bulky material and defaults are as before."""
    before = _inputs(subject, play.world)
    for call, _ in play.steps():
        found = change(before, _inputs(subject, play.world))
        if found:
            advice = "assign a new value instead"
            raise subject.broken(f"{call} changes {found} in place; {advice}", call)


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


@on_plays
def arguments(subject: Subject, play: Play) -> None:
    """Make calls with and without the check of arguments, and compare."""
    strict = play.session.fork(checks_arguments=True)
    for call, result in play.steps():
        checked = strict.call(call)
        if checked.text != result.text:
            raise subject.broken(f"{call} fits the schema and gives {checked.text}", call)


@on_plays
def faults(subject: Subject, play: Play) -> None:
    """Look for calls on which a function breaks."""
    try:
        deque(play.steps(), maxlen=0)
    except BackendFault as fault:
        message = f"{fault}; refuse by raising a ToolError"
        raise subject.broken(message, play.calls[-1]) from fault


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
                raise subject.broken(f"{call} is refused and changes {found}; {advice}", tool)

    explore(subject, examine)


@on_plays
def reads(subject: Subject, play: Play) -> None:
    """Compare the world before and after calls of functions that only read."""
    streams = {name for name, v in subject.backend.FIELDS.items() if isinstance(v, RandomStream)}
    for call, _, found in _changes(play, streams):
        tool = subject.backend.TOOLS[call.name]
        if not tool.writes and found:
            raise subject.broken(f"{call} changes {found}; mark the function @writes", tool)


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
        tool, defect = subject.backend.TOOLS[call.name], _result_defect(result)
        if defect and not subject.excepts("results", tool):
            raise subject.broken(f"{call} gives {brief(result.held)}, {defect}", tool)


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
            raise subject.broken(f"{call} changes an earlier snapshot; {advice}", call)
        for earlier, text in made:
            if Result(earlier.held).text != text:
                raise subject.broken(f"{call} changes an earlier result, {text}", call)
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
            raise subject.broken(f"{call} changes a fork made before it", call)
        made.append((call, result))
    for call, result in made:
        again = fork.call(call).text
        if again != result.text:
            message = f"{call} gives {result.text}, and {again} in a fork of the same state"
            raise subject.broken(f"{message}; keep all state in annotated fields", call)


SESSIONS = 10_000
"""Half of them as tasks of one thread, half of them in several threads."""
_THREADS = 8
_STEPS = 3


def processes(subject: Subject) -> None:
    """Play scripts in processes with other hash seeds, and compare."""
    played = _whole(subject)
    asked = [
        (subject.worlds.index(s.world), [(call.name, dict(call.kwargs)) for call in s.calls])
        for s in played
    ]
    for seed in ("1", "2"):
        answers = _in_process(subject, json.dumps([subject.name, asked]), seed)
        for script, theirs in zip(played, answers, strict=True):
            ours = [*script.texts, script.end.digest()]
            _compare(subject, script, ours, theirs, "in another process")


def _in_process(subject: Subject, asked: str, seed: str) -> list[list[str]]:
    path = os.pathsep.join(sys.path)
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
    command = [sys.executable, "-c", f"from {__name__} import answer; answer()"]
    done = subprocess.run(
        command, input=asked, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        raise subject.broken(f"cannot be played in another process: {said}")
    answers: list[list[str]] = json.loads(done.stdout)
    return answers


def answer() -> None:
    """Read an environment and its scripts on standard input, write texts and state hashes."""
    name, scripts = json.load(sys.stdin)
    subject = Subject(name)
    outcomes = []
    for world, calls in scripts:
        session: Session = subject.session(subject.worlds[world], tolerant=True)
        texts = [session.call(Call(name, (), kwargs)).text for name, kwargs in calls]
        outcomes.append([*texts, session.snapshot().digest()])
    json.dump(outcomes, sys.stdout)


def interleaved(subject: Subject) -> None:
    """Play scripts in many sessions at once, and compare."""
    played = [_short(subject, script) for script in _whole(subject)]

    async def as_task(script: Script) -> None:
        for _ in _playing(subject, script, "among other tasks"):
            await asyncio.sleep(0)

    async def as_tasks() -> None:
        await asyncio.gather(*(as_task(script) for script in _many(played)))

    asyncio.run(as_tasks())
    interval = sys.getswitchinterval()
    # Threads take turns so often that calls are cut in the middle.
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(lambda part: _in_turns(subject, part), _parts(played)))
    finally:
        sys.setswitchinterval(interval)


def _whole(subject: Subject) -> list[Script]:
    """Return the plays on which the backend does not break."""
    return [script for script in scripts(subject) if len(script.texts) == len(script.calls)]


def _short(subject: Subject, script: Script) -> Script:
    """Return the beginning of a play, played alone."""
    session, calls = subject.session(script.world), script.calls[:_STEPS]
    texts = [result.text for result in session.play(calls)]
    return Script(script.world, calls, texts, session.snapshot())


def _many(scripts: Sequence[Script]) -> Iterator[Script]:
    return (scripts[number % len(scripts)] for number in range(SESSIONS // 2))


def _parts(scripts: Sequence[Script]) -> list[list[Script]]:
    everything = list(_many(scripts))
    return [everything[start::_THREADS] for start in range(_THREADS)]


def _in_turns(subject: Subject, scripts: Sequence[Script]) -> None:
    """Play scripts in this thread, a call of each at a time."""
    playing = [_playing(subject, script, "among other threads") for script in scripts]
    while playing:
        playing = [play for play in playing if next(play, None)]


def _playing(subject: Subject, script: Script, where: str) -> Iterator[bool]:
    """Play a script call by call; yield after each, and compare at the end."""
    session = subject.session(script.world, tolerant=True)
    texts = []
    for call in script.calls:
        texts.append(session.call(call).text)
        yield True
    same = session.snapshot() == script.end
    _compare(subject, script, [*script.texts, ""], [*texts, "" if same else "another state"], where)


def _compare(
    subject: Subject, script: Script, ours: Sequence[str], theirs: Sequence[str], where: str
) -> None:
    """Name the first call that has another outcome."""
    for index, (text, other) in enumerate(zip(ours, theirs, strict=True)):
        if text != other:
            call = script.calls[min(index, len(script.calls) - 1)]
            another = index == len(script.calls)
            gives = "leads to another state" if another else f"gives {text}, and {other}"
            advice = "use no clock, no hash order, no randomness but RandomStream, no shared value"
            message = f"{call} {gives} {where}; {advice}"
            raise subject.broken(message, call)
