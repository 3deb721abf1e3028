from __future__ import annotations

import json
from dataclasses import replace

import pytest

from envs.errors import DataError
from trajectories.dataset import load_embedded
from trajectories.schema import MULTI_TURN, DifficultyLabel, Subset
from trajectories.subsets import MINI_FILE, entries_of_subset


def test_tiers_share_out_what_there_is(help_desk, folders):
    hard = replace(folders, labels=(DifficultyLabel.LASTING,))
    assert entries_of_subset([help_desk, hard], Subset.PLAIN) == [help_desk]
    assert entries_of_subset([help_desk, hard], Subset.HARD) == [hard]


def test_mini_is_sixty_of_what_comes_along_in_all_categories():
    found = entries_of_subset([*load_embedded(MULTI_TURN).trajectories.values()], Subset.MINI)
    assert {t.id for t in found} == {*json.loads(MINI_FILE.read_text())}
    assert len(found) == 60
    assert {t.category for t in found} == {*MULTI_TURN}


@pytest.mark.parametrize("subset", [Subset.HARD, Subset.MINI])
def test_nothing_in_a_part_is_said(help_desk, subset):
    with pytest.raises(DataError, match=f"--subset: no selected entry is in the subset {subset}"):
        entries_of_subset([help_desk], subset)
