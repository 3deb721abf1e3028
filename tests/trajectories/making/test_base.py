from __future__ import annotations

import json

import pytest

from trajectories.errors import DataError
from trajectories.making.base import read_notes

ENTRY = {
    "base": "base_a",
    "missing_parameter": {"turn": 1, "without": "Send it.", "answer": "To Ann."},
    "missing_function": {"turn": 0, "functions": ["cd"]},
}


def written(path, *entries):
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries), encoding="utf-8")
    return path


def test_notes_go_by_their_base(tmp_path):
    notes = read_notes(written(tmp_path / "n.jsonl", ENTRY, {**ENTRY, "base": "base_b"}))
    assert list(notes) == ["base_a", "base_b"]
    assert notes["base_a"].missing_parameter.answer == "To Ann."
    assert notes["base_b"].missing_function.functions == ("cd",)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"remark": "x"}, r"n\.jsonl:1: \$\.remark"),
        ({"missing_function": {"turn": "first", "functions": []}}, r"\$\.missing_function\.turn"),
        ({"missing_parameter": {"turn": 1, "answer": "x"}}, r"\$\.missing_parameter\.without"),
    ],
)
def test_what_is_not_of_the_form_is_refused_with_its_place(tmp_path, change, complaint):
    with pytest.raises(DataError, match=complaint):
        read_notes(written(tmp_path / "n.jsonl", {**ENTRY, **change}))


def test_a_base_has_notes_once(tmp_path):
    with pytest.raises(DataError, match=r"n\.jsonl:2: base_a has notes already"):
        read_notes(written(tmp_path / "n.jsonl", ENTRY, ENTRY))
