"""Cheaters: agents that give no service."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from checkers.profile import Profile
from checkers.replies.decoding import Step
from extensions.tau.entries import TaskDataset, TaskEntry
from runner.episodes.judging import judge_recorded
from trajectories.prepared_trajectory import prepare

Cheater = Callable[[TaskEntry], Sequence[Step]]


def _say_nothing(_: TaskEntry) -> Sequence[Step]:
    return [None]


def _refuse(_: TaskEntry) -> Sequence[Step]:
    return [_transfer("The request is against the policy.")]


def _claim(_: TaskEntry) -> Sequence[Step]:
    return ["I have done everything that you asked for."]


def _tell(entry: TaskEntry) -> Sequence[Step]:
    criteria = entry.task.criteria
    return [". ".join(criteria.information if criteria else ()), _transfer("All facts are told.")]


def _act(entry: TaskEntry) -> Sequence[Step]:
    actions = (entry.task.criteria.actions if entry.task.criteria else None) or ()
    return [[{f"{each.side}.{each.name}": dict(each.arguments)}] for each in actions]


def _transfer(summary: str) -> Step:
    return [{"transfer_to_human_agents": {"summary": summary}}]


CHEATERS: Mapping[str, tuple[str, Cheater]] = {
    "null": ("says nothing", _say_nothing),
    "refuse": ("refuses and transfers every request", _refuse),
    "claim": ("claims that everything is done", _claim),
    "tell": ("reports all required information and transfers", _tell),
    "act": ("makes all needed calls and says nothing", _act),
}
"""Description and steps of each cheater."""


def count_passes(dataset: TaskDataset, profile: Profile) -> dict[str, int]:
    """Return the number of entries that each cheater passes."""
    passes = dict.fromkeys(CHEATERS, 0)
    for entry in dataset.trajectories.values():
        assert isinstance(entry, TaskEntry)
        prepared = prepare(dataset, entry, profile)
        for name, (_, cheat) in CHEATERS.items():
            judged = judge_recorded(prepared, [cheat(entry)], "fc", profile)
            passes[name] += judged.verdict.valid
    return passes
