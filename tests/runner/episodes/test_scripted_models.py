from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random

import pytest

from checkers.profile import STRICT
from runner.episodes.offline import run_scripted
from runner.episodes.scripted_models import POLICIES, ScriptedBehaviour, wrong_call
from trajectories.dataset import load_embedded
from trajectories.errors import DataError
from trajectories.prepared_trajectory import prepare
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import Category, Message, Turn

SIZE = 25


@cache
def some_prepared():
    data = load_embedded([Category.BASE])
    return [prepare(data, each, STRICT) for each in [*data.trajectories.values()][:SIZE]]


def calls(name, prepared):
    """Return the calls that a scripted model makes in each turn, as text."""
    script = ScriptedBehaviour.named(name).script(prepared)
    return [[str(call) for step in turn for call in step] for turn in script]


def passed(name):
    """Return how many of some entries a scripted model passes."""
    scripted = ScriptedBehaviour.named(name)
    return sum(run_scripted(prepared, scripted, STRICT).valid for prepared in some_prepared())


def test_without_errors_it_is_the_ground_truth():
    for prepared in some_prepared():
        truth = [[*map(str, read_truth_calls(turn))] for turn in prepared.trajectory.turns]
        assert calls("scripted:0", prepared) == truth
    assert passed("scripted:0") == SIZE


def test_more_errors_pass_less():
    assert SIZE > passed("scripted:0.1") > passed("scripted:0.4") >= passed("scripted:1")


def test_what_was_refused_is_made_right_in_the_next_step():
    prepared = some_prepared()[0]
    for turn, truth in zip(
        ScriptedBehaviour(None, 1.0).script(prepared), prepared.trajectory.turns, strict=True
    ):
        assert len(truth.ground_truth) <= len(turn) <= 2 * len(truth.ground_truth)


def test_policies_share_out_the_ground_truth():
    for prepared in some_prepared():
        turns = [[*map(str, read_truth_calls(turn))] for turn in prepared.trajectory.turns]
        writes, reads = calls("scripted:writes", prepared), calls("scripted:reads", prepared)
        assert [sorted(w + r) for w, r in zip(writes, reads, strict=True)] == [*map(sorted, turns)]
        assert calls("scripted:first_two", prepared) == [turn[:2] for turn in turns]


def test_a_literal_model_makes_what_the_words_of_the_turn_tell(help_desk, dataset_of):
    by_id = Turn((Message("user", "Close ticket 1."),), ("close_ticket(ticket_id=1)",))
    by_name = Turn((Message("user", "Close the burning printer."),), by_id.ground_truth)
    for turn, made in ((by_id, 1), (by_name, 0)):
        trajectory = replace(help_desk, turns=(turn,))
        prepared = prepare(dataset_of(trajectory), trajectory, STRICT)
        assert len(calls("scripted:literal", prepared)[0]) == made


@pytest.mark.parametrize("name", ["scripted:", "scripted:lots", "scripted:-0.1", "scripted:nan"])
def test_a_model_that_is_none_is_refused(name):
    with pytest.raises(DataError, match="there is no scripted model"):
        ScriptedBehaviour.named(name)


def test_a_policy_misspelt_is_put_right():
    with pytest.raises(DataError, match="did you mean literal"):
        ScriptedBehaviour.named("scripted:litteral")
    assert [*POLICIES] == ["first_two", "writes", "reads", "literal"]


@pytest.mark.parametrize("right", [True, 5, 1.5, "a", ["a"], {"a": 1}])
def test_a_wrong_call_has_another_argument(right):
    for seed in range(5):
        name, arguments = wrong_call(("f", {"a": right}), (), Random(seed))
        assert name == "f"
        assert arguments["a"] != right
