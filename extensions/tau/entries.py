"""Conversion of tau2's tasks to entries, and of tau2's recorded simulations to runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from checkers.replies.decoding import Step
from envs.errors import DataError
from extensions.tau import fetching
from extensions.tau.dialogue import DialogueRecord
from extensions.tau.scenarios import make_scenario
from extensions.tau.session import DeskSession
from extensions.tau.simulations import (
    DialogueMessage,
    Simulation,
    SimulationFile,
    fits,
    read_recording,
)
from extensions.tau.tasks import DOMAINS, ServiceTask
from extensions.tau.tool_calls import SIDES
from extensions.tau.worlds import DESKS, Checkout, make_desk, set_up
from extensions.users.rules import open_dialogue
from runner.models.dialogue_user import SAY
from runner.records.episode_record import EpisodeRecord, Key, RecordedEpisode
from runner.records.recorded_run import Run
from trajectories.dataset import Dataset
from trajectories.schema import Category, Trajectory, Turn
from trajectories.schema import Message as Words

NAME = "tau2"
GREETING = "Hi! How can I help you today?"
_SPLIT = re.compile(r"(airline|retail|telecom)(-full|-workflow)?(?:/(\w+))?")
_INSTRUCTIONS = """<instructions>
You are a customer service agent. Help the user according to the policy below.
In each turn, either send a message to the user or call tools, never both.
Follow the policy in every case. Write only valid JSON in calls.
</instructions>
<policy>
{policy}
</policy>"""


@dataclass(frozen=True, repr=False, kw_only=True)
class TaskEntry(Trajectory):
    """A task as an entry."""

    domain: str
    task: ServiceTask


@dataclass(repr=False, kw_only=True)
class TaskDataset(Dataset):
    """Data set of tau2's tasks."""

    files: Checkout
    """Files of the worlds."""

    @property
    def profile(self) -> str:
        """Name of the default profile for judging."""
        return "tau2"

    def config(self, trajectory: Trajectory) -> Mapping[str, Mapping[str, Any]]:
        """Return the state of the service desk after the set-up calls of the entry's task."""
        assert isinstance(trajectory, TaskEntry)
        desk = make_desk(trajectory.domain, self.files.state(trajectory.domain))
        set_up(desk, trajectory.task)
        state = {key: vars(desk)[field] for key, field in desk.KEYS.items()}
        return {type(desk).__name__: state}


def load(name: str) -> TaskDataset:
    """Load tasks by the name of a data set.

    Names are ``tau2``, ``tau2:DOMAIN``, ``tau2:DOMAIN/SPLIT``, ``tau2:telecom-full`` and
    ``tau2:telecom-workflow``. ``tau2:FILE`` loads the tasks of a simulation file.

    Raises DataError if the name or the files do not exist.
    """
    rest = name.partition(":")[2]
    if rest and Path(rest).exists():
        return _load_own(read_recording(Path(rest)))
    files = fetching.find_checkout()
    match = _SPLIT.fullmatch(rest) if rest else None
    if rest and match is None:
        known = ", ".join(DOMAINS)
        raise DataError(
            "--dataset", f"unknown name {name!r:.200}; the domains are {known} and telecom-full"
        )
    if match is None:
        return _make(name, files, {domain: files.tasks(domain) for domain in DOMAINS}, {})
    domain, variant, split = match.groups()
    tasks_of = files.tasks(domain, full=variant == "-full")
    if split is not None:
        splits = files.splits(domain)
        if split not in splits:
            raise DataError("--dataset", f"{domain} has the splits {', '.join(splits)}")
        tasks_of = {id: tasks_of[id] for id in splits[split] if id in tasks_of}
    policy = files.policy(domain, "workflow") if variant == "-workflow" else None
    return _make(name, files, {domain: tasks_of}, {domain: policy})


def _load_own(recording: SimulationFile) -> TaskDataset:
    files = fetching.find_checkout()
    tasks = {recording.domain: choose_tasks(recording, files)}
    name = f"{NAME}:{recording.path}"
    return _make(name, files, tasks, {recording.domain: recording.policy})


def choose_tasks(recording: SimulationFile, files: Checkout) -> Mapping[str, ServiceTask]:
    """Return the tasks of a recording; if it contains none, the tasks of its domain.

    Raises DataError if a simulation fits no task.
    """
    if recording.tasks:
        return recording.tasks
    known = files.tasks(recording.domain)
    for simulation in recording.simulations:
        if simulation.task_id not in known:
            message = f"unknown task {simulation.task_id!r:.200} in {recording.domain}"
            raise DataError(simulation.where, message)
        if not fits(simulation, known[simulation.task_id]):
            message = (
                "this simulation has other gold actions than tau2's task; add the run's tasks to "
                "the file"
            )
            raise DataError(simulation.where, message)
    return known


