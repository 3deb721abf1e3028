"""How hard scenarios were solved by somebody who saw the words and the functions, and nothing else.

``solutions.jsonl`` has one line a scenario and solver; of what is held back only what came of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import TypeAdapter

from checkers.statistics import wilson
from trajectories.dataset import DATA
from trajectories.jsonl import read_objects
from trajectories.schema import Strict
from trajectories.validation import validated

SOLUTIONS = DATA / "solutions.jsonl"


class Solved(StrEnum):
    """Where a solver ended."""

    RIGHT = "right"
    """In the state of the ground truth after every turn, with every fact seen."""
    FACTS = "facts"
    """In its state, but without having seen what the ground truth reads."""
    STATE = "state"
    """In another state after some turn."""


@dataclass(frozen=True)
class SolvedTurn(Strict):
    """What a solver did in a turn.

    Attributes:
        calls: The calls, as text, in order.
        answer: What was said to the user at the end.
    """

    calls: tuple[str, ...]
    answer: str


@dataclass(frozen=True)
class Solution(Strict):
    """How a scenario was solved blind.

    Attributes:
        entry: Id of the base trajectory.
        solver: A capital letter.
        ending: Where the solver ended, as the scenario was then.
        doubt: What could be read in two ways, or was missing.
        mended: What was changed for that.
        turns: What was done; empty of a scenario that is held back.
    """

    entry: str
    solver: str
    ending: Solved
    doubt: str = ""
    mended: str = ""
    turns: tuple[SolvedTurn, ...] = ()


_ADAPTER = TypeAdapter(Solution)


def read_solutions(path: Path = SOLUTIONS) -> list[Solution]:
    """Return the solutions of a file.

    Raises:
        DataError: A line is none.
    """
    return [validated(_ADAPTER, line, where) for where, line in read_objects(path)]


def summary(solutions: Sequence[Solution]) -> str:
    """Return in a sentence or two where solvers ended."""
    total = len(solutions)
    state = sum(solution.ending is not Solved.STATE for solution in solutions)
    right = sum(solution.ending is Solved.RIGHT for solution in solutions)
    low, high = wilson(state, total)
    doubts = sum(bool(solution.mended) for solution in solutions)
    return (
        f"{total} times a hard scenario was played blind; {state} times ({state / total:.1%}, "
        f"{low:.1%} to {high:.1%}) it ended in the ground truth's state after every turn, {right} "
        f"times with every fact seen as well. {doubts} were reworded for what the solver doubted."
    )
