from __future__ import annotations

from dataclasses import replace

import pytest

from checkers.multi_turn_verdict import inference_error, make_force_terminated_verdict
from checkers.profile import BFCL, STRICT
from checkers.reasons import Reason
from checkers.verdict import Verdict
from envs.backends.ticket import TicketAPI
from envs.calls import Call, parse_call, read_call
from envs.errors import BackendFault, DataError, InvalidArgument
from runner import extension
from runner.episodes.entry_kinds import JudgingTerms
from runner.episodes.judging import evaluate, judge_again
from runner.episodes.offline import run_null
from runner.episodes.script_playback import make_truth_script
from runner.episodes.turn_loop import STEP_LIMIT
from runner.records.episode_record import EpisodeRecord, RecordedEpisode
from tests.judging import null, run_recorded, run_script
from trajectories.prepared_trajectory import prepare
from trajectories.replay_queries import PlayedTruths
from trajectories.schema import LongContextSettings, Turn

PROFILES = [BFCL, STRICT]
both = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
LOOK = [Call("ticket_get_login_status")]
LOOK_STEP = [{"ticket_get_login_status": "{}"}]


def uncounted(verdict):
    """Return a verdict without what the model chose, which tests of selection look at."""
    return verdict._replace(selected=None)


@pytest.fixture
def prepared(dataset_of):
    """Prepare a trajectory."""
    return lambda trajectory, profile: prepare(dataset_of(trajectory), trajectory, profile)


def brief(verdict):
    """Return all of a verdict but the evidence."""
    reason = verdict.failure and verdict.failure.reason
    return (verdict.valid, reason, verdict.failed_turn)


PASSED = (True, None, None)


# The boundary of an entry


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (OverflowError("too large"), "OverflowError: too large: a bug in Turnwise"),
        (RecursionError("too deep"), "RecursionError"),
        (MemoryError(), "not enough memory"),
        (BackendFault("f()", KeyError("x")), "f() raised KeyError"),
    ],
)
def test_what_goes_wrong_with_an_entry_is_an_error_of_that_entry(
    dataset_of, help_desk, fault, said
):
    def run(prepared):
        if prepared.trajectory.id == "first":
            raise fault
        return run_null(prepared, STRICT)

    both_of_them = [replace(help_desk, id="first"), replace(help_desk, id="second")]
    first, second = evaluate(dataset_of(help_desk), both_of_them, STRICT, run)
    assert first.error is not None
    assert said in first.error
    assert second.error is None


def test_bad_input_ends_a_run(dataset_of, help_desk):
    def run(prepared):
        raise DataError("--prompts", "is no folder")

    with pytest.raises(DataError, match="is no folder"):
        list(evaluate(dataset_of(help_desk), [help_desk], STRICT, run))


# Preparing


@both
def test_a_prepared_trajectory_has_the_outcomes_of_its_truth(prepared, help_desk, profile):
    ready = prepared(help_desk, profile)
    first, idle, last = ready.truth
    assert [len(outcome.results) for outcome in ready.truth] == [1, 0, 2]
    assert [outcome.acted for outcome in ready.truth] == [True, False, True]
    assert first.snapshot == idle.snapshot != last.snapshot
    assert all(result.ok for outcome in ready.truth for result in outcome.results)


def test_ground_truths_of_an_evaluation_are_shared(dataset_of, help_desk):
    dataset, truths = dataset_of(help_desk), PlayedTruths()
    first, second = (prepare(dataset, help_desk, STRICT, truths) for _ in range(2))
    assert first.template is second.template
    assert all(a.results is b.results for a, b in zip(first.truth, second.truth, strict=True))


@both
def test_a_prepared_session_is_in_its_initial_state_however_often_it_is_run(
    prepared, help_desk, profile
):
    ready = prepared(help_desk, profile)
    before = ready.template.snapshot().to_json()
    verdicts = [run_script(ready, make_truth_script(help_desk), profile) for _ in range(3)]
    assert [*map(uncounted, verdicts)] == [Verdict(True, None, None, 3, 3)] * 3
    assert ready.template.snapshot().to_json() == before


def test_the_truth_meets_the_argument_checks_that_the_model_does(prepared, help_desk):
    odd = replace(help_desk, turns=(Turn((), ("create_ticket(title=5)",)),))
    [as_bfcl], [strict] = (prepared(odd, profile).truth for profile in PROFILES)
    assert as_bfcl.results[0].ok
    assert isinstance(strict.results[0].error, InvalidArgument)


