"""Recorded runs as they are read: whole, by entry, and from large files."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from runner.records import recorded_run
from runner.records.episode_record import EpisodeRecord, RunSegment
from runner.records.recorded_run import open_run, read_records, read_run
from runner.records.run_store import RunStore
from tests.runner.records.made import defining

KEYS = [("a", 0), ("b", 0), ("b", 1), ('a"\u00e9', 2)]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a run with four episodes and twelve tool lists."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    note = {"episodes": 5}
    with RunStore.create(tmp_path / "run", defining(), note=note) as store:
        for number in range(12):
            store.put_tools(f"d{number}", [{"type": "function", "n": number}])
        for id, trial in KEYS:
            store.append(EpisodeRecord(id, trial, "base", "passed", None, None))
        store.put_life(RunSegment(1.5, 4))
    return tmp_path / "run"


@pytest.mark.parametrize("held_bytes", [64_000_000, 0])
def test_episodes_are_read_at_once_or_one_by_one(
    run: Path, held_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded_run, "MAX_HELD_BYTES", held_bytes)
    read = read_run(run)
    assert [*read.episodes] == [record.key for record in read.records] == KEYS
    assert [record.key for record in read_records(run)] == KEYS
    assert len(read.episodes) == 4
    assert isinstance(read.episodes, dict) is (held_bytes > 0)
    assert [("b", trial) in read.episodes for trial in (0, 1, 2)] == [True, True, False]
    assert [each.where for each in read.episodes.values()] == [
        f"{run}/episodes.jsonl:{number}" for number in (1, 2, 3, 4)
    ]
    assert read.episode("b", 1).record.trial == 1
    assert read.ids == ["a", "b", 'a"\u00e9']
    assert read.lives == [RunSegment(1.5, 4)]
    assert (read.name, read.path, read.note["episodes"]) == ("m", run, 5)
    assert read.progress is not None
    assert read.progress.is_unfinished
    assert repr(read) == f"Run('m': 4 episodes; {run})"
    with (run / "episodes.jsonl").open("a") as file:
        file.write('{"id":"b","trial":1,"category":"base","outcome":"passed"}\n{}\n')
    with pytest.raises(DataError, match=r"episodes\.jsonl:5: "):
        read_run(run)


def test_an_episode_file_of_the_held_size_is_held(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = (run / "episodes.jsonl").stat().st_size
    for held, is_held in ((size, True), (size - 1, False)):
        monkeypatch.setattr(recorded_run, "MAX_HELD_BYTES", held)
        assert isinstance(read_run(run).episodes, dict) is is_held
        # The episodes of a single entry are always held.
        assert isinstance(open_run(run, only="a").episodes, dict)


@pytest.mark.parametrize("id", ["a", "b", 'a"\u00e9'])
def test_the_episodes_of_one_entry_are_read_alone(run: Path, id: str) -> None:
    with (run / "episodes.jsonl").open("a") as file:
        file.write('{"id":"z","bad":1}\n{"id":5}\n')
    assert [*open_run(run, only=id).episodes] == [key for key in KEYS if key[0] == id]


def test_an_entry_that_a_run_lacks_is_refused_with_the_nearest_name(run: Path) -> None:
    with pytest.raises(DataError) as caught:
        open_run(run, only="c")
    assert str(caught.value) == f"{run}: 'c' is not an entry of this run"
    with pytest.raises(DataError, match=r"'entry_10' is not an entry of this run; did you mean"):
        _of_lines(run, ["entry_1"], only="entry_10")


def _of_lines(run: Path, ids: Sequence[str], **options: Any) -> recorded_run.Run:
    path = run.parent / "out_result.json"
    path.write_text("".join(json.dumps({"id": id, "result": []}) + "\n" for id in ids))
    return open_run(path, **options)


def test_a_single_episode_of_a_run_is_named_by_id_and_trial(run: Path) -> None:
    read = read_run(run)
    for id, trial, message in (
        ("c", 0, "'c' is not an entry of this run"),
        ("a", 1, "has no trial 1 of a, only trial 0"),
        ("b", 2, "has no trial 2 of b, only trial 0, 1"),
    ):
        with pytest.raises(DataError) as caught:
            read.episode(id, trial)
        assert str(caught.value) == f"{run}: {message}"
    with pytest.raises(DataError) as caught:
        read.entries()
    assert str(caught.value) == f"{run}: has several trials of b; use a run with one trial"
    assert [*_of_lines(run, ["x", "y"]).entries()] == ["x", "y"]


@pytest.mark.parametrize("number", [0, 1, 8, 9, 12])
def test_tool_lists_are_found_by_digest(run: Path, number: int) -> None:
    read = read_run(run)
    digests = [f"d{index}" for index in reversed(range(number))]
    found = read.tools(digests)
    assert [*found] == digests
    assert [tools[0]["n"] for tools in found.values()] == [*reversed(range(number))]
    assert read.kept_tools(["x", *digests]) == found
    with pytest.raises(DataError) as caught:
        read.tools([*digests, "x"])
    assert str(caught.value) == f"{run}/tools.jsonl: has no tool list 'x'"


def test_a_run_of_an_unknown_profile_is_refused(run: Path) -> None:
    path = run / "run.json"
    path.write_text(path.read_text().replace('"strict"', '"lenient"'))
    with pytest.raises(DataError) as caught:
        read_run(run)
    place = f"{path}: $.definition.profile: must be "
    assert str(caught.value).startswith(f"{place}bfcl or strict")
    assert str(caught.value).endswith(", but is 'lenient'")


@pytest.mark.parametrize("paths", [(), (5,), (Path("a"), None)])
def test_a_run_is_opened_by_paths(paths: tuple[Any, ...]) -> None:
    with pytest.raises(DataError, match=r"^paths: must be one or more paths, but is \("):
        open_run(*paths)


def test_result_files_are_one_run(tmp_path: Path) -> None:
    for name, ids in {"one": "ab", "two": "c", "three": "b", "none": ""}.items():
        lines = [json.dumps({"id": id, "result": [[]]}) + "\n" for id in ids]
        (tmp_path / f"{name}.json").write_text("".join(lines))
    one, two, three, none = (tmp_path / f"{name}.json" for name in ("one", "two", "three", "none"))
    run = open_run(one, two)
    assert (run.name, run.path, run.ids) == ("one", one, ["a", "b", "c"])
    assert (run.definition, run.profile, run.progress) == (None, None, None)
    assert open_run(one, two, only="c").ids == ["c"]
    assert [each.mode for each in open_run(one, mode="fc").episodes.values()] == ["fc", "fc"]
    for paths, message in (
        ((one, two, three), f"{three}:1: b is also in {one}:2; score one run at a time"),
        ((none,), f"{none}: holds no entries"),
    ):
        with pytest.raises(DataError) as caught:
            open_run(*paths)
        assert str(caught.value) == message


def test_the_files_of_another_tool_are_read_by_an_extension(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read_run(run)
    path = run.parent / "other.json"
    path.write_text("{}")
    monkeypatch.setattr(recorded_run.extension, "read_run", lambda paths: whole)
    assert open_run(path) is whole
    assert [*open_run(path, only="b").episodes] == [("b", 0), ("b", 1)]
    with pytest.raises(DataError, match="'zzz' is not an entry of this run"):
        open_run(path, only="zzz")
    monkeypatch.setattr(recorded_run.extension, "read_run", lambda paths: None)
    with pytest.raises(DataError, match=r"other\.json:1: "):
        open_run(path)


@pytest.mark.parametrize("digests", [None, 5, object()])
def test_only_digests_name_tool_lists(run: Path, digests: Any) -> None:
    for ask in (read_run(run).tools, read_run(run).kept_tools):
        with pytest.raises(DataError, match=r"^digests: must be digests of tool lists, but is "):
            ask(digests)


def test_values_that_are_no_digests_name_no_tool_list(run: Path) -> None:
    wrong: Any = [["d0"], 5]
    assert read_run(run).kept_tools(wrong) == {}
    with pytest.raises(DataError, match=r"has no tool list \"\['d0'\]\"$"):
        read_run(run).tools(wrong)


def test_only_texts_and_numbers_name_episodes(run: Path) -> None:
    wrong: Any = ["a"]
    with pytest.raises(DataError, match=r"\['a'\] is not an entry of this run$"):
        read_run(run).episode(wrong, 0)
    with pytest.raises(DataError, match=r"^trial: must be the number of a trial, but is \['a'\]$"):
        read_run(run).episode("a", wrong)


def test_a_long_id_is_cut_in_the_message(run: Path) -> None:
    with pytest.raises(DataError) as caught:
        open_run(run, only="a" * 10_000)
    assert len(str(caught.value)) < 1_000
