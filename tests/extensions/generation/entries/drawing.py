"""Tasks for the tests of generation, drawn once."""

from __future__ import annotations

from functools import cache

from extensions.authoring.graph.graph import load
from extensions.generation.entries.instruction_kinds import GROUPS, InstructionKind, read_groups
from extensions.generation.entries.tasks import (
    PERSONAS,
    Shown,
    TaskSampling,
    TaskSource,
    WritingTask,
    read_personas,
)
from trajectories.dataset import load_embedded
from trajectories.schema import Category, Trajectory

GRAPH = load()


@cache
def own() -> list[Trajectory]:
    return [*load_embedded([Category.BASE]).trajectories.values()]


def sampling(origin: Shown = "paths", seed: int = 0) -> TaskSampling:
    """Return how tasks are drawn by default."""
    turns, calls = (3, 3) if origin == "paths" else (1, 4)
    groups = read_groups(GROUPS, GRAPH)
    return TaskSampling(GRAPH, groups, read_personas(PERSONAS), own(), origin, seed, turns, calls)


@cache
def drawn(each: int, origin: Shown = "paths", seed: int = 0) -> tuple[WritingTask, ...]:
    """Return so many tasks of each kind."""
    tasks = TaskSource(sampling(origin, seed), [*InstructionKind])
    return tuple([tasks.draw(kind, number) for kind in InstructionKind for number in range(each)])
