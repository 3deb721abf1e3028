from __future__ import annotations

from pathlib import Path

import pytest

from checkers.profile import BFCL, STRICT
from extensions.authoring.audit import audit, execute_runs
from runner.records.recorded_run import Run
from tests.runner.analysis.entries import ANSWER, RIGHT, WAIT, WRONG
from tests.runner.records.made import answered


@pytest.fixture
def executed(dataset_of, single_turn):
    """Execute the answers of several models to one entry."""

    def execute(*steps, profile=BFCL):
        entry = single_turn("python", WAIT, ANSWER)
        models = {
            f"m{number}": Run("x", Path("x"), {(entry.id, 0): answered(entry.id, [[step]])})
            for number, step in enumerate(steps)
        }
        return execute_runs(dataset_of(entry), models, profile)

    return execute


def test_single_turns_are_judged_by_their_calls(executed):
    found = executed(RIGHT, WRONG)
    assert [score.passed for score in found.scores().values()] == [1, 0]


def test_models_that_fail_a_single_turn_alike_agree_on_no_state(executed):
    found = executed(WRONG, WRONG)
    [finding] = audit(found.truths, found.runs)
    assert (finding.all_fail, finding.agreement) == (True, None)


def test_what_cannot_be_judged_is_left_out(executed):
    found = executed(RIGHT, "Error during inference: 500", profile=STRICT)
    assert [len(entries) for entries in found.runs.values()] == [1, 0]
