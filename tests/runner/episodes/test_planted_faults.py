"""Causes of failing episodes with a planted fault, 2 of each kind."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from checkers.profile import STRICT
from runner.episodes.offline import examine_recorded
from runner.episodes.turn_loop import STEP_LIMIT
from runner.records.episode_record import EpisodeRecord, RecordedEpisode, TurnEnd
from tests.planted_faults import ANYWHERE, KINDS, Planted, planted
from trajectories.dataset import load_embedded
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category

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


WRITTEN = (
    "written_faults.jsonl",
    "faults_by_hand.jsonl",
    "faults_by_another_hand.jsonl",
    "faults_by_a_third_hand.jsonl",
)
"""Failing episodes by authors who did not know the rules; turns and steps count from 1."""
MAX_WRONG = 4
"""Wrong causes, and wrong places, in each file."""


@pytest.mark.parametrize("file", WRITTEN)
def test_causes_of_faults_by_authors_without_the_rules(file):
    dataset, wrong, misplaced = load_embedded([*Category]), [], []
    written = (Path(__file__).parents[2] / file).read_text(encoding="utf-8")
    lines = [json.loads(line) for line in written.splitlines()]
    for line in lines:
        prepared = prepare(dataset, dataset.trajectories[line["id"]], STRICT)
        category, turn = prepared.trajectory.category.value, line["turn"] - 1
        ends = [
            TurnEnd(each, line.get("ended", "answer") if each == turn else "answer", None)
            for each in range(len(line["turns"]))
        ]
        record = EpisodeRecord(
            line["id"], 0, category, None, None, None, turn_ends=ends, result=line["turns"]
        )
        recorded = RecordedEpisode(record, "fc")
        found = examine_recorded(prepared, recorded, STRICT, STEP_LIMIT).diagnosis
        assert found is not None
        is_there = found.turn == turn and line.get("step") in (None, (found.step or 0) + 1)
        described = f"{line['id']}: {line['kind']}: {found.sentence}"
        if found.cause not in line["causes"]:
            wrong.append(described)
        if not is_there:
            misplaced.append(described)
    assert len(lines) >= 80
    assert len(wrong) <= MAX_WRONG, "\n".join(wrong)
    assert len(misplaced) <= MAX_WRONG, "\n".join(misplaced)
