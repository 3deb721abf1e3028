from __future__ import annotations

import pytest

from checkers.profile import BFCL, STRICT
from envs.bounds import BOUNDS
from envs.calls import Call, parse_call
from envs.errors import InvalidArgument, MalformedCall, UnknownFunction
from envs.session import Session
from runner.episodes.turn_loop import STEP_LIMIT, ExecutedStep, TurnLoop

both = pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda profile: profile.name)
LOOK = [Call("ticket_get_login_status")]


def begin(trajectory, profile, step_limit=STEP_LIMIT):
    """Return a trajectory's episode at its start."""
    checks = profile.execution.checks_arguments
    session = Session.load(trajectory.environments, trajectory.config, checks_arguments=checks)
    return TurnLoop(trajectory, session, profile, step_limit)


def calls(*texts):
    """Return the calls that texts stand for."""
    return [parse_call(text) for text in texts]


# Turns and steps


@both
def test_an_episode_goes_through_its_turns(help_desk, profile):
    episode = begin(help_desk, profile)
    seen = []
    while not episode.finished:
        seen.append((episode.turn, episode.messages, episode.offers))
        episode.end_turn()
    assert seen == [(i, turn.messages, turn.offers) for i, turn in enumerate(help_desk.turns)]
    assert len(episode.outcomes) == 3
    assert not episode.terminated


@both
def test_a_step_gives_results_and_is_recorded(help_desk, profile):
    episode = begin(help_desk, profile)
    made = calls("create_ticket(title='A')", "get_ticket(ticket_id=9)")
    results = episode.act(made)
    assert [result.ok for result in results] == [True, False]
    assert episode.steps == [ExecutedStep(0, tuple(made), tuple(results))]


@both
def test_a_step_makes_no_more_calls_than_its_bound_and_the_next_goes_on(help_desk, profile):
    most = BOUNDS.calls_in_step
    episode = begin(help_desk, profile)
    results = episode.act(calls("create_ticket(title='A')") * (most + 2))
    assert [result.ok for result in results] == [True] * most + [False] * 2
    assert f"at most {most} calls" in results[-1].text
    assert episode.act(calls("get_ticket(ticket_id=1)"))[0].ok
    assert [len(step.results) for step in episode.steps] == [most + 2, 1]


@both
def test_an_exchange_with_the_user_restarts_the_count_of_steps(help_desk, profile):
    episode = begin(help_desk, profile, step_limit=2)
    for _ in range(2):
        assert [len(episode.act(LOOK)) for _ in range(2)] == [1, 1]
        episode.converse(ExecutedStep(0, (), ()))
    assert not episode.finished


@both
def test_the_outcome_of_a_turn_is_that_of_all_its_steps(help_desk, profile):
    episode = begin(help_desk, profile)
    first = episode.act(calls("create_ticket(title='A')"))
    second = episode.act([*LOOK, *LOOK])
    episode.end_turn()
    episode.end_turn()
    with_steps, without = episode.outcomes
    assert with_steps.results == (*first, *second)
    assert with_steps.snapshot == without.snapshot == episode.session.snapshot()
    assert (with_steps.acted, without.acted) == (True, False)
    assert without.results == ()


@both
def test_a_snapshot_stays_as_it_was(help_desk, profile):
    episode = begin(help_desk, profile)
    before = episode.session.snapshot()
    episode.act(calls("create_ticket(title='A')"))
    after = episode.session.snapshot()
    digests = before.digest(), after.digest()
    episode.act(calls("resolve_ticket(2, 'Done.')"))
    assert (before.digest(), after.digest()) == digests
    assert before != after != episode.session.snapshot()


@both
def test_a_step_of_malformed_calls_is_a_step(help_desk, profile):
    episode = begin(help_desk, profile)
    [result] = episode.act([MalformedCall("No call.")])
    assert result.text == '{"error": "No call."}'
    episode.end_turn()
    assert episode.outcomes[0].acted


# The step limit


@both
def test_as_many_steps_as_the_limit_are_fine_in_every_turn(help_desk, profile):
    episode = begin(help_desk, profile)
    for _ in help_desk.turns:
        for _ in range(STEP_LIMIT):
            assert len(episode.act(LOOK)) == 1
        episode.end_turn()
    assert len(episode.steps) == 60
    assert (episode.finished, episode.terminated) == (True, False)


