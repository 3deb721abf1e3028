from __future__ import annotations

import json
import pickle
import re
from functools import partial
from html import unescape
from pathlib import Path
from typing import get_args

import pytest

from checkers.evidence import CallEvidence, Evidence, ResultEvidence, StateEvidence
from checkers.reasons import Reason
from checkers.verdict import Failure, Hallucinations, SelectionCounts, Verdict
from envs.state import ABSENT, Difference, Snapshot

DIFFERENCES = (
    Difference("A.orders[1]", (2, 3), ABSENT),
    Difference("A.orders[2]", ABSENT, "nothing"),
    Difference("A.names", {"b", "a"}, None),
)
STATE = StateEvidence(lambda: DIFFERENCES)
RESULTS = ResultEvidence(("None", "None"))
VALUE = CallEvidence(Reason.STRING, "no such text", "f", "text", ["a"], "'b'")
CALLS = CallEvidence(Reason.NO_MATCH, "no call is left", "f", causes=(VALUE,))


def test_reasons_of_several_turns_are_the_error_types_of_bfcl_and_six_of_ours():
    assert [reason for reason in Reason if reason.startswith("multi_turn:")] == [
        "multi_turn:inference_error",
        "multi_turn:force_terminated",
        "multi_turn:empty_turn_model_response",
        "multi_turn:instance_state_mismatch",
        "multi_turn:execution_response_mismatch",
        "multi_turn:state_change_in_empty_turn",
        "multi_turn:guessed_argument",
        "multi_turn:absent_function",
        "multi_turn:prohibited_call",
        "multi_turn:wrong_order",
        "multi_turn:not_told",
    ]


def test_the_other_reasons_are_those_of_single_turns_and_of_requests_without_an_answer():
    assert [reason for reason in Reason if not reason.startswith("multi_turn:")] == [
        "criteria:not_met",
        "dialogue:ended_early",
        "dialogue:wrong_state",
        "dialogue:failed_assertion",
        "dialogue:no_consent",
        "dialogue:false_claim",
        "dialogue:missing_action",
        "dialogue:not_communicated",
        "dialogue:failed_statement",
        "inference_error:context_overflow",
        "inference_error:unparsed_call",
        "inference_error:content_policy",
        "inference_error:request_too_large",
        "inference_error:no_answer",
        "ast_decoder:decoder_failed",
        "ast_decoder:decoder_wrong_output_format",
        "simple_function_checker:wrong_count",
        "multiple_function_checker:wrong_count",
        "parallel_function_checker_no_order:wrong_count",
        "parallel_function_checker_no_order:cannot_find_match",
        "simple_function_checker:wrong_func_name",
        "simple_function_checker:missing_required",
        "simple_function_checker:unexpected_param",
        "simple_function_checker:missing_optional",
        "type_error:simple",
        "type_error:nested",
        "type_error:java",
        "type_error:js",
        "value_error:string",
        "value_error:list/tuple",
        "value_error:dict_key",
        "value_error:dict_value",
        "value_error:list_dict_count",
        "value_error:others",
        "dict_checker:unclear",
        "list_dict_checker:unclear",
        "irrelevance_error:decoder_success",
        "relevance_error:decoder_failed",
        "executable_checker:wrong_count",
        "executable_checker:execution_error",
        "executable_checker:wrong_result_type",
        "executable_checker:wrong_result_structure",
        "executable_checker:wrong_result_value",
        "executable_checker:cannot_find_match",
        "executable_checker:wrong_database",
    ]


@pytest.mark.parametrize("reason", Reason)
def test_a_reason_has_a_sentence_that_explains_it(reason):
    assert re.fullmatch(r"[a-z].{10,100}[^. ]", reason.meaning)


def test_a_page_explains_the_reasons_of_several_turns_in_the_same_words():
    page = Path(__file__).parents[2].joinpath("docs", "judging.md").read_text(encoding="utf-8")
    table = page.partition("| reason | the turn fails because |\n|---|---|\n")[2]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table.partition("\n\n")[0], re.MULTILINE))
    prefix = "multi_turn:"
    several = [reason for reason in Reason if reason.startswith(prefix)]
    assert rows == {reason.removeprefix(prefix): reason.meaning for reason in several}


def test_a_passing_verdict_as_json():
    assert Verdict(True, None, None, 3, 3).to_json() == {
        "valid": True,
        "error_type": None,
        "failed_turn": None,
        "turns": 3,
        "turns_passed": 3,
    }