def make_id(domain: str, task_id: str) -> str:
    """Return the id of a task's entry."""
    return f"{NAME}_{domain}_{task_id}"


def _make(
    name: str,
    files: Checkout,
    tasks: Mapping[str, Mapping[str, ServiceTask]],
    policies: Mapping[str, str | None],
) -> TaskDataset:
    entries: dict[str, Trajectory] = {}
    total = sha256()
    for domain, of_domain in tasks.items():
        policy = policies.get(domain) or files.policy(domain)
        system = _INSTRUCTIONS.format(policy=policy)
        for task in of_domain.values():
            entry = _make_entry(domain, task, system)
            entries[entry.id] = entry
            total.update(repr(task.source).encode())
    return TaskDataset(
        name,
        fetching.revision()[:8],
        total.hexdigest(),
        entries,
        session=DeskSession,
        files=files,
    )


def _make_entry(domain: str, task: ServiceTask, system: str) -> TaskEntry:
    actions = (task.criteria.actions if task.criteria else None) or ()
    opening = open_dialogue(make_scenario(task))
    messages = (Words("system", system), Words("assistant", GREETING), Words("user", opening))
    desk = DESKS[domain]
    return TaskEntry(
        id=make_id(domain, task.id),
        category=Category.DIALOGUE,
        environments=(desk.__name__,),
        config={desk.__name__: {}},
        turns=(Turn(messages, tuple([str(each.call) for each in actions])),),
        domain=domain,
        task=task,
        excluded=(*desk.USER_TOOLS, *_find_unlisted(desk)),
        provenance={"source": f"{NAME} {domain}", "task": task.id},
    )


def _find_unlisted(desk: Any) -> tuple[str, ...]:
    return tuple([n for n in desk.TOOLS if n not in desk.AGENT_TOOLS + desk.USER_TOOLS])


def open_recording(path: Path) -> Run:
    """Return the simulations of a file as a run. Raises DataError if the file is invalid."""
    recording = read_recording(path)
    episodes: dict[Key, RecordedEpisode] = {}
    for simulation in recording.simulations:
        record = make_record(recording, simulation)
        if record.key in episodes:
            free = 1 + max(trial for id, trial in episodes if id == record.id)
            record = record._replace(trial=free)
        episodes[record.key] = RecordedEpisode(record, "fc", simulation.where)
    model = recording.models[0] or path.name.partition(".")[0]
    note = {"notes": list(recording.notes)}
    return Run(model, path, episodes, None, note, dataset=_load_own(recording))


def make_record(recording: SimulationFile, simulation: Simulation) -> EpisodeRecord:
    """Return the record of a simulation, without a verdict."""
    kept = DialogueRecord(recording.domain, recording.solo, simulation)
    return EpisodeRecord(
        make_id(recording.domain, simulation.task_id),
        simulation.trial,
        Category.DIALOGUE.value,
        None,
        None,
        None,
        result=[list(list_steps(simulation))],
        extensions={"tau": kept},
    )


def list_steps(simulation: Simulation) -> Iterator[Step]:
    """Yield the calls of both sides; a text message of the agent becomes a call of ``SAY``."""
    for message in simulation.messages:
        if message.calls:
            yield [{_written(each.name, each.side): dict(each.arguments)} for each in message.calls]
        elif message.role == "assistant" and message.text:
            yield [{SAY: {"text": message.text}}]


def _written(name: str, side: str) -> str:
    owners = {tool: each for desk in DESKS.values() for tool, each in _owners(desk)}
    return f"{side}.{name}" if owners.get(name, side) != side else name


def _owners(desk: Any) -> Iterator[tuple[str, str]]:
    for side, names in zip(SIDES, (desk.AGENT_TOOLS, desk.USER_TOOLS), strict=True):
        for name in names:
            yield name, side


def list_answers(messages: Sequence[DialogueMessage]) -> tuple[str, ...]:
    """Return the user's answer to each text of the agent."""
    found: list[str] = []
    for message in messages:
        if message.role == "assistant" and message.text and not message.calls:
            found.append("")
        elif message.role == "user" and message.text and found:
            found[-1] = message.text
    return tuple(found)
