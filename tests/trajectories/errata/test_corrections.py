"""What errata make of entries, and which of them hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from envs.errors import DataError
from trajectories.dataset import Dataset
from trajectories.errata.corrections import (
    AS_PUBLISHED,
    CorrectedEntries,
    correct_dataset,
    select_first_right,
)
from trajectories.errata.erratum import Assessment, Erratum
from trajectories.fingerprint import fingerprint
from trajectories.schema import AlternativeRead, Category, ExpectedCalls, Message, Trajectory, Turn

ENTRY = Trajectory(
    "base_one",
    Category.BASE,
    ("GorillaFileSystem",),
    {"GorillaFileSystem": {"root": {}}},
    (
        Turn((Message("user", "Make plans."),), ("mkdir(dir_name='plans')",)),
        Turn((Message("user", "And a list."),), ("touch(file_name='list')",)),
    ),
)
DOCUMENT = {"name": "f", "description": "", "parameters": {}}
SINGLE = Trajectory(
    "simple_one",
    Category.SIMPLE_PYTHON,
    (),
    {},
    (Turn((Message("user", "Call f of 1."),), ()),),
    expects=ExpectedCalls((DOCUMENT,), ({"f": {"x": [2]}},)),
)
DATA = Dataset("hand", "1", "0", {ENTRY.id: ENTRY, SINGLE.id: SINGLE})
PLAN, NOTES = ("mkdir(dir_name='plan')",), ("touch(file_name='notes')",)


def erratum(assessment: Assessment, of: Trajectory = ENTRY, **changes: Any) -> Erratum:
    """Return an erratum of an entry as it is."""
    return Erratum(of.id, assessment, "reason", "evidence", fingerprint(of), **changes)


def truths(readings: CorrectedEntries, entry: Trajectory = ENTRY) -> list[list[tuple[str, ...]]]:
    """Return the ground truth of each reading."""
    return [[turn.ground_truth for turn in each.turns] for each in readings.of(entry)]


def test_without_errata_an_entry_is_judged_by_itself() -> None:
    assert AS_PUBLISHED.of(ENTRY) == (ENTRY,)


def test_a_mended_turn_leaves_the_others_and_the_original() -> None:
    readings = correct_dataset(DATA, [erratum(Assessment.MENDED, ground_truth={0: PLAN})], "e")
    assert truths(readings) == [[PLAN, ENTRY.turns[1].ground_truth]]
    assert DATA.trajectories["base_one"] == ENTRY
    assert readings.judged == {ENTRY.id: Assessment.MENDED}


def test_alternatives_stand_beside_what_is_mended() -> None:
    found = erratum(Assessment.AMBIGUOUS, ground_truth={0: PLAN}, alternatives=({1: NOTES},))
    assert truths(correct_dataset(DATA, [found], "e")) == [
        [PLAN, ENTRY.turns[1].ground_truth],
        [PLAN, NOTES],
    ]


def test_alternatives_of_different_turns_may_be_taken_together() -> None:
    found = erratum(Assessment.AMBIGUOUS, alternatives=({0: PLAN}, {0: ()}, {1: NOTES}))
    first, second = (turn.ground_truth for turn in ENTRY.turns)
    assert truths(correct_dataset(DATA, [found], "e")) == [
        [first, second],
        [PLAN, second],
        [(), second],
        [first, NOTES],
        [PLAN, NOTES],
        [(), NOTES],
    ]


def test_there_may_not_be_too_many_combinations() -> None:
    found = erratum(Assessment.AMBIGUOUS, alternatives=({0: PLAN},) * 70)
    with pytest.raises(DataError, match="base_one: has 71 combinations"):
        correct_dataset(DATA, [found], "e")


def test_what_does_as_well_as_a_call_goes_with_that_call() -> None:
    kept = AlternativeRead(PLAN[0], ("pwd()",))
    turn = replace(ENTRY.turns[0], accepts=(kept, AlternativeRead("ls()", ("pwd()",))))
    data = Dataset("hand", "1", "0", {ENTRY.id: replace(ENTRY, turns=(turn, ENTRY.turns[1]))})
    found = erratum(Assessment.MENDED, ground_truth={0: PLAN})
    (reading,) = correct_dataset(data, [found], "e").of(data.trajectories[ENTRY.id])
    assert reading.turns[0].accepts == (kept,)


def test_an_entry_that_is_sound_stays_as_it_is() -> None:
    readings = correct_dataset(DATA, [erratum(Assessment.SOUND)], "e")
    assert readings.right == {}
    assert readings.judged == {ENTRY.id: Assessment.SOUND}
    assert not readings.stale
    assert not readings.needless


@pytest.mark.parametrize(
    "found",
    [
        erratum(Assessment.WITHDRAWN),
        erratum(Assessment.MENDED, wording={0: "Make a plan."}),
        erratum(Assessment.MENDED, config={"GorillaFileSystem": {"root": {"a": {}}}}),
    ],
)
def test_what_was_asked_otherwise_or_is_withdrawn_has_no_reading(found: Erratum) -> None:
    assert truths(correct_dataset(DATA, [found], "e")) == []


def test_answers_of_a_single_turn_are_replaced() -> None:
    readings = correct_dataset(
        DATA, [erratum(Assessment.MENDED, SINGLE, answers=(({"f": {"x": [1]}},),))], "e"
    )
    (reading,) = readings.of(SINGLE)
    assert isinstance(reading.expects, ExpectedCalls)
    assert reading.expects.answers == ({"f": {"x": [1]}},)


def test_an_erratum_of_another_text_is_stale_and_changes_nothing() -> None:
    old = replace(erratum(Assessment.MENDED, ground_truth={0: PLAN}), published="0" * 16)
    readings = correct_dataset(DATA, [old], "e")
    assert (list(readings.stale), readings.right, readings.judged) == (["base_one"], {}, {})


def test_an_erratum_that_the_data_has_taken_up_is_needless() -> None:
    same = {0: ENTRY.turns[0].ground_truth}
    old = replace(erratum(Assessment.MENDED, ground_truth=same), published="0" * 16)
    readings = correct_dataset(DATA, [old], "e")
    assert (list(readings.needless), list(readings.stale)) == (["base_one"], [])


def test_errata_of_entries_that_are_not_loaded_are_passed_over() -> None:
    other = replace(erratum(Assessment.WITHDRAWN), id="elsewhere")
    assert correct_dataset(DATA, [other], "e") == CorrectedEntries("e", {}, {}, [], [])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ground_truth": {2: PLAN}}, "base_one: has no turn 2: it has 2 turns"),
        ({"alternatives": ({-1: PLAN},)}, "no turn -1"),
        ({"wording": {5: "Go."}}, "no turn 5"),
        ({"config": {"MathAPI": {}}}, "has no backend MathAPI"),
    ],
)
def test_an_erratum_has_to_fit(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        correct_dataset(DATA, [erratum(Assessment.MENDED, **changes)], "e")


def test_the_first_that_passes_decides_and_the_rest_is_not_tried() -> None:
    tried = []

    def tries(*values: int) -> Any:
        for value in values:
            tried.append(value)
            yield value

    assert select_first_right(tries(1, 5, 7), lambda value: value > 3) == 5
    assert tried == [1, 5]
    assert select_first_right(tries(1, 2), lambda value: value > 3) == 1
    assert select_first_right(tries(), bool) is None


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("#0.0", "mkdir(dir_name='plans')"),
        ("#1.0 ~ list ~ notes", "touch(file_name='notes')"),
        ("#0.0 ~ mkdir ~ rmdir ~ plans ~ old", "rmdir(dir_name='old')"),
        ("#0.0 ~ s') ~ ')", "mkdir(dir_name='plan')"),
        ("#0.0 ~ plans ~ ", "mkdir(dir_name='')"),
    ],
)
def test_a_published_call_is_named_and_changed(named: str, expected: str) -> None:
    found = erratum(Assessment.MENDED, ground_truth={0: (named,)})
    assert truths(correct_dataset(DATA, [found], "e"))[0][0] == (expected,)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("#0.1", "no published call #0.1"),
        ("#7.0", "no published call #7.0"),
        ("#0.0 ~ nothing ~ x", "'nothing' must occur once"),
        ("#0.0 ~ d ~ x", "'d' must occur once"),
    ],
)
def test_a_published_call_that_is_named_has_to_be_there(named: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        correct_dataset(DATA, [erratum(Assessment.MENDED, ground_truth={0: (named,)})], "e")


def test_parameters_of_an_answer_are_kept_taken_away_or_taken_from_another() -> None:
    answer = {"f": {"x": [2], "y": [3], "z": [4]}}
    single = replace(SINGLE, expects=ExpectedCalls((DOCUMENT,), (answer,)))
    data = Dataset("hand", "1", "0", {single.id: single})
    mended = ({"f": {"w": "#z", "z": None, "y": [5, ""]}},)
    other = ({"g": {"a": [1]}},)
    readings = correct_dataset(
        data, [erratum(Assessment.MENDED, single, answers=(mended, other))], "e"
    )
    first, second = (each.expects for each in readings.of(single))
    assert isinstance(first, ExpectedCalls)
    assert isinstance(second, ExpectedCalls)
    assert first.answers == ({"f": {"x": [2], "y": [5, ""], "w": [4]}},)
    assert second.answers == ({"g": {"a": [1]}},)


def test_there_is_an_answer_for_each_that_was_published() -> None:
    with pytest.raises(DataError, match="simple_one: does not have 2 published answers"):
        correct_dataset(DATA, [erratum(Assessment.MENDED, SINGLE, answers=(({}, {}),))], "e")
