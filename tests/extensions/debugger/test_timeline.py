from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.causes.episode_place import EpisodePlace
from checkers.profile import BFCL, STRICT
from envs.calls import parse_call
from extensions.debugger.timeline import CallOrigin, Timeline, with_call, with_rest, with_turn_ended
from runner.episodes.script_traces import trace_recorded
from tests.extensions.debugger.episodes import RECORDED, examined

EXAMINED = examined()
READY = EXAMINED.prepared
MV = parse_call("mv(source='notes.txt', destination='old')")
LS = parse_call("ls()")


def recording(turns=RECORDED, profile=BFCL) -> Timeline:
    """Return the hand-made recording."""
    trace = trace_recorded(READY, turns, "prompt", profile)
    return Timeline("recording", CallOrigin.RECORDING, EXAMINED, trace, profile)


def calls(timeline: Timeline) -> list[list[list[str]]]:
    """Return a timeline's calls as texts: turns of steps."""
    return [
        [[str(traced.call) for traced in step] for step in turn.steps]
        for turn in timeline.trace.turns
    ]


def call_at(turn, step, call=0) -> EpisodePlace:
    """Return the place of a call."""
    return EpisodePlace(turn, "call", step, call)


def test_a_timeline_stops_where_turns_start_and_end_and_after_every_call():
    assert [moment.place for moment in recording().moments] == [
        EpisodePlace(0, "start"),
        call_at(0, 0),
        call_at(0, 1),
        EpisodePlace(0, "end"),
        EpisodePlace(1, "start"),
        call_at(1, 0),
        call_at(1, 0, 1),
        EpisodePlace(1, "end"),
        EpisodePlace(2, "start"),
        EpisodePlace(2, "end"),
    ]


def test_a_moment_has_the_states_around_its_call():
    refused, renamed = recording().moments[1:3]
    assert refused.changes == []
    assert not refused.traced.result.ok
    assert [change.path.rpartition("contents")[2] for change in renamed.changes] == [
        "['notes.txt']",
        ".new",
    ]
    assert renamed.before is refused.after


def test_turns_start_and_end_in_the_state_they_are_left_in():
    moments = recording().moments
    assert [moments[i].changes for i in (0, 3, 4, 9)] == [(), (), (), ()]
    assert moments[3].after == moments[4].before == moments[2].after


@pytest.mark.parametrize(
    ("place", "index"),
    [
        (call_at(0, 1), 2),
        (EpisodePlace(2, "start"), 8),
        (call_at(0, 7), 3),
        (call_at(2, 0), 9),
        (EpisodePlace(5, "start"), 9),
    ],
)
def test_a_place_that_is_not_there_stands_for_the_end_of_its_turn(place, index):
    assert recording().index(place) == index


def test_every_turn_is_checked_by_itself():
    reasons = [failure and failure.reason.name for failure in recording().failures]
    assert reasons == ["STATE_MISMATCH", "STATE_MISMATCH", None]


@pytest.mark.parametrize(
    ("place", "turns"),
    [
        (EpisodePlace(0, "start"), [[["ls()"]]]),
        (call_at(0, 0), [[["cat(file_name='note.txt')"], ["ls()"]]]),
        (call_at(1, 0), [..., [["cd(folder='old')"], ["ls()"]]]),
        (EpisodePlace(1, "end"), [..., [["cd(folder='old')", "ls()"], ["ls()"]]]),
    ],
)
def test_a_call_is_made_after_what_came_up_to_the_place(place, turns):
    origin = recording()
    branch = with_call(origin, place, LS, "branch")
    expected = [calls(origin)[i] if turn is ... else turn for i, turn in enumerate(turns)]
    assert calls(branch) == expected


def test_a_call_takes_the_place_of_another():
    branch = with_call(recording(), call_at(0, 1), MV, "branch", instead=True)
    assert calls(branch) == [[["cat(file_name='note.txt')"], [str(MV)]]]
    assert branch.trace.turns[0].after == READY.truth[0].snapshot
    assert branch.parted == call_at(0, 1)


@pytest.mark.parametrize(
    ("place", "left"),
    [(call_at(1, 0), [[]]), (call_at(1, 0, 1), [[["cd(folder='old')"]]])],
)
def test_a_call_is_left_out(place, left):
    origin = recording()
    branch = with_call(origin, place, None, "branch", instead=True)
    assert calls(branch) == [calls(origin)[0], *left]


def test_a_branch_that_left_within_a_step_goes_on_with_the_rest_of_the_step():
    branch = with_call(recording(), call_at(1, 0), LS, "branch", instead=True)
    played = with_rest(branch)
    assert calls(played)[1:] == [[["ls()"], ["ls()"]], []]
    assert played.rest == [[]]


def test_a_branch_goes_on_as_itself_where_it_ends():
    branch = with_call(recording(), call_at(0, 0), LS, "first")
    longer = with_call(branch, branch.moments[-1].place, MV, "second")
    assert (longer.name, longer.parted) == ("first", call_at(0, 1))
    assert calls(longer) == [[["cat(file_name='note.txt')"], ["ls()"], [str(MV)]]]


def test_a_branch_of_a_branch_goes_on_with_the_rest_of_both():
    branch = with_call(recording(), call_at(0, 0), LS, "first")
    other = with_call(branch, EpisodePlace(0, "start"), LS, "second")
    assert (other.name, other.parted) == ("second", call_at(0, 0))
    assert calls(with_rest(other)) == [
        [["ls()"], ["cat(file_name='note.txt')"], ["ls()"], [str(MV).replace("old", "new")]],
        *calls(recording())[1:],
    ]


def test_a_turn_is_ended_where_one_stands():
    branch = with_turn_ended(recording(), call_at(0, 0), "branch")
    assert calls(branch) == [[["cat(file_name='note.txt')"]], []]
    assert branch.parted == EpisodePlace(0, "end")
    assert calls(with_rest(branch))[1:] == calls(recording())[1:]


def test_a_turn_ends_where_the_timeline_that_was_left_had_no_more_turns():
    short = recording(RECORDED[:1])
    branch = with_turn_ended(short, EpisodePlace(0, "end"), "branch")
    assert calls(branch) == [*calls(short), []]
    assert branch.rest == [[]]


def test_no_step_limit_counts_in_a_branch():
    origin = recording([["[ls()]"] * 20, [], []], STRICT)
    branch = with_call(origin, EpisodePlace(0, "end"), LS, "branch")
    assert len(branch.trace.turns[0].steps) == 21


def test_what_was_said_before_a_branch_leaves_is_kept():
    branch = with_call(recording(), EpisodePlace(2, "end"), LS, "branch")
    assert [turn.answer is None for turn in branch.trace.turns] == [False, False, True]


@given(data=st.data())
def test_leaving_without_a_call_and_playing_the_rest_changes_nothing(data):
    origin = recording()
    place = data.draw(st.sampled_from(origin.moments)).place
    branch = with_call(origin, place, None, "branch")
    played = with_rest(branch)
    ours = [
        (str(call.call), call.result.text) for turn in origin.trace.turns for call in turn.calls
    ]
    theirs = [
        (str(call.call), call.result.text) for turn in played.trace.turns for call in turn.calls
    ]
    assert theirs == ours
    assert played.trace.turns[-1].after == origin.trace.turns[-1].after
