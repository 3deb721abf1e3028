"""Random playthroughs: sequences of calls that are generated from the schemas.

All checks of an environment use the same sequences. If a sequence violates the contract,
superfluous calls are removed before the violation is reported. The first sequences begin in given
or generated initial states. Later sequences begin in the largest states that earlier sequences
reached, or in variations of these states. Some sequences prefer calls with a new outcome. Other
sequences end with calls whose arguments include a boundary value, such as 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial, wraps
from itertools import count, islice
from random import Random
from typing import Any, NamedTuple

from envs.calls import Call
from envs.errors import BackendFault
from envs.results import Result
from envs.session import Session
from envs.state import Snapshot, copy_json, cut, cut_repr, list_differences, to_json
from envs.tool import Tool
from extensions.contract.checked_environment import (
    CheckedEnvironment,
    ContractViolation,
    StartState,
)
from extensions.contract.generated_values import (
    SPECIAL_TEXTS,
    ShownValue,
    ShownValues,
    ValueRandom,
    list_edges,
    shown_in,
    vary_arguments,
    write_in_other_digits,
)
from extensions.contract.source_lines import changing_line, parting_line, returning_line, steps_of
from extensions.contract.start_states import (
    generated_starts,
    list_smaller,
    multiply,
    vary_starts,
)
from extensions.contract.timed_session import CallTimeout
from extensions.worlds.timestamps import shift
from extensions.worlds.world_clock import WorldClock

_PLAYS = 30
_STEPS = 12
_SETTLING_STEPS = 2
"""In a world, a playthrough ends with this number of calls such as ``wait``."""
_RECENT, _MOST, _MAX_KNOWN = 6, 20, 150
"""``_RECENT``: number of recent results that supply values. ``_MOST``: maximum number of values per
result. ``_MAX_KNOWN``: maximum number of known values."""
_ROUNDS, _TRIES, _CANDIDATES = 2, 16, 3
"""``_ROUNDS``: number of rounds that enlarge states. ``_TRIES``: maximum number of calls to try.
``_CANDIDATES``: maximum number of candidate calls."""
_SHARE_ANY = 0.5
"""Probability that a random call is allowed to fail. All other calls are tried in a fork first."""
_EDGES_IN_PLAY = 12
_MAX_SHOWN = 600
"""In a message, the calls and the config each have at most this number of characters."""
_MAX_SHORTER_CONFIGS = 60
"""Maximum number of smaller initial configs that the check tries after a failure."""
_LATER_MINUTES = (0, 60, 360, 1440, 2 * 1440, 5 * 1440, 20 * 1440)
_TIME_WORDS = frozenset({"now", "time", "day", "date"})
_VALUES = re.compile(r"[0-9]+|'[^']*'")
"""Regular expression for numbers and quoted strings in error messages."""


NOTHING: Mapping[str, Any] = {}


class RecordedPlay(NamedTuple):
    """A recorded playthrough."""

    start: StartState
    calls: Sequence[Call]
    texts: Sequence[str]
    """Results as strings. A last call that raised a BackendFault has no result."""
    end: Snapshot

    def next_call(self, play: RandomPlay) -> Call | None:
        """Return the next call of this script, or None at the end."""
        made = len(play.calls)
        return self.calls[made] if made < len(self.calls) else None


class RandomPlay:
    """Session with its calls; ``choose`` returns the next call, or None at the end.

    A call that raises a BackendFault is the last call, and has no result.
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

    def steps(self, before: Callable[[Call], None] | None = None) -> Iterator[tuple[Call, Result]]:
        """Make the calls of the playthrough; yield each call with its result.

        The function ``before`` receives each call before its execution. Raises BackendFault if the
        backend has a bug.
        """
        while (call := self._choose(self)) is not None:
            self.calls.append(call)
            if before is not None:
                before(call)
            # A function may change its arguments in place.
            given = Call(call.name, call.args, copy_json(dict(call.kwargs)))
            self.results.append(self.session.call(given))
            yield call, self.results[-1]

    def state(self) -> dict[str, Any]:
        """Return a copy of the state, including worlds and uncompared fields."""
        return self.state_of(self.session)

    @staticmethod
    def state_of(session: Session) -> dict[str, Any]:
        """Return a copy of a session's state, including worlds and uncompared fields."""
        own, *worlds = session.snapshot().states.items()
        return {name: to_json(value) for name, value in (*own[1].items(), *worlds)}


