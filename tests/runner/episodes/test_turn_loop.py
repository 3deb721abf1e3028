from __future__ import annotations

from dataclasses import replace

import pytest

from checkers.profile import BFCL, STRICT
from envs.bounds import BOUNDS
from envs.calls import Call, parse_call
from envs.errors import DataError, InvalidArgument, MalformedCall, UnknownFunction
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


# Refused steps, outages and copies


@both
@pytest.mark.parametrize(
    "wrong", [[], (), None, 5, {}, iter(LOOK)], ids=lambda value: type(value).__name__
)
def test_a_step_is_a_sequence_of_calls(help_desk, profile, wrong):
    episode = begin(help_desk, profile)
    with pytest.raises(DataError, match=r"^calls: must be a list of one or more calls, but is "):
        episode.act(wrong)
    with pytest.raises(DataError, match=r"^calls: must be a list of one or more calls, but is "):
        next(episode.step_through(wrong))
    assert (episode.steps, episode.finished) == ([], False)


@both
def test_a_finished_episode_takes_no_step_and_ends_no_turn(help_desk, profile):
    episode = begin(help_desk, profile)
    for _ in help_desk.turns:
        episode.end_turn()
    assert episode.finished
    for do in (lambda: episode.act(LOOK), episode.end_turn):
        with pytest.raises(DataError):
            do()
    assert len(episode.outcomes) == len(help_desk.turns)
    assert episode.steps == []


@both
def test_a_step_can_be_made_call_by_call(help_desk, profile):
    episode, other = begin(help_desk, profile, 1), begin(help_desk, profile, 1)
    made = calls("create_ticket(title='A')", "get_ticket(ticket_id=2)")
    stepping = episode.step_through(made)
    first = next(stepping)
    assert (first.ok, episode.steps) == (True, [])
    results = [first, *stepping]
    assert [each.text for each in results] == [each.text for each in other.act(made)]
    assert episode.steps == [ExecutedStep(0, tuple(made), tuple(results))]
    # A step beyond the limit ends the episode as in one piece.
    rest = [*episode.step_through(made)]
    assert len(rest) == len(other.act(made)) == 2 * (profile is BFCL)
    assert episode.terminated
    assert other.terminated
    assert [len(each.results) for each in episode.outcomes] == [2 + len(rest)]


@both
def test_each_turn_has_its_own_calls_and_count_of_steps(help_desk, profile):
    episode = begin(help_desk, profile, step_limit=2)
    for turn, texts in enumerate((["create_ticket(title='A')", "logout()"], [], ["logout()"])):
        for text in texts:
            episode.act(calls(text))
        episode.end_turn()
        assert len(episode.outcomes) == episode.turn == turn + 1
    assert [[str(call) for call in each.calls] for each in episode.outcomes] == [
        ["create_ticket(title='A')", "logout()"],
        [],
        ["logout()"],
    ]
    assert [step.turn for step in episode.steps] == [0, 0, 2]
    assert (episode.finished, episode.terminated) == (True, False)


@both
def test_a_copy_of_an_episode_goes_its_own_way(help_desk, profile):
    episode = begin(outage(help_desk, 2), profile)
    episode.act(calls("create_ticket(title='A')"))
    episode.act(calls("get_ticket(ticket_id=2)"))
    copy = episode.fork()
    copy.act(calls("get_ticket(ticket_id=2)"))
    copy.end_turn()
    copy.act(calls("logout()"))
    assert (episode.turn, len(episode.steps), episode.outcomes) == (0, 2, [])
    assert (copy.turn, len(copy.steps), len(copy.outcomes)) == (1, 4, 1)
    # The copy's failures and state do not count in the original.
    assert [episode.act(calls("get_ticket(ticket_id=2)"))[0].ok for _ in range(2)] == [False, True]
    episode.end_turn()
    assert [len(each.results) for each in episode.outcomes + copy.outcomes] == [4, 3]
    assert episode.outcomes[0].snapshot == copy.outcomes[0].snapshot != copy.session.snapshot()


def outage(trajectory, failing):
    """Return a trajectory in whose first turn a function is out of service."""
    first, *rest = trajectory.turns
    turn = replace(first, outages={"get_ticket": failing})
    return replace(trajectory, turns=(turn, *rest))


@both
@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_function_works_after_its_failures(help_desk, profile, failing):
    episode = begin(outage(help_desk, failing), profile)
    before = episode.session.snapshot()
    bad = MalformedCall("No call.")
    made = [episode.act([*calls("get_ticket(ticket_id=1)"), bad])[0] for _ in range(failing)]
    assert [each.text for each in made] == [
        '{"error": "get_ticket is temporarily down. Try again."}'
    ] * failing
    assert episode.session.snapshot() == before
    both_calls = episode.act(calls("get_ticket(ticket_id=1)", "get_ticket(ticket_id=1)"))
    assert [each.ok for each in both_calls] == [True, True]


@both
def test_a_function_out_of_service_fails_for_the_whole_turn(help_desk, profile):
    episode = begin(outage(help_desk, 0), profile)
    for _ in range(5):
        [failed] = episode.act(calls("get_ticket(ticket_id=1)"))
        assert failed.text == '{"error": "get_ticket is out of service."}'
    assert episode.act(LOOK)[0].ok
    episode.end_turn()
    assert episode.act(calls("get_ticket(ticket_id=1)"))[0].ok


@both
@pytest.mark.parametrize("observed", [False, True])
def test_results_are_shown_as_the_model_reads_them(help_desk, profile, observed):
    def observe(session, call, result, words):
        seen.append((str(call), result.ok, words))
        return f"shown {call}"

    seen = []
    session = Session.load(help_desk.environments, help_desk.config)
    episode = TurnLoop(help_desk, session, profile, observe=observe if observed else None)
    [result] = episode.act(LOOK)
    assert result.shown == (f"shown {LOOK[0]}" if observed else None)
    words = help_desk.turns[0].words
    assert seen == [("ticket_get_login_status()", True, words)] * observed


@pytest.mark.parametrize(
    ("place", "described"), [(0, "a Trajectory"), (1, "a Session"), (2, "BFCL or STRICT")]
)
def test_an_episode_needs_an_entry_a_session_and_a_profile(help_desk, place, described):
    session = Session.load(help_desk.environments, help_desk.config)
    given = [help_desk, session, STRICT]
    given[place] = "wrong"
    with pytest.raises((DataError, TypeError), match=described):
        TurnLoop(*given)
