from __future__ import annotations

import sys
from itertools import count, repeat

import pytest

from tests.benchmarks import hotspots, soak

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("growth", "flat"), [(0, True), (1 << 20, False)])
def test_growing_memory_is_noticed(monkeypatch, capsys, growth, flat):
    sizes = count(100 << 20, growth) if growth else repeat(100 << 20)
    monkeypatch.setattr(soak, "_resident", lambda: next(sizes))
    assert soak._soak("resets", repeat(None), 100) is flat
    assert ("NOT FLAT" in capsys.readouterr().out) is not flat


def test_a_short_soak(monkeypatch, capsys):
    counts = ["--resets", "200", "--steps", "2000", "--sessions", "50"]
    monkeypatch.setattr(sys, "argv", ["soak", *counts])
    assert soak.main() == 0
    live, resets, steps = capsys.readouterr().out.splitlines()
    assert live.startswith("50 live sessions: ")
    assert resets.startswith("200 resets: flat")
    assert steps.startswith("2,000 steps: flat")


def test_the_slowest_modules_come_first():
    rows = hotspots._imports(5)
    assert len(rows) == 5
    taken = [float(own) for _, own, _ in rows]
    assert taken == sorted(taken, reverse=True)
    assert all(float(own) <= float(all_) for _, own, all_ in rows)
