"""Which of the functions that were needed a model chose, and with which arguments."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checkers.calls.call_entry import (
    CallEntry,
    ComparisonKind,
    ExpectedCall,
    FunctionDocument,
    Language,
)
from checkers.calls.single_turn_verdict import judge
from checkers.profile import BFCL, STRICT
from checkers.reasons import Reason
from checkers.verdict import SelectionCounts, Verdict
from envs.calls import parse_call
from runner.data.dataset_choice import load_dataset
from runner.episodes.entry_kinds import MultiTurnKind
from runner.episodes.judging import judge_recorded
from runner.episodes.offline import judge_truth, run_null
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category, Message, Trajectory, Turn

DESK = Trajectory(
    "desk",
    Category.BASE,
    ("TicketAPI",),
    {"TicketAPI": {"current_user": "ada"}},
    (
        Turn(
            (Message("user", "Open a ticket named Lamp, and one named Door."),),
            ("create_ticket(title='Lamp')", "create_ticket(title='Door')"),
        ),
        Turn((Message("user", "Log out."),), ("logout()",)),
    ),
)
LAMP, DOOR = DESK.turns[0].ground_truth


def chosen(*turns, profile=STRICT, entry=DESK):
    """Return what calls, turn by turn, chose."""
    dataset = Dataset("test", "0", "", {entry.id: entry})
    prepared = prepare(dataset, entry, profile)
    script = [[[parse_call(text)] for text in turn] for turn in turns]
    return MultiTurnKind().judge_script(prepared, script, profile).verdict.selected


def test_a_default_that_is_written_out_by_position_is_the_same_call():
    opened = replace(DESK.turns[0], ground_truth=("create_ticket('Lamp')",))
    entry = replace(DESK, turns=(opened, DESK.turns[1]))
    assert chosen(["create_ticket('Lamp', '')"], ["logout()"], entry=entry) == (2, 2, 2, 0)
    assert chosen(["create_ticket('Lamp', 'a')"], ["logout()"], entry=entry) == (2, 2, 1, 0)


@pytest.mark.parametrize("profile", [STRICT, BFCL], ids=lambda profile: profile.name)
@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        (([LAMP, DOOR], ["logout()"]), SelectionCounts(3, 3, 3, 0)),
        (([DOOR, LAMP], ["logout()"]), SelectionCounts(3, 3, 3, 0)),
        ((["create_ticket('Lamp', '', 1)", DOOR], ["logout()"]), SelectionCounts(3, 3, 3, 0)),
        (([LAMP, LAMP], ["logout()"]), SelectionCounts(3, 3, 2, 0)),
        (([LAMP, LAMP, DOOR, DOOR], ["logout()"]), SelectionCounts(3, 3, 3, 0)),
        (([LAMP], ["logout()"]), SelectionCounts(3, 2, 2, 0)),
        (([LAMP, DOOR, "logout()"], []), SelectionCounts(3, 2, 2, 0)),
        (([LAMP, DOOR], ["get_user_tickets()", "logout()"]), SelectionCounts(3, 3, 3, 1)),
        (([LAMP, DOOR], ["no_such_thing()"]), SelectionCounts(3, 2, 2, 0)),
        (([], []), SelectionCounts(3, 0, 0, 0)),
    ],
)
def test_calls_of_several_turns(turns, expected, profile):
    assert chosen(*turns, profile=profile) == expected


def test_a_turn_that_is_not_reached_has_chosen_nothing():
    assert chosen([LAMP, DOOR]) == SelectionCounts(3, 2, 2, 0)


TASK = CallEntry(
    ComparisonKind.MULTIPLE,
    Language.PYTHON,
    (
        FunctionDocument("weather.now", {"city": {"type": "string"}}, ["city"]),
        FunctionDocument("weather.later", {"city": {"type": "string"}}, ["city"]),
    ),
    (ExpectedCall("weather.now", {"city": ["Rome"]}),),
)


@pytest.mark.parametrize("mode", ["prompt", "fc"])
@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([("weather.now", "Rome")], SelectionCounts(1, 1, 1, 0)),
        ([("weather.now", "Oslo")], SelectionCounts(1, 1, 0, 0)),
        ([("weather.later", "Rome")], SelectionCounts(1, 0, 0, 1)),
        ([("weather.now", "Rome"), ("weather.later", "Rome")], SelectionCounts(1, 1, 1, 1)),
        ([("weather.ever", "Rome")], SelectionCounts(1, 0, 0, 0)),
    ],
)
def test_calls_of_a_single_turn(calls, expected, mode):
    text = ", ".join(f"{name}(city={city!r})" for name, city in calls)
    made = [{name.replace(".", "_"): {"city": city}} for name, city in calls]
    step = f"[{text}]" if mode == "prompt" else made
    assert judge(TASK, step, mode, STRICT).selected == expected


def test_an_answer_that_cannot_be_read_chose_nothing():
    assert judge(TASK, "[weather.now(", "prompt", STRICT).selected == SelectionCounts(1)


def test_of_multiple_entries_the_rates_are_the_shares_without_such_reasons():
    # In turn all right, another function, and another argument.
    data = load_dataset(categories="multiple")
    wrong_function = {Reason.FUNCTION}
    verdicts = []
    for number, trajectory in enumerate(data.trajectories.values()):
        prepared = prepare(data, trajectory, STRICT)
        (answer,) = trajectory.expects.answers
        ((function, allowed),) = answer.items()
        given = {name: values[0] for name, values in allowed.items() if values[0] != ""}
        other = next(name for name in trajectory.functions if name != function)
        called = [function, other, function][number % 3]
        if number % 3 == 2:
            given = dict.fromkeys(given, object.__name__ * 3)
        step = [{called.replace(".", "_"): given}]
        verdicts.append(judge_recorded(prepared, [[step]], "fc", STRICT).verdict)
    needed = sum(v.selected.needed for v in verdicts)
    functions = sum(v.selected.functions for v in verdicts)
    arguments = sum(v.selected.arguments for v in verdicts)
    assert needed == len(verdicts) > 15
    without = [v for v in verdicts if not v.failure or v.failure.reason not in wrong_function]
    assert functions == len(without) < needed
    assert arguments == sum(v.valid for v in without) < functions


@pytest.mark.parametrize("every", [160, pytest.param(40, marks=pytest.mark.slow)])
def test_the_ground_truth_chooses_all_and_silence_nothing(every):
    data = load_dataset(categories="all")
    for trajectory in [*data.trajectories.values()][::every]:
        if trajectory.language != "python":
            continue
        prepared = prepare(data, trajectory, STRICT)
        right = judge_truth(prepared, STRICT).verdict.selected
        assert right.needed == right.functions == right.arguments >= trajectory.known_calls > -1
        assert right.strangers == 0
        silent = run_null(prepared, STRICT).selected
        assert silent is None or silent[1:] == (0, 0, 0)


def test_it_is_written_and_read_with_the_verdict():
    verdict = Verdict(True, None, None, 1, 1, selected=SelectionCounts(3, 2, 1, 4))
    assert Verdict.from_json(verdict.to_json()) == verdict
    assert "selected" not in Verdict(True, None, None, 1, 1).to_json()
