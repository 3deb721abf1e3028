from __future__ import annotations

from dataclasses import replace

import pytest

from checkers.profile import BFCL, STRICT
from envs.calls import Call
from envs.errors import MalformedCall
from envs.session import Session
from runner.episodes.script_playback import make_recorded_script, make_truth_script, play
from runner.episodes.turn_loop import TurnLoop
from tests.judging import null
from trajectories.schema import Turn

both = pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda profile: profile.name)
LOOK = [Call("ticket_get_login_status")]


def test_the_oracle_plays_each_turn_in_one_step(help_desk):
    assert make_truth_script(help_desk) == [
        [[Call("create_ticket", (), {"title": "Dark screen"})]],
        [],
        [[Call("close_ticket", (), {"ticket_id": 1}), Call("get_ticket", (), {"ticket_id": 1})]],
    ]


def test_the_oracle_plays_what_is_no_call_as_its_error(help_desk):
    [[[bad]]] = make_truth_script(replace(help_desk, turns=(Turn((), ("1 + 1",)),)))
    assert isinstance(bad, MalformedCall)


def test_null_never_calls(help_desk):
    assert null(help_desk) == [[], [], []]


# Recorded runs

F, G = Call("f", (), {"a": 1}), Call("g")


@both
@pytest.mark.parametrize(
    ("mode", "turns"),
    [
        (
            "fc",
            [[[{"f": '{"a": 1}'}, {"g": "{}"}], [{"g": "{}"}], "Done."], ["Nothing to do."], []],
        ),
        ("prompt", [["[f(a=1), g()]", "[g()]", "Done."], ["Nothing to do."], []]),
    ],
)
def test_a_recorded_run_is_its_steps_with_calls(profile, mode, turns):
    script = make_recorded_script(turns, profile.replies.decoder(mode), profile)
    assert script == [[[F, G], [G]], [], []]


@both
@pytest.mark.parametrize("step", ["", [], None])
def test_steps_without_calls_are_dropped_wherever_they_stand(profile, step):
    turns = [[step, [{"g": "{}"}], step, [{"f": {"a": 1}}]]]
    assert make_recorded_script(turns, profile.replies.decoder("fc"), profile) == [[[G], [F]]]


BAD = [{"g": "{}"}, {"f": "{"}]


def test_a_step_with_a_bad_call_is_dropped_in_bfcl():
    assert make_recorded_script([[BAD, [{"g": "{}"}]]], BFCL.replies.decoder("fc"), BFCL) == [[[G]]]


def test_a_bad_call_is_answered_and_its_neighbours_are_made_in_strict():
    [[[first, bad], last]] = make_recorded_script(
        [[BAD, [{"g": "{}"}]]], STRICT.replies.decoder("fc"), STRICT
    )
    assert (first, last) == (G, [G])
    assert isinstance(bad, MalformedCall)


def test_text_that_cannot_be_read_is_dropped_in_bfcl():
    assert make_recorded_script([["[f(a=)]", "[g()]"]], BFCL.replies.decoder("prompt"), BFCL) == [
        [[G]]
    ]


def test_text_that_cannot_be_read_is_answered_in_strict():
    [[[bad], last]] = make_recorded_script(
        [["[f(a=)]", "[g()]"]], STRICT.replies.decoder("prompt"), STRICT
    )
    assert isinstance(bad, MalformedCall)
    assert last == [G]


# Playing


def played(trajectory, script, profile=BFCL, step_limit=20):
    """Return the episode that a script makes."""
    checks = profile.execution.checks_arguments
    session = Session.load(trajectory.environments, trajectory.config, checks_arguments=checks)
    episode = TurnLoop(trajectory, session, profile, step_limit)
    play(script, episode)
    return episode


@both
def test_a_script_is_played_to_the_end(help_desk, profile):
    episode = played(help_desk, [[LOOK, LOOK], [], [LOOK]], profile)
    assert [step.turn for step in episode.steps] == [0, 0, 2]
    assert len(episode.outcomes) == 3
    assert (episode.finished, episode.terminated) == (True, False)


@both
def test_a_script_may_end_before_the_episode(help_desk, profile):
    episode = played(help_desk, [[LOOK]], profile)
    assert len(episode.outcomes) == 1
    assert not episode.finished


@both
def test_the_step_limit_ends_the_playing(help_desk, profile):
    episode = played(help_desk, [[LOOK], [LOOK] * 9, [LOOK]], profile, step_limit=3)
    executed = 4 if profile is BFCL else 3
    assert [step.turn for step in episode.steps] == [0] + [1] * executed
    assert (len(episode.outcomes), episode.terminated) == (2, True)


@both
def test_turns_that_the_trajectory_does_not_have_are_not_played(help_desk, profile):
    episode = played(help_desk, [[], [], [LOOK], [LOOK]], profile)
    assert len(episode.steps) == 1
    assert episode.finished
