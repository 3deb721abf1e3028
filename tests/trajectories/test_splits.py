from __future__ import annotations

import json
from dataclasses import replace

import pytest

from trajectories.dataset import load_embedded
from trajectories.errors import DataError
from trajectories.schema import MULTI_TURN, Label, Split
from trajectories.splits import MINI, of_split


def test_tiers_share_out_what_there_is(help_desk, folders):
    hard = replace(folders, labels=(Label.LASTING,))
    assert of_split([help_desk, hard], Split.PLAIN) == [help_desk]
    assert of_split([help_desk, hard], Split.HARD) == [hard]


def test_mini_is_sixty_of_what_comes_along_in_all_categories():
    found = of_split([*load_embedded(MULTI_TURN).trajectories.values()], Split.MINI)
    assert {t.id for t in found} == {*json.loads(MINI.read_text())}
    assert len(found) == 60
    assert {t.category for t in found} == {*MULTI_TURN}


@pytest.mark.parametrize("split", [Split.HARD, Split.MINI])
def test_nothing_in_a_part_is_said(help_desk, split):
    with pytest.raises(DataError, match=f"--split: of these trajectories none is {split}"):
        of_split([help_desk], split)
