"""What calls do to the world, on random plays: refusals, reads, results, snapshots and forks."""

from __future__ import annotations

import json
from collections import deque

from envs.calls import Call
from envs.errors import BackendFault
from envs.random_stream import RandomStream
from envs.results import Result
from envs.state import brief
from envs.testing.play import Play, change, explore
from envs.testing.subject import Subject


def arguments(subject: Subject) -> None:
    """Make calls with and without the check of arguments, and compare."""

    def examine(play: Play) -> None:
        strict = play.session.fork(checks_arguments=True)
        for call, result in play.steps():
            checked = strict.call(call)
            if checked.text != result.text:
                tool = subject.backend.TOOLS[call.name]
                raise subject.broken(f"{call} fits the schema and gives {checked.text}", tool)

    explore(subject, examine)


def faults(subject: Subject) -> None:
    """Look for calls on which a function breaks."""

    def examine(play: Play) -> None:
        try:
            deque(play.steps(), maxlen=0)
        except BackendFault as fault:
            tool = subject.backend.TOOLS[play.calls[-1].name]
            advice = "refuse by raising a ToolError"
            raise subject.broken(f"{fault}; {advice}", tool) from fault

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
            tool = subject.backend.TOOLS[call.name]
            if start.digest() != seen:
                advice = "assign new values instead of changing the old ones in place"
                raise subject.broken(f"{call} changes an earlier snapshot; {advice}", tool)
            for earlier, text in made:
                if Result(earlier.value).text != text:
                    raise subject.broken(f"{call} changes an earlier result, {text}", tool)
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
            tool = subject.backend.TOOLS[call.name]
            if fork.snapshot().digest() != seen:
                raise subject.broken(f"{call} changes a fork made before it", tool)
            made.append((call, result))
        for call, result in made:
            again = fork.call(call).text
            if again != result.text:
                tool = subject.backend.TOOLS[call.name]
                message = f"{call} gives {result.text}, and {again} in a fork of the same state"
                raise subject.broken(f"{message}; keep all state in annotated fields", tool)

    explore(subject, examine)
