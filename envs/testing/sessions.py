"""The checks of sessions beside each other: in other processes, and 10,000 in tasks and threads."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from envs.calls import Call
from envs.session import Session
from envs.testing.play import Script, scripts
from envs.testing.subject import Subject

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
