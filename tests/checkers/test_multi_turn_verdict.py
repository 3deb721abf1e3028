from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers import multi_turn_verdict as turns
from checkers.multi_turn_verdict import inference_error, make_force_terminated_verdict
from checkers.profile import BFCL, STRICT
from checkers.reasons import Reason
from checkers.unordered_comparison import list_missing_results
from checkers.verdict import ExecutedTurn, Failure, PositionAfterCall, Verdict
from envs.calls import Call, parse_call
from envs.errors import UnknownFunction
from envs.results import Result
from envs.session import Session
from envs.state import Difference, Snapshot
from trajectories.replay_queries import ReplayQueries
from trajectories.schema import Category, Trajectory, Turn

PROFILES = [BFCL, STRICT]
both = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)


class Unchanging:
    """A world of functions without arguments, each of which says its name whenever it is called.

    Args:
        asked: Whether turns ask for nothing but an answer.
    """

    def __init__(self, asked=False):
        self.asked = asked

    def words(self, turn):
        return ""

    def backend(self, call):
        return "World"

    def unordered(self, backend):
        return frozenset()

    def arguments(self, call):
        return {}

    def asks_about(self, call):
        return ()

    def acts(self, turn, position):
        return False

    def instead(self, turn, position):
        return ()

    visible = frozenset()

    def prohibited(self, turn):
        return ()

    def ordered(self, turn):
        return ()

    def stays(self, turn):
        return False

    def only_asks(self, turn):
        return self.asked

    def waiting(self, turn, function):
        return ()

    def again(self, call, turn, position, model):
        yield PositionAfterCall(0, -1), Result(call.name)


def judge(truth, model, profile, scene=None, **more):
    return turns.judge(truth, model, profile, scene or Unchanging(), **more)


def outcome(*texts, at=0, acted=None, changed=False):
    """Return what a turn led to: result texts, and a state with one number in it."""
    results = tuple([Result(text, None, changed) for text in texts])
    state = Snapshot({"World": {"place": at}})
    calls = tuple(map(Call, texts))
    return ExecutedTurn(results, state, bool(texts) if acted is None else acted, calls)


def of_result(value, state):
    """Return what a turn with one call led to."""
    return ExecutedTurn((Result(value),), state, True, (Call("f"),))


IDLE = outcome()


def failed(reason, turn, turns, passed):
    """Tell a verdict by all but the evidence."""
    return (False, reason, turn, turns, passed)


def brief(verdict):
    """Return a verdict without the evidence."""
    reason = verdict.failure and verdict.failure.reason
    return (verdict.valid, reason, verdict.failed_turn, verdict.turns, verdict.turns_passed)


def passed(turns):
    """Return the verdict on an episode in which all is right."""
    return Verdict(True, None, None, turns, turns)


# Truth passes, truth with something wrong in it does not


@both
def test_what_agrees_with_the_truth_passes(profile):
    truth = [outcome("a", "b", at=1), IDLE, outcome("c", at=2)]
    assert judge(truth, truth, profile) == passed(3)


@both
def test_an_episode_without_turns_passes(profile):
    assert judge([], [], profile) == passed(0)


CONFIG = {"TicketAPI": {"ticket_queue": [], "ticket_counter": 1, "current_user": "ann"}}
TRUTH = [
    ["create_ticket(title='Dark screen', priority=2)", "create_ticket(title='No sound')"],
    ["get_user_tickets(status='open')"],
    ["close_ticket(ticket_id=1)", "ticket_get_login_status()"],
]


def played(turns):
    """Return what call texts lead to, turn by turn."""
    session = Session.load(["TicketAPI"], CONFIG, checks_arguments=False)
    outcomes = []
    for texts in turns:
        calls = tuple([parse_call(text) for text in texts])
        results = tuple(session.play(calls))
        outcomes.append(ExecutedTurn(results, session.snapshot(), bool(results), calls))
    return outcomes


def judge_played(truth, model, profile):
    """Judge call texts by others."""
    turns = tuple([Turn((), tuple(texts)) for texts in truth])
    trajectory = Trajectory("t", Category.BASE, ("TicketAPI",), CONFIG, turns)
    outcomes = played(truth)
    scene = ReplayQueries(trajectory, Session.load(["TicketAPI"], CONFIG), outcomes)
    return judge(outcomes, played(model), profile, scene)


def with_turn(turn, calls):
    """Return the truth with one turn replaced."""
    return [*TRUTH[:turn], calls, *TRUTH[turn + 1 :]]


