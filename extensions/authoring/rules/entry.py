"""One trajectory with its ground truth replayed, call by call: what the rules look at.

Variants of the ground truth are replayed from the call on at which they part from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from checkers.profile import BFCL, STRICT, Profile
from checkers.turn import check_turn
from checkers.verdict import Failure, TurnOutcome
from envs.calls import Call
from envs.errors import BackendFault, ConfigError, MalformedCall, ToolError
from envs.results import Result
from envs.session import Session
from envs.tool import bind
from extensions.authoring.rules.problem import Problem, Severity
from trajectories import bfcl
from trajectories.dataset import Dataset
from trajectories.scene import TrajectoryScene, truth_calls
from trajectories.schema import Trajectory

_TRUTH = ("ground_truth", "expects.answers")
"""Where members begin that BFCL keeps in a file of their own."""


class TruthStep(NamedTuple):
    """One ground-truth call as it was made."""

    turn: int
    position: int
    call: Call | MalformedCall
    before: Session
    """The session right before the call; to be forked, never called."""
    result: Result

    @property
    def field(self) -> str:
        """Where the call stands in its turn."""
        return f"ground_truth[{self.position}]"


class Unplayable(Exception):
    """The config cannot be loaded, or a backend broke on a ground-truth call."""


class Entry:
    """One trajectory of a data set."""

    def __init__(self, dataset: Dataset, trajectory: Trajectory) -> None:
        self.dataset = dataset
        self.trajectory = trajectory

    @cached_property
    def calls(self) -> list[list[Call | MalformedCall]]:
        """The ground truth, turn by turn."""
        return [truth_calls(turn) for turn in self.trajectory.turns]

    @property
    def profile(self) -> Profile:
        """How its ground truth is played: irregular data as BFCL does."""
        return BFCL if self.dataset.tolerant else STRICT

    def load(self) -> Session:
        """Return a session in the initial state, whatever the strict check says of the config.

        Raises:
            Unplayable: The config cannot be loaded at all.
        """
        trajectory = self.trajectory
        pack = self.dataset.pack(trajectory)
        try:
            return Session.load(
                trajectory.environments,
                self.dataset.config(trajectory),
                pack,
                tolerant=self.dataset.tolerant,
                checks_arguments=self.profile.execution.checks_arguments,
                checks_config=False,
                behaviour=self.dataset.behaviour(keeps_all=self.profile.execution.keeps_all),
            )
        except ConfigError as error:
            raise Unplayable(f"the config cannot be loaded: {error}") from None

    @cached_property
    def template(self) -> Session:
        """The session in its initial state; to be forked, never called."""
        return self.load()

    @cached_property
    def _played(self) -> tuple[list[list[TruthStep]], tuple[TurnOutcome, ...], list[Session]]:
        session = self.template.fork()
        steps, truth, starts = [], [], []
        for turn, calls in enumerate(self.calls):
            starts.append(session.fork())
            made = []
            for position, call in enumerate(calls):
                before = session.fork()
                made.append(TruthStep(turn, position, call, before, _made(session, call)))
            results = tuple([step.result for step in made])
            steps.append(made)
            outcome = TurnOutcome(results, session.snapshot(), bool(results), tuple(calls))
            truth.append(outcome)
        return steps, tuple(truth), starts

    @cached_property
    def fault(self) -> str:
        """Why the ground truth cannot be played at all; empty where it can."""
        try:
            self._played  # noqa: B018
        except Unplayable as error:
            return str(error)
        return ""

    @property
    def turns(self) -> list[list[TruthStep]]:
        """The calls as they were made, turn by turn.

        Raises:
            Unplayable: They cannot be made.
        """
        return self._played[0]

    @property
    def steps(self) -> Iterator[TruthStep]:
        """All calls as they were made."""
        return (step for turn in self.turns for step in turn)

    @property
    def truth(self) -> tuple[TurnOutcome, ...]:
        """What the ground truth leads to, turn by turn."""
        return self._played[1]

    @property
    def starts(self) -> list[Session]:
        """The sessions at the start of each turn; to be forked, never called."""
        return self._played[2]

    @cached_property
    def scene(self) -> TrajectoryScene:
        """What else the judge may ask of it."""
        return TrajectoryScene(self.trajectory, self.template, self.truth)

    def arguments(self, call: Call | MalformedCall) -> dict[str, Any]:
        """Return the arguments of a call by name; none where they do not fit the function."""
        if isinstance(call, MalformedCall) or call.name not in self.template.tools:
            return {}
        try:
            return bind(self.template.tools[call.name], call.args, call.kwargs)
        except ToolError:
            return {}

    def offered(self, turn: int) -> frozenset[str]:
        """Return the functions that may be called in a turn."""
        return self.trajectory.offered(tuple(self.template.tools), turn)

    def rejection(self, turn: int, calls: Sequence[Call | MalformedCall]) -> Failure | None:
        """Return why the checker rejects the ground truth with other calls in one of its turns.

        Returns:
            None where the checker accepts it.
        """
        session = self.starts[turn].fork()
        played = list(self.truth[:turn])
        for index in range(turn, len(self.truth)):
            if self.profile.execution.only_offered:
                session.offer(self.offered(index))
            made = tuple(calls if index == turn else self.calls[index])
            results = tuple(session.play(made))
            played.append(TurnOutcome(results, session.snapshot(), bool(made), made))
            failure = check_turn(self.truth[: index + 1], played, self.profile, self.scene)
            if failure is not None:
                return failure
        return None

    def instead(self, step: TruthStep, *calls: Call) -> list[Call | MalformedCall]:
        """Return the ground truth of a turn with other calls, or none, for one of it."""
        truth = self.calls[step.turn]
        return [*truth[: step.position], *calls, *truth[step.position + 1 :]]

    def is_told_by_others(self, step: TruthStep) -> bool:
        """Tell whether the entry accepts other calls of the same turn instead of one of it."""
        turn = self.trajectory.turns[step.turn]
        others = {text for index, text in enumerate(turn.ground_truth) if index != step.position}
        text = turn.ground_truth[step.position]
        return any(a.call == text and others.issuperset(a.instead) for a in turn.accepts)

    def accepts_without(self, step: TruthStep) -> bool:
        """Tell whether the checker accepts the ground truth with one call left out."""
        key = (step.turn, step.position)
        if key not in self._accepted_without:
            self._accepted_without[key] = self.rejection(step.turn, self.instead(step)) is None
        return self._accepted_without[key]

    @cached_property
    def _accepted_without(self) -> dict[tuple[int, int], bool]:
        return {}

    def problem(
        self, rule: str, severity: Severity, turn: int | None, field: str, message: str
    ) -> Problem:
        """Return a problem of this entry."""
        file = file_of(self.dataset, self.trajectory, field)
        return Problem(
            rule,
            severity,
            file=file,
            id=self.trajectory.id,
            turn=turn,
            field=field,
            message=message,
        )


def file_of(dataset: Dataset, trajectory: Trajectory, field: str) -> str:
    """Return the file that a member of a trajectory stands in."""
    if dataset.folder is not None:
        files = bfcl.files(trajectory.category)
        return files[-1 if field.startswith(_TRUTH) else 0]
    return f"{trajectory.category}.jsonl" if dataset.name == "turnwise" else dataset.name


def _made(session: Session, call: Call | MalformedCall) -> Result:
    try:
        return session.call(call)
    except BackendFault as fault:
        raise Unplayable(str(fault)) from None
