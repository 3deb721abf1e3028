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
from envs.results import Result, is_surely_alike
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

        Calls whose results are known are not executed again.
        """
        played = list(self.truth[:turn])
        outcome, session = self._replay_turn(turn, tuple(calls))
        for index in range(turn, len(self.truth)):
            if index > turn:
                made = tuple(self.calls[index])
                outcome = self._play(session, index, made) if session else self.truth[index]
            played.append(outcome)
            failure = check_turn(self.truth[: index + 1], played, self.profile, self.scene)
            if failure is not None:
                return failure
            if session:
                session.end_turn()
        return None

    def _replay_turn(
        self, turn: int, calls: tuple[Call | MalformedCall, ...]
    ) -> tuple[ExecutedTurn, Session | None]:
        """Execute the changed calls of a turn, and all later calls if the state differs.

        The session is None if the turn ends in the ground truth's state.
        """
        steps, truth = self.turns[turn], self.truth[turn]
        most = min(len(steps) - 1, len(calls)) if self._offers_all else 0
        first = _count_equal(truth.calls, calls, most)
        last = _count_equal(truth.calls[::-1], calls[::-1], most - first)
        session = (steps[first].before if first else self.starts[turn]).fork()
        middle, end = calls[first : len(calls) - last], calls[len(calls) - last :]
        outcome = self._play(session, turn, middle)
        if last and _has_equal_state(session, steps[-last].before):
            rest, snapshot, live = truth.results[-last:], truth.snapshot, None
        else:
            rest, snapshot, _, _ = self._play(session, turn, end)
            live = session
        results = (*truth.results[:first], *outcome.results, *rest)
        return ExecutedTurn(results, snapshot, bool(calls), calls), live

    def _play(
        self, session: Session, turn: int, calls: tuple[Call | MalformedCall, ...]
    ) -> ExecutedTurn:
        if self.profile.execution.only_offered:
            session.offer(self.offered(turn))
        return ExecutedTurn(tuple(session.play(calls)), session.snapshot(), bool(calls), calls)

    @cached_property
    def _offers_all(self) -> bool:
        """Whether every turn offers the functions that its ground truth calls."""
        if not self.profile.execution.only_offered:
            return True
        return all(step.function in self.offered(step.turn) for step in self.steps)

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


def _count_equal(one: Sequence[object], other: Sequence[object], most: int) -> int:
    """Return the number of equal objects at the start of two sequences."""
    pairs = list(zip(one[:most], other[:most], strict=False))
    return next((place for place, (a, b) in enumerate(pairs) if a is not b), len(pairs))


def _has_equal_state(one: Session, other: Session) -> bool:
    if one.has_worlds:
        return False  # Events may still differ.
    pairs = zip(one.backends.values(), other.backends.values(), strict=True)
    return all(is_surely_alike(vars(mine), vars(theirs)) for mine, theirs in pairs)