@both
@pytest.mark.parametrize("turn", range(3))
def test_extra_calls_are_free_where_state_and_results_are_right(profile, turn):
    calls = ["ticket_get_login_status()", "get_ticket(ticket_id=99)", "nonsense(1)", *TRUTH[turn]]
    assert judge_played(TRUTH, with_turn(turn, calls), profile) == passed(3)


@both
@pytest.mark.parametrize(
    ("turn", "calls", "reason"),
    [
        # A call removed
        (0, TRUTH[0][:1], Reason.STATE_MISMATCH),
        (0, TRUTH[0][1:], Reason.STATE_MISMATCH),
        (1, [], Reason.EMPTY_TURN),
        (2, TRUTH[2][:1], Reason.RESPONSE_MISMATCH),
        (2, TRUTH[2][1:], Reason.STATE_MISMATCH),
        # An argument changed
        (0, ["create_ticket(title='Dark screen', priority=3)", TRUTH[0][1]], Reason.STATE_MISMATCH),
        (0, [TRUTH[0][0], "create_ticket(title='No Sound')"], Reason.STATE_MISMATCH),
        (1, ["get_user_tickets(status='closed')"], Reason.RESPONSE_MISMATCH),
        (2, ["close_ticket(ticket_id=2)", TRUTH[2][1]], Reason.STATE_MISMATCH),
        # Calls in another order, one too many, or another one
        (0, TRUTH[0][::-1], Reason.STATE_MISMATCH),
        (0, [*TRUTH[0], TRUTH[0][0]], Reason.STATE_MISMATCH),
        (1, ["ticket_get_login_status()"], Reason.RESPONSE_MISMATCH),
        (1, ["close_ticket(ticket_id=1)"], Reason.STATE_MISMATCH),
    ],
)
def test_truth_with_something_wrong_in_it_fails(profile, turn, calls, reason):
    verdict = judge_played(TRUTH, with_turn(turn, calls), profile)
    assert brief(verdict) == failed(reason, turn, 3, turn)


def test_equal_numbers_are_equal_states_but_unequal_results_in_bfcl():
    truth = [["create_ticket(title='A', priority=1)"]]
    model = [["create_ticket(title='A', priority=1.0)"]]
    verdict = judge_played(truth, model, BFCL)
    assert verdict.failure.reason is Reason.RESPONSE_MISMATCH
    # What was changed is judged by the state.
    assert judge_played(truth, model, STRICT) == passed(1)


@both
def test_work_done_early_passes_where_each_turn_has_a_call_and_the_right_state(profile):
    early = [[*TRUTH[0], *TRUTH[1]], ["nonsense()"], TRUTH[2]]
    assert judge_played(TRUTH, early, profile) == passed(3)


def test_work_done_early_needs_no_call_in_strict():
    early = [[*TRUTH[0], *TRUTH[1]], [], TRUTH[2]]
    assert judge_played(TRUTH, early, STRICT) == passed(3)
    assert judge_played(TRUTH, early, BFCL).failure.reason is Reason.EMPTY_TURN


# The number of turns


@both
@pytest.mark.parametrize("model", [[], [IDLE], [IDLE, IDLE, IDLE]], ids=len)
def test_another_number_of_turns_is_forced_termination(profile, model):
    truth = [outcome("a", at=1), outcome("b", at=2)]
    verdict = judge(truth, model, profile)
    assert verdict == make_force_terminated_verdict(2)
    assert brief(verdict) == failed(Reason.FORCE_TERMINATED, None, 2, 0)


@both
def test_another_number_of_turns_comes_before_what_happened_in_them(profile):
    truth = [outcome("a", at=1), outcome("b", at=2)]
    assert judge(
        truth, [outcome("x", at=9)], profile, terminated=True
    ) == make_force_terminated_verdict(2)


def test_termination_in_the_last_turn_goes_unnoticed_in_bfcl():
    truth = [outcome("a", at=1)]
    assert judge(truth, truth, BFCL, terminated=True) == passed(1)


def test_termination_in_the_last_turn_is_noticed_in_strict():
    truth = [outcome("a", at=1)]
    assert judge(truth, truth, STRICT, terminated=True) == make_force_terminated_verdict(1)


def test_termination_in_the_last_turn_leaves_other_failures_in_bfcl():
    truth, model = [outcome("a", at=1)], [outcome("a", at=2)]
    verdict = judge(truth, model, BFCL, terminated=True)
    assert brief(verdict) == failed(Reason.STATE_MISMATCH, 0, 1, 0)


def test_no_record_of_steps_is_an_inference_error():
    assert brief(inference_error(3)) == failed(Reason.INFERENCE_ERROR, None, 3, 0)


# The order of checks


