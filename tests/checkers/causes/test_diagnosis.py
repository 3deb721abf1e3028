from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.causes.diagnosis import (
    SUB_REASONS,
    Cause,
    bound_evidence,
    diagnose,
    diagnose_unanswered,
    replace_by_stop,
)
from checkers.causes.trace import Trace
from checkers.evidence import CallEvidence
from checkers.multi_turn_verdict import inference_error, judge, make_force_terminated_verdict
from checkers.profile import BFCL, STRICT
from checkers.reasons import Reason
from checkers.verdict import Failure, Verdict
from envs.calls import parse_call
from envs.errors import MalformedCall
from runner.episodes.script_traces import trace, trace_truth
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category, Trajectory, Turn

FILES = {
    "log.txt": {"type": "file", "content": "one\ntwo\nthree"},
    "draft.txt": {"type": "file", "content": "a draft"},
    "old": {"type": "directory", "contents": {}},
}
CONFIG = {
    "GorillaFileSystem": {"root": {"home": {"type": "directory", "contents": FILES}}},
    "TicketAPI": {"ticket_queue": [], "ticket_counter": 1, "current_user": "ann"},
    "TwitterAPI": {"username": "ann", "password": "secret", "authenticated": True},
    "TravelAPI": {
        "access_token": "token",
        "token_type": "Bearer",
        "token_expires_in": 60,
        "token_scope": "read_write",
        "user_first_name": "Ann",
        "user_last_name": "Lee",
    },
}
LOGIN = (
    "authenticate_travel(client_id='c', client_secret='s', refresh_token='r', "
    "grant_type='read_write', user_first_name='Ann', user_last_name='Lee')"
)


def did(*steps, answer=None, unreadable=None):
    """Return what a model did in a turn: steps of call texts, and how it ended."""
    return steps, answer, unreadable


def examined(truth, model, profile=BFCL, step_limit=20, held_out=None):
    """Return the traces of ground truth and model, and the verdict."""
    offers = held_out or {}
    turns = tuple(Turn((), tuple(calls), offers.get(n, ())) for n, calls in enumerate(truth))
    trajectory = Trajectory("made_up_0", Category.BASE, tuple(CONFIG), CONFIG, turns)
    data = Dataset("made-up", "1", "0" * 64, {trajectory.id: trajectory})
    prepared = prepare(data, trajectory, profile)
    script = [[[read(text) for text in step] for step in steps] for steps, _, _ in model]
    played = trace(prepared, script, profile, step_limit)
    ended = [
        turn._replace(answer=answer, unreadable=unreadable)
        for turn, (_, answer, unreadable) in zip(played.turns, model, strict=False)
    ]
    played = played._replace(turns=tuple(ended))
    outcomes = [turn.outcome for turn in played.turns]
    verdict = judge(prepared.truth, outcomes, profile, prepared.scene, terminated=played.terminated)
    return trace_truth(prepared, profile), played, verdict


def read(text):
    """Return the call of a text, which may stand for what could not be read."""
    return text if isinstance(text, MalformedCall) else parse_call(text)


def diagnosis(truth, model, *arguments, **options):
    """Return why a made-up episode fails."""
    return diagnose(*examined(truth, model, *arguments, **options))


def cause(truth, model, *arguments, **options):
    """Return the cause of a made-up episode's failure."""
    found = diagnosis(truth, model, *arguments, **options)
    return found and found.cause


MOVE = "mv(source='log.txt', destination='old')"
TICKET = "create_ticket(title='Dark screen', priority=2)"
TWEET = "post_tweet(content='Hello')"


def test_a_passing_episode_has_no_cause():
    assert diagnosis([[MOVE]], [did([MOVE])]) is None


def test_other_ways_of_writing_a_call_pass():
    assert diagnosis([[TICKET]], [did(["create_ticket('Dark screen', '', 2)"])]) is None


# Wrong argument


def test_an_argument_with_another_value():
    found = diagnosis([[TICKET]], [did(["create_ticket(title='Dark screen', priority=4)"])])
    assert (found.cause, found.turn, found.step) == (Cause.WRONG_ARGUMENT, 0, 0)
    assert found.detail == "create_ticket: priority should be 2, but is 4"
    assert found.evidence == {
        "call": "create_ticket(title='Dark screen', priority=4)",
        "result": found.evidence["result"],
        "expected_call": TICKET,
        "parameter": "priority",
        "expected": 2,
        "got": 4,
    }


def test_an_argument_left_to_its_default():
    found = diagnosis([[TICKET]], [did(["create_ticket('Dark screen')"])])
    assert found.cause is Cause.WRONG_ARGUMENT
    assert (found.evidence["parameter"], found.evidence["got"]) == ("priority", 1)


def test_several_wrong_arguments_are_all_named():
    found = diagnosis([[TICKET]], [did(["create_ticket(title='Dark', priority=1)"])])
    assert (found.evidence["parameter"], found.evidence["also"]) == ("title", ["priority"])


def test_the_call_that_comes_closest_is_compared():
    truth = [[TICKET, "create_ticket(title='No sound', priority=3)"]]
    model = [did([TICKET], ["create_ticket(title='No sound', priority=5)"])]
    found = diagnosis(truth, model)
    assert (found.cause, found.step) == (Cause.WRONG_ARGUMENT, 1)
    assert found.evidence["expected_call"] == truth[0][1]


def test_a_wrong_argument_of_a_call_that_only_reads():
    found = diagnosis([["tail(file_name='log.txt', lines=1)"]], [did(["tail('log.txt', 2)"])])
    assert (found.cause, found.evidence["parameter"]) == (Cause.WRONG_ARGUMENT, "lines")


def test_refused_attempts_with_wrong_arguments():
    steps = [["mv('log.txt', 'a/b')"], ["mv('log.txt', 'b/c')"]]
    found = diagnosis([[MOVE]], [did(*steps)])
    assert (found.cause, found.evidence["parameter"]) == (Cause.WRONG_ARGUMENT, "destination")


# Wrong function


def test_another_function_that_changes_the_same_thing():
    found = diagnosis([[MOVE]], [did(["rm(file_name='log.txt')"])])
    assert found.cause is Cause.WRONG_FUNCTION
    assert found.evidence["expected_call"] == MOVE


def test_another_function_in_the_only_place():
    assert cause([[TICKET]], [did([TWEET])]) is Cause.WRONG_FUNCTION


def test_another_function_that_is_asked_about_the_same_thing():
    truth = [["tail(file_name='log.txt', lines=1)"]]
    assert cause(truth, [did(["cat(file_name='log.txt')"])]) is Cause.WRONG_FUNCTION


