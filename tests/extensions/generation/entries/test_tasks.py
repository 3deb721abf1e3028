"""Tasks are executable, of their kind, never the same twice, and equal for equal seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.errors import DataError
from extensions.authoring.graph.graph import TOOLS
from extensions.generation.entries.instruction_kinds import InstructionKind
from extensions.generation.entries.tasks import TaskSource, read_personas
from tests.extensions.generation.entries.drawing import GRAPH, drawn, sampling

EACH = 8


def test_a_task_runs_and_is_of_its_kind() -> None:
    for task in drawn(EACH):
        assert all(step.result.ok for step in task.played.steps), task.key
        assert len(task.bare.turns) == 3, task.key
        assert task.bare.environments == task.walk.environments, task.key
        assert {*task.bare.config} == {*task.bare.environments}, task.key
        edges = [GRAPH.by_name[name].backends for name in task.walk.edges]
        if task.kind is InstructionKind.I1:
            assert len(task.bare.environments) == 1, task.key
            assert edges, task.key
        else:
            assert {*task.bare.environments} <= {*task.focus.backends}, task.key
            assert any(one != other for one, other in edges), task.key
        assert len(task.examples) == 3, task.key
        held = (sampling().groups.hold(task.kind, e.environments) for e in task.examples)
        assert all(held), task.key


def test_no_calls_come_twice_and_equal_seeds_give_equal_tasks() -> None:
    tasks, again = drawn(EACH), TaskSource(sampling(), [*InstructionKind])
    assert len({(task.walk.world, task.walk.calls) for task in tasks}) == len(tasks)
    assert [again.draw(t.kind, t.number).walk for t in tasks] == [task.walk for task in tasks]
    other = TaskSource(sampling(seed=1), [InstructionKind.I1])
    assert other.draw(InstructionKind.I1, 0).walk != drawn(EACH)[0].walk


def test_who_is_shown_functions_is_shown_few_of_each_backend() -> None:
    for task in drawn(EACH, "functions"):
        assert 2 <= len(task.functions) <= 5
        backends = [TOOLS[name].backend for name in task.functions]
        assert max(map(backends.count, backends)) <= 3
        assert len(task.bare.turns) == 1


def test_walks_go_through_what_is_wished_for() -> None:
    tasks = TaskSource(sampling(), [InstructionKind.I1])
    wish = "gallon_to_liter"
    found = [tasks.draw(InstructionKind.I1, number, [wish]) for number in range(5)]
    assert sum(not task.left_of([wish]) for task in found) >= 4


def test_what_was_drawn_in_vain_is_counted() -> None:
    tasks = TaskSource(sampling(), [InstructionKind.I2])
    for number in range(5):
        tasks.draw(InstructionKind.I2, number)
    drawn_in_all = tasks.drawn[InstructionKind.I2, ""]
    assert drawn_in_all == 5 + sum(n for (_, why), n in tasks.drawn.items() if why)


def test_personas_are_lines_but_for_remarks(tmp_path: Path) -> None:
    path = tmp_path / "personas.txt"
    path.write_text("# remark\n\n a baker \na poet\n", encoding="utf-8")
    assert read_personas(path).texts == ("a baker", "a poet")
    path.write_text("# remark\n\n", encoding="utf-8")
    with pytest.raises(DataError, match="has no line with a persona"):
        read_personas(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_personas(tmp_path / "none.txt")
