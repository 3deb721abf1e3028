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
from functools import cache, partial
from typing import Any, NamedTuple

from envs.calls import Call
from extensions.contract.lines import Step, parting_line, steps_of
from extensions.contract.play import Script, scripts
from extensions.contract.shifted import ZONE, shift
from extensions.contract.subject import Broken, Subject

SESSIONS = 10_000
"""Half of them as tasks of one thread, half of them in several threads."""
_THREADS = 8
_STEPS = 3


class _Played(NamedTuple):
    """What came of a script in another process, among others."""

    texts: Sequence[str]
    """Of every result, and the hash of the last state."""
    readings: Sequence[Sequence[str]]
    """For each of these, the lines that asked for the clock or a variable till then."""
    at_import: Sequence[str]
    """Lines that asked when the module was imported."""


class _Elsewhere(NamedTuple):
    """What came of the same scripts in another process."""

    forth: Sequence[_Played]
    back: Sequence[_Played]
    """Played after that, the last script first; listed like the others."""


def processes(subject: Subject) -> None:
    """Play scripts in processes with other hash seeds, one with another clock, and compare.

    What a process has seen before is the same in both: state that sessions share is not found here.
    """
    shifted, same = (_elsewhere(subject, shifts).forth for shifts in (True, False))
    for script, theirs, others in zip(_whole(subject), shifted, same, strict=True):
        for index, text in enumerate(others.texts):
            if theirs.texts[index] != text:
                lines = theirs.readings[index] or theirs.at_import
                raise (
                    _asking(subject, script, index, lines[-1])
                    if lines
                    else _unlike(subject, script, index, text, theirs.texts[index])
                )


def _asking(subject: Subject, script: Script, index: int, line: str) -> Broken:
    """Return the finding that a result follows from the clock or a variable."""
    call = script.calls[min(index, len(script.calls) - 1)]
    message = "with another clock, zone or os.environ; what is asked here is state: take a field"
    return Broken(line, f"{subject.name}.{call.name}: {call} gives something else {message}")


def _unlike(subject: Subject, script: Script, index: int, text: str, other: str) -> Broken:
    """Return the finding that two processes differ, with the line where they part."""
    found = _other(subject, script, index, text, other, "in another process")
    once, again = (_followed(subject, script, shifts) for shifts in (True, False))
    return Broken(parting_line(once, again) or found.place, found.message)


@cache
def _elsewhere(subject: Subject, shifts: bool) -> _Elsewhere:
    played = _in_process(subject, _whole(subject), shifts, follows=False)
    forth, back = ([_Played(*each) for each in order] for order in played)
    return _Elsewhere(forth, back[::-1])


def _followed(subject: Subject, script: Script, shifts: bool) -> list[list[Step]]:
    """Return the lines on the way of every call of a script, in a process of its own."""
    steps: list[list[Step]] = _in_process(subject, [script], shifts, follows=True)
    return steps


def _in_process(
    subject: Subject, played: Sequence[Script], shifts: bool, *, follows: bool
) -> list[Any]:
    path = os.pathsep.join(sys.path)
    seed = "1" if shifts else "2"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
    if shifts:
        environment["TZ"] = ZONE
    scripts = [
        (subject.worlds.index(s.world), [(call.name, dict(call.kwargs)) for call in s.calls])
        for s in played
    ]
    asked = json.dumps([subject.name, subject.source if shifts else None, scripts, follows])
    command = [sys.executable, "-c", f"from {__name__} import answer; answer()"]
    done = subprocess.run(
        command, input=asked, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        raise subject.broken(f"cannot be played in another process: {said}")
    answered: list[Any] = json.loads(done.stdout)
    return answered


def answer() -> None:
    """Read an environment and its scripts on standard input, write what comes of them."""
    name, source, scripts, follows = json.load(sys.stdin)
    readings: list[str] = []
    if source is not None:
        shift(source, readings)
    # What an environment prints is not the answer.
    with redirect_stdout(sys.stderr):
        subject = Subject(name)
        made = len(readings)
        if follows:
            [[world, calls]] = scripts
            session = subject.session(subject.worlds[world], tolerant=True)
            played: list[Any] = [
                steps_of(subject.source, partial(session.call, Call(name, (), kwargs)))
                for name, kwargs in calls
            ]
        else:
            played = [
                [_answered(subject, world, calls, readings, made) for world, calls in order]
                for order in (scripts, scripts[::-1])
            ]
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


class _Unalike(Exception):
    """A play that came out otherwise than alone."""

    def __init__(self, script: Script, index: int, text: str, other: str, where: str) -> None:
        super().__init__(where)
        self.script = script
        self.index = index
        self.text = text
        self.other = other
        self.where = where


def interleaved(subject: Subject) -> None:
    """Play scripts in many sessions, after others and at once with others, and compare."""
    try:
        whole, alone = _whole(subject), _elsewhere(subject, False)
        for script, first, last in zip(whole, alone.forth, alone.back, strict=True):
            _compare(script, first.texts, last.texts, "after other sessions")
        _many_at_once(subject, [_short(subject, script) for script in whole])
    except _Unalike as unalike:
        raise _shared(subject, unalike) from None


def _shared(subject: Subject, found: _Unalike) -> Broken:
    """Return the finding, with the line where the play parts from one in a fresh process."""
    session = subject.session(found.script.world, tolerant=True)
    calls = found.script.calls
    here = [steps_of(subject.source, partial(session.call, call)) for call in calls]
    line = parting_line(_followed(subject, found.script, shifts=False), here)
    said = _other(subject, found.script, found.index, found.text, found.other, found.where)
    return Broken(line or said.place, said.message)


def _many_at_once(subject: Subject, played: Sequence[Script]) -> None:
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
    _compare(script, [*script.texts, ""], [*texts, "" if same else "another state"], where)


def _compare(script: Script, ours: Sequence[str], theirs: Sequence[str], where: str) -> None:
    """Name the first call that has another outcome."""
    for index, (text, other) in enumerate(zip(ours, theirs, strict=True)):
        if text != other:
            raise _Unalike(script, index, text, other, where)


def _other(
    subject: Subject, script: Script, index: int, text: str, other: str, where: str
) -> Broken:
    call = script.calls[min(index, len(script.calls) - 1)]
    another = index == len(script.calls)
    gives = "leads to another state" if another else f"gives {text}, and {other}"
    advice = "use no clock, no hash order, no randomness but RandomStream, no shared value"
    return subject.broken(f"{call} {gives} {where}; {advice}", call)