def test_a_failing_verdict_as_json_shows_the_differences():
    expected = Snapshot({"A": {"orders": {1: (2, 3)}, "names": {"b", "a"}, "same": 1}})
    actual = Snapshot({"A": {"orders": {}, "names": None, "same": 1.0}})
    evidence = StateEvidence(partial(expected.differences, actual))
    shown = Verdict(False, Failure(Reason.STATE_MISMATCH, evidence), 1, 3, 1).to_json()
    assert shown == {
        "valid": False,
        "error_type": "multi_turn:instance_state_mismatch",
        "failed_turn": 1,
        "turns": 3,
        "turns_passed": 1,
        "differences": [
            {"path": "A.orders[1]", "expected": [2, 3]},
            {"path": "A.names", "expected": ["a", "b"], "actual": None},
        ],
    }
    assert json.loads(json.dumps(shown)) == shown


def test_a_value_that_is_absent_has_no_member():
    assert Verdict(False, Failure(Reason.STATE_MISMATCH, STATE), 0, 1, 0).to_json()[
        "differences"
    ] == [
        {"path": "A.orders[1]", "expected": [2, 3]},
        {"path": "A.orders[2]", "actual": "nothing"},
        {"path": "A.names", "expected": ["a", "b"], "actual": None},
    ]


def test_a_failing_verdict_as_json_shows_the_missing_results():
    failure = Failure(Reason.RESPONSE_MISMATCH, RESULTS)
    shown = Verdict(False, failure, 0, 1, 0).to_json()
    assert shown["missing_results"] == ["None", "None"]
    assert "differences" not in shown


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict(True, None, None, 3, 3),
        Verdict(False, Failure(Reason.FORCE_TERMINATED), None, 2, 0),
        Verdict(False, Failure(Reason.STATE_MISMATCH, STATE), 1, 3, 1),
        Verdict(False, Failure(Reason.RESPONSE_MISMATCH, RESULTS), 0, 1, 0),
        Verdict(False, Failure(Reason.NO_MATCH, CALLS), 0, 1, 0),
    ],
)
def test_a_verdict_is_read_as_it_was_written(verdict):
    written = json.loads(json.dumps(verdict.to_json()))
    assert Verdict.from_json(written).to_json() == written
    assert Verdict.from_json(written).error_type == verdict.error_type


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"error_type": "multi_turn:x"},
        {"valid": True, "error_type": None, "turns": 1},
        {**Verdict(True, None, None, 3, 3).to_json(), "turns": "3"},
        {**Verdict(True, None, None, 3, 3).to_json(), "valid": 1},
        {**Verdict(True, None, None, 3, 3).to_json(), "irreversible": "rm"},
        {**Verdict(True, None, None, 3, 3).to_json(), "selected": {"functions": []}},
        {**Verdict(True, None, None, 3, 3).to_json(), "hallucinated": {"functions": [1]}},
        {**Verdict(True, None, None, 3, 3).to_json(), "selected": {"functions": 10**400}},
        {**Verdict(True, None, None, 3, 3).to_json(), "turns": 2},
        {**Verdict(True, None, None, 3, 3).to_json(), "turns_passed": -1},
        {**Verdict(True, None, None, 3, 3).to_json(), "turns": 10**10},
        {**Verdict(True, None, None, 3, 3).to_json(), "measures": {"users.x": 10**400}},
    ],
)
def test_what_is_no_verdict_is_refused(document):
    with pytest.raises(ValueError, match=r"verdict|multi_turn:x"):
        Verdict.from_json(document)


def test_evidence_of_a_state_is_what_differs_and_is_looked_for_once():
    asked = []

    def find():
        asked.append(True)
        return DIFFERENCES

    evidence = StateEvidence(find)
    assert not asked
    assert evidence == STATE
    assert hash(evidence) == hash(STATE)
    assert evidence != StateEvidence(tuple)
    assert len(asked) == 1


def test_evidence_is_pickled_without_the_states():
    large = Snapshot({"A": {"same": "x" * 10_000, "gone": 1}})
    evidence = StateEvidence(partial(large.differences, Snapshot({"A": {"same": "x" * 10_000}})))
    found = pickle.dumps(evidence)
    assert len(found) < 1_000
    assert pickle.loads(found) == evidence
    assert pickle.loads(found).differences[0].actual is ABSENT


