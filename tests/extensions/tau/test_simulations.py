"""Tests of the reader of recorded simulations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envs.errors import DataError
from extensions.tau.documents import read_lines
from extensions.tau.simulations import read_recording


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