@both
def test_an_empty_turn_comes_before_a_wrong_state(profile):
    verdict = judge([outcome("a", at=1)], [outcome(at=2)], profile)
    assert verdict.failure == Failure(Reason.EMPTY_TURN)


@both
def test_a_step_of_which_nothing_came_is_not_an_empty_turn(profile):
    verdict = judge([outcome("a", at=1)], [outcome(at=2, acted=True)], profile)
    assert verdict.failure.reason is Reason.STATE_MISMATCH


@both
def test_a_wrong_state_comes_before_missing_results(profile):
    verdict = judge([outcome("a", at=1)], [outcome("b", at=2)], profile)
    assert verdict.failure.reason is Reason.STATE_MISMATCH
    assert verdict.failure.differences == (Difference("World.place", 1, 2),)
    assert verdict.failure.missing == ()


@both
def test_missing_results_come_last_and_are_named(profile):
    verdict = judge([outcome("a", "b", "b", at=1)], [outcome("b", at=1)], profile)
    assert verdict.failure.reason is Reason.RESPONSE_MISMATCH
    assert verdict.failure.missing == (("a", "b") if profile is BFCL else ("a",))
    assert verdict.failure.differences == ()


@both
def test_the_first_turn_that_fails_decides(profile):
    truth = [outcome("a", at=1), IDLE, outcome("b", at=2), outcome("c", at=3)]
    model = [outcome("a", at=1), IDLE, outcome("x", at=2), outcome(at=9)]
    assert brief(judge(truth, model, profile)) == failed(Reason.RESPONSE_MISMATCH, 2, 4, 2)


@both
def test_a_wrong_state_that_is_right_again_by_the_end_of_the_turn_passes(profile):
    session = Session.load(["TicketAPI"], CONFIG, checks_arguments=False)
    before = session.snapshot()
    results = session.play([parse_call("logout()"), parse_call("ticket_login('ann', 'pw')")])
    truth = of_result({"success": True}, before)
    model = ExecutedTurn(tuple(results), session.snapshot(), True, (Call("f"), Call("g")))
    assert judge([truth], [model], profile) == passed(1)


# Results: a multiset, over all turns so far


@both
@pytest.mark.parametrize(
    ("truth", "model", "missing"),
    [
        ([["a", "b"]], [["b", "a"]], None),
        ([["a"]], [["a", "a", "x"]], None),
        ([["a"]], [["a "]], ("a",)),
        ([["1"]], [["1.0"]], ("1",)),
        # From an earlier turn, one with nothing to do included
        ([["a"], ["b"]], [["a", "b"], ["x"]], None),
        ([[], ["b"]], [["b"], ["x"]], None),
        # Not used up by an earlier turn
        ([["a"], ["a"], ["a"]], [["a"], ["x"], ["x"]], None),
        # As often as one turn needs it, counted over all turns
        ([["a"], ["a", "a"]], [["a"], ["a"]], None),
        # Not from a later turn
        ([["a"], ["b"]], [["x"], ["a", "b"]], ("a",)),
    ],
)
def test_results_of_all_turns_so_far_count(profile, truth, model, missing):
    verdict = judge(
        [outcome(*texts) for texts in truth], [outcome(*texts) for texts in model], profile
    )
    assert (verdict.failure and verdict.failure.missing) == missing


@pytest.mark.parametrize(
    ("truth", "model"),
    [([["a", "a"]], [["a"]]), ([["a"], ["a", "a", "a"]], [["a"], ["a"]])],
)
def test_a_question_that_is_asked_twice_is_answered_twice_in_bfcl_only(truth, model):
    outcomes = [[outcome(*texts) for texts in side] for side in (truth, model)]
    assert judge(*outcomes, BFCL).failure.missing == ("a",)
    assert judge(*outcomes, STRICT).valid


@both
@pytest.mark.parametrize(
    ("truth", "model"),
    [
        ({"a": {"1": [1, 2]}}, {"a": {1: (1, 2)}}),
        ({"1": None}, {1: None}),
        ('{"a": 1}', {"a": 1}),
        ({"a": 1}, '{"a": 1}'),
        (None, "None"),
        ([1], "[1]"),
    ],
)
def test_results_agree_by_their_text_whatever_it_was_made_of(profile, truth, model):
    state = Snapshot({})
    outcomes = [of_result(value, state) for value in (truth, model)]
    assert judge(outcomes[:1], outcomes[1:], profile) == passed(1)


