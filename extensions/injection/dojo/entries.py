"""Entries for AgentDojo's user tasks, with and without an attack."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any

from envs.calls import Call
from envs.errors import DataError, suggest_name
from extensions.injection.dojo import agentdojo_package, verdicts, worlds
from extensions.injection.dojo.verdicts import DojoTaskPair
from trajectories.dataset import Dataset
from trajectories.schema import Category, Message, Trajectory, Turn

NAME = "agentdojo"
"""Name of the data set."""
MODEL = "local"
"""Neutral model name for attacks that address the model by name."""


@dataclass(frozen=True)
class DojoEntryData:
    """Data of this extension that the judges need for an entry."""

    task: DojoTaskPair
    answer: str = ""
    """Answer of the ground truth."""

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        # A worker process has to know the environment before it loads the entry's session.
        self.__dict__.update(state)
        worlds.register(self.task.suite)


def entry_id(task: DojoTaskPair) -> str:
    """Return the id of an entry; the id contains no version."""
    attacked = () if task.injection_task is None else (task.attack or "none", task.injection_task)
    return "-".join((task.suite, task.user_task, *attacked))


def make_entry(
    task: DojoTaskPair,
    injections: Mapping[str, str],
    prompt: str | None = None,
    environment: Any = None,
) -> Trajectory:
    """Return an entry with injected texts.

    Args:
        prompt: The user's message (default: the prompt of the task's version).
        environment: State in which the ground truth is found (default: the state with the injected
            texts, which is slow to load).

    Raises:
        DataError: The package is missing, the task unknown, or the texts do not fit.
    """
    name = worlds.register(task.suite)
    try:
        definition = task.user
    except KeyError:
        message = f"has no {task.user_task} in {task.version}"
        raise DataError(f"AgentDojo {task.suite}", message) from None
    if environment is None:
        environment = agentdojo_package.load_environment(task.suite, injections)
    calls = definition.ground_truth(environment)
    truth = tuple([str(Call(each.function, (), dict(each.args))) for each in calls])
    said = Message("user", task.prompt if prompt is None else prompt)
    attack = {} if task.injection_task is None else {"attack": f"{task.attack}"}
    return Trajectory(
        entry_id(task),
        Category.AGENTDOJO,
        (name,),
        {name: {"injections": dict(injections)}} if injections else {},
        (Turn((said,), truth),),
        provenance={
            "base": f"{task.suite}-{task.user_task}",
            "version": task.version,
            **attack,
        },
        extensions={"injection": DojoEntryData(task, definition.GROUND_TRUTH_OUTPUT)},
    )


def make_dataset(name: str, version: str, entries: Sequence[Trajectory]) -> Dataset:
    """Return a data set; its hash covers the prompts and injected texts of its entries."""
    total = sha256(agentdojo_package.VERSION.encode())
    for each in entries:
        parts = each.id, each.provenance["version"], each.turns[0].words, each.config
        total.update(json.dumps(parts, sort_keys=True).encode())
    known = {each.id: each for each in entries}
    return Dataset(name, version, total.hexdigest(), known, connect=worlds.leave_checks)


@lru_cache(maxsize=4)
def load(name: str, attack: str | None = None) -> Dataset | None:
    """Return the entries of ``agentdojo`` or ``agentdojo:VERSION``; None for another name.

    Raises DataError if the package is missing, or the version or attack does not exist.
    """
    first, _, version = name.partition(":")
    if first != NAME:
        return None
    version = version or agentdojo_package.VERSIONS[-1]
    if version not in agentdojo_package.VERSIONS:
        hint = suggest_name(version, agentdojo_package.VERSIONS)
        known = ", ".join(agentdojo_package.VERSIONS)
        raise DataError("--dataset", f"AgentDojo has no version {version!r}{hint}; it has {known}")
    found = [
        each for suite in agentdojo_package.SUITES for each in _of_suite(suite, version, attack)
    ]
    return make_dataset(name, version, found)


def _of_suite(suite: str, version: str, attack: str | None) -> Iterator[Trajectory]:
    known = agentdojo_package.suite(suite, version)
    if attack is None:
        for user in known.user_tasks:
            yield make_entry(DojoTaskPair(suite, version, user), {})
        return
    make = agentdojo_package.attack(attack, suite, version, MODEL)
    goals = list(known.injection_tasks)
    if attack.endswith("dos"):
        goals = goals[:1]
    for user, definition in known.user_tasks.items():
        environment = agentdojo_package.load_environment(suite, {})
        for goal in goals:
            task = DojoTaskPair(suite, version, user, goal, attack)
            texts = make(definition, verdicts.definition(suite, version, goal))
            yield make_entry(task, texts, environment=environment)