def test_what_the_user_names_as_well_stands_for_nothing_else():
    truth, find = [["cat(file_name='log.txt')"]], "find(path='.', name='log.txt')"
    found = said_of(truth, [[find]], ["Find log.txt and open it."], CONFIG)
    assert found.cause is Cause.MISSING_CALL
    found = said_of(truth, [[find]], ["Open log.txt."], CONFIG)
    assert found.cause is Cause.WRONG_FUNCTION


def test_the_function_that_converts_the_other_way():
    truth, words = [["liter_to_gallon(liter=38)"]], ["How many gallons are 38 liters?"]
    found = said_of(truth, [["gallon_to_liter(gallon=10)"]], words, CAR)
    assert (found.cause, found.step) == (Cause.WRONG_FUNCTION, 0)
    assert found.evidence["expected_call"] == truth[0][0]


def test_a_text_that_was_handed_to_another_backend():
    say = "post_tweet(content='Trip cancelled!')"
    support = "contact_customer_support(booking_id='1', message='Trip cancelled! #LA')"
    found = diagnosis([[TICKET, say]], [did([support])])
    assert (found.cause, found.evidence["expected_call"]) == (Cause.WRONG_FUNCTION, say)
    other = support.replace("cancelled", "off")
    assert cause([[TICKET, say]], [did([other])]) is Cause.MISSING_CALL


def test_a_write_where_only_reading_was_needed():
    truth = [["sort(file_name='log.txt')"]]
    model = [did(["echo(content='sorted', file_name='log.txt')"])]
    assert cause(truth, model) is Cause.WRONG_FUNCTION


# Missing call


def test_the_first_call_that_is_missing_is_named():
    found = diagnosis([[MOVE, TICKET, TWEET]], [did([MOVE])])
    assert (found.cause, found.turn, found.step) == (Cause.MISSING_CALL, 0, None)
    assert found.evidence == {"expected_call": TICKET, "sub_reason": "unfinished"}


def test_no_call_at_all_and_no_word_on_record():
    assert cause([[MOVE]], [did()]) is Cause.MISSING_CALL


def test_a_result_that_was_not_asked_for():
    found = diagnosis([["pwd()", TICKET]], [did([TICKET])])
    assert (found.cause, found.evidence["expected_call"]) == (Cause.MISSING_CALL, "pwd()")


def test_a_result_of_an_earlier_turn_needs_no_second_call():
    assert (
        diagnosis([["pwd()"], ["pwd()", TICKET]], [did(["pwd()"]), did([TICKET], ["pwd()"])])
        is None
    )


def test_a_change_of_directory_that_was_left_out():
    found = diagnosis([["cd(folder='old')", "touch(file_name='new')"]], [did(["touch('new')"])])
    assert (found.cause, found.evidence["expected_call"]) == (
        Cause.MISSING_CALL,
        "cd(folder='old')",
    )


def test_a_call_that_came_too_early():
    truth = [["ls()", "touch(file_name='new')"]]
    found = diagnosis(truth, [did(["touch('new')"], ["ls()"])])
    assert (found.cause, found.step) == (Cause.MISSING_CALL, 1)
    assert "in the wrong state" in found.detail


# Extra call


def test_a_call_that_was_not_needed():
    found = diagnosis([[TICKET]], [did([TICKET, TWEET])])
    assert (found.cause, found.evidence["call"]) == (Cause.EXTRA_CALL, TWEET)
    assert "TwitterAPI.tweet_counter" in found.evidence["paths"]


def test_a_needed_call_made_twice():
    found = diagnosis([[TICKET]], [did([TICKET], [TICKET])])
    assert (found.cause, found.step) == (Cause.EXTRA_CALL, 1)


def test_further_reading_is_no_extra_call():
    assert (
        diagnosis([[TICKET]], [did(["ls()", "pwd()"], [TICKET], ["get_ticket(ticket_id=1)"])])
        is None
    )


def test_a_change_of_directory_that_was_not_needed():
    found = diagnosis([["touch(file_name='new')"]], [did(["cd('old')"], ["touch('new')"])])
    assert (found.cause, found.step) == (Cause.EXTRA_CALL, 0)


# Not offered


@pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda profile: profile.name)
def test_a_function_that_does_not_exist(profile):
    found = diagnosis([[TICKET]], [did(["open_ticket(title='Dark screen')"])], profile)
    assert (found.cause, found.evidence["expected_call"]) == (Cause.NOT_OFFERED, TICKET)


def test_a_function_that_does_not_exist_and_then_the_right_one_with_a_wrong_argument():
    model = [did(["open_ticket(title='Dark screen')"], ["create_ticket('Dark screen', '', 3)"])]
    assert cause([[TICKET]], model) is Cause.WRONG_ARGUMENT


def test_a_function_that_does_not_exist_and_was_given_up_for_another():
    model = [did(["look()"], ["ls()"])]
    assert cause([[TICKET]], model) is Cause.MISSING_CALL


@pytest.mark.parametrize(
    ("call", "cause_"),
    [
        ("open_ticket(name='Blank')", Cause.NOT_OFFERED),
        ("report(2, 'Dark screen')", Cause.NOT_OFFERED),
        ("report(name='Dark screen')", Cause.NOT_OFFERED),
        ("report(name='Blank')", Cause.MISSING_CALL),
        ("report(level=2)", Cause.MISSING_CALL),
    ],
)
def test_an_unknown_function_with_a_like_name_or_value_stands_for_the_needed_one(call, cause_):
    assert cause([[TICKET]], [did([call], ["ls()"])]) is cause_


def test_an_unknown_function_with_the_same_short_values_stands_for_the_needed_one():
    truth = [[TICKET, "close_ticket(ticket_id=1)"]]
    for call, cause_ in (("finish(1)", Cause.NOT_OFFERED), ("finish(2)", Cause.MISSING_CALL)):
        assert cause(truth, [did([TICKET], [call], ["ls()"])]) is cause_


def test_a_held_out_function_in_a_turn_where_it_was_not_to_be_had():
    held_out = {1: ("create_ticket",)}
    found = diagnosis([[], [TICKET]], [did([TICKET]), did()], held_out=held_out)
    assert (found.cause, found.turn, found.step) == (Cause.NOT_OFFERED, 0, 0)


# Acted where it should have asked


def test_a_change_where_nothing_was_to_be_done():
    found = diagnosis([[], [TWEET]], [did([TICKET]), did([TWEET])], STRICT)
    assert (found.cause, found.turn) == (Cause.ACTED_INSTEAD_OF_ASKING, 0)


