"""Entry for the checks of the rules; the ground truth is replayed call by call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from checkers.multi_turn_verdict import check_turn
from checkers.profile import BFCL, STRICT, Profile
from checkers.verdict import ExecutedTurn, Failure
from envs.calls import Call
from envs.errors import BackendFault, ConfigError, MalformedCall, ToolError
from envs.results import Result
from envs.session import Session
from envs.tool import bind
from extensions.authoring.rules.finding import Finding, Severity
from trajectories import bfcl_reader
from trajectories.dataset import Dataset
from trajectories.replay_queries import ReplayQueries, read_truth_calls
from trajectories.schema import Trajectory

_TRUTH = ("ground_truth", "expects.answers")
"""BFCL stores fields with these prefixes in a separate file."""


class TruthStep(NamedTuple):
    """Replayed ground-truth call."""

    turn: int
    position: int
    call: Call | MalformedCall
    before: Session
    """Session before the call. Callers must fork this session before they make calls."""
    result: Result

    @property
    def field(self) -> str:
        """Path of the call in the turn."""
        return f"ground_truth[{self.position}]"

    @property
    def function(self) -> str:
        """Name of the called function; empty for a malformed call."""
        return self.call.name if isinstance(self.call, Call) else ""


class UnplayableEntry(Exception):
    """A config that cannot be loaded, or a ground-truth call that crashes a backend."""


class Entry:
    """Trajectory of a data set, with its replayed ground truth."""

    def __init__(self, dataset: Dataset, trajectory: Trajectory) -> None:
        self.dataset = dataset
        self.trajectory = trajectory
        self._accepted_without: dict[tuple[int, int], bool] = {}

    @cached_property
    def calls(self) -> list[list[Call | MalformedCall]]:
        """The ground truth, turn by turn."""
        return [read_truth_calls(turn) for turn in self.trajectory.turns]

    @property
    def profile(self) -> Profile:
        """Profile for the replay of the ground truth: ``bfcl`` for BFCL's data, else ``strict``."""
        return BFCL if self.dataset.tolerant else STRICT

    @property
    def has_own_criteria(self) -> bool:
        """Whether an extension judges the entry; the entry then needs no ground truth."""
        return bool(self.trajectory.extensions) and not any(self.calls)

    def load(self) -> Session:
        """Return a session in the entry's initial state; only the config's types are checked.

        Raises UnplayableEntry if the config cannot be loaded.
        """
        try:
            return Session.load(
                self.trajectory.environments,
                self.dataset.config(self.trajectory),
                self.dataset.pack(self.trajectory),
                tolerant=self.dataset.tolerant,
                checks_arguments=self.profile.execution.checks_arguments,
                checks_config=False,
                behaviour=self.dataset.behaviour(keeps_all=self.profile.execution.keeps_all),
            )
        except ConfigError as error:
            raise UnplayableEntry(f"the config cannot be loaded: {error}") from None

    @cached_property
    def template(self) -> Session:
        """Session in the initial state. Callers must fork the session before they change it."""
        return self.load()

    @cached_property
    def _played(self) -> tuple[list[list[TruthStep]], tuple[ExecutedTurn, ...], list[Session]]:
        session = self.template.fork()
        steps, truth, starts = [], [], []
        for turn, calls in enumerate(self.calls):
            starts.append(session.fork())
            made = []
            for position, call in enumerate(calls):
                before = session.fork()
                made.append(TruthStep(turn, position, call, before, _run_call(session, call)))
            results = tuple([step.result for step in made])
            steps.append(made)
            outcome = ExecutedTurn(results, session.snapshot(), bool(results), tuple(calls))
            truth.append(outcome)
            session.end_turn()
        return steps, tuple(truth), starts

    @cached_property
    def fault(self) -> str:
        """Reason why the ground truth cannot be replayed, or an empty string."""
        try:
            self._played  # noqa: B018
        except UnplayableEntry as error:
            return str(error)
        return ""

    @property
    def turns(self) -> list[list[TruthStep]]:
        """The replayed calls of each turn.

        Raises UnplayableEntry if a call cannot be replayed.
        """
        return self._played[0]

    @property
    def steps(self) -> Iterator[TruthStep]:
        """All replayed calls."""
        return (step for turn in self.turns for step in turn)

    @property
    def truth(self) -> tuple[ExecutedTurn, ...]:
        """Outcome of each ground-truth turn."""
        return self._played[1]

    @property
    def starts(self) -> list[Session]:
        """Session at the start of each turn. Callers must fork a session before they change it."""
        return self._played[2]

    @cached_property
    def scene(self) -> ReplayQueries:
        """The checker's queries about the replayed ground truth."""
        return ReplayQueries(self.trajectory, self.template, self.truth)

    def arguments(self, call: Call | MalformedCall) -> dict[str, Any]:
        """Return the arguments of a call by name, or an empty dict for an invalid call."""
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
        """Replace the calls of one turn, then judge the ground truth.

        Earlier turns are not executed again.
        """
        session = self.starts[turn].fork()
        played = list(self.truth[:turn])
        for index in range(turn, len(self.truth)):
            if self.profile.execution.only_offered:
                session.offer(self.offered(index))
            made = tuple(calls if index == turn else self.calls[index])
            results = tuple(session.play(made))
            played.append(ExecutedTurn(results, session.snapshot(), bool(made), made))
            failure = check_turn(self.truth[: index + 1], played, self.profile, self.scene)
            if failure is not None:
                return failure
            session.end_turn()
        return None

    def instead(self, step: TruthStep, *calls: Call) -> list[Call | MalformedCall]:
        """Return a turn's ground truth with ``calls`` instead of one step."""
        truth = self.calls[step.turn]
        return [*truth[: step.position], *calls, *truth[step.position + 1 :]]

    def is_told_by_others(self, step: TruthStep) -> bool:
        """Tell whether other calls of the turn can replace this step."""
        turn = self.trajectory.turns[step.turn]
        others = {text for index, text in enumerate(turn.ground_truth) if index != step.position}
        text = turn.ground_truth[step.position]
        return any(a.call == text and others.issuperset(a.instead) for a in turn.accepts)

    def accepts_without(self, step: TruthStep) -> bool:
        """Tell whether the checker accepts the ground truth without the call of this step."""
        key = (step.turn, step.position)
        if key not in self._accepted_without:
            self._accepted_without[key] = self.rejection(step.turn, self.instead(step)) is None
        return self._accepted_without[key]

    def finding(
        self, rule: str, severity: Severity, turn: int | None, field: str, message: str
    ) -> Finding:
        """Return a finding about this entry."""
        file = _file_of(self.dataset, self.trajectory, field)
        return Finding(rule, severity, file, self.trajectory.id, turn, field, message)


def _file_of(dataset: Dataset, trajectory: Trajectory, field: str) -> str:
    if dataset.folder is not None:
        files = bfcl_reader.list_data_files(trajectory.category)
        return files[-1 if field.startswith(_TRUTH) else 0]
    return f"{trajectory.category}.jsonl" if dataset.name == "turnwise" else dataset.name


def _run_call(session: Session, call: Call | MalformedCall) -> Result:
    try:
        return session.call(call)
    except BackendFault as fault:
        raise UnplayableEntry(str(fault)) from None
