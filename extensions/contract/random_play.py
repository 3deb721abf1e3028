"""Random plays: sequences of calls that hypothesis generates from the schemas.

Plays are generated once per environment, and every check replays them. A failing play is shortened.
The first plays begin in the given states. Later plays begin in the largest states of earlier plays.
Some plays end with boundary values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial, wraps
from itertools import islice
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyStrategyDefinition

from envs.calls import Call
from envs.errors import BackendFault
from envs.results import Result
from envs.schema import make_config_schema
from envs.session import Session
from envs.state import Snapshot, copy_json, list_differences, to_json
from extensions.contract.checked_environment import (
    CheckedEnvironment,
    ContractViolation,
    StartState,
)
from extensions.contract.generated_values import (
    arguments,
    inline_references,
    list_edges,
    shown_in,
    values_of,
)
from extensions.contract.source_lines import changing_line, parting_line, returning_line, steps_of
from extensions.contract.timed_session import CallTimeout

_PLAYS = 60
_STEPS = 12
_SETTLING_STEPS = 2
"""Calls of worlds' functions, such as ``wait``, at the end of a play. They let planned events
happen."""
_RECENT, _MOST = 6, 20
"""Number of earlier results that are used, and number of values that are remembered."""
_ROUNDS, _TRIES, _CANDIDATES = 2, 16, 3
"""Rounds of longer plays from the richest state, tries per call, and candidates per call."""
_CONFIGS, _KEPT_CONFIGS = 150, 3
"""Number of generated configs, and number of valid configs that are used."""
_EDGES_IN_PLAY = 12


class RecordedPlay(NamedTuple):
    """A recorded play."""

    start: StartState
    calls: Sequence[Call]
    texts: Sequence[str]
    """Every result as a string; a last call that caused a BackendFault has no result."""
    end: Snapshot

    def next_call(self, play: RandomPlay) -> Call | None:
        """Return the next call of this script's play, or None at the end."""
        made = len(play.calls)
        return self.calls[made] if made < len(self.calls) else None


class RandomPlay:
    """Session with its calls; ``choose`` returns the next call, or None at the end.

    If the last call caused a BackendFault, it has no result.
    """

    def __init__(
        self,
        subject: CheckedEnvironment,
        start: StartState,
        choose: Callable[[RandomPlay], Call | None],
    ) -> None:
        self.start = start
        self.session = subject.session(start)
        self.calls: list[Call] = []
        self.results: list[Result] = []
        self._choose = choose

    def steps(self) -> Iterator[tuple[Call, Result]]:
        """Yield after each call of the play. Raises BackendFault if the backend has a bug."""
        while (call := self._choose(self)) is not None:
            self.calls.append(call)
            # A function may change its arguments in place.
            given = Call(call.name, call.args, copy_json(dict(call.kwargs)))
            self.results.append(self.session.call(given))
            yield call, self.results[-1]

    def state(self) -> dict[str, Any]:
        """Return a copy of the state, including worlds and uncompared fields."""
        return self.state_of(self.session)

    @staticmethod
    def state_of(session: Session) -> dict[str, Any]:
        """Return a copy of the state of a session as ``state`` does."""
        own, *worlds = session.snapshot().states.items()
        return {name: to_json(value) for name, value in (*own[1].items(), *worlds)}


Examine = Callable[[RandomPlay], None]
"""Function that makes the calls of a play and raises its findings."""


def explore(subject: CheckedEnvironment, examine: Examine) -> None:
    """Examine random plays; a play ends at a BackendFault.

    Raises ContractViolation with the first finding and the calls that lead to it.
    """
    for script in scripts(subject):
        found = _finding(subject, examine, script)
        if found:
            script, found = _shortest(subject, examine, script, found)
            before = "; ".join(map(str, script.calls[:-1]))
            after = f" (after {before})" if before else ""
            raise ContractViolation(_line(subject, script, found), found.message + after)


def on_plays(
    check: Callable[[CheckedEnvironment, RandomPlay], None],
) -> Callable[[CheckedEnvironment], None]:
    """Return a check that examines each random play with a function."""

    @wraps(check)
    def run(subject: CheckedEnvironment) -> None:
        explore(subject, partial(check, subject))

    return run


