from __future__ import annotations

import json
from dataclasses import replace

import pytest

from checkers.multi_turn_verdict import judge
from checkers.profile import BFCL
from envs.calls import parse_call
from extensions.align.alignment import AlignedRun, align, document, lines
from runner.episodes.rejudged_episode import RejudgedMultiTurn
from runner.episodes.script_traces import trace
from tests.judging import null
from trajectories.prepared_trajectory import prepare


@pytest.fixture
def aligned(dataset_of, folders):
    """Return runs of the folders side by side, each given as turns of steps of call texts."""
    ready = prepare(dataset_of(folders), folders, BFCL)

    def run(*scripts):
        columns = []
        for number, script in enumerate(scripts):
            calls = [[[parse_call(text) for text in step] for step in turn] for turn in script]
            model = trace(ready, calls, BFCL, None)
            verdict = judge(ready.truth, [turn.outcome for turn in model.turns], BFCL, ready.scene)
            examined = RejudgedMultiTurn(prepared=ready, profile=BFCL, verdict=verdict, model=model)
            columns.append(AlignedRun(f"run {number}", examined))
        return align(columns)

    return run


MOVE = "mv(source='notes.txt', destination='old')"
RIGHT = [[[MOVE]], [["cd(folder='old')", "wc(file_name='notes.txt')"]]]
SHORT = [[[MOVE]], [["cd(folder='old')"]]]
NOTHING = [[], []]


def place(row):
    """Return turn and step of a row."""
    return row and (row.turn, row.step)


def test_equal_runs_never_part(aligned):
    alignment = aligned(RIGHT, RIGHT)
    assert alignment.first_parting is None
    assert "A and B are identical in every step" in [line.text for line in lines(alignment, 80)]


@pytest.mark.parametrize(
    ("other", "parts"),
    [
        (SHORT, (1, 0)),
        (NOTHING, (0, 0)),
        ([[[MOVE], ["pwd()"]], RIGHT[1]], (0, 1)),
        ([[["ls()"], [MOVE]], RIGHT[1]], (0, 0)),
    ],
)
def test_runs_part_in_the_first_step_that_is_not_the_same(aligned, other, parts):
    alignment = aligned(RIGHT, other)
    assert place(alignment.parting(0, 1)) == parts
    assert place(aligned(other, RIGHT).parting(0, 1)) == parts


def test_runs_with_one_result_and_different_states_part(aligned):
    write = "echo(content='{}', file_name='notes.txt')"
    alignment = aligned(
        [[["echo('a')"], [write.format("x")]]], [[["echo('a')"], [write.format("y")]]]
    )
    assert place(alignment.first_parting) == (0, 1)


def test_each_run_parts_from_the_first_for_itself(aligned):
    alignment = aligned(RIGHT, SHORT, NOTHING)
    assert [place(alignment.parting(0, other)) for other in (1, 2)] == [(1, 0), (0, 0)]
    assert place(alignment.first_parting) == (0, 0)


def test_what_is_the_same_is_shown_once_and_the_rest_in_columns(aligned):
    shown = [line.text for line in lines(aligned(RIGHT, SHORT), 80)]
    assert shown[1:5] == [
        "  A  run 0: passed: 2 of 2 turns",
        "  B  run 1: FAILED: 1 of 2 turns passed",
        shown[3],
        "A and B first differ in turn 2, step 1",
    ]
    assert shown[3].startswith("     cause: missing_call (unfinished) at end of turn 2: ")
    assert f"  step 1  {MOVE}" in shown
    start = next(i for i, line in enumerate(shown) if line.startswith("> step 1"))
    assert shown[start] == f"> step 1  {'cd(folder=' + repr('old') + ')':<36}cd(folder='old')"
    assert "  end     state: same as ground truth" in shown


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_no_line_is_longer_than_the_terminal_is_wide(aligned, count):
    long = [[[f"echo(content='{'word ' * 50}{'x' * 200}')"]], []]
    alignment = aligned(RIGHT, *([long] * (count - 1)))
    shown = [line.text for line in lines(alignment, 80)]
    assert max(len(text) for text in shown if not text.startswith("     cause: ")) <= 80


def test_a_turn_that_a_run_did_not_reach_is_said_to_be_so(aligned):
    shown = [line.text for line in lines(aligned(RIGHT, RIGHT[:1]), 80)]
    assert any(line.endswith("not reached") for line in shown)


def test_the_json_form(aligned):
    found = json.loads(json.dumps(document(aligned(RIGHT, SHORT, RIGHT[:1]))))
    assert found["id"] == "folders_0"
    assert [run["name"] for run in found["runs"]] == ["run 0", "run 1", "run 2"]
    assert found["parts"] == {"turn": 1, "step": 0}
    assert found["parts_from_first"] == [None, {"turn": 1, "step": 0}, {"turn": 1, "step": 0}]
    turn = found["turns"][1]
    assert [run and [call["call"] for call in run] for run in turn["steps"][0]["runs"]] == [
        ["cd(folder='old')", "wc(file_name='notes.txt')"],
        ["cd(folder='old')"],
        None,
    ]
    assert turn["ends"] == [
        {"answer": None, "differences": []},
        {"answer": None, "differences": []},
        None,
    ]


def test_a_run_without_any_step_is_aligned_too(aligned, folders):
    alignment = aligned(RIGHT, null(folders))
    columns = alignment.columns
    gone = columns[1]._replace(examined=replace(columns[1].examined, model=None))
    assert place(align([columns[0], gone]).first_parting) == (0, 0)
