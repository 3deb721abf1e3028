"""Files of a run folder: the run file of this and of earlier revisions, and tool lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from runner.records.durable_files import FileLine
from runner.records.run_files import read_run_file, require_unseen, tools_of

RUN = {"format": 1, "definition": {"model": "m"}, "note": {"episodes": 2}}


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({**RUN, "format": 2}, "has format 2; this turnwise reads format 1"),
        ({"definition": {}, "note": {}}, "has format None; this turnwise reads format 1"),
        ({**RUN, "note": []}, 'must contain the objects "definition" and "note"'),
        ({"format": 1, "note": {}}, 'must contain the objects "definition" and "note"'),
        (
            {**RUN, "definition": {"extensions": []}},
            "$.definition.extensions: must be an object",
        ),
        (b"\xff", "is not UTF-8 text: invalid start byte"),
    ],
)
def test_a_run_file_of_another_form_is_refused(tmp_path: Path, run: Any, message: str) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(run if isinstance(run, bytes) else json.dumps(run).encode())
    with pytest.raises(DataError) as caught:
        read_run_file(tmp_path)
    assert str(caught.value) == f"{path}: {message}"


def test_a_missing_run_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path, tmp_path / "none", tmp_path / "file"):
        with pytest.raises(DataError) as caught:
            read_run_file(folder)
        assert str(caught.value) == f"{folder}: contains no run: run.json is missing"
    (tmp_path / "run.json").mkdir()
    with pytest.raises(DataError, match=r"run\.json: cannot be read: "):
        read_run_file(tmp_path)


@pytest.mark.parametrize(
    ("definition", "upgraded"),
    [
        ({"a": 1, "settings": None, "selection": None}, None),
        ({"extensions": {"search": {"b": 1}}, "settings": {"mode": "fc"}}, None),
        (
            {"selection": {"split": "plain", "ids": None}},
            {"selection": {"ids": None, "subset": "plain"}},
        ),
        (
            {"protocol": "p", "prompt_format": "f", "retrieve": 3, "search": {"n": 1}, "a": 1},
            {
                "a": 1,
                "extensions": {
                    "formats": {"protocol": "p", "prompt_format": "f"},
                    "retrieval": {"retrieve": 3},
                    "search": {"search": {"n": 1}},
                },
            },
        ),
        (
            {"settings": {"tokenizer": "t", "mode": "fc"}, "extensions": {"compression": {"x": 1}}},
            {"settings": {"mode": "fc"}, "extensions": {"compression": {"x": 1, "tokenizer": "t"}}},
        ),
    ],
)
def test_fields_of_earlier_revisions_are_moved(
    tmp_path: Path, definition: dict[str, Any], upgraded: dict[str, Any] | None
) -> None:
    (tmp_path / "run.json").write_text(json.dumps({**RUN, "definition": definition}))
    found = read_run_file(tmp_path)
    assert found == {**RUN, "definition": definition if upgraded is None else upgraded}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"digest": "d", "tools": [{"a": 1}, {}], "more": 1}, ("d", [{"a": 1}, {}])),
        ({"digest": "d", "tools": []}, ("d", [])),
        ({"digest": 5, "tools": []}, None),
        ({"digest": "d", "tools": {}}, None),
        ({"digest": "d", "tools": [{}, "a"]}, None),
        ({"tools": []}, None),
    ],
)
def test_a_tool_list_has_a_digest_and_objects(value: dict[str, Any], found: Any) -> None:
    line = FileLine("here:3", b"", value, 0)
    if found is not None:
        assert tools_of(line) == found
        return
    with pytest.raises(DataError) as caught:
        tools_of(line)
    assert str(caught.value) == (
        'here:3: must have a string in "digest" and a list of objects in "tools"'
    )


def test_a_key_occurs_once() -> None:
    line = FileLine("here:3", b"", {}, 0)
    assert require_unseen("a", ["b"], line) == "a"
    with pytest.raises(DataError, match=r"^here:3: 'a' occurs twice in the file$"):
        require_unseen("a", ["b", "a"], line)