@pytest.mark.parametrize(
    "later",
    [did([TICKET]), did(), did([TWEET, TICKET]), did(["edit_ticket(1, {'priority': 3})"])],
    ids=["again", "not again", "and more", "amended"],
)
def test_a_change_where_nothing_was_to_be_done_that_shows_later(later):
    early = "create_ticket(title='Dark screen', priority=1)"
    found = diagnosis([[], [TICKET]], [did(["ls()"], [early]), later])
    assert (found.cause, found.turn, found.step) == (Cause.ACTED_INSTEAD_OF_ASKING, 0, 1)


def test_looking_where_nothing_was_to_be_done_is_no_fault():
    found = diagnosis([[], [TICKET]], [did(["ls()"]), did()])
    assert (found.cause, found.turn) == (Cause.MISSING_CALL, 1)


def test_an_early_change_that_was_taken_back_is_no_fault():
    model = [did(["touch('new')"], ["rm('new')"]), did(["create_ticket('Dark screen')"])]
    assert cause([[], [TICKET]], model) is Cause.WRONG_ARGUMENT


# How the turn ended


@pytest.mark.parametrize(
    "answer",
    [
        "Which directory shall I move it to?",
        "I am sorry, I cannot tell which file you mean. Could you give me its name?",
        "Please provide the name of the file.",
        "I need a few more details from you first.",
    ],
)
def test_a_question_where_a_call_was_needed(answer):
    found = diagnosis([[MOVE]], [did(["ls()"], answer=answer)])
    assert (found.cause, found.evidence["answer"]) == (Cause.ASKED_INSTEAD_OF_ACTING, answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I cannot do this.",
        "I don\N{RIGHT SINGLE QUOTATION MARK}t have access to your files.",
        "Sorry, there is no tool for it.",
    ],
)
def test_a_refusal_where_a_call_was_needed(answer):
    assert cause([[MOVE]], [did(answer=answer)]) is Cause.GAVE_UP


def test_giving_up_after_an_error_that_is_owned_up_to():
    model = [did(["mv('log.txt', 'a/b')"], answer="Unfortunately the move failed.")]
    assert cause([[MOVE]], model) is Cause.GAVE_UP


@pytest.mark.parametrize(
    "answer",
    ["The file is in the folder now.", "Done! Is there anything else I can help with?"],
)
def test_a_claim_that_it_is_done_is_neither_a_question_nor_a_refusal(answer):
    assert cause([[MOVE]], [did(answer=answer)]) is Cause.MISSING_CALL


def test_a_question_after_a_wrong_call_does_not_hide_it():
    model = [did(["create_ticket('Dark screen')"], answer="Shall I raise its priority?")]
    assert cause([[TICKET]], model) is Cause.WRONG_ARGUMENT


# Loop and step limit


def test_a_refused_call_that_is_made_again_and_again():
    step = ["mv('log.txt', 'a/b')"]
    found = diagnosis([[MOVE]], [did(step, step, step, step)])
    assert (found.cause, found.step, found.evidence["times"]) == (Cause.LOOP, 1, 4)


def test_a_wrong_read_again_and_again_is_a_loop():
    look = ["cat(file_name='draft.txt')"]
    found = diagnosis([["cat(file_name='log.txt')"]], [did(look, look, look, answer="Done.")])
    assert (found.cause, found.step) == (Cause.LOOP, 1)


def test_a_call_that_is_made_twice_is_no_loop():
    step = ["mv('log.txt', 'a/b')"]
    assert cause([[MOVE]], [did(step, step)]) is Cause.WRONG_ARGUMENT


def test_looking_again_and_again_is_a_loop_where_the_turn_ends_in_it():
    look = ["ls()"]
    assert cause([[MOVE]], [did(look, look, look)]) is Cause.LOOP
    assert cause([[MOVE]], [did(look, look, look, ["pwd()"])]) is Cause.MISSING_CALL


def test_a_loop_that_ends_in_a_question_is_a_loop():
    look = ["ls()"]
    model = [did(look, look, look, answer="Which file do you mean?")]
    assert cause([[MOVE]], model) is Cause.LOOP


def test_giving_up_after_a_loop_is_the_loop():
    step = ["mv('log.txt', 'a/b')"]
    assert cause([[MOVE]], [did(step, step, step, answer="Sorry, I can't.")]) is Cause.LOOP


def test_a_loop_to_the_step_limit():
    found = diagnosis([[MOVE]], [did(*[["ls()"]] * 6)], STRICT, step_limit=5)
    assert (found.cause, found.turn, found.evidence["times"]) == (Cause.LOOP, 0, 5)


@pytest.mark.parametrize(
    ("last", "cause_"),
    [
        (["ls()", "ls()", "ls()", "pwd()", "cat('draft.txt')", "ls()"], Cause.LOOP),
        (["ls()", "ls()", "pwd()", "pwd()", "cat('draft.txt')", "ls()"], Cause.LOOP),
        (["ls()", "ls()", "pwd()", "find('.')", "cat('draft.txt')", "ls()"], Cause.STEP_LIMIT),
        (["ls()", "ls()", "pwd()", "pwd()", "pwd()", "touch('file0')"], Cause.LOOP),
    ],
)
def test_half_of_the_last_six_calls_repeat_in_a_loop_at_the_step_limit(last, cause_):
    steps = [[f"touch(file_name='file{n}')"] for n in range(5)] + [[text] for text in last]
    found = diagnosis([[MOVE]], [did(*steps, ["ls()"])], STRICT, step_limit=11)
    assert (found.cause, found.turn) == (cause_, 0)


def test_the_step_limit_without_a_loop():
    steps = [[f"touch(file_name='file{n}')"] for n in range(6)]
    found = diagnosis([[MOVE], []], [did(*steps)], STRICT, step_limit=5)
    assert (found.cause, found.evidence) == (Cause.STEP_LIMIT, {"times": 5})


def test_a_record_that_ends_too_early():
    truth, _, _ = examined([[MOVE]], [did()])
    assert diagnose(truth, None, make_force_terminated_verdict(1)).cause is Cause.STEP_LIMIT


# Unreadable


def test_no_record_at_all():
    truth, _, _ = examined([[MOVE]], [did()])
    found = diagnose(truth, None, inference_error(1))
    assert (found.cause, found.evidence) == (Cause.UNREADABLE, {"sub_reason": "no_record"})