ChooseCall = Callable[[RandomPlay], Call | None]
Examine = Callable[[RandomPlay], None]
"""Function that plays one playthrough, and raises ContractViolation for a violation."""


def explore(
    subject: CheckedEnvironment, examine: Examine, further: Sequence[RecordedPlay] = ()
) -> None:
    """Examine all random playthroughs and the playthroughs in ``further``.

    A BackendFault ends a playthrough. Raises ContractViolation with the first finding and the calls
    that lead to it.
    """
    for script in (*scripts(subject), *further):
        found = _finding(subject, examine, script)
        if found:
            find = partial(_finding, subject, examine)
            script, found = shorten(subject, find, script, found)
            shown = script._replace(calls=script.calls[:-1])
            message = explained(subject, shown, found).message
            place, function = _line(subject, script, found)
            # The function may be a reaction or another helper.
            said = f"{function}: {message.partition(': ')[2]}" if function else message
            raise ContractViolation(place, said)


def on_plays(
    check: Callable[[CheckedEnvironment, RandomPlay], None],
) -> Callable[[CheckedEnvironment], None]:
    """Return a check that runs on all random playthroughs."""

    @wraps(check)
    def run(subject: CheckedEnvironment) -> None:
        explore(subject, partial(check, subject))

    return run


@cache
def scripts(subject: CheckedEnvironment) -> Sequence[RecordedPlay]:
    """Return random playthroughs of an environment; equal arguments give equal playthroughs."""
    return PlayMaker(subject).make()


