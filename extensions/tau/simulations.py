"""Reader of recorded simulations: tau2's result files, and runs as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from envs.errors import DataError
from extensions.tau.documents import JsonPlace, read_file, read_json, read_lines, read_start
from extensions.tau.tasks import DOMAINS, GoldAction, ServiceTask, read_tasks
from extensions.tau.tool_calls import SIDES

JUDGED_ENDS = ("user_stop", "agent_stop")
"""Termination reasons after which a simulation is judged."""
NAME = "results.json"
"""Result file in the folder of a run."""
_MAX_START_BYTES = 400_000
"""Bytes at the start of a file that identify its format."""


class MessageCall(NamedTuple):
    """A call in a message."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    side: str


class DialogueMessage(NamedTuple):
    """Message of a dialogue. A tool message answers the first call that has no result yet."""

    role: str
    text: str | None
    calls: tuple[MessageCall, ...] = ()
    side: str = "assistant"
    """Side that called the tool: agent or user."""
    failed: bool = False


class StatementVerdict(NamedTuple):
    """Recorded verdict of a judge model on a natural-language assertion."""

    text: str
    met: bool
    reason: str = ""


class RecordedReward(NamedTuple):
    """Recorded judgement; a metric that was not computed is None."""

    reward: float
    db: bool | None = None
    assertions: tuple[bool, ...] | None = None
    actions: tuple[bool, ...] | None = None
    information: tuple[bool, ...] | None = None
    statements: tuple[StatementVerdict, ...] | None = None
    gold: tuple[GoldAction, ...] | None = None
    """Gold actions in the recorded judgement; None if the judgement contains none."""


class Simulation(NamedTuple):
    """One recorded dialogue."""

    id: str
    task_id: str
    trial: int
    end: str
    messages: tuple[DialogueMessage, ...]
    recorded: RecordedReward | None
    where: str

    @property
    def is_judged(self) -> bool:
        """Whether the simulation ended in a way that allows judging."""
        return self.end in JUDGED_ENDS

    @property
    def agent_texts(self) -> list[str]:
        """Texts of the agent in lower case and without commas, as tau2 compares them."""
        return [
            each.text.lower().replace(",", "")
            for each in self.messages
            if each.role == "assistant" and each.text
        ]

    def exchanges(self) -> Iterator[tuple[MessageCall, DialogueMessage]]:
        """Yield each call with its result; results have the same order as their calls.

        Raises DataError if a call has no result.
        """
        waiting: list[MessageCall] = []
        for message in self.messages:
            if message.role == "tool":
                if not waiting:
                    raise DataError(self.where, "a result has no call")
                yield waiting.pop(0), message
            else:
                if waiting and message.calls:
                    raise DataError(self.where, f"the call of {waiting[0].name} has no result")
                waiting.extend(message.calls)


@dataclass(frozen=True)
class SimulationFile:
    """A file of simulations."""

    path: Path
    domain: str
    solo: bool
    tasks: Mapping[str, ServiceTask]
    """The tasks of the file by id; empty if the file has no tasks."""
    simulations: Sequence[Simulation]
    models: tuple[str | None, str | None] = (None, None)
    """Models of the agent and the user, if known."""
    policy: str | None = None
    notes: Sequence[str] = field(default_factory=tuple)


def is_recording(path: Path) -> bool:
    """Tell whether a file contains recorded simulations."""
    place = path / NAME if path.is_dir() else path
    if not place.is_file() or not {".json", ".jsonl"}.intersection(place.suffixes):
        return False
    try:
        start = read_start(place, _MAX_START_BYTES)
    except DataError:
        return False
    if ".jsonl" in place.suffixes:
        return start.startswith('{"kind": "run"')
    return '"info"' in start[:4_000] and '"environment_info"' in start


def read_recording(path: Path) -> SimulationFile:
    """Read a file of simulations, or the folder of a run.

    Raises DataError if the file cannot be read or is malformed.
    """
    place = path / NAME if path.is_dir() else path
    found = _read_lines(place) if ".jsonl" in place.suffixes else _read_results(place, path)
    for simulation in found.simulations:
        if found.tasks and simulation.task_id not in found.tasks:
            message = f"the task {simulation.task_id!r:.200} is not in the file"
            raise DataError(simulation.where, message)
    return found


def _read_lines(path: Path) -> SimulationFile:
    header: JsonPlace | None = None
    tasks: list[JsonPlace] = []
    simulations: list[Simulation] = []
    for node in read_lines(path):
        kind = node.member("kind").value
        if kind == "run":
            header = node
        elif kind == "task":
            tasks.append(node)
        elif kind == "simulation":
            simulations.append(_read_simulation(node, len(simulations)))
        else:
            node.member("kind").refuse("must be `run`, `task` or `simulation`")
    if header is None:
        raise DataError(str(path), "has no line of the kind `run`")
    domain = _read_domain(header.member("domain"))
    models = (
        header.member("agent_model").optional_text(),
        header.member("user_model").optional_text(),
    )
    solo = bool(header.member("solo").value)
    policy = None
    named = header.member("policy").optional_text()
    if named is not None:
        if Path(named).name != named:
            header.member("policy").refuse(f"{named!r:.80} is not a name of a policy")
        text = path.absolute().parent.parent / "texts" / f"policy_{named}.md"
        policy = read_file(text) if text.is_file() else None
    return SimulationFile(
        path=path,
        domain=domain,
        solo=solo,
        tasks=read_tasks(tasks),
        simulations=simulations,
        models=models,
        policy=policy,
    )


