from __future__ import annotations

import pytest

from checkers.profile import STRICT
from runner.episodes.parallel import ChunkJudge, chunks, outcomes_of, without_trajectories
from trajectories.dataset import load_embedded
from trajectories.errors import DataError
from trajectories.schema import Category


def complain(prepared):
    """Complain of the user's data."""
    raise DataError("data.jsonl:7", "no good: mend it")


@pytest.mark.parametrize("workers", [1, 2, 3, 40])
@pytest.mark.parametrize("count", [0, 1, 7, 100, 1000])
def test_chunks_are_all_of_it_in_order(count, workers):
    parts = chunks(range(count), workers)
    assert [number for part in parts for number in part] == list(range(count))
    assert all(1 <= len(part) <= 32 for part in parts)


def test_a_judge_returns_what_is_wrong_with_the_data_as_text():
    data = load_embedded([Category.BASE])
    judge = ChunkJudge(without_trajectories(data), STRICT, complain)
    with pytest.raises(DataError, match=r"^data\.jsonl:7: no good: mend it$"):
        outcomes_of(next(judge.each([*data.trajectories.values()][:10])))
