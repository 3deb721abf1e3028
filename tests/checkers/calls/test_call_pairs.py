from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.calls.call_comparison import EntryRules
from checkers.calls.call_entry import (
    CallEntry,
    ComparisonKind,
    ExpectedCall,
    FunctionDocument,
    Language,
)
from checkers.calls.call_pairs import MAX_PAIRS, pair_answers, pair_results
from checkers.calls.single_turn_verdict import check_calls
from checkers.profile import BFCL, STRICT
from checkers.results import ResultComparisonRule
from envs.calls import Call
from envs.state import ABSENT
from tests.checkers.causes.test_diagnosis import did, examined

NUMBERS = {"n": {"type": "integer"}, "unit": {"type": "string"}}
WAIT = FunctionDocument("clock.wait", NUMBERS, ("n",))
RING = FunctionDocument("clock.ring", NUMBERS, ("n",))


def task(*answers, kind=ComparisonKind.PARALLEL):
    return CallEntry(kind, Language.PYTHON, (WAIT, RING), answers)


def wait(*values, unit=("s", "")):
    """Return an answer."""
    return ExpectedCall("clock.wait", {"n": [*values], "unit": [*unit]})


def made(name="clock.wait", **arguments):
    return Call(name, (), arguments)


def rules(profile=STRICT, underscores=False):
    return EntryRules(Language.PYTHON, profile.calls, underscores)


def paired(calls, *answers, kind=ComparisonKind.PARALLEL, **more):
    """Return which number each pair's call and answer have, None where there is none."""
    pairs = pair_answers(calls, task(*answers, kind=kind), rules(**more))
    return [(pair.call and pair.call.kwargs.get("n"), pair.problem is None) for pair in pairs]


def test_every_argument_stands_beside_what_is_right():
    call = made(n=6, unit="s", mode="x")
    (pair,) = pair_answers([call], task(wait(5, 7), kind=ComparisonKind.SIMPLE), rules())
    assert (pair.function, pair.expected) == ("clock.wait", "clock.wait(n=5 or 7, [unit='s'])")
    n, unit, mode = pair.arguments
    assert (n.parameter, n.allowed, n.optional, n.given) == ("n", (5, 7), False, 6)
    assert n.problem is not None
    assert (unit.allowed, unit.optional, unit.problem) == (("s",), True, None)
    assert (mode.allowed, mode.given) == ((), "x")
    assert mode.problem == "unknown parameter, or a parameter that should not be given"


def test_what_is_left_out_is_absent():
    (pair,) = pair_answers([made(unit="s")], task(wait(5), kind=ComparisonKind.SIMPLE), rules())
    n, _ = pair.arguments
    assert (n.given, n.problem) == (ABSENT, "required")


def test_an_empty_text_is_a_value_where_the_parameter_is_required():
    say = FunctionDocument("say", {"text": {"type": "string"}}, ("text",))
    answer = ExpectedCall("say", {"text": [""]})
    entry = CallEntry(ComparisonKind.SIMPLE, Language.PYTHON, (say,), (answer,))
    (pair,) = pair_answers([Call("say", (), {"text": ""})], entry, rules())
    assert (pair.arguments[0].allowed, pair.arguments[0].optional) == (("",), False)
    assert pair.expected == "say(text='')"


def test_names_are_those_that_the_model_knows():
    call = made("clock_wait", n=5)
    (pair,) = pair_answers(
        [call], task(wait(5), kind=ComparisonKind.SIMPLE), rules(underscores=True)
    )
    assert (pair.function, pair.problem) == ("clock_wait", None)


def test_calls_are_paired_in_any_order():
    assert paired([made(n=2), made(n=1)], wait(1), wait(2)) == [(1, True), (2, True)]


def test_what_is_nearly_right_is_paired_with_what_it_should_be():
    answers = [wait(1, unit=["s"]), wait(2, unit=["h"])]
    calls = [made(n=2, unit="m"), made(n=1, unit="m")]
    assert paired(calls, *answers) == [(1, False), (2, False)]


