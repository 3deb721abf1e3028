from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.causes.episode_place import EpisodePlace
from checkers.profile import STRICT
from envs.errors import BackendFault
from extensions.debugger.timeline import CallOrigin
from tests.extensions.debugger.episodes import HOSTILE, RECORDED, stepper

MV = "mv(source='notes.txt', destination='old')"


def at(stepper, place: EpisodePlace):
    """Stand at a place."""
    stepper.cursor = stepper.timeline.index(place)
    return stepper


def in_branch():
    """Return a stepper in a branch where the wrong call was put right."""
    session = at(stepper(), EpisodePlace(0, "call", 1))
    assert session.call(MV, instead=True) == ""
    return session


def test_a_recording_comes_with_its_ground_truth():
    session = stepper()
    assert [timeline.name for timeline in session.timelines] == ["recording", "ground truth"]
    assert session.timeline.source is CallOrigin.RECORDING
    assert session.moment.place == EpisodePlace(0, "start")


def test_without_a_recording_there_is_the_ground_truth():
    session = stepper(None)
    assert [timeline.source for timeline in session.timelines] == [CallOrigin.TRUTH]
    assert session.timeline.divergence is None
    assert session.timeline.failures == (None, None, None)


@pytest.mark.parametrize(("start", "by", "stop"), [(0, 1, 1), (0, -1, 0), (9, 1, 9), (2, 5, 7)])
def test_one_moves_as_far_as_there_are_moments(start, by, stop):
    session = stepper()
    session.cursor = start
    session.move(by)
    assert session.cursor == stop


@pytest.mark.parametrize(
    ("start", "by", "stop"), [(0, 1, 4), (5, 1, 8), (9, 1, 9), (9, -1, 8), (4, -1, 0), (0, -1, 0)]
)
def test_one_moves_by_turns(start, by, stop):
    session = stepper()
    session.cursor = start
    session.move_turn(by)
    assert session.cursor == stop


def test_one_goes_to_where_the_ground_truth_was_left():
    session = stepper()
    assert session.go_to_divergence() == ""
    assert session.moment.place == EpisodePlace(0, "call", 1)


def test_what_is_missing_at_the_end_of_a_turn_leaves_the_ground_truth_there():
    session = stepper([["[ls()]", "Hm."], [], []])
    session.go_to_divergence()
    assert session.moment.place == EpisodePlace(0, "end")


def test_one_stays_where_the_ground_truth_was_not_left():
    session = stepper(None)
    session.cursor = 3
    assert session.go_to_divergence() == "The ground truth does not diverge from the ground truth."
    assert session.cursor == 3


def test_within_a_turn_the_state_may_be_any_that_the_truth_passes_through():
    session = at(stepper(), EpisodePlace(0, "call", 0))
    assert session.moment.off_path == []
    session = at(stepper(), EpisodePlace(0, "call", 1))
    assert [difference.path.rpartition(".")[2] for difference in session.moment.off_path] == ["new"]


def test_at_the_end_of_a_turn_the_state_is_the_truths():
    session = at(stepper([["[ls()]", "Hm."], [], []]), EpisodePlace(0, "call", 0))
    assert session.moment.off_path == []
    session.move(1)
    assert len(session.moment.off_path) == 2


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        ("put the notes", EpisodePlace(0, "start")),
        ("MV(", EpisodePlace(0, "call", 1)),
        ("There is no", EpisodePlace(0, "call", 0)),
        ("contents.new", EpisodePlace(0, "call", 1)),
        ("Done.", EpisodePlace(0, "end")),
        (HOSTILE, EpisodePlace(1, "end")),
        ("one\\ntwo", EpisodePlace(0, "start")),
    ],
)
def test_messages_calls_results_changes_answers_and_the_initial_state_are_searched(wanted, place):
    session = stepper()
    session.search(wanted)
    assert session.moment.place == place


