from __future__ import annotations

from collections import Counter

import pytest

from trajectories.dataset import load_embedded
from trajectories.errors import DataError
from trajectories.schema import MULTI_TURN, Category, Trajectory, Turn
from trajectories.selection import by_ids, sample

A, B = ("TicketAPI",), ("GorillaFileSystem", "TicketAPI")
BASE, LONG = Category.BASE, Category.LONG_CONTEXT


def make(sizes):
    """Return trajectories, as many of each stratum as wanted, mixed."""
    rounds = [
        [(stratum, number) for stratum, size in sizes.items() if number < size]
        for number in range(max(sizes.values()))
    ]
    return [
        Trajectory(f"{category}_{len(backends)}_{number}", category, backends, {}, (Turn((), ()),))
        for members in rounds
        for (category, backends), number in members
    ]


def strata(trajectories):
    """Count the trajectories of each stratum."""
    return Counter((t.category, t.environments) for t in trajectories)


def ids(trajectories):
    """Return the ids of trajectories."""
    return [t.id for t in trajectories]


# By id


def test_trajectories_of_ids_are_in_the_order_of_the_data_set():
    three = make({(BASE, A): 3})
    assert by_ids(three, ["base_1_2", "base_1_0", "base_1_2"]) == [three[0], three[2]]
    assert by_ids(three, iter(ids(three))) == three
    assert by_ids(three, []) == []


def test_an_unknown_id_is_told_the_nearest():
    with pytest.raises(DataError, match=r"^--ids: no 'base_1_9' here; did you mean base_1_\d\?$"):
        by_ids(make({(BASE, A): 3}), ["base_1_1", "base_1_9"])


def test_an_id_that_resembles_none_is_told_so():
    with pytest.raises(DataError, match=r"^--ids: no 'zzz' here$"):
        by_ids(make({(BASE, A): 3}), ["zzz", "base_1_1"])


# Samples

MIXED = {(BASE, A): 20, (BASE, B): 40, (LONG, A): 20, (LONG, B): 120}


def test_every_stratum_has_its_share():
    taken = sample(make(MIXED), 20, seed=1)
    assert strata(taken) == {(BASE, A): 2, (BASE, B): 4, (LONG, A): 2, (LONG, B): 12}


@pytest.mark.parametrize("size", [0, 1, 7, 99, 199])
def test_a_sample_has_its_size_and_nothing_twice_in_the_order_of_the_data_set(size):
    population = make(MIXED)
    taken = sample(population, size, seed=3)
    assert len(taken) == size
    places = [population.index(t) for t in taken]
    assert places == sorted(set(places))


@pytest.mark.parametrize("size", [200, 201, 10**9])
def test_a_sample_of_all_is_all(size):
    population = make(MIXED)
    assert sample(population, size, seed=1) == population


def test_the_same_seed_gives_the_same_sample_and_another_one_another():
    population = make(MIXED)
    first, again, other = (ids(sample(population, 20, seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_a_larger_stratum_is_never_shorter_of_members_than_its_share():
    for size in range(1, 200):
        for stratum, count in strata(sample(make(MIXED), size, seed=size)).items():
            assert abs(count - size * MIXED[stratum] / 200) < 1


def test_every_member_of_a_stratum_can_be_drawn():
    population = make(MIXED)
    drawn = {id for seed in range(150) for id in ids(sample(population, 20, seed))}
    assert drawn == set(ids(population))


@pytest.mark.parametrize(
    "sizes",
    [
        {(category, backends): 1 for category in MULTI_TURN for backends in (A, B)},
        {(BASE, A): 2, (BASE, B): 8, (LONG, A): 2, (LONG, B): 8},
    ],
    ids=["strata of one", "strata of less than a whole share"],
)
def test_members_of_small_strata_can_be_drawn_too(sizes):
    # Else a small sample always has the same few strata, and its score is not that of the whole.
    population = make(sizes)
    drawn = Counter(id for seed in range(400) for id in ids(sample(population, 3, seed)))
    assert set(drawn) == set(ids(population))


def test_a_small_sample_of_our_data_set_is_not_always_of_the_same_part():
    population = list(load_embedded(list(MULTI_TURN)).trajectories.values())
    drawn = {id for seed in range(200) for id in ids(sample(population, 30, seed))}
    assert len(drawn) == len(population)