@both
def test_the_truth_may_call_what_is_held_out(prepared, help_desk, profile):
    early = replace(help_desk, turns=(Turn((), ("close_ticket(1)",)), *help_desk.turns[1:]))
    assert prepared(early, profile).truth[0].results[0].ok


def test_an_unusable_config_is_a_data_error(dataset_of, help_desk):
    bad = replace(help_desk, config={"TicketAPI": {"ticket_counter": "one"}})
    with pytest.raises(DataError, match=r"^made-up: help_desk_0: \$\.TicketAPI\.ticket_counter: "):
        prepare(dataset_of(bad), bad, STRICT)


def test_an_irregular_config_of_the_reference_s_data_is_taken_as_it_is(dataset_of, help_desk):
    odd = replace(help_desk, config={"TicketAPI": {"ticket_counter": "one"}, "Other": {}})
    ready = prepare(dataset_of(odd, tolerant=True), odd, BFCL)
    assert ready.template.snapshot().to_json()["TicketAPI"]["ticket_counter"] == "one"


def test_a_backend_that_there_is_not_is_a_data_error(dataset_of, help_desk):
    bad = replace(help_desk, environments=("TicketAPI", "Telephone"))
    for tolerant in (False, True):
        with pytest.raises(DataError, match=r"\$\.Telephone: unknown backend"):
            prepare(dataset_of(bad, tolerant=tolerant), bad, BFCL)


def test_a_long_trajectory_is_prepared_with_its_material(prepared, folders):
    long = replace(folders, long_context=LongContextSettings("generated", 1, 5))
    plain, packed = (prepared(t, STRICT).template.snapshot() for t in (folders, long))
    assert plain != packed


@pytest.mark.parametrize("text", ["", "f", "f() g()", "x = f()", "f(a=)"])
def test_a_truth_that_is_no_call_is_an_error_result(prepared, help_desk, text):
    odd = replace(help_desk, turns=(Turn((), (text,)),))
    [outcome] = prepared(odd, STRICT).truth
    assert not outcome.results[0].ok
    assert outcome.acted
    assert read_call("f()") == Call("f")


# Truth passes; truth with a call removed or an argument changed does not


@both
@pytest.mark.parametrize("name", ["help_desk", "folders"])
def test_truth_passes(request, prepared, profile, name):
    trajectory = request.getfixturevalue(name)
    verdict = run_script(prepared(trajectory, profile), make_truth_script(trajectory), profile)
    assert brief(verdict) == PASSED


@both
@pytest.mark.parametrize("name", ["help_desk", "folders"])
def test_truth_fails_without_any_one_of_its_calls(request, prepared, profile, name):
    trajectory = request.getfixturevalue(name)
    ready = prepared(trajectory, profile)
    for number, turn in enumerate(trajectory.turns):
        for index in range(len(turn.ground_truth)):
            script = make_truth_script(trajectory)
            del script[number][0][index]
            script[number] = [step for step in script[number] if step]
            verdict = run_script(ready, script, profile)
            assert not verdict.valid
            assert verdict.failed_turn >= number


@both
@pytest.mark.parametrize(
    ("name", "turn", "calls", "reason"),
    [
        ("help_desk", 0, ["create_ticket(title='Dark Screen')"], Reason.STATE_MISMATCH),
        ("help_desk", 2, ["close_ticket(2)", "get_ticket(1)"], Reason.STATE_MISMATCH),
        ("help_desk", 2, ["close_ticket(1)", "get_ticket(2)"], Reason.RESPONSE_MISMATCH),
        ("folders", 0, ["mv('notes.txt', 'new')"], Reason.STATE_MISMATCH),
        ("folders", 1, ["cd('old')", "wc('notes.txt', 'w')"], Reason.RESPONSE_MISMATCH),
        ("folders", 1, ["cd('new')", "wc('notes.txt')"], Reason.RESPONSE_MISMATCH),
    ],
)
def test_truth_fails_with_an_argument_changed(
    request, prepared, profile, name, turn, calls, reason
):
    trajectory = request.getfixturevalue(name)
    script = make_truth_script(trajectory)
    script[turn] = [[parse_call(text) for text in calls]]
    verdict = run_script(prepared(trajectory, profile), script, profile)
    assert brief(verdict) == (False, reason, turn)


