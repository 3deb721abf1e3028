from __future__ import annotations

import json
import os

import pytest

from envs.errors import DataError
from extensions.search.feature import SearchFeature, SearchSettings
from extensions.viewer.commands.runs import list_runs
from runner.records import run_catalog
from runner.records.durable_files import LOCK_FILE
from runner.records.episode_record import EpisodeRecord
from runner.records.run_catalog import (
    read_catalog_run,
    run_folders,
    started_with,
    update_state,
)
from runner.records.run_files import EPISODES_FILE
from runner.records.run_store import RunStore
from tests.runner.records.made import defining

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
    short = read_catalog_run(make(tmp_path / "e", command=[*begun]))
    assert short.resume == (*begun, "--resume", str(tmp_path / "e"))


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
    with pytest.raises(
        DataError, match=r"none: is not a folder; give a folder that contains runs$"
    ):
        list(list_runs(tmp_path / "none"))


def test_runs_of_one_command_are_in_its_folder_and_no_deeper(tmp_path):
    make(tmp_path / "command" / "one", "passed")
    assert started_with(tmp_path / "command", []) == started_with(tmp_path / "command" / "one", [])
    with pytest.raises(DataError, match="does not record the command"):
        started_with(tmp_path, [])


def test_a_run_that_began_during_a_resume_does_not_hide_the_command(tmp_path):
    folder = tmp_path / "command"
    make(folder / "a", command=["/bin/turnwise", "eval", "--resume", str(folder)])
    make(folder / "b", "passed")
    assert started_with(folder, []) == ["eval", "--model", "m", "--limit=2"]


def test_result_files_are_a_run_only_on_request(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "BFCL_v4_multi_turn_base_result.json").write_text("")
    assert [*run_folders(tmp_path)] == [*list_runs(tmp_path)] == []
    assert [*run_folders(tmp_path, results=True)] == [tmp_path / "results"]


def write_lines(folder, *lines):
    """Replace the episodes of a run by lines."""
    (folder / EPISODES_FILE).write_text("".join(f"{line}\n" for line in lines))
    return read_catalog_run(folder)


@pytest.mark.parametrize(
    ("line", "episode"),
    [
        ('{"id":"a","trial":0,"category":"c","outcome":"passed"}', ("a", 0, "c", "passed", None)),
        (
            '{"id":"a","trial":12,"category":"c","outcome":"error","base":"b","x":1}',
            ("a", 12, "c", "error", "b"),
        ),
        ('{"id":"","trial":0,"category":"","outcome":"failed"}', ("", 0, "", "failed", None)),
        (
            '{"id":"a\\"b","trial":0,"category":"c","outcome":"failed","base":"d\\u00e9"}',
            ('a"b', 0, "c", "failed", "dé"),
        ),
        (
            '{"id":"a","trial":0,"category":"c","outcome":"failed","base":"d\\u00e9"}',
            ("a", 0, "c", "failed", "dé"),
        ),
        ('{"trial":3,"id":"a","category":"c","outcome":"failed"}', ("a", 3, "c", "failed", None)),
        ('{"id":"a","trial":0,"category":"c","outcome":null}', ("a", 0, "c", None, None)),
    ],
)
def test_a_line_is_read_alike_in_short_and_in_full(tmp_path, line, episode):
    folder = make(tmp_path / "a")
    full = json.loads(line) | {"verdict": None, "error": "lost", "messages": [{}], "result": []}
    for text in (line.replace("}", ',"verdict":null,"error":"lost"}'), json.dumps(full)):
        [record] = write_lines(folder, text).episodes
        found = record.id, record.trial, record.category, record.outcome, record.base
        assert found == episode
        assert (record.messages, record.result) == ((), None)


@pytest.mark.parametrize(
    ("outcomes", "episodes", "locked", "state", "resumed"),
    [
        (["passed"], 2, False, "unfinished", ()),
        (["passed"], 2, True, "running", None),
        (["passed", "failed"], 2, True, "finished", None),
        (["passed", "error"], 2, False, "finished", ("--only", "errors")),
        (["error"], 2, False, "unfinished", ()),
        (["error", "error", "passed"], 2, False, "finished", ("--only", "errors")),
        ([], 0, False, "finished", None),
        (["error"], None, False, "unknown", None),
        (["error"], "2", False, "unknown", None),
        (["error"], None, True, "running", None),
    ],
)
def test_the_state_of_a_run_follows_from_its_episodes_and_its_process(
    tmp_path, outcomes, episodes, locked, state, resumed
):
    folder = make(tmp_path / "a", *outcomes, episodes=episodes)
    if locked:
        (folder / LOCK_FILE).write_text(str(os.getpid()))
    run = read_catalog_run(folder)
    assert (run.state, run.errors) == (state, outcomes.count("error"))
    command = ("turnwise", "eval", "--resume", str(folder))
    assert run.resume == (None if resumed is None else (*command, *resumed))
    assert update_state(run) == run
    (folder / LOCK_FILE).write_text(str(os.getpid()) if not locked else "")
    other = {"unfinished": "running", "running": "unfinished"}.get(state, state)
    assert update_state(run).state == other


