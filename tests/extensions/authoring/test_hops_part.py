from __future__ import annotations

from pathlib import Path

from extensions.authoring.hops_part import hops_part
from extensions.authoring.statistics import count_entry, count_hops
from runner.analysis.replayed_runs import dataset_of, replay_run, resolve_rules
from runner.analysis.report.run_report import outline
from runner.records.recorded_run import open_run
from tests.runner.analysis.replayed_runs import definition, record, truth_turns, write_run
from trajectories.dataset import load_embedded
from trajectories.schema import Category

ENTRIES = 6


def test_scores_by_hops_cover_all_episodes(tmp_path: Path, write_lines) -> None:
    dataset = load_embedded([Category.BASE])
    entries = [*dataset.trajectories.values()][:ENTRIES]
    data = write_lines("data.jsonl", *entries)
    records = [record(data, each.id, truth_turns(each)) for each in entries[1:]]
    failed = record(data, entries[0].id, [["No."]] * len(entries[0].turns))
    run = open_run(write_run(tmp_path / "run", definition(data), failed, *records))
    replayed = replay_run(run, dataset_of(run, None, print), *_rules(run))
    part = hops_part(replayed)
    assert part is not None
    assert [part.row(outline(episode)) for episode in replayed.episodes] == [{}] * ENTRIES
    scores = part.about()["hops"]["parts"]
    assert [int(each["label"]) for each in scores] == sorted(int(s["label"]) for s in scores)
    assert sum(each["judged"] for each in scores) == ENTRIES
    assert sum(each["passed"] for each in scores) == ENTRIES - 1
    hops = str(count_entry(dataset, entries[0]).hops)
    [own] = [each for each in scores if each["label"] == hops]
    assert own["passed"] == own["judged"] - 1
    assert count_hops(dataset, entries[0]) == int(hops)


def _rules(run):
    return resolve_rules(run, dataset_of(run, None, print))
