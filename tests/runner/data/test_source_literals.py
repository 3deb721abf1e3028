from __future__ import annotations

import json

import pytest

from envs.errors import DataError
from runner.data.source_literals import TEXTS_FILE, load_texts, read_texts

HOLE = {"conversion": "", "spec": ""}


def given(statement):
    """Return what a function of one statement gives."""
    (found,) = read_texts(f"def f():\n    {statement}\n")[""]["f"]
    return found


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("return 'plain'", {"text": ["plain"]}),
        ("return f'no {a} and {b!r}'",
         {"text": ["no ", HOLE, " and ", {**HOLE, "conversion": "r"}]}),
        ("return f'{a:.2f} dollars'", {"text": [{**HOLE, "spec": ".2f"}, " dollars"]}),
        ("return 'no {} of {x!s:>3}'.format(1)",
         {"text": ["no ", HOLE, " of ", {"conversion": "s", "spec": ">3"}]}),
        ("return 'no %s, %d of %5.1f%%' % x",
         {"text": ["no ", {**HOLE, "conversion": "s"}, ", ", {**HOLE, "spec": "d"}, " of ",
                   {**HOLE, "spec": "5.1f"}, "%"]}),
        ("return 'one ' + 'two' + name", {"text": ["one two", HOLE]}),
        ("return {'ok': False, 'error': f'no {a}', 'rest': x()}",
         {"members": [["ok", {"value": False}], ["error", {"text": ["no ", HOLE]}], ["rest", {}]]}),
        ("return [{'error': 'no'}]", {"items": [{"members": [["error", {"text": ["no"]}]]}]}),
        ("return [1, 2.5, None]", {"value": [1, 2.5, None]}),
        ("return {1: 2}", {}),
        ("return {*()}", {}),
        ("return 1j", {}),
        ("return f(x)", {}),
        ("raise ValueError(f'no {a}')", {"text": ["no ", HOLE], "raised": True}),
        ("found['error'] = 'no'", {"members": [["error", {"text": ["no"]}]]}),
        ("text += ' more'", {"text": [" more"]}),
        ("found.append('no')", {"text": ["no"]}),
    ],
)  # fmt: skip
def test_what_a_function_gives(statement, expected):
    assert given(statement) == expected


def test_places_are_counted_in_the_order_of_the_source():
    source = """
NAME = "constant"

class One:
    def f(self):
        if a:
            return "first"
        for b in c:
            raise KeyError("second")
        return "third"
"""
    texts = read_texts(source)
    assert texts[""]["NAME"] == [{"text": ["constant"]}]
    assert texts["One"]["f"] == [
        {"text": ["first"]},
        {"text": ["second"], "raised": True},
        {"text": ["third"]},
    ]


def test_nothing_is_run():
    assert read_texts("raise SystemExit('was run')") == {"": {}}


def test_what_is_no_python_is_refused():
    with pytest.raises(ValueError, match="not Python"):
        read_texts("def")


def test_texts_are_those_kept_beside_the_data_or_of_the_package(bfcl_folder):
    texts = load_texts(bfcl_folder)
    assert texts["constants/default_prompts"]
    (bfcl_folder / TEXTS_FILE).write_text(json.dumps({"kept": {}}), encoding="utf-8")
    assert load_texts(bfcl_folder) == {"kept": {}}


def test_missing_texts_are_one_line_that_says_what_to_run(tmp_path):
    with pytest.raises(DataError) as caught:
        load_texts(tmp_path / "data")
    text = str(caught.value)
    assert "turnwise dataset fetch bfcl" in text
    assert "--observations own" in text
    assert "\n" not in text
