"""Proof that the embedded data is sound: what is asked can be done, and is noticed when it is not.

The ground truth is played, and so is what departs from it. How the texts read is for people to
judge. Each test looks at all trajectories of a category and names those that fail it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import combinations
from pathlib import Path

import pytest

import trajectories
from checkers.known_values import contains_value, list_literals, unescape_text
from checkers.profile import BFCL, STRICT, Profile
from checkers.unordered_comparison import list_missing_results
from envs.calls import Call, parse_call
from envs.registry import BACKENDS, check_config
from extensions.authoring.canary import CANARY
from extensions.authoring.graph.graph import load
from extensions.authoring.graph.sampling import coverage, trace
from extensions.authoring.making.build import long
from extensions.authoring.making.maker_helpers import start
from extensions.authoring.making.scenario_worlds import sizes
from extensions.authoring.making.scenarios import SCENARIOS, read_scenario
from extensions.authoring.stated_values import shown, write_documents
from runner.episodes.script_playback import Script, make_truth_script
from tests.judging import null, run_script
from trajectories.dataset import Dataset, load_embedded
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.record_validation import to_json
from trajectories.schema import MULTI_TURN, Category, DifficultyLabel, Tier, Trajectory

FOLDER = Path(trajectories.__file__).parent / "data"
ASKING = (Category.MISSING_PARAMETER, Category.COMPOSITE)
HOLDING = (Category.MISSING_FUNCTION, Category.COMPOSITE)
BULKY = (Category.LONG_CONTEXT, Category.COMPOSITE)

WORKED_OUT = {
    "2024-08-01": "the first of August 2024",
    "mean=3.309, sd=0.008": "the two rounded numbers, written as in run_06_result.txt",
    "Subscriptions received. Balance after paying the hall: 8485.75": "user's text, then a result",
    "I land in Tokyo on 2 April, booking 7683758": "user's text, then a result",
    100: "the fare, shown as 100.0",
    1240: "the balance, shown as 1240.0",
    29.5: "what a tank of 50 gallons with 20.5 in it still takes",
}
"""Values of the ground truth that stand nowhere as they are, and how a reader gets there."""

PAIRS = 28
"""Pairs of backends that some scenario needs together: all there are."""
NEVER_SUCCEEDS = {"get_outside_temperature_from_weather_com"}
"""Functions that no arguments make succeed."""

# Of module scope, so that all tests of a category follow one another: few of its entries are kept.
each = pytest.mark.parametrize("category", MULTI_TURN, scope="module")
each_variant = pytest.mark.parametrize("category", MULTI_TURN[1:], scope="module")
QUICK = 4
"""Of how many entries one is played in the quick part; the slow part plays them all."""
QUICK_OF_BULKY = 8
"""The same for entries that take longest to load."""


def each_played(categories: Sequence[Category]) -> pytest.MarkDecorator:
    """Give a test some entries of each category, and all of them in the slow part."""
    parts = [
        pytest.param(category, every, id=f"{category}-{every}", marks=marks)
        for category in categories
        for every, marks in (
            (QUICK_OF_BULKY if category in BULKY else QUICK, ()),
            (1, pytest.mark.slow),
        )
    ]
    return pytest.mark.parametrize(("category", "every"), parts, scope="module")


each_profile = pytest.mark.parametrize(
    "profile", [BFCL, STRICT], ids=lambda p: p.name, scope="module"
)


@cache
def dataset() -> Dataset:
    return load_embedded(MULTI_TURN)


def of(category: Category, every: int = 1) -> list[Trajectory]:
    """Return the trajectories of a category, or one of every few."""
    return [t for t in dataset().trajectories.values() if t.category is category][::every]


def bases() -> list[Trajectory]:
    return of(Category.BASE)


@lru_cache(maxsize=460)
def _prepared(id: str, profile: str) -> PreparedTrajectory:
    profiles = {p.name: p for p in (BFCL, STRICT)}
    return prepare(dataset(), dataset().trajectories[id], profiles[profile])


@pytest.fixture(scope="module", autouse=True)
def _prepared_are_dropped() -> Iterator[None]:
    yield
    _prepared.cache_clear()


def prepared(trajectory: Trajectory, profile: Profile = STRICT) -> PreparedTrajectory:
    # One that a test has made up is not that of its id.
    if trajectory is not dataset().trajectories[trajectory.id]:
        return prepare(dataset(), trajectory, profile)
    return _prepared(trajectory.id, profile.name)


def passes(trajectory: Trajectory, script: Script, profile: Profile) -> bool:
    return run_script(prepared(trajectory, profile), script, profile).valid


def calls(trajectory: Trajectory) -> list[list[Call]]:
    """Return the ground truth, turn by turn."""
    return [[parse_call(text) for text in turn.ground_truth] for turn in trajectory.turns]


def base_of(trajectory: Trajectory) -> Trajectory:
    return dataset().trajectories[trajectory.provenance["base"]]


# --- The set as a whole


@each
def test_each_category_has_its_file_of_canonical_lines(category: Category) -> None:
    lines = (FOLDER / f"{category}.jsonl").read_text(encoding="utf-8").splitlines()
    found = of(category)
    assert lines == [json.dumps(to_json(t), ensure_ascii=False) for t in found]
    scenarios = sum(t.tier is not Tier.EXPERT for t in bases())
    assert sum(t.tier is not Tier.EXPERT for t in found) == scenarios or category in BULKY
    assert all(t.id.startswith(f"{category}_") for t in found)
    assert len({t.id for t in found}) == len(found)


@pytest.mark.parametrize("name", BACKENDS)
def test_each_backend_is_in_many_scenarios(name: str) -> None:
    assert len([t for t in bases() if name in t.environments]) >= 15


def test_scenarios_cross_backends() -> None:
    pairs = Counter(
        frozenset(pair) for t in bases() for pair in combinations(sorted(t.environments), 2)
    )
    assert len(pairs) == PAIRS
    assert len([t for t in bases() if len(t.environments) > 1]) >= 50


def test_every_function_is_used_by_several_scenarios() -> None:
    users = Counter(
        name for t in bases() for name in {call.name for turn in calls(t) for call in turn}
    )
    every = {tool for backend in BACKENDS.values() for tool in backend.TOOLS}
    assert {name: users[name] for name in every - NEVER_SUCCEEDS if users[name] < 4} == {}


def test_what_is_hard_is_so_in_every_way() -> None:
    labels = Counter(label for t in bases() for label in t.labels)
    assert {label: labels[label] for label in DifficultyLabel if labels[label] < 12} == {}
    assert sum(t.tier is Tier.HARD for t in bases()) >= 90
    turns = [turn for t in bases() if t.tier is not Tier.EXPERT for turn in t.turns]
    assert 3 * sum(len(turn.ground_truth) >= 3 for turn in turns) >= len(turns)
    assert sum(turn.only_asks for turn in turns) >= 20


def test_many_worlds_are_worth_searching() -> None:
    counts = [sum(sum(sizes(config).values()) for config in t.config.values()) for t in bases()]
    assert sum(50 <= count <= 310 for count in counts) >= 40
    assert max(counts) <= 310


def test_results_feed_arguments_along_many_edges() -> None:
    called = [[c for turn in t.turns for c in turn.ground_truth] for t in bases()]
    traces = (trace(start(t), texts) for t, texts in zip(bases(), called, strict=True))
    assert len(coverage(load(), traces).edges) >= 250


@each
def test_nothing_is_said_twice_in_a_category(category: Category) -> None:
    said = [m.content for t in of(category) for turn in t.turns for m in turn.messages]
    # Everybody confirms with "yes".
    assert [text for text, times in Counter(said).items() if times > 1 and text != "yes"] == []


# --- Each trajectory


@each
def test_config_has_no_defect(category: Category) -> None:
    for t in of(category):
        assert check_config(t.environments, t.config) == [], t.id


@each
def test_ground_truth_is_canonical(category: Category) -> None:
    for t in of(category):
        for text in (text for turn in t.turns for text in turn.ground_truth):
            call = parse_call(text)
            assert (str(call), call.args, call.nested) == (text, (), False), t.id


@each
def test_turns_are_of_sensible_length(category: Category) -> None:
    for t in of(category):
        base = t if category is Category.BASE else base_of(t)
        low, high = (10, 14) if t.tier is Tier.EXPERT else (2, 8)
        assert low <= len(base.turns) <= high, t.id
        assert all(turn.only_asks or turn.ground_truth for turn in base.turns), t.id
        assert all(len(turn.ground_truth) <= 15 for turn in t.turns), t.id


@each
def test_the_user_speaks_and_names_no_function(category: Category) -> None:
    for t in of(category):
        names = {tool for name in t.environments for tool in BACKENDS[name].TOOLS}
        # Many names are plain words too, such as find, comment and mean.
        telling = [name for name in names if not name.islower() or "_" in name]
        for turn in t.turns:
            assert [m.role for m in turn.messages] == ([] if turn.offers else ["user"]), t.id
            for message in turn.messages:
                assert message.content.strip() == message.content != "", t.id
                assert [name for name in telling if name in message.content] == [], t.id


@each_played(MULTI_TURN)
@each_profile
def test_every_call_of_the_ground_truth_succeeds(
    category: Category, every: int, profile: Profile
) -> None:
    for t in of(category, every):
        results = [result for turn in prepared(t, profile).truth for result in turn.results]
        assert [result.text for result in results if not result.ok] == [], t.id


@each_played(MULTI_TURN)
@each_profile
def test_the_ground_truth_passes_and_idleness_does_not(
    category: Category, every: int, profile: Profile
) -> None:
    for t in of(category, every):
        assert passes(t, make_truth_script(t), profile), t.id
        assert not passes(t, null(t), profile), t.id


@each_played(MULTI_TURN)
def test_every_turn_leaves_something_to_check(category: Category, every: int) -> None:
    for t in of(category, every):
        ready = prepared(t)
        state, seen = ready.template.snapshot(), []
        for turn in ready.truth:
            if turn.acted:
                assert turn.snapshot != state or list_missing_results(turn.results, seen), t.id
            seen += turn.results
            state = turn.snapshot


@each_played(MULTI_TURN)
@each_profile
def test_no_change_may_be_left_out(category: Category, every: int, profile: Profile) -> None:
    for t in of(category, every):
        for turn, outcome in enumerate(prepared(t, profile).truth):
            for position, result in enumerate(outcome.results):
                if result.changed:
                    script = [[list(step) for step in steps] for steps in make_truth_script(t)]
                    left_out = script[turn][0].pop(position)
                    script[turn] = [step for step in script[turn] if step]
                    assert not passes(t, script, profile), (t.id, left_out)


# --- Values: a reader could have found each of them


def unfounded(trajectory: Trajectory) -> Iterator[tuple[int, str | int | float]]:
    """Yield turn and value where the ground truth uses what nothing before it has told."""
    ready = prepared(trajectory)
    told = [json.dumps(shown(trajectory.config), ensure_ascii=False)]
    told.append(write_documents(trajectory.environments))
    for index, (turn, outcome) in enumerate(zip(calls(trajectory), ready.truth, strict=True)):
        told += [message.content for message in trajectory.turns[index].messages]
        for call, result in zip(turn, outcome.results, strict=True):
            for literal in list_literals(dict(call.kwargs)):
                if not any(contains_value(literal, text) for text in told):
                    yield index, literal
            told.append(unescape_text(result.text))


@pytest.mark.parametrize("every", [QUICK, pytest.param(1, marks=pytest.mark.slow)])
def test_values_are_told_or_shown_before_they_are_used(every: int) -> None:
    # What is hard is worked out more often than not; rule PROVENANCE knows in how many ways.
    plain = [t for t in dataset().trajectories.values() if t.tier is Tier.PLAIN][::every]
    found = {value: t.id for t in plain for _, value in unfounded(t)}
    assert {value: id for value, id in found.items() if value not in WORKED_OUT} == {}
    assert every > 1 or [value for value in WORKED_OUT if value not in found] == []


# --- What makes a trajectory harder


def questions(trajectory: Trajectory) -> list[int]:
    """Return the turns whose request cannot be met for want of a value."""
    turns = trajectory.turns
    return [
        index
        for index, turn in enumerate(turns)
        if not turn.ground_truth and not turn.only_asks and not turns[index + 1].offers
    ]


def handovers(trajectory: Trajectory) -> list[int]:
    """Return the turns in which functions are handed over."""
    return [index for index, turn in enumerate(trajectory.turns) if turn.offers]


@each
def test_the_category_says_what_is_hard(category: Category) -> None:
    for t in of(category):
        assert len(questions(t)) == (category in ASKING), t.id
        assert len(handovers(t)) == (category in HOLDING), t.id
        assert bool(t.long_context) == (category in BULKY), t.id
        assert t.provenance["author"] == "Turnwise", t.id
        assert t.provenance["canary"] == CANARY, t.id
        assert t.excluded == (), t.id


@each_variant
def test_a_variant_is_its_base_made_harder(category: Category) -> None:
    for t in of(category):
        base = base_of(t)
        assert t.id.removeprefix(category) == base.id.removeprefix("base")
        assert t.environments == base.environments, t.id
        assert category in BULKY or t.config == base.config, t.id
        harder, easier = (
            [[call.name for call in turn] for turn in calls(each) if turn] for each in (t, base)
        )
        # The messages of a variant may dictate another order of a turn's calls.
        ordered = [bool(turn.ordered) for turn in t.turns if turn.ground_truth]
        for names, others, sorts in zip(harder, easier, ordered, strict=True):
            assert names == others or (sorts and sorted(names) == sorted(others)), t.id


@each_played(ASKING)
def test_a_missing_value_is_not_to_be_had_until_the_user_tells_it(
    category: Category, every: int
) -> None:
    for t in of(category, every):
        for question in questions(t):
            acting = next(turn for turn in t.turns[question:] if turn.ground_truth)
            hasty = replace(t.turns[question], ground_truth=acting.ground_truth)
            guessed = unfounded(replace(t, turns=(*t.turns[:question], hasty)))
            assert [value for turn, value in guessed if turn == question] != [], t.id


@each_played(HOLDING)
def test_a_held_out_function_is_needed_then_and_not_before(category: Category, every: int) -> None:
    for t in of(category, every):
        truth = calls(t)
        for turn in handovers(t):
            offers = set(t.turns[turn].offers)
            assert t.turns[turn - 1].messages, t.id
            assert t.turns[turn - 1].ground_truth == (), t.id
            assert offers & {call.name for call in truth[turn]}, t.id
            earlier = {call.name for calls in truth[:turn] for call in calls}
            assert offers.isdisjoint(earlier), t.id
            without = [call for call in truth[turn] if call.name not in offers]
            steps = [*truth[:turn], without, *truth[turn + 1 :]]
            script = [[step] if step else [] for step in steps]
            assert not passes(t, script, STRICT), t.id
            script = [[step] if step else [] for step in truth]
            script[turn - 1], script[turn] = script[turn], script[turn - 1]
            assert not passes(t, script, STRICT), t.id


@each_played(BULKY)
def test_the_bulk_shows_in_what_the_ground_truth_reads(category: Category, every: int) -> None:
    for t in of(category, every):
        assert t.long_context is not None
        assert t.long_context.source == "generated", t.id
        bulky, plain = (
            [result.text for turn in prepared(each).truth for result in turn.results]
            for each in (t, base_of(t))
        )
        assert sum(map(len, bulky)) > sum(map(len, plain)) + 500, t.id


def test_the_same_scenarios_are_long_in_both_categories() -> None:
    # One may fall short of what bulk has to add in the other's world.
    long, composite = ([t.provenance["base"] for t in of(category)] for category in BULKY)
    assert set(composite) <= set(long)
    hard = [base for base in long if dataset().trajectories[base].tier is not Tier.EXPERT]
    assert len(composite) > 0.95 * len(hard)


def test_expert_users_meet_outages_and_rules() -> None:
    expert = [t for t in bases() if t.tier is Tier.EXPERT]
    assert len(expert) >= 41
    assert sum(any(turn.outages for turn in t.turns) for t in expert) > 0.9 * len(expert)
    declined = [t for t in expert if any(turn.only_asks for turn in t.turns)]
    assert len(declined) > 0.9 * len(expert)


@each_played(BULKY)
def test_what_a_scenario_is_loaded_with_has_no_defect(category: Category, every: int) -> None:
    for t in of(category, every):
        assert check_config(t.environments, dataset().config(t)) == [], t.id


@each_played(BULKY)
def test_a_fare_is_one_and_an_average_is_one(category: Category, every: int) -> None:
    for t in of(category, every):
        for outcome in prepared(t).truth:
            for value in [r.value for r in outcome.results if isinstance(r.value, dict)]:
                assert len(value.get("travel_cost_list", [0])) == 1, t.id
                assert isinstance(value.get("MA(5)", 0.0), float), t.id


@pytest.mark.parametrize("every", [12, pytest.param(1, marks=pytest.mark.slow)])
def test_movements_are_of_the_days_asked_for(every: int) -> None:
    # In all that can be made long, as those are withdrawn that only show them.
    dated = [
        t for t in bases() if any("(start_date=" in c for n in t.turns for c in n.ground_truth)
    ]
    names = [t.id.removeprefix("base_") for t in dated[::every]]
    scenarios = [read_scenario(SCENARIOS / f"{name}.json") for name in names]
    made = [longer for scenario in scenarios if (longer := long(scenario)) is not None]
    asked = 0
    for t in [*made, *(t for category in BULKY for t in of(category)[::every])]:
        session = start(t)
        for call in [call for turn in calls(t) for call in turn]:
            result = session.call(call)
            if call.name == "get_transaction_history" and call.kwargs:
                shown = [m["timestamp"] for m in result.value["transaction_history"]]
                first = call.kwargs["start_date"]
                last = call.kwargs.get("end_date", "9999")
                assert all(first <= moment <= last for moment in shown), t.id
                asked += 1
    assert asked > 0