@both
def test_truth_passes_one_call_per_step(prepared, folders, profile):
    script = [[[call] for step in steps for call in step] for steps in make_truth_script(folders)]
    assert run_script(prepared(folders, profile), script, profile).valid


@both
def test_null_fails_in_the_first_turn_with_something_to_do(prepared, help_desk, profile):
    later = replace(help_desk, turns=(Turn((), ()), *help_desk.turns))
    verdict = run_script(prepared(later, profile), null(later), profile)
    assert brief(verdict) == (False, Reason.EMPTY_TURN, 1)


# What the profiles differ in


def steps_then_truth(trajectory, turn, count):
    """Return the truth with harmless steps before it in one turn."""
    script = make_truth_script(trajectory)
    script[turn] = [LOOK] * count + script[turn]
    return script


@both
def test_as_many_steps_as_the_limit_pass(prepared, help_desk, profile):
    script = steps_then_truth(help_desk, 0, STEP_LIMIT - 1)
    assert run_script(prepared(help_desk, profile), script, profile).valid


@both
@pytest.mark.parametrize("count", [STEP_LIMIT, STEP_LIMIT + 1])
def test_one_more_before_the_last_turn_is_forced_termination(prepared, help_desk, profile, count):
    script = steps_then_truth(help_desk, 0, count)
    verdict = run_script(prepared(help_desk, profile), script, profile)
    assert uncounted(verdict) == make_force_terminated_verdict(3)


def test_one_more_in_the_last_turn_passes_in_bfcl(prepared, help_desk):
    script = steps_then_truth(help_desk, 2, STEP_LIMIT)
    assert run_script(prepared(help_desk, BFCL), script, BFCL).valid


def test_two_more_in_the_last_turn_are_not_all_executed_in_bfcl(prepared, help_desk):
    script = steps_then_truth(help_desk, 2, STEP_LIMIT + 1)
    verdict = run_script(prepared(help_desk, BFCL), script, BFCL)
    assert brief(verdict) == (False, Reason.STATE_MISMATCH, 2)


def test_one_more_in_the_last_turn_is_forced_termination_in_strict(prepared, help_desk):
    script = steps_then_truth(help_desk, 2, STEP_LIMIT)
    verdict = run_script(prepared(help_desk, STRICT), script, STRICT)
    assert uncounted(verdict) == make_force_terminated_verdict(3)


def idle_turn(*texts):
    """Return the help desk's truth with calls in the turn that has nothing to do."""
    made = [parse_call(text) for text in texts]
    return [[[parse_call("create_ticket(title='Dark screen')")]], [made], LAST]


LAST = [[parse_call("close_ticket(1)"), parse_call("get_ticket(1)")]]


@both
def test_reading_and_failing_where_nothing_is_to_be_done_is_free(prepared, help_desk, profile):
    script = idle_turn("get_ticket(1)", "get_ticket(99)", "logout(1, 2)")
    assert run_script(prepared(help_desk, profile), script, profile).valid


def test_calling_what_does_not_exist_where_nothing_is_to_be_done_is_free_in_bfcl_only(
    prepared, help_desk
):
    script = idle_turn("get_ticket(1)", "nonsense()")
    assert run_script(prepared(help_desk, BFCL), script, BFCL).valid
    verdict = run_script(prepared(help_desk, STRICT), script, STRICT)
    assert brief(verdict) == (False, Reason.ABSENT_FUNCTION, 1)
    assert verdict.failure.calls.function == "nonsense"


def test_calling_what_is_held_out_works_in_bfcl(prepared, help_desk):
    script = [*idle_turn("close_ticket(1)")[:2], [[parse_call("get_ticket(1)")]]]
    # The work is done early; the result of doing it has been seen.
    assert run_script(prepared(help_desk, BFCL), script, BFCL).valid


def test_calling_what_is_held_out_is_refused_in_strict(prepared, help_desk):
    script = [*idle_turn("close_ticket(1)")[:2], [[parse_call("get_ticket(1)")]]]
    verdict = run_script(prepared(help_desk, STRICT), script, STRICT)
    assert brief(verdict) == (False, Reason.ABSENT_FUNCTION, 1)
    assert verdict.failure.calls.function == "close_ticket"


