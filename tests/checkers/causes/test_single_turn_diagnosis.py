from __future__ import annotations

import json

import pytest

from checkers.calls.call_comparison import EntryRules
from checkers.calls.call_entry import (
    CallEntry,
    ComparisonKind,
    ExpectedCall,
    FunctionDocument,
    Language,
    UnreadableOutput,
)
from checkers.calls.call_pairs import CallPair, pair_answers
from checkers.calls.single_turn_verdict import judge
from checkers.causes.diagnosis import Cause
from checkers.causes.single_turn_diagnosis import PairedAnswer, ReplyStatus, diagnose_calls
from checkers.evidence import CallEvidence
from checkers.profile import BFCL, STRICT
from checkers.reasons import Reason
from checkers.replies.single_turn import read_calls
from envs.calls import Call, parse_call

WAIT = FunctionDocument("wait", {"n": {"type": "integer"}, "unit": {"type": "string"}}, ("n",))
RING = FunctionDocument("ring", {"n": {"type": "integer"}}, ("n",))
OFFERED = ("wait", "ring")
FIVE, SIX = (ExpectedCall("wait", {"n": [n], "unit": ["s", ""]}) for n in (5, 6))


def call(name="wait", **arguments):
    return {name: json.dumps(arguments)}


def why(step, *answers, kind=ComparisonKind.PARALLEL, profile=STRICT):
    """Return why a function-calling model's step fails."""
    task = CallEntry(kind, Language.PYTHON, (WAIT, RING), answers)
    verdict = judge(task, step, "fc", profile)
    assert verdict.failure is not None
    assert verdict.failure.calls is not None
    words = step if isinstance(step, str) else None
    try:
        calls, said = read_calls(step, task.language, "fc", profile.calls), ReplyStatus(words)
    except UnreadableOutput as error:
        calls, said = [], ReplyStatus(words, str(error))
    pairs = pair_answers(calls, task, EntryRules(task.language, profile.calls, underscores=True))
    found = diagnose_calls(PairedAnswer(pairs, said, OFFERED), verdict.failure.calls)
    json.dumps(found.to_json())
    return found


@pytest.mark.parametrize(
    ("step", "cause"),
    [
        ([call(n=7)], Cause.WRONG_ARGUMENT),
        ([call()], Cause.WRONG_ARGUMENT),
        ([call(n=5, mode="x")], Cause.WRONG_ARGUMENT),
        ([call("ring", n=5)], Cause.WRONG_FUNCTION),
        ([call("sleep", n=5)], Cause.NOT_OFFERED),
        ([call(n=5), call(n=5)], Cause.EXTRA_CALL),
        ([call(n=5), call("sleep")], Cause.NOT_OFFERED),
        ([], Cause.MISSING_CALL),
        (None, Cause.MISSING_CALL),
        ("", Cause.MISSING_CALL),
        ("Done.", Cause.MISSING_CALL),
        ("For how long shall I wait?", Cause.ASKED_INSTEAD_OF_ACTING),
        ("Sorry, I cannot do that.", Cause.GAVE_UP),
        ("wait(n=5)", Cause.UNREADABLE),
        ('<tool_call>{"name": "wait", "arguments": {"n": 5}}</tool_call>', Cause.UNREADABLE),
        ([{"wait": "{"}], Cause.UNREADABLE),
    ],
)
def test_each_way_to_fail_has_its_cause(step, cause):
    assert why(step, FIVE).cause is cause


def test_a_wrong_argument_is_named_with_what_was_expected():
    found = why([call(n=7, unit="h")], FIVE)
    assert (found.turn, found.step) == (0, 0)
    assert found.detail == "wait: n should be 5, but is 7; unit should be 's', but is 'h'"
    assert found.evidence == {
        "call": "wait(n=7, unit='h')",
        "expected_call": "wait(n=5, [unit='s'])",
        "parameter": "n",
        "expected": 5,
        "got": 7,
        "also": ["unit"],
    }


def test_the_argument_that_the_checker_came_upon_is_the_first():
    found = why([call(unit="h")], FIVE)
    assert found.detail == "wait: n should be 5, but is missing; unit should be 's', but is 'h'"
    assert "got" not in found.evidence


def test_what_should_not_be_given_has_no_expected_value():
    found = why([call(n=5, mode="x")], FIVE)
    assert found.detail == "wait: mode should not be given, but is 'x'"
    assert "expected" not in found.evidence


def test_several_right_values_are_all_named():
    assert why([call(n=7)], ExpectedCall("wait", {"n": [5, 6]})).evidence["expected"] == [5, 6]


def test_the_number_of_calls_comes_before_what_is_wrong_with_them():
    for more in ((), (ExpectedCall("ring", {"n": [1]}),)):
        found = why([call(n=7)], FIVE, SIX, *more)
        assert (found.cause, found.step) == (Cause.MISSING_CALL, None)
        assert found.evidence["expected_call"] == "wait(n=6, [unit='s'])"


def test_of_several_calls_the_wrong_one_is_named():
    assert why([call(n=7), call(n=5)], FIVE, SIX).evidence["call"] == "wait(n=7)"


RATE = FunctionDocument("grow", {"rate": {"type": "float"}}, ("rate",))