@pytest.mark.parametrize(
    ("answer", "form"),
    [
        ("[mv(source='log.txt', destination='old')]", "in_text"),
        ("[mv(source='log.txt', destination=old folder)]", "bad_syntax"),
        ('{"name": "mv", "arguments": {"source": "log.txt"}}', "other_format"),
        ("<tool_call>mv log.txt old</tool_call>", "other_format"),
    ],
)
@pytest.mark.parametrize("steps", [0, 1])
def test_calls_in_an_answer_that_were_not_made(answer, form, steps):
    found = diagnosis([[MOVE]], [did(*[["ls()"]] * steps, answer=answer)])
    assert (found.cause, str(found.place)) == (Cause.UNREADABLE, "end of turn 1")
    assert found.evidence["sub_reason"] == form


@pytest.mark.parametrize("step", [True, False], ids=["a step", "the end of the turn"])
def test_arguments_that_are_no_json(step):
    problem = MalformedCall("The arguments of mv are not valid JSON.")
    model = did([problem]) if step else did(unreadable=problem)
    found = diagnosis([[MOVE]], [model], STRICT)
    assert (found.name, found.evidence["problem"]) == ("unreadable (malformed)", str(problem))
    assert (found.step, found.call) == ((0, 0) if step else (None, None))


BROKEN = MalformedCall("The arguments of mv are not valid JSON.")


def test_arguments_that_are_no_json_in_the_middle_of_a_turn():
    found = diagnosis([[MOVE, TICKET]], [did([BROKEN], [TICKET], answer="Done.")], STRICT)
    assert found.name == "unreadable (malformed)"
    assert (found.turn, found.step, found.call) == (0, 0, 0)
    assert found.sentence == (
        f"unreadable (malformed) at turn 1, step 1, call 1: a call could not be parsed: {BROKEN}"
    )


NAMELESS = MalformedCall("The call has no name.")


@pytest.mark.parametrize(
    ("steps", "name", "place"),
    [
        ([["ls()"], [NAMELESS]], "unreadable (malformed)", "turn 1, step 2, call 1"),
        ([["ls()", NAMELESS]], "unreadable (malformed)", "turn 1, step 1, call 2"),
        ([[NAMELESS], ["ls()"]], "missing_call (asked_for)", "end of turn 1"),
        ([[NAMELESS], [NAMELESS]], "unreadable (malformed)", "turn 1, step 2, call 1"),
    ],
)
def test_a_malformed_call_without_a_name_is_the_cause_at_the_end_of_a_turn(steps, name, place):
    found = diagnosis([[MOVE]], [did(*steps, answer="Done.")], STRICT)
    assert (found.name, str(found.place)) == (name, place)


def test_a_call_before_a_malformed_one_does_not_correct_it():
    problem = MalformedCall("The arguments of cat are not valid JSON.")
    truth, read = [["cat(file_name='log.txt')"]], "cat(file_name='draft.txt')"
    before = diagnosis(truth, [did([read], [problem], answer="Done.")], STRICT)
    assert (before.name, before.step) == ("unreadable (malformed)", 1)
    after = diagnosis(truth, [did([problem], [read], answer="Done.")], STRICT)
    assert (after.name, after.step) == ("wrong_argument", 1)


def test_a_malformed_call_that_was_made_again_is_not_the_cause():
    right = did([BROKEN], [MOVE], [TICKET.replace("2", "3")])
    assert cause([[MOVE, TICKET]], [right], STRICT) is Cause.WRONG_ARGUMENT
    wrong = did([BROKEN], ["mv(source='draft.txt', destination='old')"])
    assert cause([[MOVE]], [wrong], STRICT) is Cause.WRONG_ARGUMENT


@pytest.mark.parametrize(
    "answer",
    [
        f"Sure: `{MOVE}`; the file is moved.",
        f"I will call {MOVE} now.",
        "I run mv('log.txt', 'old (2)?') for you.",
    ],
)
def test_a_call_within_a_sentence_was_not_made(answer):
    found = diagnosis([[MOVE]], [did(answer=answer)])
    assert (found.name, found.step) == ("unreadable (in_text)", None)


def test_a_needed_read_within_a_sentence_was_not_made():
    read = "cat(file_name='log.txt')"
    found = diagnosis([[read]], [did(answer=f"I will call {read} now.")])
    assert (found.name, found.step) == ("unreadable (in_text)", None)


@pytest.mark.parametrize(
    ("answer", "cause_"),
    [
        (f"Shall I call {MOVE}?", Cause.ASKED_INSTEAD_OF_ACTING),
        ("I called ls() and found a file.", Cause.MISSING_CALL),
        ("The function mv() moves files.", Cause.UNREADABLE),
    ],
)
def test_not_every_call_in_a_sentence_counts(answer, cause_):
    assert cause([[MOVE]], [did(["ls()"], answer=answer)]) is cause_


@pytest.mark.parametrize(
    ("answer", "cause_"),
    [
        ("I'm sorry, but I can't assist with that request.", Cause.REFUSAL),
        ("I must decline this.", Cause.REFUSAL),
        ("Sorry, there is no function for that.", Cause.GAVE_UP),
        ("I can't help with that: no tool moves files.", Cause.GAVE_UP),
    ],
)
def test_a_refusal_on_principle_is_not_a_lack_of_means(answer, cause_):
    assert cause([[MOVE]], [did(answer=answer)]) is cause_


@pytest.mark.parametrize("stop", ["cut_off", "refusal", "content_filter"])
def test_what_stopped_an_answer_is_the_cause_of_missing_calls(stop):
    silent, wrong = (
        diagnosis([[MOVE]], [did()]),
        diagnosis([[TICKET]], [did(["create_ticket('')"])]),
    )
    found = replace_by_stop(silent, stop)
    assert (found.cause, found.detail) == (stop, Cause(stop).meaning)
    assert "sub_reason" not in found.evidence
    assert replace_by_stop(wrong, stop) is wrong
    assert replace_by_stop(silent, "answer") is silent


def test_a_stop_takes_only_the_sub_reason_out_of_the_evidence():
    evidence = {"answer": "", "expected_call": MOVE, "problem": "none", "times": 3}
    found = diagnosis([[MOVE]], [did()])._replace(evidence={**evidence, "sub_reason": "asked_for"})
    assert replace_by_stop(found, "cut_off").evidence == evidence