class PlayMaker:
    """Maker of random playthroughs of an environment; it records the kind of each step."""

    def __init__(self, subject: CheckedEnvironment) -> None:
        self._subject = subject
        self._random = ValueRandom(0)
        self.proven: dict[str, list[Mapping[str, Any]]] = {}
        """Arguments of the successful calls of each function."""
        self._kinds: set[tuple[object, ...]] = set()
        self._known: tuple[RandomPlay | None, int, ShownValues] = None, 0, ShownValues()

    def make(self) -> list[RecordedPlay]:
        """Make all playthroughs."""
        subject, few = self._subject, max(1, _PLAYS // 6)
        first = [*subject.starts, *generated_starts(subject)]
        found = self._record(first, _PLAYS, self._draw_next)
        found += self._record(first, 3 * few, self._find_new)
        if any(tool.writes for tool in subject.tools):
            for choose in (*[self._find_growing] * _ROUNDS, self._draw_next):
                found += self._record(rich_starts(subject, found, 1), few, choose)
            rare = [*subject.starts, *rich_starts(subject, found, few)]
            found += self._record(rare, 3 * few, self._find_rare)
            self._random.texts = SPECIAL_TEXTS
            for starts in (first, None):
                special = starts or rich_starts(subject, found[-few:], few)
                found += self._record(special, few, self._find_growing)
            del self._random.texts
            found += self._record([multiply(subject, subject.starts[0])], few, self._find_growing)
            # These playthroughs end after events have happened.
            for grown in (found[-2 * few : -few], found[-few:]):
                found += self._record(rich_starts(subject, grown, few), 2 * few, self._find_new)
        rich = rich_starts(subject, found, _RECENT)
        for start in vary_starts(subject, self._random, [*rich, *subject.starts], 6 * few):
            found += self._record([start], 1, self.find_untried)
        for start in rich:
            found += self._record([start], 1, self._find_read)
        edges = [*self._play_edges(found)]
        edges += self._record(rich_starts(subject, edges, len(edges)), 2 * few, self._draw_next)
        return [*found, *edges]

    def _record(
        self, starts: Sequence[StartState], number: int, choose: ChooseCall
    ) -> list[RecordedPlay]:
        chosen = [self._random.choice(starts) for _ in range(number)] if starts else []
        return [self.play(start, choose) for start in chosen]

    def play(self, start: StartState, choose: ChooseCall) -> RecordedPlay:
        """Make one playthrough."""
        play = RandomPlay(self._subject, start, choose)
        texts: list[str] = []
        with suppress(BackendFault):
            for call, result in play.steps():
                texts.append(result.text)
                tool = play.session.tools[call.name]
                if result.ok and result.changed is tool.writes:
                    self.proven.setdefault(call.name, []).append(call.kwargs)
        return RecordedPlay(start, tuple(play.calls), texts, play.session.snapshot())

    def _draw(self, play: RandomPlay, tools: Sequence[Tool]) -> Call:
        if self._known[:2] != (play, len(play.calls)):
            records = count()
            known = shown_in(play.session.snapshot().compared(), records)
            known += list_times(play.session)
            for result in play.results[-_RECENT:]:
                known += islice(shown_in(result.held, records), _MOST)
            self._known = play, len(play.calls), sample_known(self._random, known)
        return draw_call(self._subject, self._random, tools, self._known[2], self.proven)

    def _draw_next(self, play: RandomPlay) -> Call | None:
        """Return a random call; at the end of a playthrough, only worlds' functions are called."""
        if len(play.calls) == _STEPS:
            return None
        if self._subject.world_tools and len(play.calls) >= _STEPS - _SETTLING_STEPS:
            return self._draw(play, self._subject.world_tools)
        if self._random.random() < _SHARE_ANY:
            return self._draw(play, self._subject.played_tools)
        return self._find_successful(play, [self._random.choice(self._subject.played_tools)])

    def _find_successful(self, play: RandomPlay, tools: Sequence[Tool]) -> Call:
        """Try several calls; return the first successful call, else the last call."""
        for _ in range(_TRIES // 2):
            call = self._draw(play, tools)
            result, _ = try_call(play.session, call)
            if result is None or result.ok:
                break
        return call

    def _find_growing(self, play: RandomPlay) -> Call | None:
        """Return a call that adds values to the state, for example a new item."""
        if len(play.calls) == _STEPS:
            return None
        size, growing = self._count_values(play.session), []
        for _ in range(_TRIES):
            call = self._draw(play, self._subject.played_tools)
            result, session = try_call(play.session, call)
            if result is None:
                return call
            if self._count_values(session) > size:
                growing.append(call)
                if len(growing) == _CANDIDATES:
                    break
        names = [call.name for call in play.calls]
        return min(growing, key=lambda call: names.count(call.name), default=None)

    def _count_values(self, session: Session) -> int:
        return _measure(self._subject, session.snapshot())[1]

    def _find_new(self, play: RandomPlay) -> Call | None:
        """Return a call of a kind that has not occurred yet.

        The kind of a call depends on the function, the outcome and the preceding calls.
        """
        if len(play.calls) == _STEPS:
            return None
        if self._subject.world_tools and len(play.calls) >= _STEPS - _SETTLING_STEPS:
            return self._find_eventful(play)
        wrote = [
            call.name
            for call, result in zip(play.calls, play.results, strict=True)
            if result.ok and play.session.tools[call.name].writes
        ]
        successful = None
        for _ in range(_TRIES):
            call = self._draw(play, self._subject.played_tools)
            result, session = try_call(play.session, call)
            kind = (*wrote[-2:], call.name, self._kind_of(play, result, session))
            if result is None or kind not in self._kinds:
                self._kinds.add(kind)
                return call
            if result.ok:
                successful = call
        return successful or call

    @staticmethod
    def _kind_of(play: RandomPlay, result: Result | None, session: Session) -> object:
        if result is None or result.error is None:
            return len(session.notices) > len(play.session.notices)
        return _VALUES.sub("", result.error.message)

    def _find_eventful(self, play: RandomPlay) -> Call:
        """Try several calls of the worlds; return the call that causes the most events."""
        found: dict[int, Call] = {}
        for _ in range(_TRIES):
            call = self._draw(play, self._subject.world_tools)
            result, session = try_call(play.session, call)
            if result is None:
                return call
            found.setdefault(len(session.notices) + result.ok, call)
        return found[max(found)]

    def _find_rare(self, play: RandomPlay) -> Call | None:
        """Return a successful call of a function that rarely succeeded in earlier playthroughs."""
        if len(play.calls) == _STEPS:
            return None
        tools = [*self._subject.played_tools]
        self._random.shuffle(tools)
        tools.sort(key=lambda tool: len(self.proven.get(tool.name, ())))
        for tool in tools[:_CANDIDATES]:
            call = self._find_successful(play, [tool])
            result, _ = try_call(play.session, call)
            if result is None or result.ok:
                return call
        return self._find_successful(play, [self._random.choice(tools)])

    def find_untried(self, play: RandomPlay) -> Call | None:
        """Return a call of a function that the playthrough has not called yet."""
        names = {call.name for call in play.calls}
        tools = [tool for tool in self._subject.played_tools if tool.name not in names]
        if not tools:
            return None
        return self._find_successful(play, tools)

    def _find_read(self, play: RandomPlay) -> Call | None:
        """Return the next call of a read-only function.

        Every read-only function is called once. In a world, a second round follows.
        """
        tools = self._subject.all_tools
        reading = [tools[name] for name in self._subject.reading_tools]
        worlds = self._subject.world_tools
        order = [*([tool] for tool in reading), *([worlds] if worlds else [])]
        order += [[tool] for tool in reading] if worlds else []
        if len(play.calls) >= len(order):
            return None
        candidates = order[len(play.calls)]
        found: dict[tuple[bool, str], Call] = {}
        for _ in range(_CANDIDATES):
            call = self._draw(play, candidates)
            result, _ = try_call(play.session, call)
            if result is None:
                return call
            # The largest text of a clock shows the latest time.
            found.setdefault((result.ok, result.text if result.ok else ""), call)
        return found[max(found)]

    def _play_edges(self, played: Sequence[RecordedPlay]) -> Iterator[RecordedPlay]:
        """Yield playthroughs that call each function with the boundary values of its parameters.

        One argument is a boundary value. The others come from a successful call, if possible.
        """
        begun: dict[str, tuple[RecordedPlay, int]] = {}
        for script in played:
            for place, (call, text) in enumerate(zip(script.calls, script.texts, strict=False)):
                if call.name not in begun or (
                    _is_error(begun[call.name]) and '"error"' not in text
                ):
                    begun[call.name] = script, place
        for tool in self._subject.tools:
            if tool.name not in begun:
                continue
            script, place = begun[tool.name]
            given = script.calls[place].kwargs
            other = {
                name: written
                for name, value in given.items()
                if (written := write_in_other_digits(value)) != value
                and self._subject.fits(tool, {name: written})
            }
            edges = [Call(tool.name, (), {**given, name: other[name]}) for name in other]
            edges += [
                Call(tool.name, (), {**given, each.name: edge})
                for each in self._subject.spec(tool).parameters
                for edge in list_edges(each.schema)
            ]
            yield from self._play_on(script.start, script.calls[:place], edges)

    def _play_on(
        self, start: StartState, before: Sequence[Call], calls: Sequence[Call]
    ) -> Iterator[RecordedPlay]:
        while calls:
            planned = RecordedPlay(start, [*before, *calls[:_EDGES_IN_PLAY]], (), Snapshot({}))
            played = self.play(start, planned.next_call)
            yield played
            calls = calls[max(1, len(played.calls) - len(before)) :]


def sample_known(random: Random, known: Sequence[ShownValue]) -> ShownValues:
    """Return the distinct known values, or a sample of them."""
    records: dict[tuple[frozenset[str], Any, frozenset[str]], list[int]] = {}
    for each in known:
        key = each.words, each.value, each.nearest
        records.setdefault(key, []).extend(each.records)
    distinct = [*records.items()]
    chosen = random.sample(distinct, _MAX_KNOWN) if len(distinct) > _MAX_KNOWN else distinct
    return ShownValues(ShownValue(*shown, records=(*numbers,)) for shown, numbers in chosen)


def draw_call(
    subject: CheckedEnvironment,
    random: ValueRandom,
    tools: Sequence[Tool],
    known: ShownValues,
    proven: Mapping[str, Sequence[Mapping[str, Any]]] = NOTHING,
) -> Call:
    """Return a call of a randomly chosen function; the arguments fit the function's schema.

    ``proven`` maps functions to the arguments of successful calls. Some calls
    repeat a successful call with a few changed arguments.
    """
    tool = random.choice(tools)
    given = vary_arguments(random, subject.spec(tool), known, proven.get(tool.name, ()))
    return Call(tool.name, (), given)


def list_times(session: Session) -> list[ShownValue]:
    """Return the current time and some later times and days, if the session has a clock."""
    clock = session.backends.get(WorldClock.__name__)
    if not isinstance(clock, WorldClock):
        return []
    times = [shift(clock.now, minutes) for minutes in _LATER_MINUTES]
    texts = dict.fromkeys([*times, *(time[:10] for time in times)])
    return [ShownValue(_TIME_WORDS, text, _TIME_WORDS) for text in texts]


@cache
def list_proven(subject: CheckedEnvironment) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Map each function to the arguments of its successful calls in the playthroughs."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for script in scripts(subject):
        for call, text in zip(script.calls, script.texts, strict=False):
            if '"error"' not in text and any(call.kwargs.values()):
                found.setdefault(call.name, {})[str(call)] = call.kwargs
    return {name: [*calls.values()] for name, calls in found.items()}


def try_call(session: Session, call: Call) -> tuple[Result | None, Session]:
    """Call a function in a fork; return the result (None after a BackendFault) and the fork."""
    fork = session.fork()
    try:
        return fork.call(Call(call.name, (), copy_json(dict(call.kwargs)))), fork
    except BackendFault:
        return None, fork


def rich_starts(
    subject: CheckedEnvironment, played: Sequence[RecordedPlay], number: int
) -> list[StartState]:
    """Convert the largest states of playthroughs to configs; skip states without a config."""
    sizes = {_measure(subject, script.end): script for script in played}
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


def _is_error(begun: tuple[RecordedPlay, int]) -> bool:
    script, place = begun
    return '"error"' in script.texts[place]


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


def shorten(
    subject: CheckedEnvironment,
    find: Callable[[RecordedPlay], ContractViolation | None],
    script: RecordedPlay,
    found: ContractViolation,
) -> tuple[RecordedPlay, ContractViolation]:
    """Remove calls and config values from a playthrough, except those that the finding needs."""
    for start in subject.starts[:1]:
        again = find(script._replace(start=start))
        if again and again.place == found.place:
            script, found = script._replace(start=start), again
    for index in reversed(range(len(script.calls))):
        shorter = script._replace(calls=[*script.calls[:index], *script.calls[index + 1 :]])
        again = find(shorter)
        if again and again.place == found.place:
            script, found = shorter, again
    tries = iter(range(_MAX_SHORTER_CONFIGS))
    size = None
    while script.start not in subject.starts and size != (size := len(repr(script.start))):
        for start in list_smaller(subject, script.start):
            if next(tries, None) is None:
                return script, found
            again = find(script._replace(start=start))
            if again and again.place == found.place:
                script, found = script._replace(start=start), again
                break
    return script, found


def explained(
    subject: CheckedEnvironment, script: RecordedPlay, found: ContractViolation
) -> ContractViolation:
    """Extend the message of a finding by the playthrough's calls and config."""
    before = []
    if script.calls:
        before.append(f"after {list_calls(script.calls)}")
    if script.start not in subject.starts:
        config = json.dumps({subject.name: script.start.config, **script.start.worlds})
        before.append(f"with the config {cut(config, _MAX_SHOWN)}")
    text = f" ({', '.join(before)})" if before else ""
    return ContractViolation(found.place, found.message + text, found.of)


def list_calls(calls: Sequence[Call]) -> str:
    """Return calls in one line."""
    return cut("; ".join(map(str, calls)), _MAX_SHOWN)


def compare_texts(text: str, other: str) -> str:
    """Describe the first difference between two results, or quote both results."""
    with suppress(ValueError):
        found = next(list_differences(json.loads(text), json.loads(other)), None)
        if found is not None and found.path:
            return f"{found.path} = {cut_repr(found.expected)}, but {cut_repr(found.actual)}"
    return f"{text:.200}, but {other:.200}"


def _line(
    subject: CheckedEnvironment, script: RecordedPlay, found: ContractViolation
) -> tuple[str, str]:
    """Return the source line that causes a finding, and the function of this line, if known."""
    if found.of is None or not script.calls:
        return found.place, ""
    if found.of == "again":
        return _again(subject, script) or found.place, ""
    session = subject.session(script.start)
    *before, last = script.calls
    with suppress(BackendFault):
        session.play(before)

    def run() -> object:
        return session.call(last)

    if found.of == "result":
        return returning_line(subject.source, run) or found.place, ""
    states = [vars(session.backends[name]) for name in subject.own_names]
    kept = [session.snapshot().compared(), subject.backend.FIELDS, session.configs]
    look = found.of
    watched: Callable[[], str] = lambda: repr(states if look == "state" else kept)  # noqa: E731
    if callable(look):
        watched = lambda: repr([look(state) for state in states])  # noqa: E731
    return changing_line(subject.source, run, watched) or (found.place, "")


def _again(subject: CheckedEnvironment, script: RecordedPlay) -> str | None:
    session = subject.session(script.start)
    fork = session.fork()
    once, again = (
        [steps_of(subject.source, partial(live.call, call)) for call in script.calls]
        for live in (session, fork)
    )
    return parting_line(once, again)


def _measure(subject: CheckedEnvironment, snapshot: Snapshot) -> tuple[int, int]:
    """Return the number of distinct names in a state, and the number of values.

    Worlds of other packages are not counted, because they can be large.
    """
    state = snapshot.compared()
    shown = shown_in([state[name] for name in subject.own_names])
    return len({each.nearest for each in shown}), len(shown)