@pytest.mark.parametrize("given", [5, 5.0])
def test_five_percent_given_as_five_is_a_wrong_scale(given):
    task = CallEntry(
        ComparisonKind.SIMPLE, Language.PYTHON, (RATE,), (ExpectedCall("grow", {"rate": [0.05]}),)
    )
    step = [call("grow", rate=given)]
    failure = judge(task, step, "fc", STRICT).failure
    calls = read_calls(step, task.language, "fc", STRICT.calls)
    pairs = pair_answers(calls, task, EntryRules(task.language, STRICT.calls, underscores=True))
    found = diagnose_calls(PairedAnswer(pairs, ReplyStatus(), ("grow",)), failure.calls)
    assert found.name == "wrong_argument (scale)"
    assert found.sentence == (
        "wrong_argument (scale) at turn 1, step 1, call 1: "
        f"grow: rate should be 0.05, but is {given}"
    )


def test_a_missing_argument_has_a_sub_reason():
    assert why([call()], FIVE).name == "wrong_argument (missing)"
    assert why([call(n=5, mode="x")], FIVE).sub_reason is None


def test_the_second_call_of_an_answer_is_the_place():
    found = why([call(n=5), call(n=7)], FIVE, SIX)
    assert (found.turn, found.step, found.call) == (0, 0, 1)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("I use `wait(n=5)` for that.", "unreadable (in_text)"),
        ("Shall I call wait(n=5)?", "asked_instead_of_acting"),
        ("I'm sorry, I can't help with that.", "refusal"),
    ],
)
def test_words_in_place_of_a_call(words, name):
    found = why(words, FIVE)
    assert (found.name, found.step, found.call) == (name, None, None)


def test_a_part_of_a_nested_call_is_no_unneeded_call():
    pairs = (
        CallPair("add", "add(a=mean(numbers=[1, 2]), b=12)", Call("add", (), {}), place=(1, 0)),
        CallPair(None, None, Call("mean", (), {}), "surplus call", place=(0, 0)),
    )
    evidence = CallEvidence(Reason.RESULT_COUNT, "1 calls expected, 2 made")
    found = diagnose_calls(PairedAnswer(pairs, offered=("add", "mean", "sum")), evidence)
    assert found.name == "extra_call (not_nested)"
    assert found.detail == "made a separate call that belongs inside another call: mean()"
    other = pairs[1]._replace(call=Call("sum", (), {}))
    found = diagnose_calls(PairedAnswer((pairs[0], other), offered=("add", "sum")), evidence)
    assert found.name == "extra_call"
    outer = CallPair("add", "add(a=3, b=12)", parse_call("add(a=mean(n=[1]), b=2)"), place=(0, 0))
    pairs = (outer, CallPair("mean", "mean(n=[1])", None, "left out"))
    found = diagnose_calls(PairedAnswer(pairs, offered=("add", "mean")), evidence)
    assert (found.name, found.step) == ("missing_call (nested)", 0)
    assert found.detail.startswith("mean(n=[1]) was made only inside another call: add(a=mean(")
    pairs = (*pairs, CallPair("sum", "sum(n=[1])", None, "left out"))
    assert diagnose_calls(PairedAnswer(pairs, offered=("add", "mean")), evidence) == found
    assert found.evidence["expected_call"] == "mean(n=[1])"


def test_a_call_where_none_fits():
    found = why([call(n=5)], kind=ComparisonKind.IRRELEVANCE)
    assert (found.cause, found.evidence) == (Cause.ACTED_INSTEAD_OF_ASKING, {"call": "wait(n=5)"})
    assert why([call("sleep")], kind=ComparisonKind.IRRELEVANCE).cause is Cause.NOT_OFFERED


def test_a_broken_call_where_none_fits():
    found = why([{"wait": "{"}], kind=ComparisonKind.IRRELEVANCE)
    assert found.cause is Cause.ACTED_INSTEAD_OF_ASKING
    assert "problem" in found.evidence


def test_no_call_where_any_would_do():
    assert why("Which one?", kind=ComparisonKind.RELEVANCE).cause is Cause.ASKED_INSTEAD_OF_ACTING
    assert why(None, kind=ComparisonKind.RELEVANCE).cause is Cause.MISSING_CALL
    assert why([call("sleep")], kind=ComparisonKind.RELEVANCE).cause is Cause.NOT_OFFERED


def test_a_failed_request_leaves_no_record():
    task = CallEntry(ComparisonKind.PARALLEL, Language.PYTHON, (WAIT,), (FIVE,))
    failure = judge(task, None, "fc", STRICT).failure
    pairs = pair_answers([], task, EntryRules(task.language, STRICT.calls, underscores=True))
    assert failure.calls is not None
    found = diagnose_calls(
        PairedAnswer(pairs, ReplyStatus("Error", None, True), OFFERED), failure.calls
    )
    assert (found.cause, found.evidence) == (Cause.UNREADABLE, {"sub_reason": "no_record"})


@pytest.mark.parametrize("depth", [30, 400, 900])
def test_evidence_is_bounded(depth):
    deep = f"{'[' * depth}5{']' * depth}"
    step = [{"wait": f'{{"n": {deep}, "unit": "{"x" * 100_000}"}}'}]
    found = why(step, FIVE, profile=BFCL)
    assert found.cause is Cause.WRONG_ARGUMENT
    assert len(json.dumps(found.to_json())) < 20_000
    assert len(found.detail) < 500