def test_what_stopped_an_answer_is_at_the_malformed_call_or_the_end_of_the_turn():
    malformed = diagnosis([[MOVE]], [did([BROKEN])], STRICT)
    ignored = diagnosis([[TICKET, MOVE]], [did(["cat(file='log.txt')"], [TICKET])])
    assert (malformed.cause, ignored.cause) == (Cause.UNREADABLE, Cause.IGNORED_ERROR)
    assert str(replace_by_stop(malformed, "cut_off").place) == "turn 1, step 1, call 1"
    assert str(replace_by_stop(ignored, "cut_off").place) == "end of turn 1"


def test_an_invented_function_in_place_of_a_needed_one_comes_before_later_calls():
    steps = [["move_file(source='log.txt', destination='old')"], [TICKET]]
    found = diagnosis([[MOVE, TICKET]], [did(*steps)])
    assert (found.cause, found.step) == (Cause.NOT_OFFERED, 0)


def test_another_function_with_the_same_arguments_is_the_wrong_function():
    found = diagnosis([[MOVE]], [did(["cp('log.txt', 'a/b')"], ["rm('nothing')"])])
    assert found.cause is Cause.IGNORED_ERROR
    found = diagnosis([[TICKET, "close_ticket(1)"]], [did([TICKET], ["get_ticket(1)"])])
    assert (found.cause, found.step) == (Cause.WRONG_FUNCTION, 1)


def test_a_place_names_the_call_within_its_step():
    found = diagnosis([[MOVE, TICKET]], [did([MOVE, TICKET.replace("2", "3")])])
    assert (found.turn, found.step, found.call) == (0, 0, 1)
    assert found.sentence == (
        "wrong_argument at turn 1, step 1, call 2: create_ticket: priority should be 2, but is 3"
    )
    document = found.to_json()
    assert (document["place"], document["sentence"]) == ("turn 1, step 1, call 2", found.sentence)


def test_prose_that_a_decoder_refuses_is_an_answer():
    model = did(answer="I cannot do this.", unreadable=MalformedCall("This is no list of calls."))
    assert cause([[MOVE]], [model]) is Cause.GAVE_UP


# Too early


def test_a_call_that_was_made_too_early_and_so_is_not_made_in_its_turn():
    read = "cat(file_name='log.txt')"
    found = diagnosis([[TICKET], [], [read]], [did([TICKET]), did([read]), did()])
    assert (found.cause, found.turn) == (Cause.ACTED_INSTEAD_OF_ASKING, 1)
    assert found.detail == f"the turn needed no calls, but the model made a call: {read}"
    other = did(["cat(file_name='draft.txt')"])
    assert cause([[TICKET], [], [read]], [did([TICKET]), other, did()]) is Cause.MISSING_CALL


# Ignored errors


def test_an_error_after_which_nothing_more_was_tried():
    found = diagnosis([[TICKET, MOVE]], [did(["cat(file='log.txt')"], [TICKET])])
    assert (found.cause, found.step) == (Cause.IGNORED_ERROR, 0)
    assert found.evidence["expected_call"] == MOVE


def test_what_was_needed_and_refused_for_its_arguments_is_an_error_in_these():
    found = diagnosis([[TICKET, MOVE]], [did(["mv('log.txt', 'a/b')"], [TICKET])])
    assert (found.cause, found.step) == (Cause.WRONG_ARGUMENT, 0)
    assert (found.evidence["parameter"], found.evidence["expected"]) == ("destination", "old")
    found = diagnosis([[MOVE]], [did(["mv(file='log.txt', destination='old')"])])
    assert found.detail == (
        "mv: source should be 'log.txt', but is missing; file should not be given, but is 'log.txt'"
    )


def test_errors_of_what_was_not_even_needed_at_the_end_of_the_turn():
    steps = [["cat(file='log.txt')"], ["cat(path='log.txt')"]]
    found = diagnosis([[MOVE]], [did(*steps)])
    assert (found.cause, found.step) == (Cause.IGNORED_ERROR, 1)
    assert found.evidence["expected_call"] == MOVE


def test_a_refused_call_that_was_put_right_later_is_not_what_was_wrong():
    truth = [TICKET, "close_ticket(ticket_id=1)"]
    tries = ["create_ticket(name='Dark screen')"], [TICKET]
    found = diagnosis([truth], [did(*tries)])
    assert (found.cause, found.evidence["expected_call"]) == (Cause.MISSING_CALL, truth[1])


def test_an_error_that_was_put_right_is_no_fault():
    assert diagnosis([[MOVE]], [did(["mv('log.txt', 'a/b')"], [MOVE])]) is None


def test_a_call_that_the_truth_repeats_after_a_refusal_is_an_ignored_error():
    again = "mv(source='gone.txt', destination='old')"
    truth = [[again, "touch(file_name='gone.txt')", again]]
    found = diagnosis(truth, [did([again], answer="Done.")])
    assert (found.name, found.evidence["call"]) == ("ignored_error", again)


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("I have no means of moving files.", "gave_up"),
        ("For security reasons I won't move it.", "refusal"),
        ("```\nmv(source='log.txt', destination='old')\npwd()\n```", "unreadable (in_text)"),
        ("mv(source='log.txt', destination=['old')", "unreadable (bad_syntax)"),
    ],
)
def test_answers_in_place_of_a_call(answer, name):
    assert diagnosis([[MOVE]], [did(answer=answer)]).name == name


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("mv(source='log.txt')", "wrong_argument (missing)"),
        ("mv(source='lag.txt')", "wrong_argument (missing)"),
        ("mv(source='log.txt', dest='old')", "wrong_argument (missing)"),
        ("mv(source='log.txt', destination='odd')", "wrong_argument"),
    ],
)
def test_a_missing_argument_is_named_before_wrong_ones(call, name):
    found = diagnosis([["mv(source='log.txt', destination='old')"]], [did([call], answer="Done.")])
    assert (found.name, found.evidence["parameter"]) == (name, "destination")


def test_an_error_in_another_world_than_what_is_missing():
    found = diagnosis([[TICKET]], [did(["cat(file_name='nothing')"])])
    assert found.cause is Cause.MISSING_CALL


def test_an_error_whose_cause_was_looked_into_was_not_ignored():
    found = diagnosis([[MOVE]], [did(["mv('log.txt', 'a/b')"], ["ls()"])])
    assert found.cause is Cause.WRONG_ARGUMENT


# Logging in again


def test_a_login_that_replaces_a_login():
    found = diagnosis([[TICKET]], [did([LOGIN], [TICKET])])
    assert (found.cause, found.step) == (Cause.REAUTHENTICATED, 0)
    assert "TravelAPI.access_token" in found.evidence["paths"]


def test_a_login_where_nobody_was_logged_in_is_a_call_too_many():
    model = [did(["logout()"], ["ticket_login(username='ann', password='x')"])]
    found = diagnosis([["logout()"]], model)
    assert found.cause is Cause.EXTRA_CALL


