"""Entries whose results have a wanted length."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from checkers.profile import STRICT
from envs.errors import DataError
from extensions.authoring.making.long_context import count_read
from extensions.experiments.axes import Axis, Levels, parse_axes, vary_dataset
from extensions.experiments.axes import vary_recorded_dataset as recorded
from extensions.experiments.context_lengths import ContextEntries
from runner.episodes.scripted_models import ScriptedBehaviour
from trajectories.dataset import Dataset, load_embedded
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category

ID = "long_context_travel_math_friends_split"
SHORT = "base_math_staircase"


@cache
def dataset() -> Dataset:
    """Return our own entries with and without bulk."""
    return load_embedded([Category.BASE, Category.LONG_CONTEXT])


@pytest.mark.parametrize("level", ["4k", "32k"])
def test_results_have_the_wanted_length(level: str) -> None:
    entry = ContextEntries(dataset(), level)[ID]
    bare = replace(dataset().trajectories[entry.base], config=entry.config)
    wanted = 4_000 * int(level[:-1])
    assert entry.long_context is not None
    assert count_read(bare, entry.long_context) == pytest.approx(wanted, rel=0.15)


def test_an_entry_without_bulk_is_left_out() -> None:
    varied = vary_dataset(dataset(), Levels({"context": "4k"}), [ID, SHORT])
    assert ([*varied.dataset.trajectories], varied.left_out) == ([ID], [SHORT])


def test_a_recorded_run_has_the_same_entries() -> None:
    levels = Levels({"context": "8k"})
    varied = vary_dataset(dataset(), levels, [ID]).dataset.trajectories[ID]
    assert recorded(dataset(), levels).trajectories[ID] == varied


def test_levels_are_thousands_of_tokens() -> None:
    assert parse_axes(["context=4k,12k"]) == [Axis("context", ("4k", "12k"))]
    for level in ("0k", "4", "4M", "04k"):
        with pytest.raises(DataError, match="is not a level of context"):
            parse_axes([f"context={level}"])


def test_a_scripted_model_can_be_sensitive_to_length() -> None:
    scripted = ScriptedBehaviour.named("scripted:0.05,context=0.02")
    shares = [
        scripted.error_share(prepare(dataset(), ContextEntries(dataset(), level)[ID], STRICT))
        for level in ("4k", "16k")
    ]
    assert shares == pytest.approx([0.09, 0.13], abs=0.005)
