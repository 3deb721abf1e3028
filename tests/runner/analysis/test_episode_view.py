from __future__ import annotations

from itertools import pairwise

import pytest

from checkers.causes.episode_place import EpisodePlace
from checkers.profile import BFCL
from envs.errors import DataError
from runner.analysis.episode_view import EpisodePart, view
from tests.extensions.debugger.episodes import RECORDED, examined


@pytest.fixture
def turns():
    """Return the turns of the hand-made recording, in which notes get another name."""
    return view(examined())


def test_a_turn_has_a_start_its_calls_and_an_end(turns):
    assert [moment.place for moment in turns[0].moments] == [
        EpisodePlace(0, "start"),
        EpisodePlace(0, "call", 0),
        EpisodePlace(0, "call", 1),
        EpisodePlace(0, "end"),
    ]
    assert [(number, len(calls)) for number, calls in turns[1].steps] == [(0, 2)]


def test_states_follow_one_another(turns):
    moments = [moment for turn in turns for moment in turn.moments]
    for one, following in pairwise(moments):
        assert following.before == one.after


def test_the_call_that_leaves_the_ground_truth_is_marked_and_only_that(turns):
    marked = [str(m.place) for turn in turns for m in turn.moments if m.diverges]
    assert marked == ["turn 1, step 2, call 1"]
    refused, renamed = turns[0].calls
    assert (refused.changes, refused.off_path, refused.strays) == ([], [], [])
    assert renamed.strays == renamed.off_path != []


def test_what_was_astray_before_a_call_is_not_that_call_s_fault(turns):
    for call in turns[1].calls:
        assert call.off_path
        assert not call.strays


def test_the_end_of_a_turn_is_held_against_the_end_of_the_ground_truth_s(turns):
    first = turns[0]
    assert first.differences == first.truth.after.differences(first.model.after) != []
    assert turns[0].judged
    assert turns[0].failure is not None
    assert not turns[1].judged
    assert [turn.failure for turn in turns[1:]] == [None, None]


def test_a_turn_that_was_not_reached_has_the_ground_truth_only():
    last = view(examined(RECORDED[:2], profile=BFCL))[2]
    assert (last.model, last.moments, list(last.steps), last.differences) == (None, (), [], ())
    assert last.closing is None


def test_the_calls_of_the_ground_truth_have_what_they_change(turns):
    [moved] = turns[0].truth_calls
    assert [len(change.path) > 0 for change in moved.changes] == [True, True]


def test_a_part_is_a_turn_a_step_or_what_departs(turns):
    assert [turn.number for turn in EpisodePart(turn=1).of(turns)] == [1]
    [first] = EpisodePart(turn=0, step=1).of(turns)
    assert [call.place.step for call in first.calls] == [1]
    departing = EpisodePart(only_diff=True).of(turns)
    assert [(turn.number, len(turn.calls)) for turn in departing] == [(0, 1)]


def test_what_is_not_there_is_no_part(turns):
    with pytest.raises(DataError, match="--turn: 4 does not exist; the episode has turns 1 to 3"):
        EpisodePart(turn=3).of(turns)
    with pytest.raises(
        DataError, match="--step: must be 1, not 2; x_0 has only one turn and one step"
    ):
        EpisodePart(step=1).check_single("x_0")