def test_a_login_in_place_of_another_login():
    truth = [["logout()", "ticket_login(username='ann', password='x')"]]
    assert cause(truth, [did(["logout()"], [LOGIN])]) is Cause.WRONG_FUNCTION


def test_a_login_that_changes_nothing_is_harmless():
    login = "authenticate_twitter(username='ann', password='secret')"
    assert diagnosis([[TWEET]], [did([login], [TWEET])]) is None


# Acting without looking


LOOK = ["tail(file_name='log.txt', lines=1)", "post_tweet(content='three')"]


def test_a_value_that_was_never_looked_up():
    found = diagnosis([LOOK], [did(["post_tweet(content='two')"])])
    assert found.cause is Cause.ACTED_WITHOUT_LOOKING
    assert found.evidence["expected_call"] == LOOK[0]


def test_a_value_that_was_looked_up_and_got_wrong():
    assert cause([LOOK], [did(LOOK[:1], ["post_tweet(content='two')"])]) is Cause.WRONG_ARGUMENT


def test_a_value_that_was_seen_by_other_means():
    model = [did(["cat(file_name='log.txt')"], ["post_tweet(content='two')"])]
    assert cause([LOOK], model) is Cause.WRONG_ARGUMENT


# In general

CALLS = [
    *LOOK,
    MOVE,
    TICKET,
    TWEET,
    LOGIN,
    "cd(folder='old')",
    "ls()",
    "touch(file_name='new')",
    "rm(file_name='log.txt')",
    "logout()",
    "nothing_of_this_name(a=1)",
    "create_ticket(title='Dark screen')",
]
turns = st.lists(st.lists(st.sampled_from(CALLS), max_size=3), min_size=2, max_size=2)


@pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda profile: profile.name)
@given(truth=turns, model=turns, answer=st.sampled_from([None, "", "Which?", "I cannot.", "Done."]))
def test_whatever_fails_has_a_cause_and_evidence_in_json(profile, truth, model, answer):
    done = [did(*[[call] for call in calls], answer=answer) for calls in model]
    traces = examined(truth, done, profile)
    found = diagnose(*traces)
    assert (found is None) == traces[-1].valid
    if found:
        json.dumps(found.to_json(), allow_nan=False)
        assert found.turn in (0, 1)


def test_evidence_is_bounded():
    found = diagnosis([[TWEET]], [did([f"post_tweet(content={'x' * 100_000!r})"])])
    assert len(json.dumps(found.to_json())) < 10_000


# Steps that nobody asks for in words

DOORS = dict.fromkeys(("driver", "passenger", "rear_left", "rear_right"), "locked")
CAR = {"VehicleControlAPI": {"fuelLevel": 10.0, "doorStatus": DOORS}}
BRAKE, START = "pressBrakePedal(pedalPosition=1.0)", "startEngine(ignitionMode='START')"
READ_FUEL = "displayCarStatus(option='fuel')"


def said_of(truth, model, words, config=CONFIG, answer=None):
    """Return why a made-up episode fails in which the user says so much."""
    turns = tuple(Turn((), tuple(calls)) for calls in truth)
    trajectory = Trajectory("made_up_0", Category.BASE, tuple(config), config, turns)
    data = Dataset("made-up", "1", "0" * 64, {trajectory.id: trajectory})
    prepared = prepare(data, trajectory, BFCL)
    played = trace(prepared, [[[*map(parse_call, calls)]] for calls in model], BFCL, 20)
    played = played._replace(turns=tuple(turn._replace(answer=answer) for turn in played.turns))
    outcomes = [turn.outcome for turn in played.turns]
    verdict = judge(prepared.truth, outcomes, BFCL, prepared.scene)
    return diagnose(trace_truth(prepared, BFCL), played, verdict, words)


def test_an_implicit_step_that_was_left_out_is_the_cause_of_the_refusal_after_it():
    found = said_of([[BRAKE, START]], [[START]], ["Start the engine, please."], CAR)
    assert found.name == "missing_call (implicit)"
    assert found.evidence["expected_call"] == BRAKE
    assert found.evidence["call"] == START


@pytest.mark.parametrize("before", [READ_FUEL, "startEngine()", "startEngine(mode='START')"])
def test_calls_before_a_refusal_do_not_hide_the_implicit_step(before):
    words = ["Start the engine, please."]
    found = said_of([[BRAKE, START]], [[before, START]], words, CAR)
    assert (found.name, found.call) == ("missing_call (implicit)", 1)
    assert found.evidence["expected_call"] == BRAKE


def test_a_claim_of_success_after_a_refusal_ignores_the_error():
    words = ["Start the engine, please."]
    claimed = said_of([[BRAKE, START]], [[START]], words, CAR, "The engine is running.")
    assert (claimed.cause, claimed.step, claimed.call) == (Cause.IGNORED_ERROR, 0, 0)
    admitted = said_of([[BRAKE, START]], [[START]], words, CAR, "The engine failed to start.")
    assert admitted.cause is not Cause.IGNORED_ERROR


@pytest.mark.parametrize("said", ["But don't post anything yet.", "Never post without asking me."])
def test_an_unneeded_call_that_the_user_ruled_out(said):
    model, words = [["ls()", TWEET]], [f"List the files. {said}"]
    assert said_of([["ls()"]], model, words).cause is Cause.PROHIBITED_CALL
    forgot = ["List the files, and don't forget to post on Friday."]
    assert said_of([["ls()"]], model, forgot).cause is Cause.EXTRA_CALL


def test_only_the_latest_message_rules_a_call_out():
    words = ["Show the folder. But don't post anything yet.", "List the files."]
    found = said_of([["pwd()"], ["ls()"]], [["pwd()"], ["ls()", TWEET]], words)
    assert found.cause is Cause.EXTRA_CALL


def test_a_call_without_its_argument_is_refused_for_that_and_not_for_a_step_before_it():
    found = said_of([[BRAKE, START]], [["startEngine()"]], ["Start the engine, please."], CAR)
    assert (found.cause, found.evidence["parameter"]) == (Cause.WRONG_ARGUMENT, "ignitionMode")


def test_a_look_that_was_left_out_is_the_cause_of_too_much_fuel():
    fill = "fillFuelTank(fuelAmount=40)"
    found = said_of(
        [[READ_FUEL, fill]], [["fillFuelTank(fuelAmount=50)"]], ["Fill it to the brim."], CAR
    )
    assert (found.name, found.step, found.call) == ("acted_without_looking", 0, 0)
    assert found.detail == (
        "fillFuelTank(fuelAmount=50) was refused; displayCarStatus(option='fuel') was never called"
    )
    assert found.evidence["expected_call"] == READ_FUEL