def test_a_verdict_that_is_read_is_that_which_was_written():
    verdict = Verdict(False, Failure(Reason.STATE_MISMATCH, StateEvidence(tuple)), 0, 1, 0)
    some = partial(map, Difference.from_json, [{"path": "A.x", "expected": 1}])
    other = verdict._replace(failure=Failure(Reason.STATE_MISMATCH, StateEvidence(some)))
    assert Verdict.from_json(other.to_json()) == other


def test_the_readme_lists_every_kind_of_evidence():
    readme = (Path(__file__).parents[2] / "checkers" / "README.md").read_text(encoding="utf-8")
    [said] = re.findall(r"one of (\w+) kinds of evidence", readme)
    kinds = [kind.__name__ for kind in get_args(Evidence)]
    assert re.findall(r"^\| `(\w+Evidence)` \|", readme, re.MULTILINE) == kinds
    assert said == {5: "five", 6: "six"}[len(kinds)]


WHOLE = Verdict(
    True,
    None,
    None,
    3,
    3,
    irreversible=("rm(file_name='a')",),
    hallucinated=Hallucinations(("f",), ("g.x",), ("h", "h")),
    selected=SelectionCounts(4, 3, 2, 1),
    measures={"attack_succeeded": False, "cost.share": 0.5, "cost.none": None, "cost.whole": 2.0},
)


@pytest.mark.parametrize(
    "verdict",
    [
        WHOLE,
        WHOLE._replace(irreversible=()),
        WHOLE._replace(hallucinated=Hallucinations(parameters=("g.x",))),
        WHOLE._replace(selected=None),
        WHOLE._replace(measures={}),
    ],
)
def test_the_counts_of_a_verdict_come_back_from_its_json(verdict):
    document = json.loads(json.dumps(verdict.to_json()))
    assert Verdict.from_json(document) == verdict
    fields = {"irreversible", "hallucinated", "selected", "measures"}
    assert fields & document.keys() == {
        name for name in fields if getattr(verdict, name) not in ((), None, {})
    }


def test_whole_numbers_among_the_measures_are_read_as_floats():
    document = {**WHOLE.to_json(), "measures": {"a": 1, "b": True}}
    measures = Verdict.from_json(document).measures
    assert [(value, type(value)) for value in measures.values()] == [(1.0, float), (True, bool)]
    for wrong in ("1", [1]):
        with pytest.raises(ValueError, match="not a verdict"):
            Verdict.from_json({**document, "measures": {"a": wrong}})


@pytest.mark.parametrize(
    ("verdict", "shown"),
    [
        (WHOLE, "Verdict(passed: 3 turns)"),
        (
            Verdict(False, Failure(Reason.EMPTY_TURN), 1, 3, 1),
            "Verdict(failed in turn 2 of 3: multi_turn:empty_turn_model_response)",
        ),
        (
            Verdict(False, Failure(Reason.FORCE_TERMINATED), None, 3, 0),
            "Verdict(failed of 3: multi_turn:force_terminated)",
        ),
    ],
)
def test_a_verdict_is_shown_in_one_line(verdict, shown):
    assert repr(verdict) == shown


@pytest.mark.parametrize(
    ("verdict", "rows"),
    [
        (WHOLE, ["passed | 3 of 3 turns"]),
        (
            Verdict(False, Failure(Reason.STATE_MISMATCH, STATE), 1, 3, 1),
            [
                "failed | 1 of 3 turns",
                f"turn 2 | {Reason.STATE_MISMATCH.value}: {Reason.STATE_MISMATCH.meaning}",
                "A.orders[1] | expected (2, 3), got nothing",
                "A.orders[2] | expected nothing, got 'nothing'",
                "A.names | expected ['a', 'b'], got None",
            ],
        ),
        (
            Verdict(False, Failure(Reason.RESPONSE_MISMATCH, RESULTS), None, 3, 0),
            [
                "failed | 0 of 3 turns",
                f" | {Reason.RESPONSE_MISMATCH.value}: {Reason.RESPONSE_MISMATCH.meaning}",
                "not seen | None",
                "not seen | None",
            ],
        ),
    ],
)
def test_a_verdict_is_a_table_in_a_notebook(verdict, rows):
    cells = re.findall(r"<td[^>]*>(.*?)</td>", verdict._repr_html_())
    shown = [unescape(cell) for cell in cells]
    assert [" | ".join(pair) for pair in zip(shown[::2], shown[1::2], strict=True)] == rows