def test_a_process_of_another_user_is_running(tmp_path, monkeypatch):
    def kill(pid, number):
        assert (pid, number) == (NO_PROCESS, 0)
        raise PermissionError

    folder = make(tmp_path / "a", "passed")
    monkeypatch.setattr(run_catalog.os, "kill", kill)
    assert read_catalog_run(folder).state == "running"
    (folder / LOCK_FILE).write_text("9" * 40)
    monkeypatch.undo()
    assert read_catalog_run(folder).state == "unfinished"
    (folder / LOCK_FILE).unlink()
    assert read_catalog_run(folder).state == "unfinished"


@pytest.mark.parametrize(
    ("command", "given", "words"),
    [
        (["t", "eval"], (), ["eval"]),
        (["t", "eval", "--run-dir", "a", "--limit", "2"], (), ["eval", "--limit", "2"]),
        (["t", "eval", "--run-dir=a", "--limit=2"], (), ["eval", "--limit=2"]),
        (["t", "eval", "--resume", "a", "--only", "errors", "x"], (), ["eval", "x"]),
        (["t", "eval", "--run-dir", "--resume", "b"], (), ["eval", "b"]),
        (["t", "eval", "--key", "***", "x"], ["--key"], ["eval", "x"]),
        (["t", "eval", "--key=***", "x"], ["--key"], ["eval", "x"]),
        (["t", "eval", "--key=a***", "--key", "b"], ["--key"], ["eval"]),
    ],
)
def test_a_run_is_started_again_with_the_words_of_its_command(tmp_path, command, given, words):
    folder = make(tmp_path / "a", "passed", command=command)
    assert started_with(folder, given) == words


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["t", "eval", "--key", "***"], "the run does not store the secret --key; add --key again"),
        (["t", "eval", "--key=***"], "the run does not store the secret --key; add --key again"),
        (["t"], "{folder} does not record the command that started the run"),
        ("t eval", "{folder} does not record the command that started the run"),
        (None, "{folder} does not record the command that started the run"),
    ],
)
def test_a_command_that_cannot_be_started_again_is_refused(tmp_path, command, message):
    folder = make(tmp_path / "a", "passed", command=command)
    with pytest.raises(DataError) as caught:
        started_with(folder, ["--other"])
    assert str(caught.value) == f"--resume: {message.format(folder=folder)}"


def test_a_damaged_run_that_is_resumed_is_told_of_its_damage(tmp_path):
    folder = make(tmp_path / "a", "passed")
    (folder / "run.json").write_text("{}")
    with pytest.raises(DataError, match=r"^--resume: .*run\.json: "):
        started_with(folder, ())


def test_only_a_folder_can_be_resumed(tmp_path):
    with pytest.raises(DataError, match=r"^--resume: .*none is not a folder$"):
        started_with(tmp_path / "none", ())


@pytest.mark.parametrize(("deepest", "found"), [(0, []), (1, ["a"]), (2, ["a", "b/c"]), (9, None)])
def test_folders_are_searched_down_to_a_depth(tmp_path, deepest, found):
    everything = ["a", "b/c", "b/d/e/f/g/h"]
    for name in (*everything, ".hidden/x", "a/inside"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "run.json").touch()
    (tmp_path / "b" / "link").symlink_to(tmp_path / "a")
    (tmp_path / "b" / "file").touch()
    names = [str(path.relative_to(tmp_path)) for path in run_folders(tmp_path, deepest)]
    assert names == (everything if found is None else found)
    # Six levels are searched by default.
    deep = tmp_path / "b/d/e/f/g/i/j"
    deep.mkdir(parents=True)
    (deep / "run.json").touch()
    assert [*run_folders(tmp_path)] == [tmp_path / name for name in everything]
    assert [*run_folders(tmp_path / "none")] == []
