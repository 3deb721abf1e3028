"""Tests of the reader of recorded simulations."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from envs.errors import DataError
from extensions.tau import fetching
from extensions.tau.documents import read_file, read_lines
from extensions.tau.simulations import is_recording, read_recording
from tests.extensions.tau.conftest import call, result, results, simulation


def test_only_line_ends_separate_the_lines_of_a_file(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "one\u2028two"}\r\n\n{"text": "\x85"}\n', "utf-8", newline="")
    assert [place.value for place in read_lines(path)] == [
        {"text": "one\u2028two"},
        {"text": "\x85"},
    ]


def test_a_file_without_a_folder_in_its_path_has_the_policy_beside_its_folder(
    tmp_path, monkeypatch
):
    header = {
        "kind": "run",
        "domain": "retail",
        "agent_model": "a",
        "user_model": "b",
        "solo": False,
        "policy": "short",
    }
    runs, texts = tmp_path / "runs", tmp_path / "texts"
    runs.mkdir()
    texts.mkdir()
    (runs / "one.jsonl").write_text(json.dumps(header) + "\n", "utf-8")
    (texts / "policy_short.md").write_text("Be kind.", "utf-8")
    monkeypatch.chdir(runs)
    assert read_recording(Path("one.jsonl")).policy == "Be kind."
    (tmp_path / "secret.md").write_text("Secret.", "utf-8")
    (texts / "policy_x").mkdir()
    outside = {**header, "policy": "x/../../secret"}
    (runs / "one.jsonl").write_text(json.dumps(outside) + "\n", "utf-8")
    with pytest.raises(DataError, match=r"one\.jsonl:1: .*policy.* is not a name of a policy"):
        read_recording(Path("one.jsonl"))


def test_a_verdict_without_its_field_is_refused(tmp_path):
    path = tmp_path / "results.json"
    reward = {"reward": 1.0, "communicate_checks": [{"info": "39.5"}]}
    path.write_text(json.dumps(results("retail", [simulation("0", [], reward_info=reward)])))
    message = r"communicate_checks\[0\]\.met: must be true or false, but is missing"
    with pytest.raises(DataError, match=message):
        read_recording(path)


@pytest.mark.parametrize("arguments", ["[" * 100_000, '{"a": 1' + "0" * 5000 + "}", "[]", "{"])
def test_arguments_that_are_no_json_object_are_refused(arguments, tmp_path):
    path = tmp_path / "results.json"
    dialogue = [call("calculate", arguments), result("")]
    path.write_text(json.dumps(results("retail", [simulation("0", dialogue)])))
    with pytest.raises(DataError, match=r"arguments: must be an object"):
        read_recording(path)


def test_a_compressed_file_may_not_grow_without_bounds(tmp_path):
    start = b'{"kind": "run", "domain": "retail"}\n'
    path = tmp_path / "run.jsonl.gz"
    path.write_bytes(gzip.compress(start + b" " * 40_000_000))
    assert is_recording(path)
    with pytest.raises(DataError, match="is more than 200 times as large after decompression"):
        read_recording(path)
    path.write_bytes(gzip.compress(start + b" " * 20_000_000))
    assert len(read_file(path)) == 20_000_000 + len(start)


def test_an_archive_may_not_fill_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "_MAX_TOTAL_BYTES", 3_000)
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "tau2.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("db", "tasks", "more", "others"):
            archive.writestr(f"data/tau2/domains/retail/{name}.json", " " * 1_000)
    with pytest.raises(DataError, match="the files are larger than"):
        fetching.fetch(path, lambda _: None)
    assert [*(tmp_path / "cache").iterdir()] == []
