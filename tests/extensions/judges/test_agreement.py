from __future__ import annotations

from collections import Counter

import pytest

from extensions.judges.agreement import cohen_kappa


def test_a_known_kappa():
    # The usual textbook table: two readers of 50 proposals, yes or no.
    table = {("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15}
    assert cohen_kappa(table) == pytest.approx(0.4)
    assert cohen_kappa({(b, a): times for (a, b), times in table.items()}) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ([], None),
        ([("a", "a")] * 3, None),
        ([("a", "a"), ("b", "b"), ("c", "c")], 1.0),
        ([("a", "b"), ("b", "a")], -1.0),
        ([("a", "a"), ("a", "b")], 0.0),
    ],
)
def test_kappa_at_its_ends(pairs, kappa):
    assert cohen_kappa(Counter(pairs)) == kappa