def test_one_step_more_is_executed_and_ends_the_episode_in_bfcl(help_desk):
    episode = begin(help_desk, BFCL)
    for _ in range(STEP_LIMIT):
        episode.act(LOOK)
    assert not episode.finished
    [result] = episode.act(calls("create_ticket(title='A')"))
    assert result.ok
    assert len(episode.steps) == STEP_LIMIT + 1
    assert (episode.finished, episode.terminated) == (True, True)
    [outcome] = episode.outcomes
    assert len(outcome.results) == STEP_LIMIT + 1
    assert len(outcome.snapshot.to_json()["TicketAPI"]["ticket_queue"]) == 2


def test_one_step_more_ends_the_episode_unexecuted_in_strict(help_desk):
    episode = begin(help_desk, STRICT)
    for _ in range(STEP_LIMIT):
        episode.act(LOOK)
    assert not episode.finished
    assert episode.act(calls("create_ticket(title='A')")) == []
    assert len(episode.steps) == STEP_LIMIT
    assert (episode.finished, episode.terminated) == (True, True)
    [outcome] = episode.outcomes
    assert len(outcome.results) == STEP_LIMIT
    assert len(outcome.snapshot.to_json()["TicketAPI"]["ticket_queue"]) == 1


@both
def test_the_limit_can_be_another(help_desk, profile):
    episode = begin(help_desk, profile, step_limit=1)
    episode.act(LOOK)
    assert not episode.finished
    episode.act(LOOK)
    assert episode.terminated


@both
def test_there_may_be_no_limit(help_desk, profile):
    episode = begin(help_desk, profile, step_limit=None)
    for _ in range(5 * STEP_LIMIT):
        episode.act(LOOK)
    episode.end_turn()
    assert len(episode.outcomes[0].results) == 5 * STEP_LIMIT


# Which functions may be called, with which arguments


@both
def test_what_is_offered_is_the_same_in_both_profiles(help_desk, profile):
    episode = begin(help_desk, profile)
    everything = set(episode.session.tools)
    for offered in (everything - {"close_ticket"}, everything - {"close_ticket"}, everything):
        assert episode.offered == offered
        episode.end_turn()


def test_a_held_out_function_can_be_called_in_bfcl(help_desk):
    [result] = begin(help_desk, BFCL).act(calls("close_ticket(ticket_id=1)"))
    assert result.ok


def test_a_held_out_function_is_unknown_in_strict_until_it_is_handed_over(help_desk):
    episode = begin(help_desk, STRICT)
    before = episode.session.snapshot()
    for _ in range(2):
        [result] = episode.act(calls("close_ticket(ticket_id=1)"))
        assert isinstance(result.error, UnknownFunction)
        assert "close_ticket" not in result.text.removeprefix(
            '{"error": "There is no function \'close_ticket\'.'
        )
        episode.end_turn()
    assert episode.session.snapshot() == before
    [result] = episode.act(calls("close_ticket(ticket_id=1)"))
    assert result.ok


def test_a_held_out_function_is_unknown_inside_an_argument_too_in_strict(help_desk):
    episode = begin(help_desk, STRICT)
    before = episode.session.snapshot()
    [result] = episode.act(calls("create_ticket(title=close_ticket(ticket_id=1))"))
    assert isinstance(result.error, UnknownFunction)
    assert episode.session.snapshot() == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("help_desk", "get_ticket(ticket_id=resolve_ticket(1, 'Out.'))"),
        ("help_desk", "nonsense(1, [get_ticket(1), {'x': logout()}])"),
        ("folders", "find(name=touch('x'))"),
    ],
    ids=["refused", "unknown", "fine"],
)
def test_a_change_by_a_call_inside_an_argument_is_a_change(request, name, text):
    episode = begin(request.getfixturevalue(name), STRICT)
    before = episode.session.snapshot()
    [result] = episode.act(calls(text))
    assert result.changed == (episode.session.snapshot() != before)


def test_ill_typed_arguments_do_what_python_makes_of_them_in_bfcl(help_desk):
    [result] = begin(help_desk, BFCL).act(calls("create_ticket(title=5)"))
    assert result.value["title"] == 5


def test_ill_typed_arguments_are_refused_in_strict(help_desk):
    episode = begin(help_desk, STRICT)
    before = episode.session.snapshot()
    [result] = episode.act(calls("create_ticket(title=5)"))
    assert isinstance(result.error, InvalidArgument)
    assert "title" in result.text
    assert episode.session.snapshot() == before