def test_functions_that_are_handed_over_are_searched(help_desk):
    session = stepper([["Hm."], [], []], help_desk)
    session.search("close_ticket")
    assert session.moment.place == EpisodePlace(2, "start")


def test_one_searches_on_and_back_and_around():
    session = stepper()
    session.search("notes.txt")
    seen = []
    for by in (1, 1, 1, -1, -1, 1):
        said = session.search_on(by)
        initial = "'notes.txt' is in the initial state; press 2 to show it."
        assert said == ("" if session.cursor else initial)
        seen.append(session.cursor)
    assert seen == [1, 2, 0, 2, 1, 2]


def test_a_search_without_a_match_says_so_and_stays():
    session = stepper()
    session.cursor = 2
    assert session.search("nowhere") == "No match for 'nowhere'."
    assert session.cursor == 2


def test_there_is_no_searching_on_before_a_search():
    assert stepper().search_on(1) == "Press / to search first."


def test_the_next_timeline_is_shown_at_the_same_place():
    session = at(stepper(), EpisodePlace(1, "call", 0, 1))
    session.switch()
    assert (session.timeline.name, session.moment.place) == (
        "ground truth",
        EpisodePlace(1, "call", 0, 1),
    )
    session.switch()
    assert session.timeline.name == "recording"


def test_an_edited_call_makes_a_branch_and_leaves_the_recording_alone():
    session = stepper()
    recording = session.timeline
    before = [(str(m.traced and m.traced.call), m.after) for m in recording.moments]
    at(session, EpisodePlace(0, "call", 1)).call(MV, instead=True)
    assert (session.timeline.name, session.moment.place) == (
        "branch 1",
        EpisodePlace(0, "call", 1),
    )
    assert str(session.moment.traced.call) == MV
    assert session.timeline.divergence is None
    assert session.timelines[0] is recording
    assert [(str(m.traced and m.traced.call), m.after) for m in recording.moments] == before


def test_a_branch_plays_the_rest_and_stays_where_it_was():
    session = in_branch()
    assert session.play_rest() == ""
    assert (session.timeline.name, session.moment.place) == (
        "branch 1",
        EpisodePlace(0, "call", 1),
    )
    assert [failure and failure.reason.name for failure in session.timeline.failures] == [
        None,
        "RESPONSE_MISMATCH",
        None,
    ]
    assert session.play_rest().startswith("No calls are left")


def test_a_new_call_makes_a_branch_and_further_ones_go_on_in_it():
    session = in_branch()
    session.end_turn()
    assert session.moment.place == EpisodePlace(1, "start")
    for text in ("cd('old')", "wc('notes.txt')"):
        session.call(text)
    assert len(session.timelines) == 3
    assert session.moment.place == EpisodePlace(1, "call", 1)
    session.end_turn()
    assert session.timeline.failures == (None, None, None)


def test_a_call_at_an_earlier_place_of_a_branch_makes_another():
    session = in_branch()
    at(session, EpisodePlace(0, "start")).call("ls()")
    assert [timeline.name for timeline in session.timelines[2:]] == ["branch 1", "branch 2"]


def test_a_call_that_cannot_be_read_is_refused_as_a_models_would_be():
    session = stepper()
    assert session.call("__import__('os').system('true')[") == ""
    assert "is not valid Python" in session.moment.traced.result.text
    session.call("rm(__class__)")
    assert "is not a literal" in session.moment.traced.result.text


def test_no_text_makes_no_call():
    session = stepper()
    assert session.call("  ") == ""
    assert len(session.timelines) == 2


def test_no_text_in_place_of_a_call_leaves_it_out():
    session = at(stepper(), EpisodePlace(0, "call", 1))
    session.call("", instead=True)
    assert session.moment.place == EpisodePlace(0, "call", 0)
    assert session.timeline.trace.turns[0].after == session.timeline.trace.turns[0].before


