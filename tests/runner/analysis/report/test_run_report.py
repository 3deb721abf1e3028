from __future__ import annotations

import gc
import json
import re
from dataclasses import replace
from unittest.mock import Mock
from weakref import WeakSet

import pytest

from checkers.profile import BFCL
from runner.analysis import episode_view, replayed_runs
from runner.analysis.replayed_runs import replay_run
from runner.analysis.report import run_report
from runner.analysis.report.run_report import report
from runner.analysis.report.value_bounds import ValueBounds
from runner.episodes.offline import examine_recorded
from tests.runner.analysis.report.making import call, kept_tools, source_of, unpacked, viewed
from tests.runner.analysis.test_runs_executed_again import RIGHT, WRONG, record


@pytest.fixture
def run(dataset_of, help_desk):
    """View a run of the same trajectory under several ids."""

    def make(*turns, **more):
        names = [f"desk_{index}" for index in range(len(turns))]
        dataset = dataset_of(*[replace(help_desk, id=name) for name in names])
        return viewed(dataset, source_of(dict(zip(names, turns, strict=True)), **more))

    return make


def test_a_page_has_an_index_and_a_pack_for_every_episode(run):
    index, shared, *packs = unpacked(report([run(RIGHT, WRONG)]))
    assert shared == {"prompts": [], "functions": [], "tools": {}, "documents": []}
    [about] = index
    assert (about["name"], about["profile"], about["first_pack"]) == ("made-up", "bfcl", 2)
    assert [row["outcome"] for row in about["rows"]] == ["passed", "failed"]
    assert ["Dark'" in json.dumps(pack["turns"][0]["steps"]) for pack in packs] == [False, True]


def test_several_runs_share_a_page(run):
    packs = unpacked(report([run(RIGHT, WRONG), run(WRONG)]))
    assert [about["first_pack"] for about in packs[0]] == [3, 5]
    assert len(packs) == 3 + 3
    assert all("turns" in pack for pack in packs[3:])


def test_the_functions_that_a_run_offered_are_in_it(run, tmp_path):
    tool = {"function": {"name": "get_ticket"}}
    folder = kept_tools(tmp_path / "run", tool)
    live = run(RIGHT, records={"desk_0": record()}, path=folder)
    assert unpacked(report([live]))[1]["functions"] == [tool]


def test_what_is_long_is_cut_off_first(run, monkeypatch):
    monkeypatch.setattr(run_report, "_BUDGET", 4)
    monkeypatch.setattr(run_report, "BOUNDS", (ValueBounds(10_000, 100), ValueBounds(100, 10)))
    noise = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(4_000))
    runs = [run(RIGHT, [[call("create_ticket", title=noise)], [], []], RIGHT)]
    _, _, short, long, _ = unpacked(report(runs))
    assert "cut off here" in json.dumps(long, ensure_ascii=False)
    assert "cut off here" not in json.dumps(short, ensure_ascii=False)


def test_an_episode_is_executed_once_for_all_limits(run, monkeypatch):
    counted = Mock(side_effect=episode_view.turns_of)
    monkeypatch.setattr(episode_view, "turns_of", counted)
    monkeypatch.setattr(run_report, "_BUDGET", 0)
    written = Mock(side_effect=run_report.card_json)
    monkeypatch.setattr(run_report, "card_json", written)
    report([run(RIGHT, WRONG)])
    # The total excludes all but the last limit before the second episode.
    assert (counted.call_count, written.call_count) == (2, len(run_report.BOUNDS) + 1)


def test_the_trials_of_an_entry_share_its_ground_truth(dataset_of, help_desk, monkeypatch):
    counted = Mock(side_effect=replayed_runs.prepare)
    monkeypatch.setattr(replayed_runs, "prepare", counted)
    dataset = dataset_of(*[replace(help_desk, id=name) for name in "ab"])
    episodes = {(id, trial): WRONG for trial in range(3) for id in "ab"}
    made = viewed(dataset, source_of(episodes))
    assert [each.judged.outcome for each in made.episodes] == ["failed"] * 6
    assert counted.call_count == 2


def test_nothing_is_cut_off_where_all_fits(run):
    assert "cut off here" not in json.dumps(unpacked(report([run(RIGHT, WRONG)])))


def test_a_name_is_text_in_the_title(run):
    made = run(RIGHT)
    hostile = made._replace(source=replace(made.source, name="</title><script>alert(1)</script>"))
    page = "".join(report([hostile]))
    assert "<title>Turnwise: &lt;/title&gt;&lt;script&gt;" in page
    assert len(re.findall("<script>", page)) == 1


def test_the_same_run_gives_the_same_bytes(run):
    assert [*report([run(RIGHT, WRONG)])] == [*report([run(RIGHT, WRONG)])]


def test_a_report_holds_few_executed_episodes_at_a_time(dataset_of, help_desk, monkeypatch):
    alive, numbers = WeakSet(), []

    def examine(*args):
        found = examine_recorded(*args)
        gc.collect()
        alive.add(found)
        numbers.append(len(alive))
        return found

    monkeypatch.setattr(replayed_runs, "examine_recorded", examine)
    source = source_of({(help_desk.id, trial): WRONG for trial in range(8)})
    page = report([replay_run(source, dataset_of(help_desk), BFCL, 20)])
    assert (len(unpacked(page)), len(numbers)) == (2 + 8, 8)
    assert max(numbers) <= 3
