from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from hashlib import sha256
from random import Random
from types import SimpleNamespace

import pytest

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.profile import STRICT
from envs.errors import DataError
from runner.episodes import scripted_models
from runner.episodes.offline import run_scripted
from runner.episodes.scripted_models import (
    POLICIES,
    USUAL,
    OfferFacts,
    ScriptedBehaviour,
    wrong_call,
)
from trajectories.dataset import load_embedded
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


def test_a_share_of_zero_takes_no_call_even_at_the_lowest_draw(monkeypatch):
    lowest = SimpleNamespace(random=lambda: 0.0)
    monkeypatch.setattr(scripted_models, "Random", lambda seed: lowest)
    prepared = some_prepared()[0]
    truth = [[*map(str, read_truth_calls(turn))] for turn in prepared.trajectory.turns]
    assert calls("scripted:0", prepared) == truth


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


@pytest.mark.parametrize(
    ("name", "behaviour"),
    [
        ("scripted:0", ScriptedBehaviour(None, 0.0)),
        ("scripted:1", ScriptedBehaviour(None, 1.0)),
        ("scripted:0.25", ScriptedBehaviour(None, 0.25)),
        ("scripted:reads", ScriptedBehaviour("reads")),
        ("scripted:0.5,tools=0.02,middle=1", ScriptedBehaviour(None, 0.5, 0.02, 1.0)),
        ("scripted:0.5,context=0", ScriptedBehaviour(None, 0.5)),
        ("scripted:0,context=0.25", ScriptedBehaviour(None, 0.0, context=0.25)),
    ],
)
def test_a_behaviour_is_named_by_a_policy_or_by_shares(name, behaviour):
    assert ScriptedBehaviour.named(name) == behaviour


NO_MODEL = "--model: there is no scripted model "


@pytest.mark.parametrize(
    ("name", "policies", "message"),
    [
        (
            "1.5",
            True,
            f"{NO_MODEL}'1.5'; give a rate from 0 to 1, such as 0.1, or one of first_two",
        ),
        ("1.5", False, f"{NO_MODEL}'1.5'; give a rate from 0 to 1, such as 0.1"),
        ("-0.1", False, f"{NO_MODEL}'-0.1'; give a rate"),
        ("literal", False, f"{NO_MODEL}'literal'; give a rate from 0 to 1, such as 0.1"),
        ("0.1,tools=0.1", False, f"{NO_MODEL}'0.1,tools=0.1'"),
        ("reads,tools=0.1", True, f"{NO_MODEL}'reads,tools=0.1'"),
        (
            "0,tool=1",
            True,
            "--model: 'tool' is not an option of scripted models; did you mean tools",
        ),
        ("0,x=1", True, "'x' is not an option of scripted models; use tools or middle or context="),
        ("0,tools=1.5", True, "--model: 'tools=1.5': give one share from 0 to 1, as in tools=0.02"),
        ("0,tools", True, "--model: 'tools': give one share from 0 to 1, as in tools=0.02"),
        ("0,tools=0,tools=0", True, "--model: 'tools=0': give one share from 0 to 1"),
    ],
)
def test_a_wrong_name_of_a_behaviour_is_refused_with_the_right_form(name, policies, message):
    with pytest.raises(DataError) as caught:
        ScriptedBehaviour.named(f"scripted:{name}", policies=policies)
    assert message in str(caught.value)
    assert ("one of" in str(caught.value)) <= policies


@pytest.mark.parametrize(
    ("functions", "needed", "middle", "share"),
    [
        (4, 4, False, 0.0),
        (8, 4, False, 0.125),
        (16, 4, False, 0.25),
        (16, 4, True, 0.75),
        (2, 4, True, 0.5),
        (0, 0, False, 0.0),
        (2, 0, False, 0.125),
        (0, 2, False, 0.0),
        (2**20, 1, False, 1.0),
    ],
)
def test_distractors_confuse_more_with_every_doubling(functions, needed, middle, share):
    behaviour = ScriptedBehaviour(None, 0.0, tools=0.125, middle=0.5)
    assert behaviour.confused(OfferFacts(functions, needed, middle)) == share
    assert ScriptedBehaviour(None).confused(OfferFacts(functions, needed, middle)) == 0.0
    assert behaviour.confused(OfferFacts()) == 0.0


@pytest.mark.parametrize(
    ("characters", "share"), [(0, 0.25), (4000, 0.25), (8000, 0.375), (32_000, 0.625), (1e9, 1.0)]
)
def test_errors_grow_with_every_doubling_of_the_results_beyond_a_thousand_tokens(characters, share):
    results = [SimpleNamespace(text=SizedText(characters))]
    prepared = SimpleNamespace(truth=[SimpleNamespace(results=results)])
    assert ScriptedBehaviour(None, 0.25, context=0.125).error_share(prepared) == share
    assert ScriptedBehaviour(None, 0.25).error_share(prepared) == 0.25


class SizedText:
    """A text of which only the length matters."""

    def __init__(self, size):
        self.size = int(size)

    def __len__(self):
        return self.size


