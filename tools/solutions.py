"""Blind solutions of hard scenarios.

A solver sees only the user messages and the functions.

``solutions.jsonl`` has one line per scenario and solver. If a scenario is held back, its line
contains neither calls nor answers.
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
from trajectories.record_validation import validate_record
from trajectories.schema import StrictRecord

SOLUTIONS = DATA / "solutions.jsonl"


class SolverResult(StrEnum):
    """Result of a solver."""

    RIGHT = "right"
    """The state equals the ground truth's after every turn, and the solver has seen every fact."""
    FACTS = "facts"
    """The state equals the ground truth's, but the solver has not seen every fact."""
    STATE = "state"
    """The state differs after at least one turn."""


@dataclass(frozen=True)
class SolvedTurn(StrictRecord):
    """A solver's calls and answer in a turn."""

    calls: tuple[str, ...]
    """The calls, as strings, in order."""
    answer: str
    """Last answer to the user."""


@dataclass(frozen=True)
class Solution(StrictRecord):
    """A blind solution of a scenario."""

    entry: str
    """Id of the base trajectory."""
    solver: str
    """A capital letter."""
    ending: SolverResult
    """The solver's result on the first version of the scenario."""
    doubt: str = ""
    """The solver's note on an ambiguity or gap in the scenario."""
    mended: str = ""
    """Change of the scenario in response to this note."""
    turns: tuple[SolvedTurn, ...] = ()
    """Calls and answers of each turn; empty for a held-back scenario."""


_ADAPTER = TypeAdapter(Solution)


def read_solutions(path: Path = SOLUTIONS) -> list[Solution]:
    """Return the solutions of a file.

    Raises:
        DataError: A line of the file is not a valid ``Solution``.
    """
    return [validate_record(_ADAPTER, line, where) for where, line in read_objects(path)]


def summary(solutions: Sequence[Solution]) -> str:
    """Return one or two sentences on the results of solvers."""
    total = len(solutions)
    state = sum(solution.ending is not SolverResult.STATE for solution in solutions)
    right = sum(solution.ending is SolverResult.RIGHT for solution in solutions)
    low, high = wilson(state, total)
    doubts = sum(bool(solution.mended) for solution in solutions)
    return (
        f"Blind solvers worked on {total} hard scenarios. In {state} scenarios "
        f"({state / total:.1%}), the state was right after every turn. The interval of this share "
        f"is {low:.1%} to {high:.1%}. In {right} scenarios, the solver also read every needed "
        f"fact. {doubts} scenarios were reworded after a solver asked a question about them."
    )