@pytest.mark.parametrize(
    ("truth", "model"),
    [({"a": 1, "b": 2}, {"b": 2, "a": 1}), ({"a": 1}, {"a": 1.0}), ({"a": 1}, {"a": 1, "b": 2})],
)
def test_results_of_unequal_texts_with_the_same_facts_agree_in_strict_only(truth, model):
    state = Snapshot({})
    outcomes = [of_result(value, state) for value in (truth, model)]
    assert not judge(outcomes[:1], outcomes[1:], BFCL).valid
    assert judge(outcomes[:1], outcomes[1:], STRICT).valid


@both
@pytest.mark.parametrize(
    ("truth", "model"),
    [({"a": 1}, {"a": 2}), ({"a": 1}, {"b": 1}), ({"a": 1, "b": 2}, {"a": 1}), ({"a": []}, {})],
)
def test_results_with_other_facts_do_not_agree(profile, truth, model):
    state = Snapshot({})
    outcomes = [of_result(value, state) for value in (truth, model)]
    assert not judge(outcomes[:1], outcomes[1:], profile).valid


def results(texts):
    """Return results of these texts."""
    return [Result(text) for text in texts]


texts = st.lists(st.sampled_from("abc"), max_size=8)


@given(texts, texts)
def test_missing_results_are_what_is_left_after_crossing_out(truth, seen):
    left, rest = [], list(seen)
    for text in truth:
        if text in rest:
            rest.remove(text)
        else:
            left.append(text)
    missing = list_missing_results(results(truth), results(seen))
    assert sorted(missing) == sorted(left)


# Turns with nothing to do


@both
def test_reading_in_an_empty_turn_is_free(profile):
    assert judge([IDLE], [outcome("a", "b")], profile) == passed(1)


def test_a_change_in_an_empty_turn_is_free_in_bfcl():
    assert judge([IDLE], [outcome("a", at=5, changed=True)], BFCL) == passed(1)


def test_a_change_in_an_empty_turn_fails_in_strict():
    verdict = judge([IDLE, IDLE], [IDLE, outcome("a", at=5, changed=True)], STRICT)
    assert brief(verdict) == failed(Reason.CHANGE_IN_EMPTY_TURN, 1, 2, 1)


def test_a_change_that_was_undone_in_an_empty_turn_fails_in_strict():
    verdict = judge([IDLE], [outcome("a", at=0, changed=True)], STRICT)
    assert verdict.failure.reason is Reason.CHANGE_IN_EMPTY_TURN


def test_where_only_an_answer_is_asked_for_reading_is_free_and_a_change_is_not():
    absent = Result.refused(UnknownFunction("f"))
    tried = ExecutedTurn((absent,), Snapshot({"World": {"place": 0}}), True, (Call("f"),))
    assert brief(judge([IDLE], [tried], STRICT)) == failed(Reason.ABSENT_FUNCTION, 0, 1, 0)
    asked = Unchanging(asked=True)
    assert judge([IDLE], [tried], STRICT, asked) == passed(1)
    changed = outcome("a", at=5, changed=True)
    verdict = judge([IDLE], [changed], STRICT, asked)
    assert verdict.failure.reason is Reason.CHANGE_IN_EMPTY_TURN


@both
def test_a_change_in_a_turn_with_something_to_do_is_free(profile):
    assert judge([outcome("a")], [outcome("a", changed=True)], profile) == passed(1)


def test_a_change_in_an_empty_turn_is_seen_by_the_next_turn_with_something_to_do_in_bfcl():
    truth = [IDLE, IDLE, outcome("b", at=0)]
    model = [outcome("a", at=5, changed=True), outcome(at=5), outcome("b", at=5)]
    assert brief(judge(truth, model, BFCL)) == failed(Reason.STATE_MISMATCH, 2, 3, 2)


def test_a_change_in_an_empty_turn_that_was_undone_by_then_passes_in_bfcl():
    truth = [IDLE, outcome("b", at=0)]
    model = [outcome("a", at=5, changed=True), outcome("x", "b", at=0, changed=True)]
    assert judge(truth, model, BFCL) == passed(2)


# Several backends


@both
def test_a_difference_names_its_backend(profile):
    truth = of_result("a", Snapshot({"A": {"x": 1}, "B": {"x": [1, 2]}}))
    model = of_result("a", Snapshot({"A": {"x": 1}, "B": {"x": [1, 3]}}))
    verdict = judge([truth], [model], profile)
    assert [d.path for d in verdict.failure.differences] == ["B.x[1]"]


@both
def test_hidden_fields_are_not_compared(profile):
    truth = of_result("a", Snapshot({"A": {"x": 1, "_path": ("a",)}}))
    model = of_result("a", Snapshot({"A": {"x": 1.0, "_path": ("b",)}}))
    assert judge([truth], [model], profile) == passed(1)
