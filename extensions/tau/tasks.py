"""Tasks of tau2: scenario, set-up and evaluation criteria."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from envs.calls import Call
from extensions.tau.documents import JsonPlace
from extensions.tau.tool_calls import SIDES

DOMAINS = ("airline", "retail", "telecom")
PARTS = ("DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE", "NL_ASSERTION")


class GoldAction(NamedTuple):
    """A gold action."""

    name: str
    arguments: Mapping[str, Any]
    side: str = "assistant"
    compared: tuple[str, ...] | None = None
    """Names of the arguments to compare; None means all arguments of the model's call."""

    @property
    def call(self) -> Call:
        """The action as a call."""
        return Call(self.name, (), dict(self.arguments))


class SetupCall(NamedTuple):
    """A function that changes the world before the dialogue."""

    side: str
    name: str
    arguments: Mapping[str, Any]


class TaskAssertion(NamedTuple):
    """Condition on the final state: a function must return the given value."""

    side: str
    name: str
    arguments: Mapping[str, Any]
    wanted: bool = True


class TaskCriteria(NamedTuple):
    """Evaluation criteria; a missing list is None."""

    actions: tuple[GoldAction, ...] | None
    assertions: tuple[TaskAssertion, ...] | None
    information: tuple[str, ...]
    """Strings that the agent must say."""
    statements: tuple[str, ...]
    """Assertions in words."""
    basis: tuple[str, ...]
    """Parts of the reward."""


class UserScenario(NamedTuple):
    """Persona, knowledge and goals of the simulated user."""

    persona: str | None
    reason: str
    known: str | None
    unknown: str | None
    instructions: str


class ServiceTask(NamedTuple):
    """A task."""

    id: str
    setup: tuple[SetupCall, ...]
    criteria: TaskCriteria | None
    scenario: UserScenario
    source: Mapping[str, Any]
    """The task as JSON."""


def read_task(node: JsonPlace) -> ServiceTask:
    """Read a task. Raises DataError for a field of the wrong type."""
    initial = node.member("initial_state")
    setup: tuple[SetupCall, ...] = ()
    if initial.value is not None:
        for name in ("initialization_data", "message_history"):
            if initial.member(name).value:
                initial.member(name).refuse("is not supported; the three worlds do not use it")
        calls = initial.member("initialization_actions").items()
        setup = tuple([_read_setup(each) for each in calls or ()])
    criteria = node.member("evaluation_criteria")
    return ServiceTask(
        node.member("id").text(),
        setup,
        None if criteria.value is None else _read_criteria(criteria),
        _read_scenario(node.member("user_scenario")),
        node.object(),
    )


def read_tasks(nodes: Sequence[JsonPlace]) -> dict[str, ServiceTask]:
    """Read tasks by id. Raises DataError if an id occurs twice."""
    found: dict[str, ServiceTask] = {}
    for node in nodes:
        task = read_task(node)
        if task.id in found:
            node.refuse(f"duplicate id {task.id!r:.200}")
        found[task.id] = task
    return found


def _read_side(node: JsonPlace) -> str:
    side = node.optional_text() or "assistant"
    if side not in SIDES:
        node.refuse(f"must be `assistant` or `user`, but is {side!r:.80}")
    return side


def _read_setup(node: JsonPlace) -> SetupCall:
    return SetupCall(
        _read_side(node.member("env_type")),
        node.member("func_name").text(),
        node.member("arguments").object(),
    )


def _read_criteria(node: JsonPlace) -> TaskCriteria:
    actions = node.member("actions").items()
    assertions = node.member("env_assertions").items()
    basis = node.member("reward_basis").texts()
    for part in basis or ():
        if part not in PARTS:
            node.member("reward_basis").refuse(f"{part!r:.80} is not one of {', '.join(PARTS)}")
    return TaskCriteria(
        None if actions is None else tuple([_read_action(each) for each in actions]),
        None if assertions is None else tuple([_read_assertion(each) for each in assertions]),
        node.member("communicate_info").texts() or (),
        node.member("nl_assertions").texts() or (),
        ("DB", "COMMUNICATE") if basis is None else basis,
    )


def _read_action(node: JsonPlace) -> GoldAction:
    return GoldAction(
        node.member("name").text(),
        node.member("arguments").object(),
        _read_side(node.member("requestor")),
        node.member("compare_args").texts(),
    )


def _read_assertion(node: JsonPlace) -> TaskAssertion:
    wanted = node.member("assert_value").value
    return TaskAssertion(
        _read_side(node.member("env_type")),
        node.member("func_name").text(),
        node.member("arguments").object(),
        True if wanted is None else bool(wanted),
    )


def _read_scenario(node: JsonPlace) -> UserScenario:
    persona = node.member("persona").optional_text()
    given = node.member("instructions")
    if isinstance(given.value, str):
        return UserScenario(persona, "", None, None, given.value)
    return UserScenario(
        persona,
        given.member("reason_for_call").text(),
        given.member("known_info").optional_text(),
        given.member("unknown_info").optional_text(),
        given.member("task_instructions").text(),
    )