def test_where_there_is_no_call_none_is_edited():
    assert stepper().call(MV, instead=True) == "No call to edit; press j or k to select a call."


def test_the_last_turn_has_none_after_it():
    session = at(stepper(), EpisodePlace(2, "end"))
    assert session.end_turn() == "The last turn cannot be ended early."


def test_a_recording_has_nothing_left_to_play():
    assert stepper().play_rest().startswith("No calls are left")


def test_a_dropped_branch_is_gone_and_one_is_back_where_it_left():
    session = in_branch()
    assert session.drop() == "Deleted branch 1."
    assert [timeline.name for timeline in session.timelines] == ["recording", "ground truth"]
    assert (session.timeline.name, session.moment.place) == (
        "recording",
        EpisodePlace(0, "call", 1),
    )


def test_a_name_is_not_used_again():
    session = in_branch()
    session.drop()
    session.call("ls()")
    assert session.timeline.name == "branch 2"


def test_only_a_branch_is_dropped():
    session = stepper()
    assert session.drop() == "The recording is not a branch; only branches can be deleted."
    assert len(session.timelines) == 2


def test_a_branch_is_compared_with_the_recording():
    session = in_branch()
    assert session.counterpart.place == EpisodePlace(0, "call", 1)
    session.call("ls()")
    assert session.counterpart.place == EpisodePlace(0, "end")


@pytest.mark.parametrize("turns", [RECORDED, None])
def test_nothing_but_a_branch_is_compared_with_the_recording(turns):
    assert stepper(turns).counterpart is None


def test_a_backend_that_breaks_is_told_and_makes_no_branch(monkeypatch):
    def broken(*_, **__):
        raise BackendFault("ls()", KeyError("root"))

    monkeypatch.setattr("extensions.debugger.stepper.with_call", broken)
    session = stepper()
    assert session.call("ls()") == "ls() raised KeyError: 'root'"
    assert len(session.timelines) == 2


def test_functions_are_completed_with_their_parameters():
    assert "mv(source=, destination=)" in stepper().completions


def test_only_functions_that_are_offered_are_completed(help_desk):
    session = stepper([["Hm."], [], []], help_desk, STRICT)
    held_out = "close_ticket(ticket_id=)"
    assert held_out not in session.completions
    session.move_turn(1)
    session.move_turn(1)
    assert held_out in session.completions


def test_what_is_held_out_is_refused_in_a_branch_of_the_recording_only(help_desk):
    session = stepper([["Hm."], [], []], help_desk, STRICT)
    session.call("close_ticket(1)")
    assert not session.moment.traced.result.ok
    session.drop()
    session.switch()
    session.call("close_ticket(1)")
    assert session.moment.traced.result.ok


@given(
    keys=st.lists(
        st.sampled_from(
            [
                "move",
                "back",
                "turn",
                "edit",
                "call",
                "odd",
                "end",
                "rest",
                "drop",
                "switch",
                "diverge",
            ]
        ),
        max_size=12,
    )
)
def test_whatever_one_does_there_is_a_moment_and_the_recording_stays(keys):
    session = stepper()
    first = list(session.timelines)
    calls = [str(m.traced and m.traced.call) for m in first[0].moments]
    acts = {
        "move": lambda: session.move(1),
        "back": lambda: session.move(-1),
        "turn": lambda: session.move_turn(1),
        "edit": lambda: session.call("", instead=True),
        "call": lambda: session.call(MV),
        "odd": lambda: session.call("mv("),
        "end": session.end_turn,
        "rest": session.play_rest,
        "drop": session.drop,
        "switch": session.switch,
        "diverge": session.go_to_divergence,
    }
    for key in keys:
        acts[key]()
        assert session.moment in session.timeline.moments
        assert len(session.timeline.failures) == len(session.timeline.trace.turns)
    assert session.timelines[:2] == first
    assert [str(m.traced and m.traced.call) for m in first[0].moments] == calls
