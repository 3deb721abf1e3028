"""Solvers see words and functions; searches that are given up are no solution."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from extensions.generation.entries.tasks import WritingTask
from extensions.generation.solver import (
    find_agreed_entry,
    make_scripted_solver,
    play_entry,
    solutions,
)
from extensions.search.fallible_model import ErrorRates
from extensions.search.search import GIVE_UP, Propose
from runner.models.model_types import Reply, Request, ToolCall, Usage
from tests.extensions.generation.entries.drawing import drawn
from trajectories.schema import Trajectory

RIGHT = make_scripted_solver(ErrorRates(0.0), 0)


def task() -> WritingTask:
    return drawn(2, "functions")[0]


def known() -> Trajectory:
    return task().said(["Please do what has to be done here."])


def bare() -> Trajectory:
    turns = [replace(turn, ground_truth=()) for turn in known().turns]
    return replace(known(), turns=tuple(turns))


def hopeless(what: str, known: Trajectory, number: int) -> Propose:
    """Return what gives every branch up."""

    async def propose(request: Request) -> Reply:
        call = ToolCall("1", GIVE_UP, {"reason": "No."})
        return Reply(None, (call,), None, "tool_calls", Usage(), 0.0)

    return propose


def test_who_knows_the_calls_finds_and_passes() -> None:
    found = asyncio.run(solutions(bare(), known(), RIGHT, "fc", 2, 60))
    entry = find_agreed_entry(bare(), found)
    assert [turn.ground_truth for turn in entry.turns] == [*task().walk.calls]
    assert asyncio.run(play_entry(entry, RIGHT, "fc", 3)).passed == 3


def test_who_always_errs_never_passes() -> None:
    blind = asyncio.run(play_entry(known(), make_scripted_solver(ErrorRates(1.0), 0), "fc", 2))
    assert (blind.passed, blind.error) == (0, None)


def test_a_search_that_is_given_up_or_cut_off_is_no_solution() -> None:
    assert asyncio.run(solutions(bare(), known(), hopeless, "fc", 2, 60)) == []
    assert asyncio.run(solutions(bare(), known(), RIGHT, "fc", 2, 1)) == []
