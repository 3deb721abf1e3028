from __future__ import annotations

import json

import pytest

from envs.errors import DataError
from extensions.viewer import run_index
from extensions.viewer.run_index import CorrectedScore, JudgedResults, RunIndex
from runner.records.run_files import EPISODES_FILE
from runner.records.run_store import RunStore
from tests.extensions.viewer.viewing import write_noted
from tests.runner.analysis.replayed_runs import definition, error_record, record, truth_turns
from tests.runner.records.made import defining, episode


def listed(index, since=0):
    """Return what changed, by name."""
    return {run["name"]: run for run in json.loads(index.since(since))["runs"]}


@pytest.fixture
def runs(tmp_path, data, folders):
    """Write a run that is finished and one that is not, deeper."""
    right = record(data, "folders_0", truth_turns(folders))
    write_noted(tmp_path / "runs" / "done", definition(data), [right], 1)
    write_noted(tmp_path / "runs" / "deep" / "er", defining("b"), [error_record("x")], 3, "2027")
    return tmp_path / "runs"


def test_all_runs_are_listed_with_what_they_scored(runs):
    index = RunIndex(runs)
    assert not index.complete
    index.refresh()
    found = listed(index)
    assert index.complete
    assert set(found) == {"done", "deep/er"}
    done = found["done"]
    assert (done["model"], done["state"], done["score"], done["planned"]) == (
        "org/model",
        "finished",
        1.0,
        1,
    )
    unfinished = found["deep/er"]
    assert (unfinished["state"], unfinished["score"], unfinished["errors"]) == (
        "unfinished",
        None,
        1,
    )
    assert unfinished["resume"][:2] == ["turnwise", "eval"]
    assert [run.folder.name for run in index.newest()] == ["er", "done"]


def test_only_what_changed_is_read_and_told_again(runs, monkeypatch):
    index = RunIndex(runs)
    index.refresh()
    version = json.loads(index.since(0))["version"]
    monkeypatch.setattr(run_index, "read_catalog_run", lambda folder: pytest.fail(str(folder)))
    index.refresh()
    assert json.loads(index.since(version)) == {
        "version": version,
        "complete": True,
        "gone": [],
        "runs": [],
    }


def test_a_run_that_grows_and_one_that_goes(runs):
    index = RunIndex(runs)
    index.refresh()
    version = json.loads(index.since(0))["version"]
    line = json.dumps(episode("more", 0, "base", "failed", 1, 0).to_json())
    with (runs / "deep" / "er" / EPISODES_FILE).open("a") as file:
        file.write(f"{line}\n".replace(": ", ":").replace(", ", ","))
    for path in (runs / "done").iterdir():
        path.unlink()
    index.refresh()
    assert listed(index, version)["deep/er"]["episodes"] == 2
    assert json.loads(index.since(version))["gone"] == ["done"]
    with pytest.raises(DataError, match="does not contain this run"):
        index.find("done")


def test_what_a_run_took_and_told_is_reckoned_the_newest_first(runs):
    index = RunIndex(runs, lambda folder: CorrectedScore(0.5, (0.25, 0.75)))
    index.refresh()
    assert listed(index)["done"]["took"] is None
    assert index.reckon()
    assert [name for name, run in listed(index).items() if run["reckoned"]] == ["deep/er"]
    while index.reckon():
        pass
    done = listed(index)["done"]
    assert done["took"] == {"requests": 2, "cost": None, "p50": 0.5, "told": None}
    assert done["mended"] == {"score": 0.5, "interval": [0.25, 0.75]}


def test_the_usage_of_a_run_is_added_up_without_keeping_its_episodes(runs, monkeypatch):
    add_up, given = run_index.totals_of, []
    monkeypatch.setattr(run_index, "totals_of", lambda all_: given.append(all_) or add_up(all_))
    index = RunIndex(runs)
    index.refresh()
    while index.reckon():
        pass
    assert given
    assert all(iter(each) is each for each in given)


def test_runs_of_one_history_have_one_series(tmp_path):
    for number, model in enumerate("aab"):
        write_noted(tmp_path / str(number), defining(model), [])
    index = RunIndex(tmp_path)
    index.refresh()
    first, second, other = (listed(index)[name]["series"] for name in "012")
    assert first == second != other


def test_a_damaged_run_says_so_and_holds_up_none(tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("{")
    write_noted(tmp_path / "good", defining(), [])
    index = RunIndex(tmp_path)
    index.refresh()
    while index.reckon():
        pass
    assert listed(index)["bad"]["state"] == "damaged"
    assert "run.json" in listed(index)["bad"]["problem"]
    assert listed(index)["good"]["reckoned"]


def test_a_folder_that_is_a_run_itself_has_its_own_name(tmp_path):
    write_noted(tmp_path / "one", defining(), [])
    index = RunIndex(tmp_path / "one")
    index.refresh()
    assert list(listed(index)) == ["one"]


def test_result_files_are_judged_after_they_are_listed(tmp_path, data):
    place = tmp_path / "results" / "some_model"
    place.mkdir(parents=True)
    (place / "BFCL_v4_multi_turn_base_result.json").write_text("{}")
    (place / "more").mkdir()
    (place / "more" / "BFCL_v4_multi_turn_miss_func_result.json").write_text("{}")
    reference = definition(data).dataset
    judged = JudgedResults(
        "some_model", reference, "bfcl", (episode("x", 0, "base", "passed", 1, 1),)
    )
    index = RunIndex(tmp_path, judge=lambda folder: judged)
    index.refresh()
    [(name, before)] = listed(index).items()
    assert (name, before["state"], before["score"]) == ("results/some_model", "recorded", None)
    while index.reckon():
        pass
    after = listed(index)["results/some_model"]
    assert (after["score"], after["profile"], after["planned"]) == (1.0, "bfcl", 1)
    without = RunIndex(tmp_path)
    without.refresh()
    assert listed(without) == {}


def test_result_files_that_cannot_be_judged_say_why(tmp_path):
    def refuse(folder):
        raise DataError(str(folder), "is of no data here")

    (tmp_path / "BFCL_v4_multi_turn_base_result.json").write_text("{}")
    index = RunIndex(tmp_path, judge=refuse)
    index.refresh()
    while index.reckon():
        pass
    [found] = listed(index).values()
    assert (found["state"], found["problem"]) == ("damaged", f"{tmp_path}: is of no data here")


def test_who_writes_a_run_may_go_without_touching_it(tmp_path, monkeypatch):
    write_noted(tmp_path / "one", defining(), [], 2)
    alive = [True]
    monkeypatch.setattr("runner.records.run_catalog._is_being_written", lambda folder: alive[0])
    index = RunIndex(tmp_path)
    index.refresh()
    assert listed(index)["one"]["state"] == "running"
    alive[0] = False
    index.refresh()
    assert listed(index)["one"]["state"] == "unfinished"


def test_a_name_that_is_no_text_can_stand_in_an_address(tmp_path):
    folder = tmp_path / "odd\udcff"
    with RunStore.create(folder, defining()):
        pass
    index = RunIndex(tmp_path)
    index.refresh()
    [name] = listed(index)
    assert name == "odd?"
    assert index.find(name).run.folder == folder
