"""Traces of scripts: executed calls with states, and the ends of recorded turns."""

from __future__ import annotations

import pytest

from checkers.profile import BFCL, STRICT
from envs.calls import Call
from envs.errors import MalformedCall
from runner.episodes.script_playback import make_truth_script, play, start_episode
from runner.episodes.script_traces import trace, trace_recorded, trace_truth
from trajectories.offered_functions import OfferedFunctions
from trajectories.prepared_trajectory import prepare

CREATE, LOOK = Call("create_ticket", (), {"title": "A"}), Call("ticket_get_login_status")
SEEK = Call("find_functions", (), {"query": "a"})
both = pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda profile: profile.name)


@pytest.fixture
def ready(dataset_of, help_desk):
    """Return what prepares the help desk."""
    return lambda profile: prepare(dataset_of(help_desk), help_desk, profile)


def calls_of(traced):
    """Return the calls of each step of each turn."""
    return [[[str(each.call) for each in step] for step in turn.steps] for turn in traced.turns]


@both
@pytest.mark.parametrize("limit", [None, 3, 2, 1])
def test_a_trace_has_the_outcomes_of_the_script(ready, profile, limit):
    script = [[[CREATE, LOOK], [LOOK], [LOOK]], [], [[LOOK]]]
    prepared = ready(profile)
    episode = start_episode(prepared, profile, limit)
    play(script, episode)
    traced = trace(prepared, script, profile, limit)
    assert traced.terminated is episode.terminated is (limit is not None and limit < 3)
    # A call without a result was not made.
    made = [[str(call) for step in turn for call in step] for turn in calls_of(traced)]
    assert made == [[str(call) for call in each.calls] for each in episode.outcomes]
    for turn, outcome in zip(traced.turns, episode.outcomes, strict=True):
        assert [each.result.text for each in turn.calls] == [r.text for r in outcome.results]
        states = [turn.before, *(each.after for each in turn.calls)]
        assert states[-1] == outcome.snapshot
    first = traced.turns[0].calls
    assert first[0].after == first[1].after != traced.turns[0].before
    assert traced.turns[0].looks == frozenset()


@both
def test_the_truth_is_traced_with_all_functions_and_without_a_limit(ready, profile):
    prepared = ready(profile)
    nothing = OfferedFunctions((frozenset(),) * 3)
    traced = trace_truth(prepared._replace(offering=nothing), profile)
    script = make_truth_script(prepared.trajectory)
    assert calls_of(traced) == [[[*map(str, step)] for step in turn] for turn in script]
    assert all(each.result.ok for turn in traced.turns for each in turn.calls)
    assert not traced.terminated


@both
def test_searches_for_functions_are_marked(ready, profile):
    offered = frozenset(["create_ticket", "ticket_get_login_status"])
    offering = OfferedFunctions((offered,) * 3, lambda query, there: [])
    prepared = ready(profile)._replace(offering=offering)
    traced = trace(prepared, [[[LOOK, SEEK], [CREATE], [SEEK]], [], [[LOOK]]], profile)
    assert [turn.looks for turn in traced.turns] == [{1, 3}, set(), set()]
    assert traced.turns[0].offered == {*offered, "find_functions"}


@both
@pytest.mark.parametrize(
    ("mode", "steps", "answer", "unreadable_in"),
    [
        ("fc", [], None, []),
        ("fc", [None], None, []),
        ("fc", ["Done."], "Done.", []),
        ("fc", ["[f(]"], "[f(]", []),
        ("fc", [[{"ticket_get_login_status": "{}"}]], None, []),
        ("fc", ["Done.", [{"ticket_get_login_status": "{"}]], None, [BFCL]),
        ("prompt", ["[ticket_get_login_status()]", "Done."], "Done.", [BFCL]),
        ("prompt", ["[ticket_get_login_status()]"], None, []),
        ("prompt", ["[f(]"], "[f(]", [BFCL, STRICT]),
        ("prompt", ["[]"], "[]", []),
    ],
)
def test_a_recorded_turn_ends_with_its_last_step(
    ready, profile, mode, steps, answer, unreadable_in
):
    traced = trace_recorded(ready(profile), [["Other."], steps, []], mode, profile)
    assert len(traced.turns) == 3
    turn = traced.turns[1]
    assert turn.answer == answer
    assert isinstance(turn.unreadable, MalformedCall) is (profile in unreadable_in)
    assert traced.turns[0].answer == "Other."


@both
def test_recorded_turns_have_a_limit_in_strict_only(ready, profile):
    step = [{"ticket_get_login_status": "{}"}]
    traced = trace_recorded(ready(profile), [[step] * 3, [], []], "fc", profile, 2)
    assert traced.terminated is (profile is STRICT)
    assert len(traced.turns) == (1 if profile is STRICT else 3)
    assert len(traced.turns[0].calls) == (2 if profile is STRICT else 3)
