"""An experiment finds what a scripted model is sensitive to, and nothing where it is to nothing."""

from __future__ import annotations

from math import log2

import pytest

from checkers.call_mistakes import count_selection
from checkers.profile import STRICT
from checkers.statistics import EntryPair, TrialCounts, compare, holm
from checkers.verdict import ExecutedTurn
from extensions.experiments.axes import Levels, vary_dataset
from extensions.experiments.function_counts import list_needed_functions
from extensions.experiments.level_statistics import slope_within
from runner.data.dataset_choice import load_dataset
from runner.episodes.scripted_models import OfferFacts, ScriptedBehaviour
from trajectories.prepared_trajectory import prepare
from trajectories.replay_queries import list_own_functions

LEVELS = ("need", "5", "10", "20", "40", "80", "all")
ENTRIES = 108
SEEDS = 20
LEAST_HELD = 17
"""Of the intervals; 19 of 20 are to be expected."""
MOST_FOUND = 4
"""Of the tests where nothing is to be found; one of 20 is to be expected."""


@pytest.fixture(scope="module")
def entries():
    """Return by id an entry and, by level, what its model is shown."""
    data = load_dataset(categories="base")
    ids = [*data.trajectories][::2][:ENTRIES]
    made = {level: vary_dataset(data, Levels({"tools": level}), ids).dataset for level in LEVELS}
    found = {}
    for id in ids:
        sights = {}
        for level in LEVELS:
            entry = made[level].trajectories[id]
            need, there = list_needed_functions(entry), list_own_functions(entry)
            others = tuple(name for name in there if name not in need)
            sights[level] = OfferFacts(len(there), len(need), False, others)
        found[id] = prepare(data, data.trajectories[id], STRICT), sights
    return found


def went(entries, scripted, seed):
    """Return the slope of function right, and the least corrected p-value of all levels."""
    points, right = {}, {}
    for id, (prepared, sights) in entries.items():
        base = prepared.trajectory.base
        for level, sight in sights.items():
            script = scripted.script(prepared, f"{seed}/{level}", sight)
            # Which calls are made says what was chosen; what they give does not matter here.
            made = [
                ExecutedTurn((), None, True, tuple(call for step in turn for call in step))
                for turn in script
            ]
            chosen = count_selection(prepared.truth, made, prepared.scene)
            share = chosen.functions / chosen.needed
            points.setdefault((base, id), []).append((log2(sight.functions), share))
            all_right = chosen.functions == chosen.arguments == chosen.needed
            right[level, id] = TrialCounts(base, 1, int(all_right))
    pairs = [
        [EntryPair(right["need", id], right[level, id]) for id in entries] for level in LEVELS[1:]
    ]
    return slope_within(points), min(holm([compare(each).p_value for each in pairs]))


@pytest.mark.slow
def test_the_interval_holds_the_true_slope(entries):
    scripted = ScriptedBehaviour(None, 0.05, tools=0.02)
    slopes = [went(entries, scripted, seed)[0] for seed in range(SEEDS)]
    held = sum(low <= -0.02 <= high for low, high in (slope.interval for slope in slopes))
    assert held >= LEAST_HELD
    assert sum(slope.value for slope in slopes) / SEEDS == pytest.approx(-0.02, abs=0.003)


@pytest.mark.slow
def test_where_there_is_nothing_next_to_nothing_is_found(entries):
    scripted = ScriptedBehaviour(None, 0.05)
    found = [went(entries, scripted, seed)[1] < 0.05 for seed in range(SEEDS)]
    assert sum(found) <= MOST_FOUND