def test_another_function_stands_for_what_is_left():
    first, second = pair_answers(
        [made("clock.ring", n=2), made(n=1)], task(wait(1), wait(2)), rules()
    )
    assert first.problem is None
    assert (second.call.name, second.arguments) == ("clock.ring", ())
    assert second.problem == "the called function is 'clock.ring'"


def test_too_few_and_too_many_calls_stand_alone():
    (right, missing) = pair_answers([made(n=1)], task(wait(1), wait(2)), rules())
    assert (right.problem, missing.call, missing.problem) == (None, None, "not called")
    (_, extra) = pair_answers([made(n=1), made(n=3)], task(wait(1)), rules())
    assert (extra.expected, extra.problem) == (None, "surplus call")


@pytest.mark.parametrize(
    ("kind", "problem"),
    [(ComparisonKind.RELEVANCE, None), (ComparisonKind.IRRELEVANCE, "no function fits")],
)
def test_without_answers_it_is_the_kind_that_says_whether_a_call_is_right(kind, problem):
    (pair,) = pair_answers([made(n=1)], task(kind=kind), rules())
    assert (pair.expected, pair.problem) == (None, problem)


def test_matching_is_the_profiles():
    answers, calls = [wait(1, 2), wait(1)], [made(n=1), made(n=2)]
    assert [right for _, right in paired(calls, *answers)] == [True, True]
    assert [right for _, right in paired(calls, *answers, profile=BFCL)] == [True, False]


def test_a_flood_of_calls_is_looked_at_in_part():
    assert len(pair_answers([made(n=9)] * 100_000, task(wait(1)), rules())) == MAX_PAIRS


@given(
    st.lists(st.integers(0, 3), max_size=4),
    st.lists(st.sets(st.integers(0, 3), min_size=1).map(sorted), min_size=1, max_size=4),
    st.sampled_from([BFCL, STRICT]),
)
def test_all_pairs_are_right_exactly_when_the_entry_passes(numbers, allowed, profile):
    entry = task(*[wait(*values) for values in allowed])
    calls = [made(n=n) for n in numbers]
    pairs = pair_answers(calls, entry, rules(profile))
    passes = check_calls(calls, entry, rules(profile)) is None
    assert all(pair.problem is None for pair in pairs) is passes
    assert sum(pair.call is not None for pair in pairs) == len(calls)
    assert sum(pair.expected is not None for pair in pairs) == len(allowed)


def test_executed_calls_are_paired_by_result_and_then_by_their_arguments():
    tail = "tail(file_name='{}.txt', lines={})".format
    needed = [tail("log", 2), tail("log", 1), "ls()"]
    steps = [tail("draft", 3)], [tail("log", 2)], [tail("log", 3), "pwd()"], ["rmdir('x')"]
    truth, played, _ = examined([needed], [did(*steps)])
    rules = [ResultComparisonRule()] * 3
    pairs = pair_results(truth.turns[0], played.turns[0], rules)
    assert [(pair.expected, pair.call and str(pair.call), pair.place) for pair in pairs] == [
        (tail("log", 2), tail("log", 2), (1, 0)),
        (tail("log", 1), tail("log", 3), (2, 0)),
        ("ls()", tail("draft", 3), (0, 0)),
        (None, "pwd()", (2, 1)),
        (None, "rmdir('x')", (3, 0)),
    ]
    assert [pair.problem is None for pair in pairs] == [True, False, False, False, False]
    assert [pair.problem for pair in pairs[3:]] == ["surplus call"] * 2


def test_a_right_call_is_closer_than_a_call_with_one_wrong_argument():
    ring = ExpectedCall("clock.ring", {"n": [1]})
    calls = [made(n=6), made(n=5)]
    assert paired(calls, ring, wait(5)) == [(6, False), (5, True)]
    assert paired(calls[::-1], ring, wait(5)) == [(6, False), (5, True)]
