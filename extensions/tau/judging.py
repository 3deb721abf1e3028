"""Judging of simulations by tau2's rules, separately for each part of the reward."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from envs.errors import DataError, ToolError
from envs.state import ABSENT, Difference
from extensions.tau.desk import Desk
from extensions.tau.simulations import MessageCall, Simulation
from extensions.tau.statements import decide
from extensions.tau.tasks import GoldAction, ServiceTask
from extensions.tau.telecom import TelecomDesk
from extensions.tau.telecom_setup import run_function
from extensions.tau.tool_calls import call
from extensions.tau.worlds import make_desk, set_up

_LINK = re.compile(r"(errors\.pydantic\.dev/)[\d.]+")


class ResultMismatch(NamedTuple):
    """Recorded result that differs from Turnwise's result."""

    call: MessageCall
    ours: str
    theirs: str

    @property
    def is_version(self) -> bool:
        """Whether the two results differ only in the version number in a link."""
        return _LINK.sub(r"\1", self.ours) == _LINK.sub(r"\1", self.theirs)


class RewardParts(NamedTuple):
    """Parts of a reward; if the simulation ended early, ``basis`` is empty."""

    basis: tuple[str, ...]
    db: bool
    assertions: tuple[bool, ...]
    actions: tuple[bool, ...]
    information: tuple[bool, ...]
    statements: tuple[bool, ...] | None
    """Verdicts on natural-language assertions; None if an assertion has no verdict."""
    differences: tuple[Difference, ...] = ()
    """Differences between the final state and the expected final state."""

    def part(self, name: str) -> bool:
        """Return one component of the reward, such as ``DB``."""
        if name == "DB":
            return self.db
        if name == "NL_ASSERTION":
            return self.statements is not None and all(self.statements)
        lists = {
            "ENV_ASSERTION": self.assertions,
            "ACTION": self.actions,
            "COMMUNICATE": self.information,
        }
        return all(lists[name])

    @property
    def reward(self) -> float:
        """Total reward; a natural-language assertion without a verdict counts as failed."""
        if not self.basis:
            return 0.0
        return float(all(self.part(name) for name in self.basis if name != "NONE"))


class SimulationJudge:
    """Judge of simulations.

    Args:
        start: Function that returns the world of a task before the dialogue.
        solo: Whether the agent has the user's tools.
    """

    def __init__(self, start: Callable[[ServiceTask], Desk], *, solo: bool = False) -> None:
        self.solo = solo
        self.start = start
        self._gold: dict[str, tuple[ServiceTask, Desk]] = {}

    @classmethod
    def of_domain(cls, domain: str, state: Mapping[str, Any], *, solo: bool = False) -> Self:
        """Return the judge of a domain, given the initial state of its world."""

        def start(task: ServiceTask) -> Desk:
            desk = make_desk(domain, state)
            set_up(desk, task)
            return desk

        return cls(start, solo=solo)

    def replay(
        self, task: ServiceTask, simulation: Simulation
    ) -> tuple[Desk, list[ResultMismatch]]:
        """Execute a simulation's calls; return the world, and the results that differ."""
        desk, different = self.start(task), []
        for made, result in simulation.exchanges():
            outcome = call(desk, made.name, made.arguments, made.side, solo=self.solo)
            if outcome.text != (result.text or ""):
                different.append(ResultMismatch(made, outcome.text, result.text or ""))
        return desk, different

    def play_gold(self, task: ServiceTask) -> Desk:
        """Return the world after the gold actions, without a last call of ``sync``."""
        known = self._gold.get(task.id)
        if known is not None and known[0] is task:
            return known[1]
        desk = self.start(task)
        for action in (task.criteria.actions if task.criteria else None) or ():
            call(desk, action.name, action.arguments, action.side, syncs=False)
        self._gold[task.id] = task, desk
        return desk

    def judge(
        self, task: ServiceTask, simulation: Simulation, desk: Desk | None = None
    ) -> RewardParts:
        """Judge a simulation. ``desk`` is the final world; if it is None, replay the simulation.

        Raises DataError if an assertion about the environment fails with an exception.
        """
        desk = desk or self.replay(task, simulation)[0]
        calls = [each for message in simulation.messages for each in message.calls]
        if isinstance(desk, TelecomDesk):
            desk.sync()
        criteria = task.criteria
        if criteria is None:
            return RewardParts(("NONE",), True, (), (), (), None)
        actions, assertions = criteria.actions, criteria.assertions
        said = simulation.agent_texts
        differences: tuple[Difference, ...] = ()
        if actions is not None or assertions is not None:
            differences = tuple(list_state_differences(self.play_gold(task), desk))
        return RewardParts(
            basis=criteria.basis if simulation.is_judged else (),
            db=not differences,
            assertions=_check_assertions(task, desk),
            actions=tuple(
                [any(_matches(each, action) for each in calls) for action in actions or ()]
            ),
            information=tuple(
                [any(text.lower() in each for each in said) for text in criteria.information]
            ),
            statements=find_statements(criteria.statements, simulation),
            differences=differences,
        )


def _check_assertions(task: ServiceTask, desk: Desk) -> tuple[bool, ...]:
    found = []
    for each in (task.criteria.assertions if task.criteria else None) or ():
        if not isinstance(desk, TelecomDesk):
            message = f"{each.name} is an assertion of telecom; {desk.DOMAIN} has no assertions"
            raise DataError(f"task {task.id}", message)
        try:
            value = run_function(desk, each.side, each.name, each.arguments)
        except ToolError as error:
            raise DataError(f"task {task.id}", f"{each.name} fails: {error.message}") from None
        found.append(value == each.wanted)
    return tuple(found)


def _matches(call: MessageCall, action: GoldAction) -> bool:
    """Tell whether a call equals the gold action in name and compared arguments."""
    if call.name != action.name:
        return False
    names = tuple(call.arguments) if action.compared is None else action.compared
    return _restrict(call.arguments, names) == _restrict(action.arguments, names)


def _restrict(arguments: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name in names}


def find_statements(texts: Sequence[str], simulation: Simulation) -> tuple[bool, ...] | None:
    """Return a verdict on each assertion: the recorded verdict, or else the verdict of a check.

    Return None if an assertion has neither a recorded verdict nor a check.
    """
    recorded = simulation.recorded
    known = {each.text.strip(): each.met for each in (recorded and recorded.statements) or ()}
    found: list[bool] = []
    for text in texts:
        met = known.get(text.strip())
        met = decide(text, simulation) if met is None else met
        if met is None:
            return None
        found.append(met)
    return tuple(found)


def list_state_differences(expected: Desk, actual: Desk) -> list[Difference]:
    """Compare two states as strictly as tau2; return all paths with a difference."""
    found: list[Difference] = []
    title = type(expected).__name__
    for name in expected.FIELDS:
        if name[0] != "_":
            _compare(vars(expected)[name], vars(actual)[name], f"{title}.{name}", found)
    return found


def _compare(one: Any, other: Any, path: str, found: list[Difference]) -> None:
    if one is other:
        return
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys() if one.keys() != other.keys() else one:
            if key not in one or key not in other:
                found.append(_differ(path, key, one, other))
            elif one[key] is not other[key]:
                _compare(one[key], other[key], f"{path}.{key}", found)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            _compare(left, right, f"{path}[{place}]", found)
    elif type(one) is not type(other) or one != other:
        found.append(Difference(path, one, other))


def _differ(path: str, key: Any, one: Any, other: Any) -> Difference:
    return Difference(f"{path}.{key}", one.get(key, ABSENT), other.get(key, ABSENT))