@pytest.mark.parametrize(
    "texts",
    [
        ("edit_ticket(1, {'priority': 5})", "edit_ticket(1, {'priority': 2})"),
        ("logout()", "ticket_login('ann', 'pw')"),
        (
            "get_ticket(edit_ticket(1, {'priority': 5}))",
            "get_ticket(edit_ticket(1, {'priority': 2}))",
        ),
    ],
    ids=["undone", "logged in again", "inside arguments"],
)
def test_a_change_where_nothing_is_to_be_done(prepared, help_desk, texts):
    script = idle_turn(*texts)
    assert brief(run_script(prepared(help_desk, BFCL), script, BFCL)) == PASSED
    verdict = run_script(prepared(help_desk, STRICT), script, STRICT)
    assert brief(verdict) == (False, Reason.CHANGE_IN_EMPTY_TURN, 1)


def test_a_change_that_stays_is_found_in_the_next_turn_in_bfcl(prepared, help_desk):
    script = idle_turn("edit_ticket(1, {'priority': 5})")
    verdict = run_script(prepared(help_desk, BFCL), script, BFCL)
    assert brief(verdict) == (False, Reason.STATE_MISMATCH, 2)


# Recorded runs

TRUTH_STEPS = [
    [[{"create_ticket": '{"title": "Dark screen"}'}], "Opened."],
    ["I cannot do that."],
    [[{"close_ticket": '{"ticket_id": 1}'}, {"get_ticket": '{"ticket_id": 1}'}], "Done."],
]


def rerun(ready, turns, profile, mode="fc", step_limit=STEP_LIMIT):
    """Judge a recorded run of the help desk."""
    return run_recorded(ready, turns, mode, profile, step_limit)


@both
def test_a_recorded_truth_passes(prepared, help_desk, profile):
    assert rerun(prepared(help_desk, profile), TRUTH_STEPS, profile).valid


@both
def test_a_recorded_truth_passes_in_prompting_form(prepared, help_desk, profile):
    turns = [
        ["[create_ticket(title='Dark screen')]", "Opened."],
        ["I cannot do that."],
        ["close_ticket(ticket_id=1), get_ticket(ticket_id=1)"],
    ]
    if profile is STRICT:
        turns[2] = [f"[{turns[2][0]}]"]
    assert rerun(prepared(help_desk, profile), turns, profile, "prompt").valid


@both
def test_no_record_is_an_inference_error(prepared, help_desk, profile):
    assert rerun(prepared(help_desk, profile), None, profile) == inference_error(3)


@both
@pytest.mark.parametrize(
    "turns", [[], TRUTH_STEPS[:1], TRUTH_STEPS[:2], [*TRUTH_STEPS, []]], ids=len
)
def test_another_number_of_turns_is_forced_termination(prepared, help_desk, profile, turns):
    verdict = rerun(prepared(help_desk, profile), turns, profile)
    assert uncounted(verdict) == make_force_terminated_verdict(3)


@both
@pytest.mark.parametrize("steps", [[], ["Done."], [None], [[]], [[], "", None]])
def test_a_recorded_turn_without_calls_is_an_empty_turn(prepared, help_desk, profile, steps):
    verdict = rerun(prepared(help_desk, profile), [steps, *TRUTH_STEPS[1:]], profile)
    assert brief(verdict) == (False, Reason.EMPTY_TURN, 0)


def test_a_turn_of_unreadable_steps_is_an_empty_turn_in_bfcl(prepared, help_desk):
    turns = [[[{"create_ticket": "{"}]], *TRUTH_STEPS[1:]]
    verdict = rerun(prepared(help_desk, BFCL), turns, BFCL)
    assert brief(verdict) == (False, Reason.EMPTY_TURN, 0)


def test_a_turn_of_unreadable_steps_is_no_empty_turn_in_strict(prepared, help_desk):
    turns = [[[{"create_ticket": "{"}]], *TRUTH_STEPS[1:]]
    verdict = rerun(prepared(help_desk, STRICT), turns, STRICT)
    assert brief(verdict) == (False, Reason.STATE_MISMATCH, 0)


@pytest.mark.parametrize("count", [STEP_LIMIT - 1, STEP_LIMIT, 5 * STEP_LIMIT])
def test_a_recorded_turn_may_be_of_any_length_in_bfcl(prepared, help_desk, count):
    turns = [[LOOK_STEP] * count + TRUTH_STEPS[0], *TRUTH_STEPS[1:]]
    assert rerun(prepared(help_desk, BFCL), turns, BFCL).valid


