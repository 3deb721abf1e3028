"""Proof that the embedded data is sound: what is asked can be done, and is noticed when it is not.

The ground truth is played, and so is what departs from it. How the texts read is for people to
judge.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import trajectories
from checkers.profile import BFCL, STRICT, Profile
from checkers.turn import missing_results
from envs.calls import Call, parse_call
from envs.registry import BACKENDS
from envs.schema import spec
from envs.session import check_config
from runner.evaluate import run_script
from runner.prepare import Prepared, prepare
from runner.scripts import Script, null, oracle
from trajectories.dataset import load_embedded
from trajectories.schema import Category, Trajectory
from trajectories.validation import to_json

FOLDER = Path(trajectories.__file__).parent / "data"
DATASET = load_embedded(list(Category))
ALL = list(DATASET.trajectories.values())
BASES = [t for t in ALL if t.category is Category.BASE]
VARIANTS = [t for t in ALL if t.category is not Category.BASE]
ASKING = (Category.MISSING_PARAMETER, Category.COMPOSITE)
HOLDING = (Category.MISSING_FUNCTION, Category.COMPOSITE)
BULKY = (Category.LONG_CONTEXT, Category.COMPOSITE)

NOT_SHOWN = ("access_token", "password")
"""Members of a config that no function ever tells."""

WORKED_OUT = {
    "2024-08-01": "the first of August 2024",
    "mean=3.309, sd=0.008": "the two rounded numbers, written as in run_06_result.txt",
    "Subscriptions received. Balance after paying the hall: 8485.75": "user's text, then a result",
    "I land in Tokyo on 2 April, booking 8005497": "user's text, then a result",
    29.5: "what a tank of 50 gallons with 20.5 in it still takes",
}
"""Values of the ground truth that stand nowhere as they are, and how a reader gets there."""

each = pytest.mark.parametrize("trajectory", ALL, ids=lambda t: t.id)
each_variant = pytest.mark.parametrize("trajectory", VARIANTS, ids=lambda t: t.id)
each_profile = pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda p: p.name)


def of(*categories: Category) -> pytest.MarkDecorator:
    """Parametrize a test over the trajectories of some categories."""
    chosen = [t for t in ALL if t.category in categories]
    return pytest.mark.parametrize("trajectory", chosen, ids=lambda t: t.id)


def prepared(trajectory: Trajectory, profile: Profile = STRICT) -> Prepared:
    return prepare(DATASET, trajectory, profile)


def passes(trajectory: Trajectory, script: Script, profile: Profile) -> bool:
    return run_script(prepared(trajectory, profile), script, profile).valid


def calls(trajectory: Trajectory) -> list[list[Call]]:
    """Return the ground truth, turn by turn."""
    return [[parse_call(text) for text in turn.ground_truth] for turn in trajectory.turns]


def base_of(trajectory: Trajectory) -> Trajectory:
    return DATASET.trajectories[trajectory.provenance["base"]]


# --- The set as a whole


@pytest.mark.parametrize("category", Category)
def test_each_category_has_its_file_of_canonical_lines(category: Category) -> None:
    lines = (FOLDER / f"{category}.jsonl").read_text(encoding="utf-8").splitlines()
    found = [t for t in ALL if t.category is category]
    assert lines == [json.dumps(to_json(t), ensure_ascii=False) for t in found]
    assert len(found) >= (24 if category is Category.BASE else 6)
    assert all(t.id.startswith(f"{category}_") for t in found)
    assert len({t.id for t in found}) == len(found)


@pytest.mark.parametrize("name", BACKENDS)
def test_each_backend_is_in_several_scenarios(name: str) -> None:
    assert len([t for t in BASES if name in t.environments]) >= 3


def test_scenarios_cross_backends() -> None:
    assert len([t for t in BASES if len(t.environments) == 2]) >= 8


def test_every_function_that_writes_is_used() -> None:
    writing = {t.name for b in BACKENDS.values() for t in b.TOOLS.values() if t.writes}
    assert writing - {call.name for t in BASES for turn in calls(t) for call in turn} == set()


@pytest.mark.parametrize("category", Category)
def test_nothing_is_said_twice_in_a_category(category: Category) -> None:
    said = [
        message.content
        for t in ALL
        if t.category is category
        for turn in t.turns
        for message in turn.messages
    ]
    assert [text for text, times in Counter(said).items() if times > 1] == []


# --- Each trajectory


@each
def test_config_has_no_defect(trajectory: Trajectory) -> None:
    assert check_config(trajectory.environments, trajectory.config) == []


@each
def test_ground_truth_is_canonical(trajectory: Trajectory) -> None:
    for turn in trajectory.turns:
        for text in turn.ground_truth:
            call = parse_call(text)
            assert str(call) == text
            assert (call.args, call.nested) == ((), False)


@each
def test_turns_are_of_sensible_length(trajectory: Trajectory) -> None:
    base = trajectory if trajectory.category is Category.BASE else base_of(trajectory)
    assert 2 <= len(base.turns) <= 6
    assert all(1 <= len(turn.ground_truth) <= 4 for turn in base.turns)
    assert all(len(turn.ground_truth) <= 4 for turn in trajectory.turns)


@each
def test_the_user_speaks_and_names_no_function(trajectory: Trajectory) -> None:
    names = {
        tool.name for name in trajectory.environments for tool in BACKENDS[name].TOOLS.values()
    }
    # Many names are plain words too, such as find, comment and mean.
    telling = [name for name in names if not name.islower() or "_" in name]
    for turn in trajectory.turns:
        assert [message.role for message in turn.messages] == ([] if turn.offers else ["user"])
        for message in turn.messages:
            assert message.content.strip() == message.content != ""
            assert [name for name in telling if name in message.content] == []


@each
@each_profile
def test_every_call_of_the_ground_truth_succeeds(trajectory: Trajectory, profile: Profile) -> None:
    truth = prepared(trajectory, profile).truth
    assert [result.text for turn in truth for result in turn.results if not result.ok] == []


@each
@each_profile
def test_the_ground_truth_passes_and_idleness_does_not(
    trajectory: Trajectory, profile: Profile
) -> None:
    assert passes(trajectory, oracle(trajectory), profile)
    assert not passes(trajectory, null(trajectory), profile)


@each
def test_every_turn_leaves_something_to_check(trajectory: Trajectory) -> None:
    ready = prepared(trajectory)
    state, seen = ready.template.snapshot(), []
    for turn in ready.truth:
        if turn.acted:
            assert turn.snapshot != state or missing_results(turn.results, seen)
        seen += turn.results
        state = turn.snapshot


@each
@each_profile
def test_no_change_may_be_left_out(trajectory: Trajectory, profile: Profile) -> None:
    for turn, outcome in enumerate(prepared(trajectory, profile).truth):
        for position, result in enumerate(outcome.results):
            if result.changed:
                script = [[list(step) for step in steps] for steps in oracle(trajectory)]
                left_out = script[turn][0].pop(position)
                script[turn] = [step for step in script[turn] if step]
                assert not passes(trajectory, script, profile), left_out


# --- Values: a reader could have found each of them


def literals(value: Any) -> Iterator[str | int | float]:
    """Yield the texts and numbers in an argument."""
    if isinstance(value, dict):
        for member in value.values():
            yield from literals(member)
    elif isinstance(value, list):
        for member in value:
            yield from literals(member)
    elif value is not None and not isinstance(value, bool):
        yield value


def stands_in(literal: str | int | float, text: str) -> bool:
    if isinstance(literal, str):
        return literal in text
    written = "|".join(map(re.escape, (repr(literal), f"{literal:g}")))
    return re.search(rf"(?<![\w.])({written})(?!\w|\.\d)", text) is not None


def shown(config: Any) -> Any:
    """Return a config without what no function tells."""
    if not isinstance(config, dict):
        return config
    return {key: shown(member) for key, member in config.items() if key not in NOT_SHOWN}


def unfounded(trajectory: Trajectory) -> Iterator[tuple[int, str | int | float]]:
    """Yield turn and value where the ground truth uses what nothing before it has told."""
    ready = prepared(trajectory)
    tools = ready.template.tools.values()
    told = [json.dumps(shown(trajectory.config), ensure_ascii=False)]
    told += [json.dumps(spec(tool).json_schema()) for tool in tools]
    for index, (turn, outcome) in enumerate(zip(calls(trajectory), ready.truth, strict=True)):
        told += [message.content for message in trajectory.turns[index].messages]
        for call, result in zip(turn, outcome.results, strict=True):
            for literal in literals(dict(call.kwargs)):
                if not any(stands_in(literal, text) for text in told):
                    yield index, literal
            told.append(result.text.replace("\\n", "\n"))


def test_values_are_told_or_shown_before_they_are_used() -> None:
    found = {value: t.id for t in ALL for _, value in unfounded(t)}
    assert {value: id for value, id in found.items() if value not in WORKED_OUT} == {}
    assert [value for value in WORKED_OUT if value not in found] == []


# --- What makes a trajectory harder


def questions(trajectory: Trajectory) -> list[int]:
    """Return the turns whose request cannot be met for want of a value."""
    turns = trajectory.turns
    return [
        index
        for index, turn in enumerate(turns)
        if not turn.ground_truth and not turns[index + 1].offers
    ]


def handovers(trajectory: Trajectory) -> list[int]:
    """Return the turns in which functions are handed over."""
    return [index for index, turn in enumerate(trajectory.turns) if turn.offers]


@each
def test_the_category_says_what_is_hard(trajectory: Trajectory) -> None:
    category = trajectory.category
    assert bool(questions(trajectory)) == (category in ASKING)
    assert bool(handovers(trajectory)) == (category in HOLDING)
    assert bool(trajectory.long_context) == (category in BULKY)
    assert trajectory.provenance["author"] == "Turnwise"
    assert trajectory.excluded == ()


@each_variant
def test_a_variant_is_its_base_made_harder(trajectory: Trajectory) -> None:
    base = base_of(trajectory)
    assert trajectory.id.removeprefix(trajectory.category) == base.id.removeprefix("base")
    assert (trajectory.config, trajectory.environments) == (base.config, base.environments)
    harder, easier = (
        [[call.name for call in turn] for turn in calls(t) if turn] for t in (trajectory, base)
    )
    assert harder == easier


@of(*ASKING)
def test_a_missing_value_is_not_to_be_had_until_the_user_tells_it(trajectory: Trajectory) -> None:
    for question in questions(trajectory):
        before, (asked, told) = trajectory.turns[:question], trajectory.turns[question:][:2]
        hasty = replace(asked, ground_truth=told.ground_truth)
        guessed = unfounded(replace(trajectory, turns=(*before, hasty)))
        assert [value for turn, value in guessed if turn == question] != []


@of(*HOLDING)
def test_a_held_out_function_is_needed_then_and_not_before(trajectory: Trajectory) -> None:
    truth = calls(trajectory)
    for turn in handovers(trajectory):
        offers = set(trajectory.turns[turn].offers)
        assert trajectory.turns[turn - 1].messages
        assert trajectory.turns[turn - 1].ground_truth == ()
        assert offers <= {call.name for call in truth[turn]}
        assert offers.isdisjoint(call.name for earlier in truth[:turn] for call in earlier)
        without = [call for call in truth[turn] if call.name not in offers]
        script = [[step] if step else [] for step in [*truth[:turn], without, *truth[turn + 1 :]]]
        assert not passes(trajectory, script, STRICT)
        script = [[step] if step else [] for step in truth]
        script[turn - 1], script[turn] = script[turn], script[turn - 1]
        assert not passes(trajectory, script, STRICT)


@of(*BULKY)
def test_the_bulk_shows_in_what_the_ground_truth_reads(trajectory: Trajectory) -> None:
    assert trajectory.long_context is not None
    assert trajectory.long_context.source == "generated"
    assert 40 <= trajectory.long_context.items <= 120
    bulky, slim = (
        [result.text for turn in prepared(t).truth for result in turn.results]
        for t in (trajectory, base_of(trajectory))
    )
    assert bulky != slim