@cache
def scripts(subject: CheckedEnvironment) -> Sequence[RecordedPlay]:
    """Return the random plays of an environment; equal calls return equal plays."""
    found = _record(subject, [*subject.starts, *generated_starts(subject)], _PLAYS)
    few = max(1, _PLAYS // 10)
    if any(tool.writes for tool in subject.tools):
        for grows in (*[True] * _ROUNDS, False):
            found += _record(subject, _rich_starts(subject, found, 1), few, grows=grows)
        # The ends of these plays have events that happened.
        found += _record(subject, _rich_starts(subject, found[-few:], few), 2 * few)
    edges = [*_edge_scripts(subject, found)]
    edges += _record(subject, _rich_starts(subject, edges, len(edges)), 2 * few)
    return [*found, *edges]


def _rich_starts(
    subject: CheckedEnvironment, played: Sequence[RecordedPlay], number: int
) -> list[StartState]:
    """Return the configs of the largest states that plays reached, if they load as these states."""
    sizes = {_measure(script.end): script for script in played}
    found: list[StartState] = []
    for _, script in sorted(sizes.items(), reverse=True)[: max(number, _RECENT)]:
        # States that no config describes are found by other checks.
        with suppress(Exception, SystemExit, CallTimeout):
            start = subject.start_of(script.end, script.start.pack)
            if subject.find_problems(start) or len(found) == number:
                continue
            if subject.session(start).snapshot() == script.end:
                found.append(start)
    return found


@cache
def generated_starts(subject: CheckedEnvironment) -> Sequence[StartState]:
    """Return a few valid configs generated from the schema, preferably configs with many values."""
    found: dict[tuple[int, int], StartState] = {}

    @_quietly(_CONFIGS)
    @given(values_of(inline_references(make_config_schema(subject.backend.Config)), "", ()))
    def try_out(config: dict[str, Any]) -> None:
        start = StartState(config)
        with suppress(Exception, SystemExit, CallTimeout):
            if not subject.backend.check_config(config) and subject.session(start):
                filled = sum(map(bool, config.values()))
                found.setdefault((filled, len(repr(config))), start)

    with suppress(Exception):
        try_out()
    return [found[size] for size in sorted(found)[-_KEPT_CONFIGS:]]


def _edge_scripts(
    subject: CheckedEnvironment, played: Sequence[RecordedPlay]
) -> Iterator[RecordedPlay]:
    """Yield plays that call each function with each boundary value of each parameter.

    The other arguments are taken from a successful call, if possible.
    """
    begun: dict[str, tuple[RecordedPlay, int]] = {}
    for script in played:
        for place, (call, text) in enumerate(zip(script.calls, script.texts, strict=False)):
            if call.name not in begun or (_is_error(begun[call.name]) and '"error"' not in text):
                begun[call.name] = script, place
    for tool in subject.tools:
        if tool.name not in begun:
            continue
        script, place = begun[tool.name]
        given = script.calls[place].kwargs
        edges = [
            Call(tool.name, (), {**given, each.name: edge})
            for each in subject.spec(tool).parameters
            for edge in list_edges(each.schema)
        ]
        yield from _play_on(subject, script.start, script.calls[:place], edges)


def _is_error(begun: tuple[RecordedPlay, int]) -> bool:
    script, place = begun
    return '"error"' in script.texts[place]


def _play_on(
    subject: CheckedEnvironment, start: StartState, before: Sequence[Call], calls: Sequence[Call]
) -> Iterator[RecordedPlay]:
    while calls:
        planned = RecordedPlay(start, [*before, *calls[:_EDGES_IN_PLAY]], (), Snapshot({}))
        play = RandomPlay(subject, start, planned.next_call)
        texts: list[str] = []
        with suppress(BackendFault):
            texts.extend(result.text for _, result in play.steps())
        yield RecordedPlay(start, tuple(play.calls), texts, play.session.snapshot())
        calls = calls[max(1, len(play.calls) - len(before)) :]


def _quietly(examples: int) -> settings:
    # The same values every time, and none are kept on disk.
    return settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def _record(
    subject: CheckedEnvironment, starts: Sequence[StartState], number: int, *, grows: bool = False
) -> list[RecordedPlay]:
    choose = _make_growing if grows else _make_up
    if not starts:
        return []
    recorded: list[RecordedPlay] = []

    @_quietly(number)
    @given(st.data())
    def record(data: st.DataObject) -> None:
        start = data.draw(st.sampled_from(starts))
        play = RandomPlay(subject, start, partial(choose, subject, data))
        texts: list[str] = []
        with suppress(BackendFault):
            texts.extend(result.text for _, result in play.steps())
        recorded.append(RecordedPlay(start, tuple(play.calls), texts, play.session.snapshot()))

    # An environment that is not the same every time ends it early; there are checks for that.
    with suppress(FlakyStrategyDefinition):
        record()
    return recorded


def change(before: Any, after: Any) -> str | None:
    """Return the first place where two copies of a state differ, or None."""
    return next((str(difference) for difference in list_differences(before, after)), None)


def _finding(
    subject: CheckedEnvironment, examine: Examine, script: RecordedPlay
) -> ContractViolation | None:
    try:
        with suppress(BackendFault):
            examine(RandomPlay(subject, script.start, script.next_call))
    except ContractViolation as found:
        return found
    return None


def _shortest(
    subject: CheckedEnvironment, examine: Examine, script: RecordedPlay, found: ContractViolation
) -> tuple[RecordedPlay, ContractViolation]:
    """Remove every call that the finding does not need."""
    for index in reversed(range(len(script.calls))):
        shorter = script._replace(calls=[*script.calls[:index], *script.calls[index + 1 :]])
        again = _finding(subject, examine, shorter)
        if again and again.place == found.place:
            script, found = shorter, again
    return script, found


def _line(subject: CheckedEnvironment, script: RecordedPlay, found: ContractViolation) -> str:
    if found.of is None or not script.calls:
        return found.place
    if found.of == "again":
        return _again(subject, script) or found.place
    session = subject.session(script.start)
    *before, last = script.calls
    with suppress(BackendFault):
        session.play(before)

    def run() -> object:
        return session.call(last)

    if found.of == "result":
        return returning_line(subject.source, run) or found.place
    state = session.backends[subject.name].__dict__
    kept = {**state, "defaults": subject.backend.FIELDS, "config": session.config}
    look = found.of
    if callable(look):
        return changing_line(subject.source, run, lambda: repr(look(state))) or found.place
    watched = state if look == "state" else kept
    return changing_line(subject.source, run, lambda: repr(watched)) or found.place


def _again(subject: CheckedEnvironment, script: RecordedPlay) -> str | None:
    session = subject.session(script.start)
    fork = session.fork()
    once, again = (
        [steps_of(subject.source, partial(live.call, call)) for call in script.calls]
        for live in (session, fork)
    )
    return parting_line(once, again)


def _make_growing(
    subject: CheckedEnvironment, data: st.DataObject, play: RandomPlay
) -> Call | None:
    size, growing = _count_values(play.session.snapshot()), []
    for _ in range(_TRIES):
        call = _make_up(subject, data, play)
        if call is None:
            return None
        fork = play.session.fork()
        with suppress(BackendFault):
            fork.call(Call(call.name, (), copy_json(dict(call.kwargs))))
        if _count_values(fork.snapshot()) > size:
            growing.append(call)
            if len(growing) == _CANDIDATES:
                break
    names = [call.name for call in play.calls]
    return min(growing, key=lambda call: names.count(call.name), default=None)


def _measure(snapshot: Snapshot) -> tuple[int, int]:
    """Return the number of distinct names in a state, and the number of its values."""
    shown = [*shown_in(snapshot.to_json())]
    return len({each.nearest for each in shown}), len(shown)


def _count_values(snapshot: Snapshot) -> int:
    return sum(1 for _ in shown_in(snapshot.to_json()))


def _make_up(subject: CheckedEnvironment, data: st.DataObject, play: RandomPlay) -> Call | None:
    if len(play.calls) == _STEPS:
        return None
    settles = subject.world_tools and len(play.calls) >= _STEPS - _SETTLING_STEPS
    tools = subject.world_tools if settles else [*subject.tools, *subject.world_tools]
    tool = data.draw(st.sampled_from(tools))
    known = list(shown_in(play.session.snapshot().compared()))
    for result in play.results[-_RECENT:]:
        known += islice(shown_in(result.held), _MOST)
    return Call(tool.name, (), data.draw(arguments(subject.spec(tool), known)))
