from __future__ import annotations

import json

from checkers.verdict import Failure, Reason, Verdict
from envs.state import Snapshot


def test_reasons_are_the_error_types_of_the_reference_and_one_of_ours():
    assert list(Reason) == [
        "multi_turn:inference_error",
        "multi_turn:force_terminated",
        "multi_turn:empty_turn_model_response",
        "multi_turn:instance_state_mismatch",
        "multi_turn:execution_response_mismatch",
        "multi_turn:state_change_in_empty_turn",
    ]


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
    failure = Failure(Reason.STATE_MISMATCH, expected, actual)
    shown = Verdict(False, failure, 1, 3, 1).to_json()
    assert shown == {
        "valid": False,
        "error_type": "multi_turn:instance_state_mismatch",
        "failed_turn": 1,
        "turns": 3,
        "turns_passed": 1,
        "differences": [
            {"path": "A.orders[1]", "expected": [2, 3], "actual": "nothing"},
            {"path": "A.names", "expected": ["a", "b"], "actual": None},
        ],
    }
    assert json.loads(json.dumps(shown)) == shown


def test_a_failing_verdict_as_json_shows_the_missing_results():
    failure = Failure(Reason.RESPONSE_MISMATCH, missing=("None", "None"))
    shown = Verdict(False, failure, 0, 1, 0).to_json()
    assert shown["missing_results"] == ["None", "None"]
    assert "differences" not in shown
