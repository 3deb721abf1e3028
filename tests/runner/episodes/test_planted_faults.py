"""Causes of failing episodes with a planted fault, 2 of each kind."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.planted_faults import ANYWHERE, KINDS, Planted, planted

EACH = 2
SHARE = 0.95
"""Share of the episodes whose cause and place have to be right."""


@pytest.fixture(scope="module")
def episodes() -> list[Planted]:
    """Return the failing episodes."""
    return [episode for kind in KINDS for episode in planted(kind, EACH)]


def has_cause(episode: Planted) -> bool:
    """Tell whether the cause is right; a fault without a sub-reason leaves it open."""
    found = episode.examined.diagnosis
    right = episode.fault.cause.split("|")
    return found is not None and (found.name in right or found.cause in right)


def has_place(episode: Planted) -> bool:
    """Tell whether the place is right."""
    found, fault = episode.examined.diagnosis, episode.fault
    assert found is not None
    return found.turn == fault.turn and fault.step in (ANYWHERE, found.step)


def test_causes_of_planted_faults(episodes):
    assert len(episodes) >= 80
    wrong = [
        f"{each.id}: {each.fault.cause}, found {each.examined.diagnosis.sentence}"
        for each in episodes
        if not (has_cause(each) and has_place(each))
    ]
    assert len(wrong) <= (1 - SHARE) * len(episodes), "\n".join(wrong)


def test_every_kind_fits_several_entries_and_no_kind_is_always_wrong(episodes):
    assert Counter(each.kind for each in episodes) == dict.fromkeys(KINDS, EACH)
    assert {each.kind for each in episodes if has_cause(each)} == set(KINDS)


def test_faults_are_of_all_backends(episodes):
    used = {name for each in episodes for name in each.examined.trajectory.environments}
    assert len(used) >= 9


def test_every_cause_is_json_and_has_a_place(episodes):
    for each in episodes:
        document = json.loads(json.dumps(each.examined.diagnosis.to_json()))
        assert document["place"] == str(each.examined.place)
        assert document["sentence"].startswith(f"{each.examined.diagnosis.name} at ")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_causes_of_other_draws(seed):
    drawn = [episode for kind in KINDS for episode in planted(kind, 3, seed)]
    right = sum(has_cause(each) and has_place(each) for each in drawn)
    assert right >= SHARE * len(drawn)
