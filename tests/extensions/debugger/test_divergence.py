from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from checkers.causes.divergence import find_off_path
from checkers.causes.episode_place import EpisodePlace
from checkers.causes.trace import Trace, TracedCall, TracedTurn
from envs.calls import Call
from envs.results import Result
from envs.state import ABSENT, Difference, Snapshot
from extensions.debugger.divergence import find_divergence

START = {"a": 0, "b": 0, "c": 0}


def state(**fields):
    """Return a state that departs from the start in some fields."""
    return Snapshot({"X": {**START, **fields}})


def turn(*states, before=None, results=()):
    """Return a turn that goes through states, each by a step of one call."""
    calls = [
        (TracedCall(Call("f"), Result(results[i] if results else None), after),)
        for i, after in enumerate(states)
    ]
    return TracedTurn(frozenset(), before or state(), tuple(calls))


def trace(*turns):
    """Return an episode of turns."""
    return Trace(turns)


TRUTH = turn(state(a=1), state(a=1, b=1))


def test_the_ground_truth_does_not_leave_itself():
    assert find_divergence(trace(TRUTH), trace(TRUTH)) is None


def test_another_order_is_on_the_path():
    model = turn(state(b=1), state(a=1, b=1))
    assert find_off_path(TRUTH, model.steps[0][0].after) == []
    assert find_divergence(trace(TRUTH), trace(model)) is None


def test_a_wrong_value_is_off_the_path_beside_what_the_truth_ends_with():
    assert find_off_path(TRUTH, state(a=2)) == [Difference("X.a", 1, 2)]


def test_what_is_not_done_yet_is_on_the_path():
    assert find_off_path(TRUTH, state()) == []


def test_the_call_that_led_astray_is_found_with_its_step():
    model = turn(state(a=1), state(a=1, c=1), state(a=1, b=1, c=1))
    found = find_divergence(trace(TRUTH), trace(model))
    assert found == EpisodePlace(0, "call", 1, 0)


def test_the_call_is_found_within_its_step():
    calls = [TracedCall(Call("f"), Result(None), after) for after in (state(a=1), state(a=3))]
    model = TracedTurn(frozenset(), state(), (tuple(calls),))
    assert find_divergence(trace(TRUTH), trace(model)) == EpisodePlace(0, "call", 0, 1)


def test_a_detour_that_is_over_is_none():
    model = turn(state(c=1), state(), state(a=1), state(a=1, b=1))
    assert find_divergence(trace(TRUTH), trace(model)) is None


def test_a_detour_does_not_hide_what_is_missing():
    model = turn(state(c=1), state(), state(a=1))
    found = find_divergence(trace(TRUTH), trace(model))
    assert found == EpisodePlace(0, "end")


def test_what_is_missing_is_found_at_the_end_of_the_turn():
    found = find_divergence(trace(TRUTH), trace(turn(state(a=1))))
    assert found == EpisodePlace(0, "end")


def test_what_is_wrong_comes_before_what_is_missing():
    found = find_divergence(trace(TRUTH), trace(turn(state(c=1))))
    assert found == EpisodePlace(0, "call")


def test_a_turn_without_a_call_where_one_was_needed_is_left_at_its_end():
    truth = turn(state(), results=["seen"])
    again = find_divergence(trace(truth, truth), trace(truth, turn()))
    assert again == EpisodePlace(1, "end")


def test_a_result_that_was_not_seen_is_missing_at_the_end():
    truth = turn(state(), results=["seen"])
    found = find_divergence(trace(truth), trace(turn(state(), results=["other"])))
    assert found == EpisodePlace(0, "end")


def test_a_change_where_nothing_is_to_be_done_is_found():
    found = find_divergence(trace(turn(), TRUTH), trace(turn(state(a=1)), turn()))
    assert found == EpisodePlace(0, "call")


def test_an_episode_that_ends_early_has_left_nowhere():
    assert find_divergence(trace(TRUTH, TRUTH), trace(TRUTH)) is None


def test_fields_that_are_not_compared_are_not_looked_at():
    model = turn(state(a=1, _seed=5), state(a=1, b=1, _seed=6))
    assert find_divergence(trace(TRUTH), trace(model)) is None


def test_a_difference_above_and_one_below_touch_the_same_place():
    truth = turn(state(a={"x": 1}), state(a={"x": 1, "y": {"z": 1}}))
    # At the start there is no object; later there is one, with another y in it.
    assert find_off_path(truth, state(a={"x": 1, "y": {"z": 2}})) == [Difference("X.a.y.z", 1, 2)]
    assert find_off_path(truth, state(a={"x": 1, "y": 5})) == [Difference("X.a.y", {"z": 1}, 5)]


def test_paths_of_which_one_only_begins_with_the_other_are_two_places():
    truth = turn(Snapshot({"X": {"a": 1, "ab": 0}}), before=Snapshot({"X": {"a": 0, "ab": 0}}))
    actual = Snapshot({"X": {"a": 0, "ab": 3}})
    assert find_off_path(truth, actual) == [Difference("X.ab", 0, 3)]


def test_keys_with_dots_and_brackets_are_no_paths():
    before, after = ({"files": {"a.b[c": text}} for text in ("", "new"))
    truth = turn(Snapshot({"X": after}), before=Snapshot({"X": before}))
    wrong = Snapshot({"X": {"files": {"a.b[c": "", "a": 1}}})
    assert find_off_path(truth, wrong) == [Difference("X.files.a", ABSENT, 1)]


values = st.integers(0, 2)
states = st.builds(state, a=values, b=values, c=values)


@given(st.lists(states, max_size=4), st.lists(states, max_size=4))
def test_a_divergence_is_there_exactly_where_a_turn_ends_elsewhere(ours, theirs):
    truth, model = turn(*ours), turn(*theirs)
    found = find_divergence(trace(truth), trace(model))
    if truth.after != model.after:
        assert found is not None
    if found is not None and found.kind == "call":
        assert find_off_path(truth, model.steps[found.step][found.call].after)


@given(st.lists(states, min_size=1, max_size=4))
def test_no_state_of_the_truth_is_off_the_path(passed):
    truth = turn(*passed)
    assert all(find_off_path(truth, each) == [] for each in (truth.before, *passed))
