from __future__ import annotations

import pytest

from checkers.evidence import ResultEvidence
from checkers.reasons import Reason
from checkers.verdict import Failure
from extensions.debugger.views import _failed


@pytest.mark.parametrize(("missing", "lines"), [(3, 4), (72, 5)])
def test_of_many_missing_results_the_first_three_are_listed(missing, lines):
    evidence = ResultEvidence(tuple(f"result {number}" for number in range(missing)))
    shown = [text for text, _ in _failed(Failure(Reason.RESPONSE_MISMATCH, evidence))]
    assert len(shown) == lines
    assert (shown[-1] == f"and {missing - 3} more missing results\n") == (missing > 3)
