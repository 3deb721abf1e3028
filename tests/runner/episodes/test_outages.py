"""Functions that fail for a while or for a whole turn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checkers.profile import STRICT
from envs.errors import DataError
from runner.episodes.script_playback import make_truth_script, play, start_episode
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.record_validation import check_turns
from trajectories.schema import Category, Message, Trajectory, Turn

TICKET = "create_ticket(title='No light')"
TURN = Turn((Message("user", "Open 'No light'."),), (TICKET,), outages={"create_ticket": 2})
ENTRY = Trajectory(
    "base_light", Category.BASE, ("TicketAPI",), {"TicketAPI": {"current_user": "ann"}}, (TURN,)
)


def prepared(entry: Trajectory) -> PreparedTrajectory:
    return prepare(Dataset("own", "1", "", {entry.id: entry}), entry, STRICT)


def results(entry: Trajectory, times: int) -> list[bool]:
    """Return whether each of some equal calls succeeds."""
    made = prepared(entry)
    episode = start_episode(made, STRICT, None)
    call = make_truth_script(entry)[0][0][0]
    return [result.ok for result in episode.act([call] * times)]


def test_the_first_calls_fail_without_effect() -> None:
    assert results(ENTRY, 4) == [False, False, True, True]


def test_the_oracle_repeats_a_failed_call() -> None:
    made = prepared(ENTRY)
    episode = start_episode(made, STRICT, None)
    play(make_truth_script(ENTRY), episode)
    [outcome] = episode.outcomes
    assert [result.ok for result in outcome.results] == [False, False, True]
    assert outcome.snapshot == made.truth[0].snapshot


def test_a_fork_has_the_same_failures_left() -> None:
    episode = start_episode(prepared(ENTRY), STRICT, None)
    call = make_truth_script(ENTRY)[0][0][0]
    assert not episode.act([call])[0].ok
    fork = episode.fork()
    for each in (episode, fork):
        assert [result.ok for result in each.act([call, call])] == [False, True]


def test_a_function_may_be_out_of_service_for_the_turn_only() -> None:
    asked = replace(TURN, outages={"get_ticket": 0})
    entry = replace(ENTRY, turns=(asked, replace(TURN, outages={})))
    assert results(entry, 1) == [True]
    down = replace(TURN, outages={"create_ticket": 0})
    with pytest.raises(DataError, match="always fails, but the ground truth uses it"):
        check_turns(replace(ENTRY, turns=(down,)), "here")
    with pytest.raises(DataError, match="must be 0 to 5 calls, but is 9"):
        check_turns(replace(ENTRY, turns=(replace(TURN, outages={"get_ticket": 9}),)), "here")
