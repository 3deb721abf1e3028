"""The turn loop: a state machine without I/O.

A driver shows the messages and functions of the current turn to the model. The driver calls ``act``
for a step with calls and ``end_turn`` for a step without calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple, Self

from checkers.profile import Profile
from checkers.verdict import ExecutedTurn
from envs.bounds import BOUNDS
from envs.calls import Call
from envs.errors import DataError, MalformedCall, Refused, require_type
from envs.results import Result
from envs.session import Session
from trajectories.offered_functions import OfferedFunctions
from trajectories.schema import Message, Trajectory

if TYPE_CHECKING:  # plain judging loads no model code
    from runner.models.conversation import Observe

STEP_LIMIT = 20


class ExecutedStep(NamedTuple):
    """One executed step: its calls and their results."""

    turn: int
    calls: tuple[Call | MalformedCall, ...]
    results: tuple[Result, ...]


class TurnLoop:
    """The turn loop of one trajectory; it executes steps, ends turns and keeps their outcomes.

    Args:
        session: A newly loaded session, which no other code may use afterwards.
        step_limit: Maximum steps with calls per turn, or None.
        observe: Function that renders a result as the model reads it.
        offering: Restriction of the offered functions; None offers all functions of the trajectory.

    Attributes:
        turn: Index of the current turn.
        steps: Steps executed so far.
        outcomes: One outcome per finished turn.
        found: Functions that the model found by searching.
        terminated: Whether the step limit ended the episode.
    """

    def __init__(
        self,
        trajectory: Trajectory,
        session: Session,
        profile: Profile,
        step_limit: int | None = STEP_LIMIT,
        observe: Observe | None = None,
        offering: OfferedFunctions | None = None,
    ) -> None:
        require_type("trajectory", trajectory, Trajectory, described="a Trajectory")
        require_type("session", session, Session, described="a Session")
        require_type("profile", profile, Profile, described="BFCL or STRICT")
        require_type("step_limit", step_limit, int, None, described="a number or None")
        require_type("offering", offering, OfferedFunctions, None, described="OfferedFunctions")
        self._observe = observe
        self.offering = offering
        self.found: frozenset[str] = frozenset()
        self.trajectory = trajectory
        self.session = session
        self.profile = profile
        self.step_limit = step_limit
        self.turn = 0
        self.steps: list[ExecutedStep] = []
        self.outcomes: list[ExecutedTurn] = []
        self.finished = self.terminated = False
        self._steps_this_turn, self._late = 0, False
        self._results: list[Result] = []
        self._calls: list[Call | MalformedCall] = []
        self._failed: dict[str, int] = {}
        self._offer()

    @property
    def messages(self) -> tuple[Message, ...]:
        """Messages of the current turn."""
        return self.trajectory.turns[self.turn].messages

    @property
    def offers(self) -> tuple[str, ...]:
        """Functions that the entry first offers in this turn."""
        return self.trajectory.turns[self.turn].offers

    @property
    def offered(self) -> frozenset[str]:
        """All functions offered in this turn."""
        there = self.trajectory.offered(tuple(self.session.tools), self.turn)
        return self.offering.of(self.turn, there, self.found) if self.offering else there

    def act(self, calls: Sequence[Call | MalformedCall]) -> list[Result]:
        """Execute one step and return its results. Raises DataError if the episode has ended.

        A step beyond the limit ends the episode; some profiles still execute the step's calls.
        """
        if not self._begins(calls):
            return []
        plain = len(calls) <= BOUNDS.calls_in_step and not (self._observe or self.offering)
        plain = plain and not self.trajectory.turns[self.turn].outages
        results = list(map(self.session.call, calls) if plain else self._made(calls))
        self._keep(calls, results)
        return results

    def step_through(self, calls: Sequence[Call | MalformedCall]) -> Iterator[Result]:
        """Execute one step and yield each result; the step is complete after the last result."""
        results: list[Result] = []
        for made in self._made(calls) if self._begins(calls) else ():
            results.append(made)
            yield made
        if results:
            self._keep(calls, results)

    def converse(self, exchange: ExecutedStep) -> None:
        """Store an exchange with the user; the step count of the turn restarts at 0."""
        self.steps.append(exchange)
        self._steps_this_turn = 0

    def end_turn(self) -> None:
        """End the turn and begin the next turn. Raises DataError if the episode has ended."""
        if self.finished:
            raise DataError("end_turn", "the episode has ended")
        self._close_turn()
        self.turn += 1
        self._steps_this_turn = 0
        self._failed = {}
        if self.turn == len(self.trajectory.turns):
            self.finished = True
        else:
            self.session.end_turn()
            self._offer()

    def fork(self) -> Self:
        """Return an independent copy."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.session = self.session.fork()
        copy.steps, copy.outcomes = self.steps.copy(), self.outcomes.copy()
        copy._results, copy._calls = self._results.copy(), self._calls.copy()
        copy._failed = self._failed.copy()
        return copy

    def _begins(self, calls: Sequence[Call | MalformedCall]) -> bool:
        if self.finished:
            raise DataError("calls", "the episode has ended; start a new episode")
        if not isinstance(calls, (list, tuple, Sequence)) or not calls:
            raise DataError("calls", f"must be a list of one or more calls, but is {calls!r:.60}")
        self._steps_this_turn += 1
        self._late = self.step_limit is not None and self._steps_this_turn > self.step_limit
        if self._late and not self.profile.execution.executes_step_past_limit:
            self._terminate()
        return not self.finished

    def _made(self, calls: Sequence[Call | MalformedCall]) -> Iterator[Result]:
        for position, call in enumerate(calls):
            in_bounds = position < BOUNDS.calls_in_step
            made = self._call(call) if in_bounds else _refuse_excess_call()
            if self._observe:
                words = self.trajectory.turns[self.turn].words
                made.shown = self._observe(self.session, call, made, words)
            yield made

    def _keep(self, calls: Sequence[Call | MalformedCall], results: Sequence[Result]) -> None:
        self.steps.append(ExecutedStep(self.turn, tuple(calls), tuple(results)))
        if self.offering:  # a search for functions does not change the state
            acts = [not self.offering.seeks(call) for call in calls]
            calls, results = [*compress(calls, acts)], [*compress(results, acts)]
            self._offer()
        self._results += results
        self._calls += calls
        if self._late:
            self._terminate()

    def _terminate(self) -> None:
        self._close_turn()
        self.terminated = self.finished = True

    def _close_turn(self) -> None:
        results, calls = tuple(self._results), tuple(self.session.restated(self._calls))
        self.outcomes.append(ExecutedTurn(results, self.session.snapshot(), bool(results), calls))
        self._results, self._calls = [], []

    def _offer(self) -> None:
        if self.profile.execution.only_offered or self.offering:
            self.session.offer(self.offered)

    def _call(self, call: Call | MalformedCall) -> Result:
        outages = self.trajectory.turns[self.turn].outages
        if outages and isinstance(call, Call) and call.name in outages:
            failing = outages[call.name]
            if not failing:
                return Result.refused(Refused(f"{call.name} is out of service."))
            self._failed[call.name] = self._failed.get(call.name, 0) + 1
            if self._failed[call.name] <= failing:
                return Result.refused(Refused(f"{call.name} is temporarily down. Try again."))
        if not self.offering or not isinstance(call, Call) or not self.offering.seeks(call):
            return self.session.call(call)
        there = self.trajectory.offered(tuple(self.session.tools), self.turn)
        result, found = self.offering.answer(call, there)
        self.found |= found
        return result


def _refuse_excess_call() -> Result:
    most = BOUNDS.calls_in_step
    return Result.refused(Refused(f"A step has at most {most} calls: use the next step for this."))
