from __future__ import annotations

import sys

import pytest

from checkers.causes.episode_place import EpisodePlace
from checkers.profile import BFCL, STRICT
from envs.errors import DataError
from envs.state import Difference
from extensions.debugger.breakpoints import read_place, stops, visit
from runner.episodes.offline import examine_recorded, examine_truth
from runner.episodes.turn_loop import STEP_LIMIT
from tests.runner.records.made import answered
from trajectories.prepared_trajectory import prepare


def call_at(turn, step=0, call=0) -> EpisodePlace:
    """Return the place of a call."""
    return EpisodePlace(turn, "call", step, call)


@pytest.fixture
def truth(dataset_of, folders):
    """Return the ground truth of the folders, played."""
    return examine_truth(prepare(dataset_of(folders), folders, BFCL), BFCL, STEP_LIMIT)


@pytest.fixture
def wrong(dataset_of, help_desk):
    """Return a run with a refused call, an unknown function, and a ticket that is wrong."""
    turns = [
        ["[get_ticket(9), nothing()]", "[create_ticket(title='Dark screen', priority=2)]", "Done."],
        ["No."],
        ["No."],
    ]
    ready = prepare(dataset_of(help_desk), help_desk, STRICT)
    return examine_recorded(ready, answered("help_desk_0", turns, "prompt"), STRICT, STEP_LIMIT)


@pytest.fixture
def seen(monkeypatch):
    """Return what is at hand at each stop."""
    found = []

    def look() -> None:
        frame = sys._getframe(1)
        scope = dict(frame.f_locals)
        names = ("session", "call", "result", "truth")
        found.append({name: scope[name] for name in names} | {"frame": frame.f_code.co_name})

    monkeypatch.setattr(sys, "breakpointhook", look)
    return found


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("turn=2,step=1", call_at(1, 0)),
        ("turn=2", call_at(1)),
        ("step=2, turn=1,call=4", call_at(0, 1, 3)),
    ],
)
def test_a_place_is_read(text, place):
    assert read_place(text) == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2",
        "step=1",
        "turn=",
        "turn=-1",
        "turn=0",
        "turn=x",
        "turn=1,line=2",
        "turn=1,",
        "turn=²",
        f"turn={'9' * 9000}",
    ],
)
def test_what_is_no_place_is_refused(text):
    with pytest.raises(DataError, match=r"--break: .* must have the form turn=2,step=1 or turn=2"):
        read_place(text)


def places(examined, *events):
    """Return the places of some events."""
    return [stop.moment.place for stop in stops(examined, [], events)]


def test_an_error_is_a_call_that_is_refused(wrong):
    assert places(wrong, "error") == [call_at(0, 0, 0), call_at(0, 0, 1)]


def test_a_function_is_stopped_at_by_its_name(truth, wrong):
    assert places(truth, "call:wc") == [call_at(1, 0, 1)]
    assert places(wrong, "call:nothing") == [call_at(0, 0, 1)]


def test_the_call_that_leaves_the_ground_truth_is_stopped_at(wrong):
    assert places(wrong, "divergence") == [call_at(0, 1, 0)]


def test_what_is_missing_is_stopped_at_the_end_of_its_turn(dataset_of, folders):
    ready = prepare(dataset_of(folders), folders, BFCL)
    gone = examine_recorded(ready, answered("folders_0", [["No."], []], "prompt"), BFCL, 20)
    assert places(gone, "divergence") == [EpisodePlace(0, "end")]


def test_places_and_events_come_in_order_and_once(wrong):
    found = stops(wrong, [call_at(0, 1), call_at(0)], ["error", "divergence"])
    assert [stop.moment.place for stop in found] == [
        call_at(0, 0, 0),
        call_at(0, 0, 1),
        call_at(0, 1, 0),
    ]
    assert str(found[1]) == "turn 1, step 1, call 2: nothing()"


@pytest.mark.parametrize(
    ("place", "events", "said"),
    [
        ([call_at(5)], [], "--break: the episode has no call at turn 6, step 1, call 1"),
        ([], ["divergence"], "--break-on: divergence does not happen in this episode"),
        ([], ["call:ls"], "--break-on: call:ls does not happen in this episode"),
        (
            [],
            ["call:"],
            "--break-on: unknown event 'call:'; use `divergence`, `error` or `call:NAME`",
        ),
        (
            [],
            ["start"],
            "--break-on: unknown event 'start'; use `divergence`, `error` or `call:NAME`",
        ),
    ],
)
def test_what_does_not_happen_is_stopped_at_in_vain(truth, place, events, said):
    with pytest.raises(DataError, match=said):
        stops(truth, place, events)


def test_the_stop_is_before_the_call_and_knows_what_it_gives(truth, seen):
    (stop,) = stops(truth, [call_at(0)], [])
    before = truth.truth.turns[0].before
    visit(truth, stop)
    (scope,) = seen
    assert str(scope["call"]) == "mv(source='notes.txt', destination='old')"
    assert scope["result"].text == """{"result": "'notes.txt' moved to 'old/notes.txt'"}"""
    assert scope["frame"] == "paused"
    assert scope["truth"].calls == ("mv(source='notes.txt', destination='old')",)
    # By now the call has been made, on a session of its own.
    assert scope["session"].snapshot() == truth.truth.turns[0].after
    assert truth.prepared.template.snapshot() == before


def test_the_session_is_as_it_was_then(truth, monkeypatch):
    states = []
    monkeypatch.setattr(
        sys,
        "breakpointhook",
        lambda: states.append(sys._getframe(1).f_locals["session"].snapshot()),
    )
    (stop,) = stops(truth, [], ["call:wc"])
    visit(truth, stop)
    assert states == [truth.model.turns[1].calls[0].after]


def test_the_truth_says_where_the_state_will_be_wrong(wrong, seen):
    (stop,) = stops(wrong, [], ["divergence"])
    visit(wrong, stop)
    (scope,) = seen
    assert scope["truth"].off_path == (Difference("TicketAPI.ticket_queue[1].priority", 1, 2),)
    assert scope["truth"].after == wrong.truth.turns[0].after


def test_a_call_that_comes_to_no_function_is_stopped_at_all_the_same(wrong, seen):
    (stop,) = stops(wrong, [], ["call:nothing"])
    visit(wrong, stop)
    (scope,) = seen
    assert scope["frame"] == "_pause"
    assert not scope["result"].ok


def test_at_the_end_of_a_turn_there_is_no_call(wrong, seen):
    (stop,) = stops(wrong, [EpisodePlace(1, "end")], [])
    visit(wrong, stop)
    (scope,) = seen
    assert (scope["call"], scope["result"]) == (None, None)
    assert str(stop) == "end of turn 2"


def test_arguments_are_checked_as_ever(wrong, seen):
    (stop,) = stops(wrong, [], ["call:create_ticket"])
    visit(wrong, stop)
    assert [scope["frame"] for scope in seen] == ["paused"]
