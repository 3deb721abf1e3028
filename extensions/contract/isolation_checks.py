"""Isolation checks, which repeat scripts of calls in other processes and in 10,000 sessions.

Two of the processes have another time zone and other environment variables. The clock of one
process is 30 years ahead; the clock of the other is 30 years behind.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from functools import cache
from typing import Any, NamedTuple

from envs.calls import Call
from envs.notices import list_notices
from extensions.contract.changed_clock import make_zone, shift
from extensions.contract.checked_environment import (
    CheckedEnvironment,
    ContractViolation,
    StartState,
)
from extensions.contract.random_play import RecordedPlay, compare_texts, list_proven, scripts
from extensions.contract.source_lines import Step, parting_line, steps_of
from extensions.contract.timed_session import TimedSession
from extensions.worlds.timestamps import is_moment
from extensions.worlds.world_clock import WorldClock

SESSIONS = 10_000
"""Number of sessions. Half of the sessions run as asyncio tasks in one thread; the other half runs
in several threads."""
_SAME, _AHEAD, _BEHIND = 2, 1, 3
"""Hash seeds of three processes with different clocks."""
_DAY = "2026-01-05"
"""Default day on which summer time begins or ends."""
_DATE = re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_THREADS = 8
_STEPS = 3
_MAX_NOTICES = 100
"""Scripts with more notices do not run in many sessions, because they are too slow."""


_SORT = "do not use hash(); sort the values of a set"


class _PlayResult(NamedTuple):
    """Results of one script in another process."""

    texts: Sequence[str]
    """Every result as a string, then the hash of the last state."""
    readings: Sequence[Sequence[str]]
    """After each call: all source lines that have read the clock, environment variables or machine
    data so far."""
    at_import: Sequence[str]
    """Source lines that read the clock, environment variables or machine data during the import."""


class _OtherProcess(NamedTuple):
    """Outcomes of the same scripts in another process."""

    documents: Sequence[Any]
    """Function documents."""
    forth: Sequence[_PlayResult]
    back: Sequence[_PlayResult]
    """Results of a second run, which executes the last script first. Only one process makes this
    second run."""


def processes(subject: CheckedEnvironment) -> None:
    """Compare playthroughs in processes with different hash seeds and clocks.

    All processes first execute the same scripts. Therefore, this check cannot detect that one
    session changes another session.
    """
    ahead, same, behind = (_elsewhere(subject, seed) for seed in (_AHEAD, _SAME, _BEHIND))
    for process in (behind, ahead):
        documents = zip(subject.tools, same.documents, process.documents, strict=True)
        for tool, ours, theirs in documents:
            if ours != theirs:
                values = compare_texts(json.dumps(ours), json.dumps(theirs))
                advice = "in types and defaults, do not use the clock or the order of a set"
                message = f"the function document differs between processes: {values}; {advice}"
                raise subject.broken(message, tool)
    for script, later, ours, earlier in zip(
        _whole(subject), ahead.forth, same.forth, behind.forth, strict=True
    ):
        for index, text in enumerate(ours.texts):
            others = [each for each in (later, earlier) if each.texts[index] != text]
            if not others:
                continue
            seed = _BEHIND if others[-1] is earlier else _AHEAD
            advice = _advise(subject, script, index, text, seed)
            for other in others if advice != _SORT else ():
                if lines := other.readings[index] or other.at_import:
                    is_at_import = not other.readings[index]
                    raise _asking(subject, script, index, lines[-1], is_at_import=is_at_import)
            raise _unlike(subject, script, index, (text, others[-1].texts[index]), seed, advice)


def _asking(
    subject: CheckedEnvironment,
    script: RecordedPlay,
    index: int,
    line: str,
    *,
    is_at_import: bool,
) -> ContractViolation:
    call = script.calls[min(index, len(script.calls) - 1)]
    what = "returns a different result" if index < len(script.calls) else "leads to another state"
    message = "with another clock, time zone, os.environ or machine"
    advice = "store such values in state fields"
    if is_at_import:
        message += ", which the module reads when it is imported"
        advice = "read the value from a state field inside the function"
    return ContractViolation(line, f"{subject.name}.{call.name}: {call} {what} {message}; {advice}")


def _unlike(
    subject: CheckedEnvironment,
    script: RecordedPlay,
    index: int,
    texts: tuple[str, str],
    seed: int,
    advice: str,
) -> ContractViolation:
    found = _other(subject, script, index, *texts, "in another process", advice)
    line, number = _part(*(_followed(subject, script, each) for each in (seed, _SAME)))
    first = f"; the states differ after {script.calls[number]}" if number < index else ""
    return ContractViolation(line or found.place, found.message + first)


def _advise(
    subject: CheckedEnvironment, script: RecordedPlay, index: int, text: str, seed: int
) -> str:
    plain = _in_process(subject, [script], seed, follows=False, changes=False)
    if plain[1][0][0][0][index] == text:
        return "use no clock and no time zone of the machine"
    # The same seed again shows whether the order of sets is the cause.
    again = _in_process(subject, [script], _SAME, follows=False)[1][0][0][0]
    if again[index] == text:
        return _SORT
    return "use RandomStream for random values; do not use id(), addresses or process ids"


def _part(
    once: Sequence[Sequence[Step]], again: Sequence[Sequence[Step]]
) -> tuple[str | None, int]:
    """Return the line and the index of the call at which two executions diverge.

    A call diverges if its outcomes are different. Executed lines are not compared, because their
    order may differ: functions may iterate over Python sets.
    """
    for number, (steps, others) in enumerate(zip(once, again, strict=False)):
        if tuple(steps[-1]) != tuple(others[-1]):
            return parting_line([steps[:-1]], [others[:-1]]), number
    return parting_line(once, again), len(once)


@cache
def _elsewhere(subject: CheckedEnvironment, seed: int) -> _OtherProcess:
    documents, played = _in_process(subject, _whole(subject), seed, follows=False)
    forth, *back = ([_PlayResult(*each) for each in order] for order in played)
    return _OtherProcess(documents, forth, back[0][::-1] if back else ())


def _followed(subject: CheckedEnvironment, script: RecordedPlay, seed: int) -> list[list[Step]]:
    steps: list[list[Step]] = _in_process(subject, [script], seed, follows=True)[1]
    return steps


def _in_process(
    subject: CheckedEnvironment,
    played: Sequence[RecordedPlay],
    seed: int,
    *,
    follows: bool,
    changes: bool = True,
) -> list[Any]:
    path = os.pathsep.join(sys.path)
    shifts = seed != _SAME and changes
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": path}
    if shifts:
        environment["TZ"] = make_zone(_find_day(subject), is_long=seed == _AHEAD)
    scripts = [
        (
            s.start.to_json(),
            [(call.name, dict(call.kwargs)) for call in s.calls],
        )
        for s in played
    ]
    orders = [scripts, scripts[::-1]] if seed == _SAME and not follows else [scripts]
    source = subject.source if shifts else None
    asked = json.dumps([subject.name, source, seed == _AHEAD, orders, follows])
    command = [sys.executable, "-c", f"from {__name__} import answer; answer()"]
    done = subprocess.run(
        command, input=asked, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        raise subject.broken(f"its calls cannot be made in another process: {said}")
    answered: list[Any] = json.loads(done.stdout)
    return answered


@cache
def _find_day(subject: CheckedEnvironment) -> str:
    """Return the most frequent date in the arguments of successful calls."""
    days: Counter[str] = Counter()
    for given in list_proven(subject).values():
        for each in given:
            days.update(_DATE.findall(repr(each)))
    clock = subject.session().backends.get(WorldClock.__name__)
    now = clock.now[:10] if isinstance(clock, WorldClock) else _DAY
    return next((day for day, _ in days.most_common() if is_moment(f"{day}T00:00")), now)


def answer() -> None:
    """Read an environment and its scripts from standard input, and write the outcomes."""
    name, source, is_ahead, orders, follows = json.load(sys.stdin)
    readings: list[str] = []
    if source is not None:
        shift(source, readings, is_ahead=is_ahead)
    # What an environment prints is not the answer.
    with redirect_stdout(sys.stderr):
        subject = CheckedEnvironment(name)
        made = len(readings)
        if follows:
            [[[start, calls]]] = orders
            session = subject.session(StartState.from_json(start), tolerant=True)
            played: list[Any] = [
                _follow(subject, session, Call(name, (), kwargs)) for name, kwargs in calls
            ]
        else:
            played = [
                [_answered(subject, start, calls, readings, made) for start, calls in order]
                for order in orders
            ]
        documents = [subject.spec(tool).document() for tool in subject.tools]
    json.dump([documents, played], sys.stdout)


def _follow(subject: CheckedEnvironment, session: TimedSession, call: Call) -> list[Step]:
    """Execute a call. Return the executed lines and the outcome."""
    texts: list[str] = []
    steps = steps_of(subject.source, lambda: texts.append(session.call(call).text))
    return [*steps, ("", f"{texts} {session.snapshot().digest()}")]


def _answered(
    subject: CheckedEnvironment, start: list[Any], calls: list[Any], readings: list[str], made: int
) -> _PlayResult:
    del readings[made:]
    session = subject.session(StartState.from_json(start), tolerant=True)
    texts, read = [], []
    for name, kwargs in calls:
        texts.append(session.call(Call(name, (), kwargs)).text)
        read.append(readings[made:])
    return _PlayResult(
        [*texts, session.snapshot().digest()], [*read, readings[made:]], readings[:made]
    )


class _DifferentPlay(Exception):
    """The results of a script change if other sessions run before it or beside it."""

    def __init__(self, script: RecordedPlay, index: int, text: str, other: str, where: str) -> None:
        super().__init__(where)
        self.script = script
        self.index = index
        self.text = text
        self.other = other
        self.where = where


def interleaved(subject: CheckedEnvironment) -> None:
    """Execute scripts in many sessions, in sequence and concurrently; compare the outcomes."""
    try:
        whole, alone = _whole(subject), _elsewhere(subject, _SAME)
        for script, first, last in zip(whole, alone.forth, alone.back, strict=True):
            _compare(script, first.texts, last.texts, "after other sessions")
        short = [_short(subject, script) for script in whole]
        quick = [script for script in short if len(list_notices(script.end)) <= _MAX_NOTICES]
        # Small configs load fast.
        quick.sort(key=lambda script: len(repr(script.start)))
        _many_at_once(subject, quick[: len(quick) // 2 + 1] or short)
    except _DifferentPlay as unalike:
        raise _shared(subject, unalike) from None


def _shared(subject: CheckedEnvironment, found: _DifferentPlay) -> ContractViolation:
    session = subject.session(found.script.start, tolerant=True)
    calls = found.script.calls
    here = [_follow(subject, session, call) for call in calls]
    line, _ = _part(_followed(subject, found.script, _SAME), here)
    said = _other(subject, found.script, found.index, found.text, found.other, found.where)
    return ContractViolation(line or said.place, said.message)


def _many_at_once(subject: CheckedEnvironment, played: Sequence[RecordedPlay]) -> None:
    async def as_task(script: RecordedPlay) -> None:
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


def _whole(subject: CheckedEnvironment) -> list[RecordedPlay]:
    return [script for script in scripts(subject) if len(script.texts) == len(script.calls)]


def _short(subject: CheckedEnvironment, script: RecordedPlay) -> RecordedPlay:
    session, calls = subject.session(script.start), script.calls[:_STEPS]
    texts = [result.text for result in session.play(calls)]
    return RecordedPlay(script.start, calls, texts, session.snapshot())


def _many(scripts: Sequence[RecordedPlay]) -> Iterator[RecordedPlay]:
    return (scripts[number % len(scripts)] for number in range(SESSIONS // 2))


def _parts(scripts: Sequence[RecordedPlay]) -> list[list[RecordedPlay]]:
    everything = list(_many(scripts))
    return [everything[start::_THREADS] for start in range(_THREADS)]


def _in_turns(subject: CheckedEnvironment, scripts: Sequence[RecordedPlay]) -> None:
    playing = [_playing(subject, script, "among other threads") for script in scripts]
    while playing:
        playing = [play for play in playing if next(play, None)]


def _playing(subject: CheckedEnvironment, script: RecordedPlay, where: str) -> Iterator[bool]:
    session = subject.session(script.start, tolerant=True)
    texts = []
    for call in script.calls:
        texts.append(session.call(call).text)
        yield True
    same = session.snapshot() == script.end
    _compare(script, [*script.texts, ""], [*texts, "" if same else "another state"], where)


def _compare(script: RecordedPlay, ours: Sequence[str], theirs: Sequence[str], where: str) -> None:
    for index, (text, other) in enumerate(zip(ours, theirs, strict=True)):
        if text != other:
            raise _DifferentPlay(script, index, text, other, where)


def _other(
    subject: CheckedEnvironment,
    script: RecordedPlay,
    index: int,
    text: str,
    other: str,
    where: str,
    advice: str = "keep all state in annotated fields; a global or a class attribute is shared",
) -> ContractViolation:
    call = script.calls[min(index, len(script.calls) - 1)]
    another = index == len(script.calls)
    gives = "leads to another state" if another else f"gives {compare_texts(text, other)}"
    return subject.broken(f"{call} {gives} {where}; {advice}", call)
