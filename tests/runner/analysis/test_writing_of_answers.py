from __future__ import annotations

import json

import pytest

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.causes.diagnosis import Cause
from checkers.profile import BFCL, STRICT
from checkers.reasons import Reason
from runner.analysis.episode_output import EpisodeJsonRenderer, EpisodeTextRenderer
from runner.analysis.episode_view import EpisodePart
from runner.episodes.offline import examine_recorded, examine_truth
from tests.runner.analysis.entries import (
    ANSWER,
    COUNT,
    LAST,
    RIGHT,
    WAIT,
    WRONG,
    called,
    executed_entry,
)
from tests.runner.records.made import answered
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category


@pytest.fixture
def compared(single_turn):
    """Return an entry that wants one call."""
    return single_turn("python", WAIT, ANSWER)


@pytest.fixture
def executed(folders):
    """Return an entry whose calls are executed."""
    return executed_entry(folders)


@pytest.fixture
def examine(dataset_of):
    """Examine an answer."""

    def examined(entry, step, mode="fc", profile=STRICT, **recorded):
        turns = None if step is None and recorded else [[step]]
        prepared = prepare(dataset_of(entry), entry, profile)
        found = answered(entry.id, turns, mode, **recorded)
        return examine_recorded(prepared, found, profile, 20)

    return examined


def shown(examined, **options):
    """Return the lines that show an answer."""
    transcript = EpisodeTextRenderer("run mine", EpisodePart(**options))
    return [line.text for line in examined.show(transcript)]


def as_json(examined, **options):
    """Return the JSON form of an answer."""
    return examined.show(EpisodeJsonRenderer("run mine", EpisodePart(**options)))


def test_calls_stand_beside_answers(examine, compared):
    text = shown(examine(compared, WRONG))
    assert text == [
        "simple_python_0 (simple_python)",
        "run mine, profile strict",
        "",
        "  user: Wait five seconds.",
        "  functions: clock_wait",
        "> called    clock_wait(n=6)",
        "  expected  clock_wait(n=5)",
        "            n: expected 5, got 6 (the value is not one of the allowed values)",
        "",
        f"FAILED value_error:others: {Reason.OTHER_VALUE.meaning}",
        "  clock_wait.n: the value is not one of the allowed values",
        "cause: wrong_argument at turn 1, step 1, call 1: clock_wait: n should be 5, but is 6",
    ]


def test_what_is_right_can_be_left_out(examine, compared):
    assert "  called    clock_wait(n=5)" in shown(examine(compared, RIGHT))
    assert not any("called" in line for line in shown(examine(compared, RIGHT), only_diff=True))
    assert as_json(examine(compared, RIGHT), only_diff=True)["calls"] == []


def test_json_has_every_argument(examine, compared):
    found = json.loads(json.dumps(as_json(examine(compared, WRONG))))
    assert found["verdict"]["calls"]["parameter"] == "n"
    assert found["functions"] == [WAIT]
    [call] = found["calls"]
    assert (call["call"], call["expected_call"]) == ("clock_wait(n=6)", "clock_wait(n=5)")
    [argument] = call["arguments"]
    assert (argument["allowed"], argument["given"], argument["optional"]) == ([5], 6, False)
    assert found["diagnosis"]["cause"] == "wrong_argument"


@pytest.mark.parametrize(
    ("mode", "step", "said"),
    [
        ("fc", [{"clock_wait": "{"}], "  calls could not be parsed: "),
        ("prompt", "[clock.wait(n=", "  calls could not be parsed: "),
        ("prompt", "[clock.wait(n=", "  assistant: [clock.wait(n="),
        ("fc", "Done.", "  assistant: Done."),
    ],
)
def test_what_is_no_call_is_shown_with_the_reason(examine, compared, mode, step, said):
    assert any(line.startswith(said) for line in shown(examine(compared, step, mode)))


def test_a_prompting_model_s_calls_are_no_answer_in_words(examine, compared):
    found = examine(compared, "[clock.wait(n=5)]", "prompt")
    assert found.verdict.valid
    assert (found.paired.said.answer, found.paired.offered) == (None, ("clock.wait",))


def test_where_any_call_is_right_that_is_said(examine, single_turn):
    entry = single_turn("python", WAIT, category=Category.IRRELEVANCE)
    text = shown(examine(entry, RIGHT))
    assert "  No function fits, so making no call is right." in text
    assert text[-1].startswith("cause: acted_instead_of_asking at turn 1, step 1, call 1: ")


def test_results_stand_beside_those_of_the_ground_truth(examine, executed):
    found = examine(executed, [LAST, called("wc", file_name="no.txt", mode="l")])
    wc, tail = found.paired.pairs
    assert (wc.result.ok, wc.expected_result.ok, tail.result.ok) == (False, True, True)
    assert found.diagnosis.cause is Cause.WRONG_ARGUMENT
    assert found.diagnosis.evidence["parameter"] == "file_name"
    text = "\n".join(shown(found))
    assert "-> refused: " in text
    assert "expected 'notes.txt', got 'no.txt'" in text
    assert [d["name"] for d in as_json(found)["functions"]] == ["wc", "tail"]


def test_another_way_to_the_right_result_is_right(examine, executed):
    found = examine(executed, [LAST, COUNT])
    assert found.verdict.valid
    assert [pair.problem for pair in found.paired.pairs] == [None, None]


def test_too_many_executed_calls(examine, executed):
    words = called("wc", file_name="notes.txt", mode="w")
    assert examine(executed, [COUNT, LAST, words]).diagnosis.cause is Cause.EXTRA_CALL


def test_without_steps_there_is_only_the_error(examine, compared):
    found = examine(compared, None, error="the request failed")
    assert found.diagnosis.cause is Cause.UNREADABLE
    assert "no steps were recorded: the request failed" in shown(found)


def test_an_error_that_is_not_the_models_has_no_cause(examine, compared):
    assert examine(compared, None, outcome="error", error="gone").diagnosis is None


def test_a_failed_request_is_what_the_profile_says(examine, compared):
    step = "Error during inference: 500"
    found = examine(compared, step, profile=BFCL)
    assert found.diagnosis.evidence["sub_reason"] == "no_record"
    with pytest.raises(UnjudgeableEntry):
        examine(compared, step)


@pytest.mark.parametrize("turns", [[], [[]], [["a"], ["b"]]])
def test_a_record_of_another_shape_has_failed(dataset_of, compared, turns):
    prepared = prepare(dataset_of(compared), compared, STRICT)
    found = examine_recorded(prepared, answered(compared.id, turns), STRICT, 20)
    assert found.diagnosis.cause is Cause.STEP_LIMIT


@pytest.mark.parametrize("kind", ["compared", "executed"])
def test_the_truth_itself_is_right(dataset_of, request, kind):
    entry = request.getfixturevalue(kind)
    found = examine_truth(prepare(dataset_of(entry), entry, STRICT), STRICT, 20)
    assert (found.verdict.valid, found.recorded) == (True, None)
    assert all(pair.problem is None for pair in found.paired.pairs)


def test_hostile_texts_are_cut_off(examine, compared):
    step = [{"x" * 100_000: json.dumps({"n" * 100_000: "\033[2J" * 100_000})}]
    found = examine(compared, step)
    assert max(map(len, shown(found))) < 1000
