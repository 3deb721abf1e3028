from __future__ import annotations

import pytest

from checkers.profile import STRICT
from envs.errors import DataError
from extensions.pools.parallel import ChunkJudge, chunks, outcomes_of, without_trajectories
from trajectories.dataset import load_embedded
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


@pytest.mark.parametrize(
    ("count", "workers", "sizes"),
    [
        (0, 1, []),
        (7, 2, [1] * 7),
        (16, 2, [2] * 8),
        (17, 2, [2] * 8 + [1]),
        (128, 1, [32] * 4),
        (132, 1, [32] * 4 + [4]),
        (1000, 2, [32] * 31 + [8]),
        (96, 3, [8] * 12),
    ],
)
def test_a_worker_has_four_chunks_of_at_most_32_entries(count, workers, sizes):
    assert [len(part) for part in chunks(range(count), workers)] == sizes


def test_an_error_that_ends_the_judging_has_its_place_again():
    assert outcomes_of([]) == []
    with pytest.raises(DataError) as caught:
        outcomes_of("a.jsonl:7: wrong: very")
    assert caught.value.args == ("a.jsonl:7", "wrong: very")
