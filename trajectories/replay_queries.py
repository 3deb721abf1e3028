"""Replayed ground truths: a cache of their outcomes, and answers to the checkers' queries.

Most answers to the queries about a trajectory come from replayed calls.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

from checkers.unordered_comparison import arrange_snapshot
from checkers.verdict import ExecutedTurn, Made, ObservedCall, PositionAfterCall
from envs.calls import Call, read_call
from envs.errors import BackendFault, MalformedCall, ToolError
from envs.lazy_modules import lazy_module
from envs.random_stream import RandomStream
from envs.registry import list_irreversible, list_tools
from envs.results import Result
from envs.session import Session
from envs.tool import bind, choices, defaults, parameter_names
from trajectories.schema import Trajectory, Turn

if TYPE_CHECKING:
    from checkers import known_values
else:
    # Only the strict profile reads the user's words.
    known_values = lazy_module("checkers.known_values")

_NONSENSE = "xyzzy"
"""Suffix that changes a value, to test whether the value has an effect."""


class ReplayQueries:
    """Queries about one trajectory; see ``EntryQueries``.

    ``template`` is a session in its initial state; the session is forked but never called.
    """

    def __init__(
        self, trajectory: Trajectory, template: Session, truth: Sequence[ExecutedTurn]
    ) -> None:
        self._trajectory = trajectory
        self._template = template
        self._truth = truth
        self._starts: list[Session] = []
        self._prohibits = any(turn.never for turn in trajectory.turns)
        self._withholds = bool(trajectory.held_out or trajectory.excluded)

    def words(self, turn: int) -> str:
        """Return the user's message of a turn."""
        return self._said(turn, turn + 1)

    def backend(self, call: Made) -> str | None:
        """Return the backend of the called function; None if the function is unknown."""
        tool = self._template.tools.get(call.name) if isinstance(call, Call) else None
        return tool.backend if tool else None

    def offered(self, turn: int) -> Collection[str]:
        """Return the functions that the model may call in a turn."""
        trajectory, tools = self._trajectory, self._template.tools
        if not (self._withholds or trajectory.functions):
            return tools
        return trajectory.offered(tuple(tools), turn)

    def withheld(self, turn: int) -> Collection[str]:
        """Return the existing functions that the model may not call in a turn."""
        trajectory = self._trajectory
        if trajectory.functions:
            return self._template.tools.keys() - trajectory.functions
        return trajectory.withheld(turn) if self._withholds else ()

    def parameters(self, function: str) -> Collection[str]:
        """Return the names of a function's parameters; the function must exist."""
        for document in self._trajectory.documents or ():
            if document["name"] == function:
                return [*document["parameters"]["properties"]]
        return parameter_names(self._template.tools[function])[0]

    def unordered(self, backend: str | None) -> frozenset[str]:
        """Return the names of a backend's fields that hold unordered lists."""
        known = self._template.backends.get(backend or "")
        return known.unordered if known is not None else frozenset()

    def arguments(self, call: Made) -> Mapping[str, Any]:
        """Return a call's arguments by name. If the call is invalid, omit positional arguments."""
        if not isinstance(call, Call) or call.name not in self._template.tools:
            return {}
        try:
            return bind(self._template.tools[call.name], call.args, call.kwargs)
        except ToolError:
            return call.kwargs

    def filled(self, call: Made) -> Mapping[str, Any]:
        """Return a call's arguments by name, including the defaults of omitted arguments."""
        tool = self._template.tools.get(call.name) if isinstance(call, Call) else None
        if tool is None:
            return {}
        return {**defaults(tool), **self.arguments(call)}

    @property
    def irreversible(self) -> Collection[str]:
        """Functions with an effect that no other function can undo."""
        return list_irreversible(tuple(self._template.backends))

    @property
    def visible(self) -> Collection[str]:
        """Functions with an effect that other people see, such as a booking."""
        backends = self._template.backends.values()
        return frozenset().union(*(backend.visible for backend in backends))

    def right_calls(self, functions: Collection[str]) -> list[Call]:
        """Return all successful ground-truth calls of some functions."""
        return [
            call
            for results, _, _, calls in self._truth
            for call, result in zip(calls, results, strict=True)
            if isinstance(call, Call) and call.name in functions and result.error is None
        ]

    def deed(self, call: Call) -> object:
        """Return a key of a call's effect; equal keys mean that two calls have the same effect."""
        return call.name, self.filled(call)

    def asks_about(self, call: Made) -> Sequence[str | int | float]:
        """Return the argument values of a call, such as an order id, except for enum parameters."""
        return list(known_values.list_literals(self._open_arguments(call)))

    def _open_arguments(self, call: Made) -> Mapping[str, Any]:
        if not isinstance(call, Call) or call.name not in self._template.tools:
            return {}
        closed = choices(self._template.tools[call.name])
        given = self.arguments(call)
        return {name: value for name, value in given.items() if name not in closed}

    def acts(self, turn: int, position: int) -> bool:
        """Tell whether a ground-truth call changes state or shows something to the user."""
        session = self._at(turn, position)
        call = read_truth_calls(self._trajectory.turns[turn])[position]
        backend = session.backends.get(self.backend(call) or "")
        if isinstance(call, Call) and backend is not None and call.name in backend.acts:
            return True
        before = session.snapshot().states
        session.call(call)
        after = session.snapshot().states
        return any(
            value != after[name][field] and not isinstance(value, RandomStream)
            for name, fields in before.items()
            for field, value in fields.items()
        )

    def instead(self, turn: int, position: int) -> Sequence[Sequence[ObservedCall]]:
        """Return the accepted alternatives to a ground-truth call, with their results."""
        text = self._trajectory.turns[turn].ground_truth[position]
        accepted = [a for a in self._trajectory.turns[turn].accepts if a.call == text]
        if not accepted:
            return ()
        session = self._at(turn, position)
        found = []
        for alternative in accepted:
            calls = [read_truth(text) for text in alternative.instead]
            there = session.fork()
            found.append([ObservedCall(call, there.call(call)) for call in calls])
        return found

    def ends_alike(self, turns: Sequence[ExecutedTurn], left_out: frozenset[int]) -> bool:
        """Tell whether the final state stays the same if the calls ``left_out`` are omitted."""
        session = self._template.fork()
        for turn, outcome in enumerate(turns):
            if turn:
                session.end_turn()
            omitted = left_out if outcome is turns[-1] else ()
            made = enumerate(zip(outcome.calls, outcome.results, strict=True))
            # A call that failed in an outage would succeed here.
            session.play([c for i, (c, r) in made if i not in omitted and (r.ok or r.changed)])
        end = session.snapshot()
        return end == arrange_snapshot(end, turns[-1].snapshot, self.unordered)

    def ignored(self, turn: int, position: int) -> Collection[str]:
        """Return a call's string parameters that change neither its result nor the state."""
        session = self._at(turn, position)
        call = read_truth_calls(self._trajectory.turns[turn])[position]
        assert isinstance(call, Call)
        given = self.arguments(call)
        found = []
        there = session.fork()
        expected = there.call(call).text
        for name, value in given.items():
            if isinstance(value, str):
                other = session.fork()
                result = other.call(Call(call.name, (), {**given, name: f"{value} {_NONSENSE}"}))
                if result.text == expected and other.snapshot() == there.snapshot():
                    found.append(name)
        return found

    def again(
        self, call: Made, turn: int, position: int, model: Sequence[ExecutedTurn]
    ) -> Iterator[tuple[PositionAfterCall, Result]]:
        """Make a call at the start of an episode and after every change; yield the results."""
        backend = self.backend(call)
        asked = self._at(turn, position)
        session = self._template.fork()
        spreads = session.has_worlds
        yield PositionAfterCall(0, -1), _call_from(call, backend, session, asked)
        for turn_there, outcome in enumerate(model):
            made = zip(outcome.calls, outcome.results, strict=True)
            for place, (other, result) in enumerate(made):
                if result.ok or result.changed:
                    session.call(other)
                nested = isinstance(other, Call) and other.nested
                if result.changed and (nested or spreads or self.backend(other) == backend):
                    yield (
                        PositionAfterCall(turn_there, place),
                        _call_from(call, backend, session, asked),
                    )
            session.end_turn()

    def prohibited(self, turn: int) -> Sequence[Call]:
        """Return the calls that the user has prohibited in this turn or an earlier turn."""
        if not self._prohibits:
            return ()
        texts = [text for each in self._trajectory.turns[: turn + 1] for text in each.never]
        return [call for call in map(read_truth, texts) if isinstance(call, Call)]

    def ordered(self, turn: int) -> Sequence[Sequence[Call]]:
        """Return the groups of ground-truth calls that the user wants in a fixed order."""
        groups = self._trajectory.turns[turn].ordered
        return [[c for c in map(read_truth, group) if isinstance(c, Call)] for group in groups]

    def stays(self, turn: int) -> bool:
        """Tell whether the user specifies the final working directory of a turn."""
        return self._trajectory.turns[turn].stays

    def only_asks(self, turn: int) -> bool:
        """Tell whether a turn only asks about earlier results."""
        return self._trajectory.turns[turn].only_asks

    def waiting(self, turn: int, function: str) -> Collection[str]:
        """Return the parameters whose values the user gives only in a later turn.

        Parameters with an enum are ignored, because users often imply enum values without saying
        the values.
        """
        turns = self._trajectory.turns
        then = next((i for i in range(turn + 1, len(turns)) if turns[i].ground_truth), None)
        calls = [] if then is None else read_truth_calls(turns[then])
        calls = [call for call in calls if isinstance(call, Call) and call.name == function]
        if then is None or not calls or turns[turn].only_asks:
            return ()
        before = [self._said(0, turn + 1)]
        before += [r.text for outcome in self._truth[: turn + 1] for r in outcome.results]
        after = self._said(turn + 1, then + 1)
        found = set()
        for call in calls:
            for name, value in self._open_arguments(call).items():
                new = (
                    v
                    for v in known_values.list_literals(value)
                    if not any(known_values.contains_value(v, t) for t in before)
                )
                if any(_is_told(after, literal) for literal in new):
                    found.add(name)
        return found

    def _said(self, start: int, end: int) -> str:
        turns = self._trajectory.turns[start:end]
        return "\n".join([message.content for turn in turns for message in turn.messages])

    def _at(self, turn: int, position: int) -> Session:
        while len(self._starts) <= turn:
            begun = len(self._starts)
            start = (self._starts[-1] if begun else self._template).fork()
            if begun:
                start.play(read_truth_calls(self._trajectory.turns[begun - 1]))
                start.end_turn()
            self._starts.append(start)
        session = self._starts[turn].fork()
        session.play(read_truth_calls(self._trajectory.turns[turn])[:position])
        return session


