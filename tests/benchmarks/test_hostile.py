from __future__ import annotations

import sys
from random import Random

import pytest

from tests.benchmarks import hostile

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_hostile_is_raised_slow_or_large(monkeypatch, capsys, seed):
    counts = ["--seed", str(seed), "--texts", "60", "--episodes", "6"]
    monkeypatch.setattr(sys, "argv", ["hostile", *counts])
    assert hostile.main() == 0, capsys.readouterr().out


def test_what_is_raised_is_shown(monkeypatch):
    monkeypatch.setattr(hostile, "readers", lambda: {"asks": lambda text: text.nothing})
    [row] = hostile.read_all(Random(0), 3)
    assert (row.inputs, len(row.raised), row.good) == (3, 3, False)
    assert "AttributeError" in str(row)


@pytest.mark.parametrize(("slowest", "largest"), [(0.3, 0), (0.1, 1_001)])
def test_what_is_slow_or_large_is_not_good(slowest, largest):
    assert hostile.Row("x", 1, [], 0.2, 1_000).good
    assert not hostile.Row("x", 1, [], slowest, largest).good
