"""Entries with another number of functions: what is needed is there, and nothing else changes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import pytest

from checkers.profile import BFCL, STRICT
from envs.errors import DataError
from extensions.experiments.function_counts import (
    MAX_FUNCTIONS,
    WideningSettings,
    list_needed_functions,
    widened,
)
from runner.data.dataset_choice import load_dataset
from runner.episodes.entry_kinds import MultiTurnKind
from runner.episodes.judging import judge_recorded
from runner.episodes.offline import judge_truth, run_null
from runner.episodes.script_playback import make_truth_script
from runner.episodes.scripted_models import ScriptedBehaviour
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import prepare
from trajectories.replay_queries import list_own_functions
from trajectories.schema import Category, ExpectedCalls, Message, Trajectory, Turn

EVERY = 40
"""Of the entries that a test goes through; the whole set is gone through by the slow ones."""


def nothing_alike(documents):
    """Return that no document is like another."""
    return [[0.0] * len(documents) for _ in documents]


def by_first_letter(documents):
    """Return that documents are alike whose names begin with the same letter."""
    names = [document["name"] for document in documents]
    return [[float(one[0] == other[0]) for other in names] for one in names]


@pytest.fixture(scope="module")
def data():
    return load_dataset(categories="all")


@pytest.fixture(scope="module")
def some(data):
    """Return some entries of all kinds."""
    return [*data.trajectories][::EVERY]


def wide(data, tools, ids, distractors="far", seed=0, similar=nothing_alike):
    """Return what becomes of entries."""
    return widened(data, WideningSettings(tools, distractors, seed), similar, ids)[0]


@pytest.mark.parametrize("tools", ["need", 5, 20, 60, "all"])
def test_what_is_needed_is_offered_and_as_many_others_as_were_wanted(data, some, tools):
    for id, (entry, raised) in wide(data, tools, some).items():
        before, there = data.trajectories[id], list_own_functions(entry)
        offered = len(there)
        need = list_needed_functions(before)
        assert {*need} <= {*there}
        assert len({*there}) == offered
        if tools == "need":
            assert offered == len(need)
        elif tools != "all" and entry.expects is None:
            assert offered == max(tools, len(need))
            assert raised == (len(need) > tools)
        changed = replace(
            entry,
            environments=before.environments,
            config=before.config,
            excluded=before.excluded,
            expects=before.expects,
        )
        assert changed == before


def test_all_of_several_turns_are_the_functions_of_the_eight_backends_but_for_those_kept_away(data):
    ids = [id for id, t in data.trajectories.items() if t.expects is None][::EVERY]
    for id, (entry, _) in wide(data, "all", ids).items():
        assert len(entry.environments) == 8
        assert len(list_own_functions(entry)) == 128 - len({*data.trajectories[id].excluded})


@pytest.mark.parametrize("distractors", ["far", "near"])
def test_what_is_drawn_for_a_number_is_among_what_is_drawn_for_a_larger_one(
    data, some, distractors
):
    sizes = ["need", 10, 20, 60, "all"]
    runs = [wide(data, size, some, distractors, similar=by_first_letter) for size in sizes]
    for id in runs[0]:
        drawn = [{*list_own_functions(run[id].trajectory)} for run in runs]
        assert all(less <= more for less, more in pairwise(drawn))


def test_far_ones_come_from_other_backends_and_near_ones_are_most_alike(data):
    id = next(id for id, t in data.trajectories.items() if t.environments == ("TicketAPI",))
    before = data.trajectories[id]
    far = wide(data, 20, [id])[id].trajectory
    own = {*list_own_functions(before)}
    assert {*list_own_functions(far)} & own <= {*list_needed_functions(before)}
    near = wide(data, 20, [id], "near", similar=by_first_letter)[id].trajectory
    letters = {name[0] for name in list_needed_functions(before)}
    others = {*list_own_functions(near)} - {*list_needed_functions(before)}
    assert {name[0] for name in others} <= letters


def test_another_seed_draws_others(data):
    ids = [id for id, t in data.trajectories.items() if t.expects is None][:5]
    one, other = wide(data, 20, ids), wide(data, 20, ids, seed=1)
    assert one != other
    assert one == wide(data, 20, ids)


@pytest.mark.slow
def test_two_processes_draw_the_same():
    code = (
        "from runner.data.dataset_choice import load_dataset\n"
        "from extensions.experiments.function_counts import WideningSettings, widened\n"
        "from trajectories.replay_queries import list_own_functions\n"
        "data = load_dataset(categories='base,multiple,exec_multiple')\n"
        "found, _ = widened(data, WideningSettings(20), None, [*data.trajectories][::20])\n"
        "print([list_own_functions(each.trajectory) for each in found.values()])\n"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1] != b""


@pytest.mark.parametrize("profile", [STRICT, BFCL], ids=lambda profile: profile.name)
@pytest.mark.parametrize("tools", [20, pytest.param("all", marks=pytest.mark.slow)])
def test_the_truth_passes_and_silence_fails(data, some, tools, profile):
    check_entries(data, some, tools, profile)


@pytest.mark.slow
@pytest.mark.parametrize("profile", [STRICT, BFCL], ids=lambda profile: profile.name)
def test_the_truth_passes_and_silence_fails_in_every_entry(data, profile):
    check_entries(data, [*data.trajectories], "all", profile)


def check_entries(data, ids, tools, profile):
    """Check that of widened entries the truth passes, and that who does nothing fails."""
    for entry, *_ in wide(data, tools, ids).values():
        if entry.category is Category.REST or entry.language != "python":
            continue
        if entry.category is Category.NESTED and profile is BFCL:
            continue  # BFCL has no nested calls
        prepared = prepare(data, entry, profile)
        assert judge_truth(prepared, profile).verdict.valid, entry.id
        assert not run_null(prepared, profile).valid, entry.id


@pytest.mark.parametrize("profile", [STRICT, BFCL], ids=lambda profile: profile.name)
def test_what_calls_no_distractor_is_judged_as_in_the_plain_entry(data, profile):
    ids = [id for id, t in data.trajectories.items() if t.expects is None][::60]
    scripted = ScriptedBehaviour(None, 0.3)
    for id, (entry, *_) in wide(data, "all", ids).items():
        plain = prepare(data, data.trajectories[id], profile)
        script = scripted.script(plain)
        verdicts = [
            MultiTurnKind().judge_script(prepared, script, profile).verdict
            for prepared in (plain, prepare(data, entry, profile))
        ]
        one, other = verdicts
        assert (one.valid, one.error_type, one.failed_turn) == (
            other.valid,
            other.error_type,
            other.failed_turn,
        )
        assert one.selected == other.selected


@pytest.mark.parametrize("profile", [STRICT, BFCL], ids=lambda profile: profile.name)
def test_what_a_distractor_writes_fails_the_turn(data, profile):
    id = next(id for id, t in data.trajectories.items() if t.environments == ("TicketAPI",))
    entry = wide(data, "all", [id])[id].trajectory
    prepared = prepare(data, entry, profile)
    turns = [
        [[{call.name: dict(call.kwargs)} for step in turn for call in step]]
        for turn in make_truth_script(entry)
    ]
    assert judge_recorded(prepared, turns, "fc", profile).verdict.valid
    turns[0][0].append({"mkdir": {"dir_name": "somewhere"}})
    verdict = judge_recorded(prepared, turns, "fc", profile).verdict
    assert verdict.error_type == "multi_turn:instance_state_mismatch"
    assert verdict.selected.strangers == 1


def test_entries_in_which_no_function_fits_are_left_out(data):
    ids = [id for id, t in data.trajectories.items() if t.category is Category.IRRELEVANCE]
    assert widened(data, WideningSettings(20), nothing_alike, ids) == ({}, ids)


def single(id, *functions, answer):
    """Return an entry of one turn that is shown functions: names to parameters by type."""
    documents = tuple(
        {
            "name": name,
            "description": name,
            "parameters": {
                "type": "dict",
                "properties": {n: {"type": kind} for n, kind in members.items()},
                "required": [*members],
            },
        }
        for name, members in functions
    )
    turn = Turn((Message("user", "Do it."),), ())
    return Trajectory(
        id, Category.MULTIPLE, (), {}, (turn,), expects=ExpectedCalls(documents, (answer,))
    )


def test_a_function_that_would_be_a_second_right_answer_distracts_nobody():
    answer = {"weather.now": {"city": ["Rome"]}}
    entry = single("a", ("weather.now", {"city": "string"}), answer=answer)
    others = single(
        "b",
        ("weather_now", {"town": "string"}),
        ("climate", {"city": "string"}),
        ("people", {"city": "integer"}),
        ("ships", {"city": "string", "year": "integer"}),
        answer={"climate": {"city": ["Rome"]}},
    )
    data = Dataset("made", "0", "", {each.id: each for each in (entry, others)})
    offered = list_own_functions(wide(data, 20, ["a"])["a"].trajectory)
    assert offered[0] == "weather.now"
    assert {*offered[1:]} == {"people", "ships"}


def test_more_than_anybody_takes_is_refused():
    many = [(f"f{number}", {f"p{number}": "string"}) for number in range(MAX_FUNCTIONS + 1)]
    entry = single("a", *many, answer={"f1": {"p1": ["x"]}})
    data = Dataset("made", "0", "", {"a": entry})
    with pytest.raises(DataError, match=r"accepts more than 512, and some accept only 128"):
        wide(data, "all", ["a"])