def _call_from(call: Made, backend: str | None, session: Session, asked: Session) -> Result:
    """Execute a call in a fork of ``session``."""
    there = session.fork()
    if backend is not None:
        # The working directory is not compared and may differ.
        stand = vars(asked.backends[backend])
        hidden = {name: value for name, value in stand.items() if name.startswith("_")}
        vars(there.backends[backend]).update(hidden)
    try:
        return there.call(call)
    except BackendFault as fault:
        return Result.refused(ToolError(str(fault)))


def _is_told(words: str, literal: str | float) -> bool:
    if known_values.contains_value(literal, words):
        return True
    told = known_values.KnownValues(words)
    if isinstance(literal, str):
        told.hear(words)
    return told.doubt(literal) is None


def list_messages(turns: Sequence[Turn]) -> list[str]:
    """Return the messages of the given turns."""
    return [message.content for turn in turns for message in turn.messages]


def read_truth_calls(turn: Turn) -> list[Call | MalformedCall]:
    """Return the ground-truth calls of a turn; a malformed call becomes a MalformedCall error."""
    return [read_truth(text) for text in turn.ground_truth]


def retried_calls(turn: Turn) -> list[Call]:
    """Call ``read_retried_calls`` and omit malformed calls from the result."""
    return [call for call in read_retried_calls(turn) if isinstance(call, Call)]