def test_a_write_that_was_left_out_is_no_look():
    wrong, words = "startEngine(ignitionMode='GO')", ["Start the engine, please."]
    found = said_of([[BRAKE, START]], [[wrong]], words, CAR)
    assert (found.name, found.evidence["expected_call"]) == ("missing_call (implicit)", BRAKE)


def test_the_last_of_the_looks_that_were_left_out_is_named():
    fill = "fillFuelTank(fuelAmount=40)"
    looks = [READ_FUEL, "displayCarStatus(option='doors')", "displayCarStatus(option='battery')"]
    truth = [[*looks, fill]]
    found = said_of(truth, [["fillFuelTank(fuelAmount=50)"]], ["Fill it to the brim."], CAR)
    assert found.evidence["expected_call"] == "displayCarStatus(option='battery')"
    assert found.detail.endswith("displayCarStatus(option='battery') was never called")


def test_the_last_call_of_a_function_breaks_a_rule_on_its_arguments():
    calls = ["ls()", TICKET, "ls(a=True)", "ls(a=False)"]
    truth, model, _ = examined([["pwd()"]], [did(calls)])
    for actual, place in (("ls(a=True)", 2), ("ls()", 0), ("True", 3)):
        evidence = CallEvidence(
            Reason.PROHIBITED_CALL, "no", function="ls", parameter="a", actual=actual
        )
        verdict = Verdict(False, Failure(Reason.PROHIBITED_CALL, evidence), 0, 1, 0)
        found = diagnose(truth, model, verdict)
        assert (found.cause, found.step, found.call) == (Cause.PROHIBITED_CALL, 0, place)


def test_an_unconverted_amount_that_does_not_fit_names_the_conversion():
    convert, fill = "liter_to_gallon(liter=100)", "fillFuelTank(fuelAmount=26.4172)"
    words = ["Put 100 liters in; liter_to_gallon converts."]
    found = said_of([[convert, fill]], [["fillFuelTank(fuelAmount=100)"]], words, CAR)
    assert (found.name, found.step) == ("acted_without_looking", 0)
    assert found.detail == (
        "fillFuelTank: the model guessed fuelAmount and never called liter_to_gallon(liter=100)"
    )
    later = [["fillFuelTank(fuelAmount=100)", "displayCarStatus(option='26.4172')"]]
    assert said_of([[convert, fill]], later, words, CAR).detail == found.detail
    kept = said_of([[convert, fill]], [[convert, "fillFuelTank(fuelAmount=7)"]], words, CAR)
    assert kept.cause is Cause.WRONG_ARGUMENT


def test_a_call_that_was_made_within_another_one_is_not_left_out():
    mean, add = "mean(numbers=[1, 3])", "add(a=2.0, b=2)"
    nested, words = f"add(a={mean}, b=2)", ["Add 2 to the mean of 1 and 3."]
    found = said_of([[mean, add]], [[nested]], words, {"MathAPI": {}})
    assert (found.name, found.step, found.call) == ("missing_call (nested)", 0, 0)
    assert found.detail == f"{mean} was made only inside another call: {nested}"
    found = said_of([[nested]], [[mean, add]], words, {"MathAPI": {}})
    assert (found.name, found.step, found.call) == ("missing_call (not_nested)", 0, 1)
    found = said_of([[nested]], [[mean, "add(a='two', b=2)"]], words, {"MathAPI": {}})
    assert (found.name, found.call) == ("wrong_argument", 1)
    found = said_of([[mean, add]], [[nested.replace("2", "3")]], words, {"MathAPI": {}})
    assert found.detail == f"add: b should be 2, but is 3; a should be 2.0, but is {mean}"


def test_changes_in_another_order():
    made = ["mkdir(dir_name='new')", "cd(folder='new')"]
    truth, words = [[made[1].replace("new", "old"), made[0]]], ["Enter old and make new."]
    found = said_of(truth, [truth[0][::-1]], words, CONFIG)
    assert (found.cause, found.step, found.call) == (Cause.WRONG_ORDER, 0, 0)
    assert found.detail == f"made {truth[0][1]} before {truth[0][0]}"
    tweets = [[TWEET, "post_tweet(content='Bye')"]]
    found = said_of(tweets, [["pwd()", *tweets[0][::-1]]], ["Greet, and then say goodbye."])
    assert (found.cause, found.step, found.call) == (Cause.WRONG_ORDER, 0, 1)
    found = said_of(tweets, [[*tweets[0][::-1], TICKET]], ["Greet, and then say goodbye."])
    assert found.cause is not Cause.WRONG_ORDER


def test_a_step_that_the_user_names_is_not_implicit():
    words = ["Press the brake pedal and start the engine."]
    found = said_of([[BRAKE, START]], [[START]], words, CAR)
    assert (found.name, found.step) == ("missing_call (unfinished)", 0)


def test_another_function_that_tells_the_same():
    ticket = {"id": 7, "title": "Dark", "description": "No light.", "status": "Open"}
    ticket |= {"priority": 2, "created_by": "ann", "resolution": ""}
    queue = {"ticket_queue": [ticket], "ticket_counter": 8, "current_user": "ann"}
    truth, words = [["get_ticket(ticket_id=7)"]], ["What of my ticket?"]
    found = said_of(truth, [["get_user_tickets()"]], words, {"TicketAPI": queue})
    assert found.cause is Cause.WRONG_FUNCTION
    found = said_of(truth, [["ticket_get_login_status()"]], words, {"TicketAPI": queue})
    assert found.cause is Cause.MISSING_CALL


def test_words_of_a_turn_that_was_done_name_no_step_of_a_later_one():
    truth = [["mv(source='log.txt', destination='old')"], ["mkdir(dir_name='new')", "ls()"]]
    words = ["Move log.txt to old, not to new.", "What is there?"]
    found = said_of(truth, [truth[0], ["ls()"]], words, CONFIG)
    assert found.name == "missing_call (implicit)"
    found = said_of(truth, [truth[0], ["ls()"]], [words[0], "Make new. What is there?"], CONFIG)
    assert found.name == "missing_call (unfinished)"


def test_whoever_names_a_folder_does_not_ask_to_enter_it():
    truth = [["cd(folder='old')", "touch(file_name='a.txt')"]]
    found = said_of(truth, [[truth[0][1]]], ["Put a.txt into old."], CONFIG)
    assert found.name == "missing_call (implicit)"


