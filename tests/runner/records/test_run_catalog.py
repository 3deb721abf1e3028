from __future__ import annotations

import json
import os

import pytest

from extensions.search.feature import SearchFeature, SearchSettings
from extensions.viewer.commands.runs import list_runs
from runner.records.durable_files import LOCK_FILE
from runner.records.episode_record import EpisodeRecord
from runner.records.run_catalog import read_catalog_run, run_folders, started_with
from runner.records.run_files import EPISODES_FILE
from runner.records.run_store import RunStore
from tests.runner.records.made import defining
from trajectories.errors import DataError

COMMAND = ["/bin/turnwise", "eval", "--model", "m", "--run-dir", "there", "--limit=2"]
NO_PROCESS = 2**22 + 1


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


def make(folder, *outcomes, episodes=2, command=COMMAND, defined=None):
    """Make a run with episodes of these outcomes, that nobody is writing any more."""
    defined = defined or defining()
    note = {"created": "2026-01-02T03:04:05", "command": command, "episodes": episodes}
    with RunStore.create(folder, defined, note=note) as store:
        for number, outcome in enumerate(outcomes):
            store.append(EpisodeRecord(f"é {number}", number, "base", outcome, None, None))
    (folder / LOCK_FILE).write_text(str(NO_PROCESS))
    return folder


def test_runs_are_found_at_any_depth_and_told_by_their_paths(tmp_path):
    for name in ("b", "a/deep/one", "a/deep/two"):
        make(tmp_path / name, "passed", "failed")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "empty").mkdir()
    found = list(list_runs(tmp_path))
    assert [str(run.folder.relative_to(tmp_path)) for run in found] == [
        "a/deep/one",
        "a/deep/two",
        "b",
    ]
    assert {run.state for run in found} == {"finished"}
    assert [*list_runs(tmp_path / "b")] == [found[-1]]


def test_a_run_says_what_it_has_and_which_episodes_ended_how(tmp_path):
    run = read_catalog_run(make(tmp_path / "a", "passed", "error"))
    assert (run.planned, run.errors, run.created) == (2, 1, "2026-01-02T03:04:05")
    assert run.definition == defining()
    assert [(e.id, e.trial, e.category, e.outcome) for e in run.episodes] == [
        ("é 0", 0, "base", "passed"),
        ("é 1", 1, "base", "error"),
    ]


def test_attempts_at_an_entry_are_one_episode_that_was_planned(tmp_path):
    search = SearchSettings(1, 100, 100, finish=False, repeat=3, texts_sha256="0" * 64)
    defined = defining()._replace(extensions={"search": SearchFeature(search).definition()})
    folder = make(tmp_path / "a", episodes=2, defined=defined)
    lines = [EpisodeRecord("a", trial, "base", "failed", None, None) for trial in range(3)]
    lines.append(EpisodeRecord("b", 0, "base", "passed", None, None))
    texts = [json.dumps(line.to_json()) + "\n" for line in lines]
    (folder / EPISODES_FILE).write_text("".join(texts[:3]))
    begun = read_catalog_run(folder)
    assert (begun.state, begun.progress.done, begun.planned) == ("unfinished", 1, 2)
    (folder / EPISODES_FILE).write_text("".join(texts))
    whole = read_catalog_run(folder)
    assert (whole.state, whole.progress.done, len(whole.episodes)) == ("finished", 2, 4)


def test_a_run_is_resumed_by_its_folder_and_keeps_the_options_that_started_it(tmp_path):
    folder = make(tmp_path / "a", "passed")
    run = read_catalog_run(folder)
    assert run.state == "unfinished"
    assert started_with(folder, ()) == ["eval", "--model", "m", "--limit=2"]
    begun = ("turnwise", "eval")
    assert run.resume == (*begun, "--resume", str(folder))
    full = read_catalog_run(make(tmp_path / "b", "passed", "error"))
    assert full.resume == (*begun, "--resume", str(tmp_path / "b"), "--only", "errors")
    assert read_catalog_run(make(tmp_path / "c", "passed", "failed")).resume is None
    assert read_catalog_run(make(tmp_path / "d", command=["turnwise.evaluate"])).resume is None


def test_a_run_that_is_being_written_is_running(tmp_path):
    folder = make(tmp_path / "a", "passed")
    (folder / LOCK_FILE).write_text(str(os.getpid()))
    assert read_catalog_run(folder).state == "running"
    (folder / LOCK_FILE).write_text("no number")
    assert read_catalog_run(folder).state == "unfinished"


def test_a_run_that_does_not_say_how_many_episodes_it_is_to_have_is_neither(tmp_path):
    assert read_catalog_run(make(tmp_path / "a", "passed", episodes=None)).state == "unknown"


@pytest.mark.parametrize("spoil", [EPISODES_FILE, "run.json"])
def test_a_damaged_run_is_told_as_such_and_hides_no_other(tmp_path, spoil):
    folder = make(tmp_path / "a", "passed")
    make(tmp_path / "b", "passed", "passed")
    (folder / spoil).write_bytes(b'{"id": 5}\n\xff\n')
    damaged, sound = list_runs(tmp_path)
    assert damaged.state == "damaged"
    assert damaged.problem is not None
    assert str(folder) in damaged.problem
    assert sound.state == "finished"


@pytest.mark.parametrize("name", [EPISODES_FILE, "run.json"])
def test_a_pipe_in_a_run_folder_is_damage_and_is_not_waited_for(tmp_path, name):
    folder = make(tmp_path / "a", "passed")
    (folder / name).unlink()
    os.mkfifo(folder / name)
    run = read_catalog_run(folder)
    assert run.state == "damaged"
    assert run.problem == f"{folder / name}: cannot be read: the path is not a regular file"


def test_lines_that_another_hand_wrote_are_read_too(tmp_path):
    folder = make(tmp_path / "a", "passed", "failed")
    path = folder / EPISODES_FILE
    path.write_text(path.read_text().replace('":', '": '))
    assert [e.outcome for e in read_catalog_run(folder).episodes] == ["passed", "failed"]


def test_an_unfinished_last_line_is_passed_over(tmp_path):
    folder = make(tmp_path / "a", "passed")
    with (folder / EPISODES_FILE).open("a") as file:
        file.write('{"id":"x","trial":0,"cat')
    assert len(read_catalog_run(folder).episodes) == 1


def test_a_folder_that_there_is_not(tmp_path):
    with pytest.raises(DataError, match=r"none: is not a folder$"):
        list(list_runs(tmp_path / "none"))


def test_runs_of_one_command_are_in_its_folder_and_no_deeper(tmp_path):
    make(tmp_path / "command" / "one", "passed")
    assert started_with(tmp_path / "command", []) == started_with(tmp_path / "command" / "one", [])
    with pytest.raises(DataError, match="does not record the command"):
        started_with(tmp_path, [])


def test_result_files_are_a_run_only_on_request(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "BFCL_v4_multi_turn_base_result.json").write_text("")
    assert [*run_folders(tmp_path)] == [*list_runs(tmp_path)] == []
    assert [*run_folders(tmp_path, results=True)] == [tmp_path / "results"]