def read_retried_calls(turn: Turn) -> list[Call | MalformedCall]:
    """Return a turn's ground-truth calls, with retries of calls that fail."""
    left = dict(turn.outages)
    made: list[Call | MalformedCall] = []
    for call in read_truth_calls(turn):
        failing = left.pop(call.name, 0) if isinstance(call, Call) else 0
        made += [call] * (failing + 1)
    return made


# Categories share scenarios, so that most ground-truth calls occur several times.
read_truth = lru_cache(maxsize=20_000)(read_call)


def list_own_functions(trajectory: Trajectory) -> tuple[str, ...]:
    """Return the functions that an entry offers in at least one turn, in order."""
    if trajectory.functions is not None:
        return trajectory.functions
    never = {*trajectory.excluded} - {*trajectory.held_out}
    return tuple([name for name in list_tools(trajectory.environments) if name not in never])


Start: TypeAlias = tuple[Session, tuple[ExecutedTurn, ...]]
"""Initial session of an entry, and the outcome of each turn of its ground truth."""


class PlayedTruths:
    """Cache of initial sessions and ground-truth outcomes, for one data set and one profile.

    ``size`` is the maximum number of sessions. A session and its outcomes take about 15 KB.
    """

    def __init__(self, size: int = 1_000) -> None:
        self._size = size
        self._played: dict[bytes, tuple[Session, ExecutedTurn, list[ExecutedTurn]]] = {}

    def play(self, trajectory: Trajectory, load: Callable[[], Session]) -> Start:
        """Return an entry's initial session and the outcomes of its ground truth.

        Except for long-context entries, variants of a scenario share the session and the outcomes.
        """
        turns = trajectory.turns
        if trajectory.long_context or (len(turns) == 1 and trajectory.environments):
            return play_alone(trajectory, load)
        calls = [turn.ground_truth for turn in turns if turn.ground_truth]
        inputs: Any = trajectory.environments, trajectory.config, calls
        # Version 2 of the format does not depend on which objects are shared.
        key = sha256(marshal.dumps(inputs, 2)).digest() if any(inputs) else b""
        if key not in self._played:
            template, outcomes = play_alone(trajectory, load)
            # In worlds, time passes in turns without calls, too.
            if not template.has_worlds:
                if len(self._played) == self._size:
                    del self._played[next(iter(self._played))]
                idle = ExecutedTurn((), template.snapshot(), False, ())
                self._played[key] = template, idle, [each for each in outcomes if each.calls]
            return template, outcomes
        template, idle, played = self._played[key]
        if not calls:
            return template, (idle,) * len(turns)
        ready, last = iter(played), idle
        found = []
        for turn in turns:
            last = next(ready) if turn.ground_truth else ExecutedTurn((), last.snapshot, False, ())
            found.append(last)
        return template, tuple(found)


def play_alone(trajectory: Trajectory, load: Callable[[], Session]) -> Start:
    """Load the initial session and play the ground truth in a fork of the session."""
    template = load()
    return template, play_truth(trajectory, template)


def play_truth(trajectory: Trajectory, template: Session) -> tuple[ExecutedTurn, ...]:
    """Play the ground truth; return the outcome of each turn."""
    session = template.fork()
    outcomes = []
    for turn in trajectory.turns:
        calls = tuple(read_truth_calls(turn))
        results = tuple(session.play(calls))
        outcomes.append(ExecutedTurn(results, session.snapshot(), bool(results), calls))
        session.end_turn()
    return tuple(outcomes)
