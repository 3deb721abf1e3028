"""The checks of worlds apart: the same plays in other processes, and in 10,000 sessions at once.

One of the processes has another clock, another zone and other environment variables.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from typing import Any, NamedTuple

from envs.calls import Call
from envs.testing.play import Script, scripts
from envs.testing.shifted import ZONE, shift
from envs.testing.subject import Broken, Subject

SESSIONS = 10_000
"""Half of them as tasks of one thread, half of them in several threads."""
_THREADS = 8
_STEPS = 3


class _Played(NamedTuple):
    """What came of a script in another process."""

    texts: Sequence[str]
    """Of every result, and the hash of the last state."""
    readings: Sequence[Sequence[str]]
    """For each of these, the lines that asked for the clock or a variable till then."""
    at_import: Sequence[str]
    """Lines that asked when the module was imported."""


def processes(subject: Subject) -> None:
    """Play scripts in processes with other hash seeds, one with another clock, and compare."""
    played = _whole(subject)
    asked = [
        (subject.worlds.index(s.world), [(call.name, dict(call.kwargs)) for call in s.calls])
        for s in played
    ]
    shifted, same = (
        _in_process(subject, json.dumps([subject.name, source, asked]), seed)
        for seed, source in (("1", subject.source), ("2", None))
    )
    for script, theirs, others in zip(played, shifted, same, strict=True):
        ours = [*script.texts, script.end.digest()]
        for index, text in enumerate(ours):
            if theirs.texts[index] != text:
                alike = others.texts[index] == text
                lines = theirs.readings[index] or (theirs.at_import if alike else ())
                raise (
                    _asking(subject, script, index, lines[-1])
                    if lines
                    else _other(subject, script, index, text, theirs.texts[index], _ELSEWHERE)
                )
        _compare(subject, script, ours, others.texts, _ELSEWHERE)


_ELSEWHERE = "in another process"


def _asking(subject: Subject, script: Script, index: int, line: str) -> Broken:
    """Return the finding that a result follows from the clock or a variable."""
    call = script.calls[min(index, len(script.calls) - 1)]
    message = "with another clock, zone or os.environ; what is asked here is state: take a field"
    return Broken(line, f"{subject.name}.{call.name}: {call} gives something else {message}")


def _in_process(subject: Subject, asked: str, seed: str) -> list[_Played]:
    path = os.pathsep.join(sys.path)
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
    if seed == "1":
        environment["TZ"] = ZONE
    command = [sys.executable, "-c", f"from {__name__} import answer; answer()"]
    done = subprocess.run(
        command, input=asked, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        raise subject.broken(f"cannot be played in another process: {said}")
    return [_Played(*answered) for answered in json.loads(done.stdout)]


def answer() -> None:
    """Read an environment and its scripts on standard input, write what comes of them."""
    name, source, scripts = json.load(sys.stdin)
    readings: list[str] = []
    if source is not None:
        shift(source, readings)
    # What an environment prints is not the answer.
    with redirect_stdout(sys.stderr):
        subject = Subject(name)
        made = len(readings)
        played = [_answered(subject, world, calls, readings, made) for world, calls in scripts]
    json.dump(played, sys.stdout)


def _answered(
    subject: Subject, world: int, calls: list[Any], readings: list[str], made: int
) -> _Played:
    """Play a script; the first readings are of when the module was imported."""
    del readings[made:]
    session = subject.session(subject.worlds[world], tolerant=True)
    texts, read = [], []
    for name, kwargs in calls:
        texts.append(session.call(Call(name, (), kwargs)).text)
        read.append(readings[made:])
    return _Played([*texts, session.snapshot().digest()], [*read, readings[made:]], readings[:made])


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
            raise _other(subject, script, index, text, other, where)


def _other(
    subject: Subject, script: Script, index: int, text: str, other: str, where: str
) -> Broken:
    call = script.calls[min(index, len(script.calls) - 1)]
    another = index == len(script.calls)
    gives = "leads to another state" if another else f"gives {text}, and {other}"
    advice = "use no clock, no hash order, no randomness but RandomStream, no shared value"
    return subject.broken(f"{call} {gives} {where}; {advice}", call)
