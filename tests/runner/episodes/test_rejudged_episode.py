from __future__ import annotations

import pytest

from checkers.causes.diagnosis import Cause
from checkers.causes.episode_place import EpisodePlace
from checkers.profile import BFCL, STRICT
from runner.episodes.offline import examine_recorded, examine_truth
from runner.episodes.rejudged_episode import RejudgedMultiTurn, RejudgedSingleTurn
from runner.records.episode_record import ServerRejection, TurnEnd
from tests.runner.analysis.entries import ANSWER, WAIT, WRONG, executed_entry
from tests.runner.records.made import answered
from trajectories.prepared_trajectory import prepare


class Names:
    """A surface that says which of its two layouts it was asked for."""

    def turns(self, examined: RejudgedMultiTurn) -> str:
        return f"turns of {examined.trajectory.id}"

    def pairs(self, examined: RejudgedSingleTurn) -> str:
        return f"pairs of {examined.trajectory.id}"


@pytest.fixture
def entries(single_turn, folders):
    """Return an entry of each kind."""
    return {
        "state": folders,
        "calls": single_turn("python", WAIT, ANSWER),
        "results": executed_entry(folders),
    }


@pytest.mark.parametrize(
    ("kind", "layout"), [("state", "turns"), ("calls", "pairs"), ("results", "pairs")]
)
def test_a_kind_says_how_it_is_shown(dataset_of, entries, kind, layout):
    entry = entries[kind]
    found = examine_truth(prepare(dataset_of(entry), entry, STRICT), STRICT, 20)
    assert found.verdict.valid
    assert found.diagnosis is None
    assert found.show(Names()) == f"{layout} of {entry.id}"


def test_turns_say_where_they_left_the_ground_truth_and_why(dataset_of, folders):
    ready = prepare(dataset_of(folders), folders, BFCL)
    found = examine_recorded(ready, answered(folders.id, [["No."], []], "prompt"), BFCL, 20)
    assert isinstance(found, RejudgedMultiTurn)
    assert found.place == EpisodePlace(0, "end")
    assert found.diagnosis is not None
    assert found.diagnosis.turn == 0
    assert [len(turn.calls) for turn in found.truth.turns] == [1, 2]
    assert found.functions == ()


@pytest.mark.parametrize(
    ("turn", "why", "cause"),
    [
        (0, "cut_off", Cause.CUT_OFF),
        (0, "refusal", Cause.REFUSAL),
        (0, "content_filter", Cause.CONTENT_FILTER),
        (1, "cut_off", Cause.MISSING_CALL),
        (0, "answer", Cause.MISSING_CALL),
    ],
)
def test_an_answer_that_was_cut_off_left_nothing_out(dataset_of, folders, turn, why, cause):
    ready = prepare(dataset_of(folders), folders, BFCL)
    ends = [TurnEnd(turn, why, None)]
    played = answered(folders.id, [["Let me thi"], []], "prompt", turn_ends=ends)
    found = examine_recorded(ready, played, BFCL, 20)
    assert found.diagnosis is not None
    assert found.diagnosis.cause is cause


def test_what_was_done_wrong_before_an_answer_was_cut_off_is_the_cause(dataset_of, entries):
    entry = entries["calls"]
    ready = prepare(dataset_of(entry), entry, STRICT)
    ends = [TurnEnd(0, "cut_off", None)]
    found = examine_recorded(ready, answered(entry.id, [[WRONG]], turn_ends=ends), STRICT, 20)
    assert found.diagnosis is not None
    assert found.diagnosis.cause is Cause.WRONG_ARGUMENT


def test_calls_are_paired_and_explained_by_argument(dataset_of, entries):
    entry = entries["calls"]
    ready = prepare(dataset_of(entry), entry, STRICT)
    found = examine_recorded(ready, answered(entry.id, [[WRONG]]), STRICT, 20)
    assert isinstance(found, RejudgedSingleTurn)
    assert found.place == EpisodePlace(0, "call")
    [pair] = found.paired.pairs
    assert [argument.given for argument in pair.arguments] == [6]
    assert found.diagnosis is not None
    assert found.diagnosis.cause is Cause.WRONG_ARGUMENT
    assert found.functions == [WAIT]


@pytest.mark.parametrize("kind", ["state", "calls", "results"])
def test_an_error_that_is_not_the_model_s_has_no_cause(dataset_of, entries, kind):
    entry = entries[kind]
    ready = prepare(dataset_of(entry), entry, STRICT)
    failed = answered(entry.id, None, outcome="error", error="gone")
    found = examine_recorded(ready, failed, STRICT, 20)
    assert not found.verdict.valid
    assert found.diagnosis is None


def test_results_are_shown_as_the_model_read_them(dataset_of, folders):
    ready = prepare(dataset_of(folders), folders, BFCL)
    played = answered(folders.id, [[WRONG], []])
    found = examine_recorded(
        ready, played, BFCL, 20, lambda _session, call, _result, _words: f"<{call}>"
    )
    ours = examine_recorded(ready, played, BFCL, 20)
    shown, plain = (
        [each.result for turn in one.model.turns for step in turn.steps for each in step]
        for one in (found, ours)
    )
    assert [each.observation.startswith("<") for each in shown] == [True] * len(plain)
    assert [each.text for each in shown] == [each.observation for each in plain]


FAILED = "Error during inference: busy"


@pytest.mark.parametrize(
    ("mode", "turns", "answer", "has_problem", "failed", "calls"),
    [
        ("fc", [[[{"wait": '{"n": 5}'}]]], None, False, False, 1),
        ("fc", [["No."]], "No.", False, False, 0),
        ("fc", [[[{"wait": "{"}]]], None, True, False, 0),
        ("fc", [[[]]], None, False, False, 0),
        ("fc", [[None]], None, False, False, 0),
        ("fc", [[FAILED]], FAILED, False, True, 0),
        ("prompt", [["[wait(n=5)]"]], None, False, False, 1),
        ("prompt", [["[]"]], "[]", False, False, 0),
        ("prompt", [["No."]], "No.", True, False, 0),
        ("prompt", [[f"{FAILED} [wait(n=5)]"]], f"{FAILED} [wait(n=5)]", False, True, 0),
        # Nothing is paired without the one answer of the entry.
        ("fc", None, None, False, True, 0),
        ("fc", [], None, False, False, 0),
        ("fc", [[]], None, False, False, 0),
        ("fc", [["No."], ["No."]], None, False, False, 0),
    ],
)
def test_a_single_answer_has_its_text_or_the_reason_why_it_has_none(
    dataset_of, single_turn, mode, turns, answer, has_problem, failed, calls
):
    entry = single_turn("python", WAIT, ANSWER)
    ready = prepare(dataset_of(entry), entry, BFCL)
    paired = examine_recorded(ready, answered(entry.id, turns, mode), BFCL, 20).paired
    said = paired.said
    assert (said.answer, said.problem is not None, said.request_failed) == (
        answer,
        has_problem,
        failed,
    )
    assert sum(pair.call is not None for pair in paired.pairs) == calls


def test_an_answer_that_a_server_rejected_failed(dataset_of, single_turn):
    entry = single_turn("python", WAIT, ANSWER)
    ready = prepare(dataset_of(entry), entry, STRICT)
    fault = ServerRejection("context_overflow", "too long")
    for turns in ([], None):
        played = answered(entry.id, turns, fault=fault)
        assert examine_recorded(ready, played, STRICT, 20).paired.said == (None, None, True)
