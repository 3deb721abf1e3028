from __future__ import annotations

import json
from collections import Counter
from functools import cache

import pytest

from checkers.profile import STRICT
from envs.calls import Call, read_call
from envs.errors import DataError
from extensions.authoring.held_back import unpack
from runner.episodes.entry_kinds import MultiTurnKind
from tools.solutions import Solution, SolverResult, read_solutions, summary
from trajectories.dataset import load_embedded
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category, Tier


@cache
def data():
    return load_embedded([Category.BASE])


@cache
def solutions():
    return read_solutions()


@cache
def held_back():
    return {json.loads(line)["id"] for line in unpack()["base.jsonl"].splitlines()}


def test_fifty_hard_scenarios_and_more_were_solved_and_nearly_all_ended_alike():
    entries = {solution.entry for solution in solutions()}
    assert len(entries) >= 50
    assert all(data().trajectories[id].tier is Tier.HARD for id in entries - held_back())
    assert entries & held_back() == held_back()
    count = Counter(solution.ending is not SolverResult.STATE for solution in solutions())
    assert count[True] / count.total() >= 0.95


def test_what_is_held_back_is_not_told():
    assert {s.entry for s in solutions() if not s.turns} == held_back()


def test_what_ended_right_still_does():
    right = [s for s in solutions() if s.turns and s.ending is SolverResult.RIGHT]
    assert len(right) >= 50
    for solution in right:
        script = [[[read_call(text)] for text in turn.calls] for turn in solution.turns]
        assert all(isinstance(call, Call) for turn in script for [call] in turn), solution.entry
        prepared = prepare(data(), data().trajectories[solution.entry], STRICT)
        found = MultiTurnKind().judge_script(prepared, script, STRICT, None)
        assert found.verdict.valid, (solution.entry, solution.solver, found.verdict)


def test_an_objection_is_answered():
    assert [s.entry for s in solutions() if s.ending is SolverResult.STATE and not s.mended] == []


def test_a_broken_line_is_named(tmp_path):
    path = tmp_path / "solutions.jsonl"
    path.write_text('{"entry": "base_a", "solver": "S", "ending": "nearly"}\n')
    with pytest.raises(DataError, match=r"solutions.jsonl:1: \$.ending"):
        read_solutions(path)


def test_the_sum_of_it():
    endings = [SolverResult.RIGHT, SolverResult.FACTS, SolverResult.STATE, SolverResult.RIGHT]
    said = summary([Solution("base_a", "S", ending, mended="x") for ending in endings])
    assert said.startswith("Blind solvers worked on 4 hard scenarios. In 3 scenarios (75.0%), ")
    assert "In 2 scenarios, the solver also read every needed fact" in said
