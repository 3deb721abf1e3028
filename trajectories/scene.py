"""What the judge may ask of a trajectory beyond what happened: answered by playing in a copy."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from checkers.scene import Given, Made, Point
from checkers.verdict import TurnOutcome
from envs.calls import Call, inner_calls, read_call
from envs.errors import BackendFault, MalformedCall, ToolError
from envs.lazy import lazily
from envs.random_stream import RandomStream
from envs.registry import irreversible_of, tools_of
from envs.results import Result
from envs.session import Session
from envs.tool import bind, choices, defaults, parameter_names
from trajectories.schema import ExpectedCalls, Trajectory, Turn

if TYPE_CHECKING:
    from checkers import told as literal_reading
else:
    # Only the profile strict looks at what was said.
    literal_reading = lazily("checkers.told")

_NONSENSE = "xyzzy"
"""What no function knows."""


class TrajectoryScene:
    """One trajectory, as the judge asks about it.

    Args:
        trajectory: The trajectory.
        template: Its session in the initial state; forked, never called.
        truth: What the ground truth leads to.
    """

    def __init__(
        self, trajectory: Trajectory, template: Session, truth: Sequence[TurnOutcome]
    ) -> None:
        self._trajectory = trajectory
        self._template = template
        self._truth = truth
        self._starts: list[Session] = []
        self._withholds = bool(trajectory.held_out or trajectory.excluded)

    def words(self, turn: int) -> str:
        """Return what the user says in a turn."""
        return self._said(turn, turn + 1)

    def backend(self, call: Made) -> str | None:
        """Return whose function a call names; None where there is none of the name."""
        tool = self._template.tools.get(call.name) if isinstance(call, Call) else None
        return tool.backend if tool else None

    def offered(self, turn: int) -> Collection[str]:
        """Return the functions that the model may call in a turn."""
        trajectory, tools = self._trajectory, self._template.tools
        if not (self._withholds or trajectory.functions):
            return tools
        return trajectory.offered(tuple(tools), turn)

    def withheld(self, turn: int) -> Collection[str]:
        """Return the functions that there are and that the model may not call in a turn."""
        trajectory = self._trajectory
        if trajectory.functions:
            return self._template.tools.keys() - trajectory.functions
        return trajectory.withheld(turn) if self._withholds else ()

    def parameters(self, function: str) -> Collection[str]:
        """Return the parameters of a function that is offered."""
        for document in self._trajectory.documents or ():
            if document["name"] == function:
                return [*document["parameters"]["properties"]]
        return parameter_names(self._template.tools[function])[0]

    def unordered(self, backend: str | None) -> frozenset[str]:
        """Return the members of a backend's results and state whose order means nothing."""
        known = self._template.backends.get(backend or "")
        return known.unordered if known is not None else frozenset()

    def arguments(self, call: Made) -> Mapping[str, Any]:
        """Return a call's arguments by name, as far as they fit the function."""
        if not isinstance(call, Call) or call.name not in self._template.tools:
            return {}
        try:
            return bind(self._template.tools[call.name], call.args, call.kwargs)
        except ToolError:
            return call.kwargs

    def filled(self, call: Made) -> Mapping[str, Any]:
        """Return a call's arguments by name, with the function's defaults for those left out."""
        tool = self._template.tools.get(call.name) if isinstance(call, Call) else None
        if tool is None:
            return {}
        return {**defaults(tool), **self.arguments(call)}

    @property
    def irreversible(self) -> Collection[str]:
        """The functions whose deeds no other one takes back."""
        return irreversible_of(tuple(self._template.backends))

    def right_calls(self, functions: Collection[str]) -> list[Call]:
        """Return the ground-truth calls of some functions that succeed, in all turns."""
        return [
            call
            for results, _, _, calls in self._truth
            for call, result in zip(calls, results, strict=True)
            if isinstance(call, Call) and call.name in functions and result.error is None
        ]

    def deed(self, call: Call) -> object:
        """Return what tells what a call does from what others of the same function do."""
        return call.name, self.filled(call)

    def asks_about(self, call: Made) -> Sequence[str | int | float]:
        """Return the values that say what a call asks about; choices of a closed set do not."""
        return list(literal_reading.literals(self._open_arguments(call)))

    def _open_arguments(self, call: Made) -> Mapping[str, Any]:
        """Return the arguments of a call that are not one of a closed set of choices."""
        if not isinstance(call, Call) or call.name not in self._template.tools:
            return {}
        closed = choices(self._template.tools[call.name])
        given = self.arguments(call)
        return {name: value for name, value in given.items() if name not in closed}

    def acts(self, turn: int, position: int) -> bool:
        """Tell whether a ground-truth call changes or shows something for the user to see."""
        session = self._at(turn, position)
        call = truth_calls(self._trajectory.turns[turn])[position]
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

    def instead(self, turn: int, position: int) -> Sequence[Sequence[Given]]:
        """Return what does as well as a ground-truth call, executed where that is."""
        text = self._trajectory.turns[turn].ground_truth[position]
        accepted = [a for a in self._trajectory.turns[turn].accepts if a.call == text]
        if not accepted:
            return ()
        session = self._at(turn, position)
        found = []
        for alternative in accepted:
            calls = [read_truth(text) for text in alternative.instead]
            there = session.fork()
            found.append([Given(call, there.call(call)) for call in calls])
        return found

    def ends_alike(self, turn: int, left_out: frozenset[int]) -> bool:
        """Tell whether the ground truth of a turn ends in its state without some of its calls."""
        session = self._at(turn, 0)
        calls = truth_calls(self._trajectory.turns[turn])
        session.play([call for index, call in enumerate(calls) if index not in left_out])
        return session.snapshot() == self._truth[turn].snapshot

    def ignored(self, turn: int, position: int) -> Collection[str]:
        """Return the parameters with a text in a ground-truth call on which nothing depends."""
        session = self._at(turn, position)
        call = truth_calls(self._trajectory.turns[turn])[position]
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
        self, call: Made, turn: int, position: int, model: Sequence[TurnOutcome]
    ) -> Iterator[tuple[Point, Result]]:
        """Yield what a call would give at the start of an episode and after every change since."""
        backend = self.backend(call)
        asked = self._at(turn, position)
        session = self._template.fork()
        yield Point(0, -1), _asked(call, backend, session, asked)
        for turn_there, outcome in enumerate(model):
            made = zip(outcome.calls, outcome.results, strict=True)
            for place, (other, result) in enumerate(made):
                if result.ok or result.changed:
                    session.call(other)
                nested = isinstance(other, Call) and other.nested
                if result.changed and (nested or self.backend(other) == backend):
                    yield Point(turn_there, place), _asked(call, backend, session, asked)

    def only_asks(self, turn: int) -> bool:
        """Tell whether a turn asks for nothing but an answer from what was seen."""
        return self._trajectory.turns[turn].only_asks

    def waiting(self, turn: int, function: str) -> Collection[str]:
        """Return the parameters of a function that wait in a turn for a value to be told.

        They are those that the turn which completes this one gets from words in between. A choice
        of a closed set goes without saying too often to be waited for.
        """
        turns = self._trajectory.turns
        then = next((i for i in range(turn + 1, len(turns)) if turns[i].ground_truth), None)
        calls = [] if then is None else truth_calls(turns[then])
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
                    for v in literal_reading.literals(value)
                    if not any(literal_reading.stands_in(v, t) for t in before)
                )
                if any(_tells(after, literal) for literal in new):
                    found.add(name)
        return found

    def _said(self, start: int, end: int) -> str:
        turns = self._trajectory.turns[start:end]
        return "\n".join([message.content for turn in turns for message in turn.messages])

    def _at(self, turn: int, position: int) -> Session:
        """Return a session in the state in which the ground truth makes a call."""
        while len(self._starts) <= turn:
            begun = len(self._starts)
            start = (self._starts[-1] if begun else self._template).fork()
            if begun:
                start.play(truth_calls(self._trajectory.turns[begun - 1]))
            self._starts.append(start)
        session = self._starts[turn].fork()
        session.play(truth_calls(self._trajectory.turns[turn])[:position])
        return session


