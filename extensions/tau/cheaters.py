"""Cheaters (agents that give no service), and recorded dialogues that contradict their tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from checkers.profile import Profile
from checkers.replies.decoding import Step
from extensions.tau.entries import TaskEntry
from extensions.tau.judging import SimulationJudge
from extensions.tau.simulations import SimulationFile, fits
from extensions.tau.worlds import Checkout
from extensions.users.dialogue_kind import describe_fact, list_needed
from runner.episodes.judging import judge_recorded
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Trajectory

Cheater = Callable[[Trajectory], Sequence[Step]]


def _say_nothing(_: Trajectory) -> Sequence[Step]:
    return [None]


def _refuse(entry: Trajectory) -> Sequence[Step]:
    reason = "The request is against the policy."
    return [_transfer(reason)] if isinstance(entry, TaskEntry) else [f"I cannot do that. {reason}"]


def _claim(_: Trajectory) -> Sequence[Step]:
    return ["I have done everything that you asked for."]


def _tell(entry: Trajectory) -> Sequence[Step]:
    if not isinstance(entry, TaskEntry):
        return [". ".join([describe_fact(fact) for fact in entry.turns[0].tells]) or None]
    criteria = entry.task.criteria
    return [". ".join(criteria.information if criteria else ()), _transfer("All facts are told.")]


def _act(entry: Trajectory) -> Sequence[Step]:
    if not isinstance(entry, TaskEntry):
        return [[{call.name: dict(call.kwargs)}] for call in list_needed(entry)]
    actions = (entry.task.criteria.actions if entry.task.criteria else None) or ()
    return [[{f"{each.side}.{each.name}": dict(each.arguments)}] for each in actions]


def _transfer(summary: str) -> Step:
    return [{"transfer_to_human_agents": {"summary": summary}}]


CHEATERS: Mapping[str, tuple[str, Cheater]] = {
    "null": ("says nothing", _say_nothing),
    "refuse": ("refuses every request, then transfers the user to a human", _refuse),
    "claim": ("claims that everything is done", _claim),
    "tell": ("gives all required information, then transfers the user to a human", _tell),
    "act": ("makes all needed calls and says nothing", _act),
}
"""Agents that should fail every entry: name, description and steps."""


def list_passes(dataset: Dataset, profile: Profile) -> dict[str, list[str]]:
    """For each cheater, return the ids of the entries that the cheater passes."""
    passes: dict[str, list[str]] = {name: [] for name in CHEATERS}
    for entry in dataset.trajectories.values():
        prepared = prepare(dataset, entry, profile)
        for name, (_, cheat) in CHEATERS.items():
            if judge_recorded(prepared, [cheat(entry)], "fc", profile).verdict.valid:
                passes[name].append(entry.id)
    return passes


def list_misfits(recording: SimulationFile, files: Checkout) -> Iterator[tuple[str, str]]:
    """Find dialogues that contradict their task or the environment; yield names and reasons."""
    tasks = recording.tasks or files.tasks(recording.domain)
    judge = SimulationJudge.of_domain(
        recording.domain, files.state(recording.domain), solo=recording.solo
    )
    for simulation in recording.simulations:
        task, recorded = tasks.get(simulation.task_id), simulation.recorded
        name = f"task {simulation.task_id}, trial {simulation.trial}"
        if task is None:
            yield name, "the task is unknown"
        elif not fits(simulation, task):
            yield name, "the verdict belongs to another revision of the task"
        else:
            desk, different = judge.replay(task, simulation)
            others = sum(not each.is_version for each in different)
            if others:
                yield name, f"{others} recorded results differ from the results of a replay"
            ours = judge.judge(task, simulation, desk)
            if recorded is not None and recorded.db not in (None, ours.db):
                message = f"the recorded verdict on the state is {recorded.db}"
                yield name, f"{message}, but the new verdict is {ours.db}"