def test_a_confused_model_calls_a_distractor_in_place_of_each_call():
    prepared = some_prepared()[0]
    shown = OfferFacts(8, 1, middle=True, strangers=("x", "y"))
    truth = [len(read_truth_calls(turn)) for turn in prepared.trajectory.turns]
    confused = ScriptedBehaviour(None, 0.0, middle=1.0)
    script = confused.script(prepared, shown=shown)
    assert [len(turn) for turn in script] == truth
    assert {str(call) for turn in script for step in turn for call in step} <= {"x()", "y()"}
    silent = confused.script(prepared, shown=shown._replace(strangers=()))
    assert silent == [[] for _ in truth]
    assert confused.script(prepared, 5, shown) == confused.script(prepared, 5, shown)
    assert len({str(confused.script(prepared, seed, shown)) for seed in range(4)}) > 1


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (True, False),
        (False, True),
        (5, 6),
        (1.5, 2.5),
        ("a", "a_2"),
        (["a"], []),
        ([], []),
        ({"a": 1}, None),
        (None, None),
    ],
)
def test_the_wrong_argument_follows_from_the_right_one(right, wrong):
    made = wrong_call(("f", {"a": right}), (), Random(0))
    assert made == ("f", {"a": wrong})
    assert type(made[1]["a"]) is type(wrong)


def test_a_wrong_call_is_the_call_of_another_turn_or_has_another_argument():
    due, other = ("f", {"a": 1, "b": 2}), ("g", {})
    made = [wrong_call(due, [other], Random(seed)) for seed in range(200)]
    assert {str(each) for each in made} == {
        str(other),
        str(("f", {"a": 2, "b": 2})),
        str(("f", {"a": 1, "b": 3})),
    }
    # Seven of ten have another argument.
    assert 120 <= sum(name == "f" for name, _ in made) <= 160
    assert wrong_call(("f", {}), [other], Random(0)) == other
    assert wrong_call(("f", {}), (), Random(0)) == ("f", {})


def test_a_single_turn_entry_has_no_scripted_model():
    data = load_embedded([Category.SIMPLE_PYTHON])
    prepared = prepare(data, next(iter(data.trajectories.values())), STRICT)
    with pytest.raises(
        UnjudgeableEntry, match="multi-turn entries only; use --category multi_turn"
    ):
        run_scripted(prepared, ScriptedBehaviour(None), STRICT)


def test_a_seed_gives_the_calls_that_it_always_gave():
    offers = OfferFacts(functions=40, needed=5, middle=True, strangers=("other", "another"))
    found = {}
    for name, shown in (
        ("scripted:0.3", USUAL),
        ("scripted:1", USUAL),
        ("scripted:0.1,tools=0.1,middle=0.2", offers),
        ("scripted:0.1,context=0.3", USUAL),
        ("scripted:1,middle=0.5", offers._replace(strangers=())),
    ):
        digest = sha256()
        for seed, prepared in zip((0, 1, "a") * 3, some_prepared(), strict=False):
            script = ScriptedBehaviour.named(name).script(prepared, seed, shown)
            texts = [[str(call) for step in turn for call in step] for turn in script]
            digest.update(json.dumps(texts).encode())
        found[name] = digest.hexdigest()[:12]
    # Other calls in the built-in data give other digests; other digests alone are a bug.
    assert found == {
        "scripted:0.3": "1bd051e8478e",
        "scripted:1": "bc5510c29030",
        "scripted:0.1,tools=0.1,middle=0.2": "565e871200f2",
        "scripted:0.1,context=0.3": "62fbdab6e321",
        "scripted:1,middle=0.5": "caf006eaa537",
    }


def test_wrong_values_are_near_the_right_ones():
    for right, wrong in (
        *((True, False), (False, True), (5, 6), (-1, 0), (1.5, 2.5), ("a", "a_2"), ("", "_2")),
        *((["a"], []), ({"a": 1}, None), (None, None)),
    ):
        assert wrong_call(("f", {"a": right}), (), Random(0)) == ("f", {"a": wrong})
    assert wrong_call(("f", {}), (), Random(0)) == ("f", {})
    assert wrong_call(("f", {}), [("g", {"b": 1})], Random(0)) == ("g", {"b": 1})
    others = [("g", {"b": 1})]
    drawn = [wrong_call(("f", {"a": 1}), others, Random(seed))[0] for seed in range(200)]
    assert 120 <= drawn.count("f") <= 160


def test_distractors_take_a_share_of_the_calls():
    behaviour = ScriptedBehaviour(None, 0.0, tools=0.1, middle=0.25)
    for functions, needed, middle, share in (
        *((1, 1, False, 0.0), (4, 1, False, 0.2), (4, 2, True, 0.35), (2, 4, True, 0.25)),
        *((0, 0, False, 0.0), (8, 0, False, 0.3), (2**10, 1, True, 1.0)),
    ):
        assert behaviour.confused(OfferFacts(functions, needed, middle)) == pytest.approx(share)
