"""Causes of failing episodes with a planted fault, 2 of each kind.

``python -m tests.runner.episodes.test_planted_faults`` writes the recorded diagnoses again.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from checkers.profile import STRICT
from runner.episodes.offline import examine_recorded
from runner.episodes.rejudged_episode import RejudgedEpisode
from runner.episodes.turn_loop import STEP_LIMIT
from runner.records.episode_record import EpisodeRecord, RecordedEpisode, TurnEnd
from tests.planted_faults import ANYWHERE, KINDS, Planted, planted
from trajectories.dataset import load_embedded
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category

EACH = 2
SHARE = 0.95
"""Share of the episodes whose cause and place have to be right."""


RECORDED = Path(__file__).parents[2] / "golden" / "diagnoses.jsonl"
"""Verdicts and diagnoses of all episodes here, one episode a line."""
PAGE = Path(__file__).parents[3] / "docs" / "causes.md"
STATED = re.compile(r"cause of (\d+) and the place of (\d+) of the (\d+) episodes")


def stated(file: str) -> list[int]:
    """Return the numbers of right causes, right places and episodes that the page states."""
    parts = PAGE.read_text(encoding="utf-8").split("\n\n")
    [part] = [" ".join(part.split()) for part in parts if part.startswith(f"`tests/{file}` ")]
    [found] = STATED.findall(part)
    return [int(number) for number in found]


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


def describe(name: str, examined: RejudgedEpisode) -> str:
    """Return verdict and diagnosis as one line, without results, which environments decide."""
    verdict, found = examined.verdict, examined.diagnosis
    assert verdict.failure is not None
    assert found is not None
    judged = [verdict.error_type, *verdict.failure.unseen, *verdict.irreversible]
    counted = [verdict.turns_passed, *(verdict.selected or ()), *verdict.hallucinated]
    evidence = {key: value for key, value in found.evidence.items() if key != "result"}
    return json.dumps([name, judged, counted, found.sentence, evidence], ensure_ascii=False)


def describe_planted(episodes: list[Planted]) -> list[str]:
    """Return one line for each planted fault."""
    return [describe(f"planted {each.id}", each.examined) for each in episodes]


def read_recorded(origin: str) -> list[str]:
    """Return the recorded lines of the episodes of one origin."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith(f'["{origin} ')]


def test_causes_of_planted_faults(episodes):
    assert len(episodes) >= 80
    wrong = [
        f"{each.id}: {each.fault.cause}, found {each.examined.diagnosis.sentence}"
        for each in episodes
        if not (has_cause(each) and has_place(each))
    ]
    assert len(wrong) <= (1 - SHARE) * len(episodes), "\n".join(wrong)
    right = [sum(map(has_cause, episodes)), sum(map(has_place, episodes)), len(episodes)]
    assert right == stated("planted_faults.py")
    assert describe_planted(episodes) == read_recorded("planted")


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


def examine_written(file: str) -> list[tuple[dict[str, Any], RejudgedEpisode]]:
    """Return the written faults of a file with their judged episodes."""
    dataset, found = load_embedded([*Category]), []
    written = (Path(__file__).parents[2] / file).read_text(encoding="utf-8")
    for line in map(json.loads, written.splitlines()):
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
        found.append((line, examine_recorded(prepared, recorded, STRICT, STEP_LIMIT)))
    return found


def describe_written(
    file: str, examined: list[tuple[dict[str, Any], RejudgedEpisode]]
) -> list[str]:
    """Return one line for each written fault of a file."""
    numbered = enumerate(examined, 1)
    return [describe(f"{file} {number} {line['id']}", each) for number, (line, each) in numbered]


@pytest.mark.parametrize("file", WRITTEN)
def test_causes_of_faults_by_authors_without_the_rules(file):
    wrong, misplaced, lines = [], [], examine_written(file)
    for line, examined in lines:
        found = examined.diagnosis
        assert found is not None
        is_there = found.turn == line["turn"] - 1
        is_there &= line.get("step") in (None, (found.step or 0) + 1)
        described = f"{line['id']}: {line['kind']}: {found.sentence}"
        if found.cause not in line["causes"]:
            wrong.append(described)
        if not is_there:
            misplaced.append(described)
    assert len(lines) >= 80
    assert len(wrong) <= MAX_WRONG, "\n".join(wrong)
    assert len(misplaced) <= MAX_WRONG, "\n".join(misplaced)
    right = [len(lines) - len(wrong), len(lines) - len(misplaced), len(lines)]
    assert right == stated(file)
    assert describe_written(file, lines) == read_recorded(file)


if __name__ == "__main__":
    drawn = [episode for kind in KINDS for episode in planted(kind, EACH)]
    described = [
        *describe_planted(drawn),
        *(line for file in WRITTEN for line in describe_written(file, examine_written(file))),
    ]
    RECORDED.write_text("".join(f"{line}\n" for line in described), encoding="utf-8")
