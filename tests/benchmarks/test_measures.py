from __future__ import annotations

import json
import sys
import tracemalloc

import pytest

from tests.benchmarks import bfcl_side, measuring, turnwise_side, workload
from tests.benchmarks.generate import Figure, schedule
from tests.benchmarks.measuring import IN_PROCESS, WHOLE, Pairs, Side

pytestmark = pytest.mark.slow


@pytest.fixture
def written(bfcl_folder, tmp_path):
    """Return a workload of made-up data."""
    path = tmp_path / "workload.json"
    workload.write(path, bfcl_folder, None)
    return path


def test_both_sides_take_the_same_measures():
    names = [measure.name for measure in IN_PROCESS]
    assert list(turnwise_side.MEASURES) == list(bfcl_side.MEASURES)
    assert sorted(names) == sorted(turnwise_side.MEASURES)


def test_worlds_have_the_same_calls_as_text_and_structured(written):
    worlds = json.loads(written.read_text())["worlds"]
    assert worlds
    for world in worlds:
        assert len(world["calls"]) == len(world["structured"])


@pytest.mark.parametrize("name", ["judge", "step_text", "step_structured", "hash", "memory"])
def test_our_side_takes_a_measure(written, name, monkeypatch):
    monkeypatch.setattr(turnwise_side.gc, "freeze", lambda: None)
    assert turnwise_side.MEASURES[name](json.loads(written.read_text()))["value"] > 0
    assert not tracemalloc.is_tracing()


def test_a_measure_that_a_side_cannot_take_is_left_out(written, capfd):
    fails = Side("early", [sys.executable, "-c", "raise SystemExit('too early')"], {})
    assert measuring.taken(fails, fails, written, ["fork"], 2) == []
    assert "early: fork: too early" in capfd.readouterr().err


def test_a_command_s_time_and_peak_are_those_of_the_command(tmp_path):
    ballast = bytes(100 << 20)
    side = Side("side", [], {}, [sys.executable, "-c", "pass"])
    seconds, peak = side.scored()
    assert seconds > 0
    assert 0 < peak < len(ballast)


def test_a_command_that_fails_is_no_measure():
    side = Side("side", [], {}, [sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(RuntimeError, match="ends with status 3"):
        side.scored()


def test_the_table_has_targets_where_there_are_any():
    pairs = [Pairs(measure, [2.0], [1.0]) for measure in WHOLE]
    assert measuring.shown("a", "b", pairs).splitlines()[0].endswith("from to")
    heading, _, first, second = measuring.shown("a", "b", pairs, {"score": 20}).splitlines()
    assert heading.endswith("target")
    assert first.endswith(" 20")
    assert second.endswith("to 2.00")


def test_ratios_are_of_pairs():
    pairs = Pairs(WHOLE[0], [2.0, 9.0, 8.0], [1.0, 3.0, 2.0])
    assert pairs.ratios == [2.0, 3.0, 4.0]
    assert pairs.to_json()["ratio"] == {"median": 3.0, "low": 2.0, "high": 4.0}
    assert pairs.row()[1:] == ["ms", "8000", "2000", "3.00", "2.00 to 4.00"]


def test_jobs_are_taken_as_one_of_those_at_once_is_free():
    assert schedule([3, 2, 2, 1], 2) == 4
    assert schedule([3, 2, 2, 1], 9) == 3
    assert schedule([], 2) == 0


def test_a_figure_is_missed_by_its_median():
    assert Figure("wall", [1.0, 1.3, 1.1], 1.2).is_missed is False
    assert Figure("wall", [1.0, 1.3, 1.3], 1.2).is_missed
    assert not Figure("wall", [9.0], None).is_missed
    assert str(Figure("wall", [1.0, 2.0, 4.0], 1.5)) == "wall: 2.00 (1.00 to 4.00), at most 1.5"