def _asked(call: Made, backend: str | None, session: Session, asked: Session) -> Result:
    """Return what a call would give in a state, asked from where another session stands."""
    there = session.fork()
    if backend is not None:
        # Where one stands among the folders is no part of what is compared, and may differ.
        stand = vars(asked.backends[backend])
        hidden = {name: value for name, value in stand.items() if name.startswith("_")}
        vars(there.backends[backend]).update(hidden)
    try:
        return there.call(call)
    except BackendFault as fault:
        return Result.refused(ToolError(str(fault)))


def _tells(words: str, literal: str | float) -> bool:
    if literal_reading.stands_in(literal, words):
        return True
    told = literal_reading.Told(words)
    if isinstance(literal, str):
        told.hear(words)
    return told.doubt(literal) is None


def truth_calls(turn: Turn) -> list[Call | MalformedCall]:
    """Return the ground truth of a turn; what cannot be read stands as the reason why."""
    return [read_truth(text) for text in turn.ground_truth]


# Categories are made from the same scenarios, so most ground-truth calls come several times.
read_truth = lru_cache(maxsize=20_000)(read_call)


def needed(trajectory: Trajectory) -> tuple[str, ...]:
    """Return the functions that the ground truth of an entry calls, or that are handed over."""
    if isinstance(trajectory.expects, ExpectedCalls):
        return tuple(dict.fromkeys(name for each in trajectory.expects.answers for name in each))
    calls = [call for turn in trajectory.turns for call in truth_calls(turn)]
    found = [c.name for c in calls if isinstance(c, Call)]
    found += [inner.name for call in calls for inner in inner_calls(call)]
    return tuple(dict.fromkeys([*found, *trajectory.held_out]))


def own_functions(trajectory: Trajectory) -> tuple[str, ...]:
    """Return the functions that an entry offers in some turn, in their order."""
    if trajectory.functions is not None:
        return trajectory.functions
    never = {*trajectory.excluded} - {*trajectory.held_out}
    return tuple([name for name in tools_of(trajectory.environments) if name not in never])