def _read_results(place: Path, path: Path) -> SimulationFile:
    node = read_json(place)
    info = node.member("info")
    about = info.member("environment_info")
    domain = _read_domain(about.member("domain_name"))
    agent, user = info.member("agent_info"), info.member("user_info")
    listed = node.member("simulations").items() or []
    if not listed and path.is_dir():
        files = sorted((path / "simulations").glob("*.json"))
        listed = [read_json(file) for file in files]
    solo = "solo" in (agent.member("implementation").optional_text() or "")
    found = SimulationFile(
        path=place,
        domain=domain,
        solo=solo,
        tasks=read_tasks(node.member("tasks").items() or []),
        simulations=[_read_simulation(each, number) for number, each in enumerate(listed)],
        models=(agent.member("llm").optional_text(), user.member("llm").optional_text()),
        policy=about.member("policy").optional_text(),
    )
    return _repair_ids(found)


def _read_domain(node: JsonPlace) -> str:
    # Upstream has variants of telecom that differ in the policy only.
    domain = node.text().removesuffix("-workflow")
    if domain not in DOMAINS:
        node.refuse(f"{domain!r:.80} is not one of {', '.join(DOMAINS)}")
    return domain


def _read_simulation(node: JsonPlace, number: int) -> Simulation:
    reward = node.member("reward_info")
    trial = node.member("trial").value
    id = node.member("id").optional_text() or str(number)
    return Simulation(
        id=id,
        task_id=str(node.member("task_id").value),
        trial=trial if isinstance(trial, int) else 0,
        end=str(node.member("termination_reason").value),
        messages=tuple([_read_message(each) for each in node.member("messages").items() or ()]),
        recorded=None if reward.value is None else _read_reward(reward),
        where=f"{node.where}: simulation {id}",
    )


def _read_message(node: JsonPlace) -> DialogueMessage:
    role = node.member("role").text()
    side = node.member("requestor").optional_text() or "assistant"
    calls = []
    for call in node.member("tool_calls").items() or ():
        given = call.member("arguments")
        arguments = _parse(given) if isinstance(given.value, str) else given.object()
        caller = call.member("requestor").optional_text() or role
        if caller not in SIDES:
            call.member("requestor").refuse(f"must be `assistant` or `user`, but is {caller!r:.80}")
        id = call.member("id").optional_text() or ""
        calls.append(MessageCall(id, call.member("name").text(), arguments, caller))
    text = node.member("content").optional_text()
    return DialogueMessage(role, text, tuple(calls), side, bool(node.member("error").value))


def _parse(node: JsonPlace) -> Mapping[str, Any]:
    try:
        return JsonPlace(json.loads(node.value), node.where, node.path).object()
    except (ValueError, RecursionError):
        node.refuse("must be an object or its JSON string")


def _flags(node: JsonPlace, name: str) -> tuple[bool, ...] | None:
    items = node.items()
    if items is None:
        return None
    return tuple([_read_flag(each, name) for each in items])


def _read_flag(node: JsonPlace, name: str) -> bool:
    if isinstance(node.value, bool):
        return node.value
    if name not in node.object():
        node.member(name).refuse("must be true or false, but is missing")
    return bool(node.member(name).value)


def _read_reward(node: JsonPlace) -> RecordedReward:
    value = node.member("reward").value
    if not isinstance(value, (int, float)):
        node.member("reward").refuse("must be a number")
    db = node.member("db_check").value
    if isinstance(db, Mapping):
        db = db.get("db_match")
    actions = node.member("action_checks")
    items = actions.items()
    gold = None
    if items and all(isinstance(each.value, Mapping) for each in items):
        gold = tuple([_read_gold(each.member("action")) for each in items])
    statements = node.member("nl_assertions").items()
    return RecordedReward(
        reward=float(value),
        db=db,
        assertions=_flags(node.member("env_assertions"), "met"),
        actions=_flags(actions, "action_match"),
        information=_flags(node.member("communicate_checks"), "met"),
        statements=None
        if statements is None
        else tuple([_read_statement(each) for each in statements]),
        gold=gold,
    )


def _read_statement(node: JsonPlace) -> StatementVerdict:
    reason = node.member("justification").optional_text() or ""
    return StatementVerdict(
        node.member("nl_assertion").text(), bool(node.member("met").value), reason
    )


def _read_gold(node: JsonPlace) -> GoldAction:
    side = node.member("requestor").optional_text() or "assistant"
    return GoldAction(node.member("name").text(), node.member("arguments").object(), side)


def fits(simulation: Simulation, task: ServiceTask) -> bool:
    """Tell whether the gold actions in a judgement equal the gold actions of a task."""
    gold = simulation.recorded.gold if simulation.recorded else None
    wanted = task.criteria.actions if task.criteria else None
    if gold is None:
        return True
    return [(a.name, a.arguments) for a in gold] == [(a.name, a.arguments) for a in wanted or ()]


def _repair_ids(recording: SimulationFile) -> SimulationFile:
    tasks, mended, repaired = recording.tasks, 0, []
    for each in recording.simulations:
        task = tasks.get(each.task_id)
        if task is not None and not fits(each, task):
            others = [id for id, other in tasks.items() if fits(each, other)]
            if others:
                each = each._replace(task_id=others[0])
                mended += 1
        repaired.append(each)
    if not mended:
        return recording
    note = (
        f"{mended} simulations have a wrong task id; each is judged by the task with the same gold "
        "actions"
    )
    return replace(recording, simulations=repaired, notes=(*recording.notes, note))