def test_to_make_what_was_there_is_to_act_without_looking():
    root = {"home": {"type": "directory", "contents": {"alex": {"type": "directory"}}}}
    root["home"]["contents"]["alex"]["contents"] = {}
    config = {"GorillaFileSystem": {"root": root}}
    truth = [["cd(folder='alex')"], ["touch(file_name='log.txt')"]]
    words = ["Go to alex.", "Put log.txt into the folder alex."]
    made = ["mkdir(dir_name='alex')", "cd(folder='alex')", "touch(file_name='log.txt')"]
    found = said_of(truth, [truth[0], made], words, config)
    assert (found.cause, found.turn) == (Cause.ACTED_WITHOUT_LOOKING, 1)
    found = said_of(truth, [truth[0], ["cd(folder='alex')", "ls()", *made]], words, config)
    assert (found.cause, found.step) == (Cause.ACTED_WITHOUT_LOOKING, 0)
    assert found.detail.startswith("created 'alex' again without reading it first: mkdir")
    found = said_of(truth, [truth[0], ["pwd()", *made]], words, config)
    assert found.cause is Cause.EXTRA_CALL


def test_a_read_call_is_not_the_missing_step_of_a_refused_call_with_right_arguments():
    note = "echo(content='three', file_name='new.txt')"
    truth = [["cat(file_name='log.txt')", "touch(file_name='new.txt')", note]]
    words = ["What does it say at the end? Note it in a new file called new.txt."]
    found = said_of(truth, [[note]], words, CONFIG)
    assert (found.cause, found.step) == (Cause.MISSING_CALL, 0)
    assert found.evidence["expected_call"] == "touch(file_name='new.txt')"


def test_a_needless_login_with_made_up_credentials_is_one_also_where_it_is_refused():
    login = "authenticate_twitter(username='user', password='guess')"
    found = said_of([[TWEET]], [[login]], ["Post it."])
    assert found.cause is Cause.REAUTHENTICATED
    assert found.evidence["call"] == login


@pytest.mark.parametrize(
    ("model", "reason"),
    [([], "whole_turn"), ([TICKET], "unfinished"), (["ls()"], "asked_for")],
)
def test_how_much_was_left_out_is_told(model, reason):
    assert (
        diagnosis([[TICKET, TWEET]], [did(model) if model else did()]).evidence["sub_reason"]
        == reason
    )


# Criteria


@pytest.mark.parametrize(
    ("messages", "detail"),
    [
        (("two orders", "no refund"), "two orders; no refund"),
        ((), Cause.FAILED_CHECK.meaning),
        (("x" * 3000,), "x" * 1997 + "..."),
        (("x" * 2000,), "x" * 2000),
    ],
)
def test_failed_criteria_are_the_detail(messages, detail):
    causes = tuple([CallEvidence(Reason.CRITERIA_NOT_MET, text) for text in messages])
    failure = Failure(
        Reason.CRITERIA_NOT_MET, CallEvidence(Reason.CRITERIA_NOT_MET, "", causes=causes)
    )
    verdict = Verdict(False, failure, 2, 3, 2)
    found = diagnose(Trace(()), None, verdict)
    assert (found.cause, found.detail, str(found.place)) == (
        Cause.FAILED_CHECK,
        detail,
        "end of turn 3",
    )
    assert diagnose(Trace(()), None, verdict._replace(failed_turn=None)).place is None


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("x" * 2000, "x" * 2000),
        ("x" * 2001, "x" * 1997 + "..."),
        (parse_call("f(a='b')"), "f(a='b')"),
        ((1, 2), [1, 2]),
        ({1: None}, {"1": None}),
        (["x" * 1995], ["x" * 1995]),
        (["x" * 1996], str(["x" * 1996])),
        (["x" * 1997], str(["x" * 1997])[:1997] + "..."),
        (2.5, 2.5),
    ],
)
def test_a_piece_of_evidence_is_json_up_to_its_length(value, kept):
    assert bound_evidence(value) == kept


# What the causes mean


def test_the_page_of_causes_has_each_with_its_meaning():
    page = (Path(__file__).parents[3] / "docs" / "causes.md").read_text()
    rows = [*((cause, cause.meaning) for cause in Cause), *SUB_REASONS.items()]
    assert [row for row in rows if "| `{}` | {} |".format(*row) not in page] == []
    assert all(meaning for _, meaning in rows)


def test_a_diagnosis_tells_what_its_cause_and_its_sub_reason_mean():
    found = diagnosis([[TICKET]], [did()])
    assert found.meaning == "a needed call was not made: the model made no call in the turn"
    found = diagnosis([[MOVE]], [did(["rm(file_name='log.txt')"])])
    assert found.meaning == Cause.WRONG_FUNCTION.meaning


def test_an_unanswered_request_ends_the_last_turn_of_the_trace():
    _, played, _ = examined([["ls()"]] * 4, [did(["ls()"])] * 4)
    reason = Reason.CONTEXT_OVERFLOW
    for model, turn in (
        (None, None),
        (Trace(()), None),
        (played._replace(turns=played.turns[:1]), 0),
        (played._replace(turns=played.turns[:3]), 2),
        (played, 3),
    ):
        found = diagnose_unanswered(reason, "too long", model)
        assert (found.cause, found.turn) == (Cause.UNANSWERED, turn)
        assert found.detail == reason.meaning
        assert found.evidence == {"problem": "too long"}


def test_a_needed_call_that_is_repeated_without_effect_has_no_order():
    calls = ["cat(file_name='log.txt')", "rm(file_name='log.txt')", *["mkdir(dir_name='d')"] * 2]
    found = diagnosis([calls], [did(calls[1:2], calls[:1], calls[2:3], calls[3:])])
    assert (found.cause, found.evidence["expected_call"]) == (Cause.MISSING_CALL, calls[0])


def test_a_refused_call_with_a_wrong_argument_explains_the_refusals_after_it():
    login = "authenticate_twitter(username='ann', password='{}')"
    config = {"TwitterAPI": {"username": "ann", "password": "secret", "authenticated": False}}
    truth, model = ([login.format(word), TWEET] for word in ("secret", "wrong"))
    words = ["Authenticate on twitter as ann with the password secret, and post Hello."]
    found = said_of([truth], [model], words, config)
    assert (found.cause, found.step, found.call) == (Cause.WRONG_ARGUMENT, 0, 0)
    assert found.detail == "authenticate_twitter: password should be 'secret', but is 'wrong'"