@pytest.mark.parametrize("turn", [0, 2])
def test_the_limit_holds_for_a_recorded_turn_in_strict(prepared, help_desk, turn):
    for count, verdict in (
        (19, Verdict(True, None, None, 3, 3)),
        (20, make_force_terminated_verdict(3)),
    ):
        turns = list(TRUTH_STEPS)
        turns[turn] = [LOOK_STEP] * count + TRUTH_STEPS[turn]
        assert uncounted(rerun(prepared(help_desk, STRICT), turns, STRICT)) == verdict


def test_another_limit_counts_for_recorded_turns_in_strict_only(prepared, help_desk):
    turns = [[LOOK_STEP] * 2 + TRUTH_STEPS[0], *TRUTH_STEPS[1:]]
    assert rerun(prepared(help_desk, BFCL), turns, BFCL, step_limit=2).valid
    verdict = rerun(prepared(help_desk, STRICT), turns, STRICT, step_limit=2)
    assert uncounted(verdict) == make_force_terminated_verdict(3)


# Many trajectories


def test_outcomes_come_in_order_one_at_a_time(dataset_of, help_desk, folders):
    ran = []

    def run(ready):
        ran.append(ready.trajectory.id)
        return run_script(ready, make_truth_script(ready.trajectory), STRICT)

    outcomes = evaluate(dataset_of(help_desk, folders), [help_desk, folders], STRICT, run)
    assert ran == []
    first = next(outcomes)
    right = EpisodeRecord.of(help_desk, Verdict(True, None, None, 3, 3))
    assert first._replace(verdict=uncounted(first.verdict)) == right
    assert ran == ["help_desk_0"]
    assert [outcome.id for outcome in outcomes] == ["folders_0"]


def break_get_ticket(monkeypatch):
    """Put a bug into the help desk."""

    def broken(self, ticket_id):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(TicketAPI, "_find", broken)


def test_a_bug_in_a_backend_is_that_trajectory_s_error_and_the_others_go_on(
    monkeypatch, dataset_of, help_desk, folders
):
    break_get_ticket(monkeypatch)
    outcomes = evaluate(
        dataset_of(help_desk, folders),
        [help_desk, folders],
        STRICT,
        lambda ready: run_script(ready, make_truth_script(ready.trajectory), STRICT),
    )
    broken, fine = outcomes
    assert broken.verdict is None
    assert broken.error == "TicketAPI.close_ticket(ticket_id=1) raised ZeroDivisionError: a bug"
    head = {"id": "help_desk_0", "category": broken.category}
    assert broken.verdict_line() == {**head, "valid": None, "error": broken.error}
    assert fine.verdict.valid


def test_a_bug_that_the_model_runs_into_is_that_trajectory_s_error(
    monkeypatch, dataset_of, help_desk
):
    short = replace(help_desk, turns=help_desk.turns[:1])
    break_get_ticket(monkeypatch)
    script = [[[parse_call("get_ticket(1)")]]]
    ready = prepare(dataset_of(short), short, STRICT)
    with pytest.raises(BackendFault, match="get_ticket"):
        run_script(ready, script, STRICT)
    # What no function could digest is the model's own fault.
    assert not run_script(ready, [[[parse_call("get_ticket([])")]]], STRICT).valid


def test_bad_data_stops_the_run(dataset_of, help_desk, folders):
    bad = replace(help_desk, config={"TicketAPI": 5})
    outcomes = evaluate(dataset_of(bad), [bad, folders], STRICT, lambda ready: None)
    with pytest.raises(DataError, match="help_desk_0"):
        next(outcomes)


def test_an_outcome_as_json(help_desk):
    verdict = Verdict(True, None, None, 1, 1)
    shown = EpisodeRecord.of(help_desk, verdict).verdict_line()
    assert shown == {"id": help_desk.id, "category": "miss_func", **verdict.to_json()}


def test_extensions_of_a_recorded_episode_arrange_its_session(prepared, help_desk, monkeypatch):
    ready, arranged = prepared(help_desk, STRICT), []

    def arrange(template, record):
        arranged.append(record)
        return template

    monkeypatch.setattr(extension, "replay_session", arrange)
    plain = EpisodeRecord(help_desk.id, 0, "base", None, None, None, result=[[LOOK_STEP]])
    faulty = plain._replace(extensions={"faults": {}})
    for record in (plain, faulty):
        judge_again(ready, RecordedEpisode(record, "fc"), JudgingTerms(STRICT))
    assert arranged == [faulty]
