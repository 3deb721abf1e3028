"""Random plays: calls that hypothesis makes up from the schemas, one after the other.

Making calls up takes far longer than making them, so plays are recorded once per environment, and
every check makes the calls again. Where one finds something, calls that do not matter are left out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyStrategyDefinition

from envs.calls import Call
from envs.errors import BackendFault
from envs.results import Result
from envs.state import Snapshot, diff, to_json
from envs.testing.arguments import arguments, shown_in
from envs.testing.subject import Broken, Subject, World

_PLAYS = 60
_STEPS = 12
_RECENT, _MOST = 6, 20
"""Of how many earlier results how many values are remembered."""


class Script(NamedTuple):
    """A recorded play."""

    world: World
    calls: Sequence[Call]
    texts: Sequence[str]
    """Text of the result of every call but a last one on which the backend broke."""
    end: Snapshot

    def next_call(self, play: Play) -> Call | None:
        """Return what a play of this script has to call next; None at its end."""
        made = len(play.calls)
        return self.calls[made] if made < len(self.calls) else None


class Play:
    """A session on which calls are made.

    Attributes:
        session: The session, fresh at first.
        world: What it started from.
        calls: The calls so far.
        results: Their results; one less where the backend broke.

    Args:
        subject: The environment.
        world: What the session starts from.
        choose: Returns the next call, or None at the end.
    """

    def __init__(
        self, subject: Subject, world: World, choose: Callable[[Play], Call | None]
    ) -> None:
        self.world = world
        self.session = subject.session(world)
        self.calls: list[Call] = []
        self.results: list[Result] = []
        self._choose = choose

    def steps(self) -> Iterator[tuple[Call, Result]]:
        """Make all calls, one at a time.

        Raises:
            BackendFault: The backend broke.
        """
        while (call := self._choose(self)) is not None:
            self.calls.append(call)
            self.results.append(self.session.call(call))
            yield call, self.results[-1]

    def state(self) -> dict[str, Any]:
        """Return a copy of the whole state, fields that are not compared among it."""
        [fields] = self.session.snapshot().states.values()
        return {name: to_json(value) for name, value in fields.items()}


Examine = Callable[[Play], None]
"""Makes a play's calls and raises what it finds."""


def explore(subject: Subject, examine: Examine) -> None:
    """Examine random plays; a play ends where the backend breaks.

    Raises:
        Broken: What was found first, and on which calls.
    """
    for script in scripts(subject):
        found = _finding(subject, examine, script)
        if found:
            raise _shortest(subject, examine, script, found)


@cache
def scripts(subject: Subject) -> Sequence[Script]:
    """Return the random plays of an environment, the same every time."""
    recorded: list[Script] = []

    # The same plays every time, and none are kept on disk.
    @settings(
        max_examples=_PLAYS,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def record(data: st.DataObject) -> None:
        world = data.draw(st.sampled_from(subject.worlds))
        play = Play(subject, world, partial(_make_up, subject, data))
        with suppress(BackendFault):
            deque(play.steps(), maxlen=0)
        texts = [result.text for result in play.results]
        recorded.append(Script(world, tuple(play.calls), texts, play.session.snapshot()))

    # An environment that is not the same every time ends it early; there are checks for that.
    with suppress(FlakyStrategyDefinition):
        record()
    return recorded


def change(before: Any, after: Any) -> str | None:
    """Return the first place where two copies of a state differ, or None."""
    return next((str(difference) for difference in diff(before, after)), None)


def _finding(subject: Subject, examine: Examine, script: Script) -> Broken | None:
    try:
        with suppress(BackendFault):
            examine(Play(subject, script.world, script.next_call))
    except Broken as found:
        return found
    return None


def _shortest(subject: Subject, examine: Examine, script: Script, found: Broken) -> Broken:
    """Leave out every call without which the same is found, and name those before the last."""
    for index in reversed(range(len(script.calls))):
        shorter = script._replace(calls=[*script.calls[:index], *script.calls[index + 1 :]])
        again = _finding(subject, examine, shorter)
        if again and again.place == found.place:
            script, found = shorter, again
    before = "; ".join(map(str, script.calls[:-1]))
    return Broken(found.place, f"{found.message} (after {before})" if before else found.message)


def _make_up(subject: Subject, data: st.DataObject, play: Play) -> Call | None:
    """Return a call with arguments from the state of a play and from what earlier calls gave."""
    if len(play.calls) == _STEPS:
        return None
    tool = data.draw(st.sampled_from(subject.tools))
    known = list(shown_in(play.session.snapshot().compared()))
    for result in play.results[-_RECENT:]:
        known += islice(shown_in(result.value), _MOST)
    return Call(tool.name, (), data.draw(arguments(subject.spec(tool), known)))
