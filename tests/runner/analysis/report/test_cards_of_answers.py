from __future__ import annotations

import pytest

from checkers.profile import STRICT
from runner.analysis.report.run_report import report
from tests.runner.analysis.entries import (
    ANSWER,
    COUNT,
    LAST,
    RIGHT,
    WAIT,
    WRONG,
    called,
    executed_entry,
)
from tests.runner.analysis.report.making import kept_tools, request, source_of, unpacked, viewed
from trajectories.schema import Category


@pytest.fixture
def compared(single_turn):
    """Return an entry that wants one call."""
    return single_turn("python", WAIT, ANSWER)


@pytest.fixture
def packs(dataset_of):
    """Return the packs of a report: index, what is shared, and those of answers."""

    def make(steps, *entries):
        turns = {entry.id: [[step]] for entry, step in zip(entries, steps, strict=True)}
        return unpacked(report([viewed(dataset_of(*entries), source_of(turns), STRICT)]))

    return make


def test_a_wrong_argument_is_in_row_and_card(packs, compared):
    [index], _, card = packs([WRONG], compared)
    [row] = index["rows"]
    assert (row["outcome"], row["cause"], row["place"]) == ("failed", "wrong_argument", None)
    assert (row["steps"], row["calls"], row["turns"]) == (1, 1, 1)
    [pair] = card["pairs"]
    assert (pair["call"], pair["name"]) == ("clock_wait(n=6)", "clock_wait")
    assert (pair["expected"], pair["function"]) == ("clock_wait(n=5)", "clock_wait")
    assert pair["arguments"] == [["n", "5", "6", "the value is not one of the allowed values"]]
    assert card["failure"] == "clock_wait.n: the value is not one of the allowed values"
    assert card["says"] == [["user", "Wait five seconds."]]
    assert index["overview"]["causes"] == [["wrong_argument", 1]]


def test_single_turns_are_no_part_of_how_many_turns_passed(packs, compared):
    [index], _, _ = packs([RIGHT], compared)
    assert index["overview"]["turns_passed"] == []


def test_documents_are_shared(packs, single_turn):
    categories = (Category.SIMPLE_PYTHON, Category.MULTIPLE)
    entries = [single_turn("python", WAIT, ANSWER, category=category) for category in categories]
    _, shared, *cards = packs([RIGHT, RIGHT], *entries)
    assert shared["documents"] == [WAIT]
    assert [card["documents"] for card in cards] == [[0], [0]]


def test_what_may_be_left_out_and_what_was_is_said(packs, single_turn):
    parameters = {"n": {"type": "integer"}, "unit": {"type": "string"}}
    document = {**WAIT, "parameters": {**WAIT["parameters"], "properties": parameters}}
    entry = single_turn("python", document, {"clock.wait": {"n": [5, 7], "unit": ["s", ""]}})
    _, _, card = packs([[called("clock_wait")]], entry)
    n, unit = card["pairs"][0]["arguments"]
    assert n == ["n", "5 or 7", "nothing", "required"]
    assert unit == ["unit", "'s' or omitted", "nothing", None]


def test_executed_calls_have_results(packs, folders):
    _, _, card = packs([[LAST]], executed_entry(folders))
    count, last = card["pairs"]
    assert (count["call"], count["expected_result"]) == (None, '{"count": 2, "type": "lines"}')
    assert (last["result"], last["ok"], last["problem"]) == (last["expected_result"], True, None)
    _, _, card = packs([[COUNT, LAST]], executed_entry(folders))
    assert [pair["problem"] for pair in card["pairs"]] == [None, None]


def test_words_and_what_cannot_be_read(packs, compared):
    _, _, card = packs(["Done."], compared)
    assert (card["answer"], card["unreadable"]) == ("Done.", None)
    _, _, card = packs([[{"clock_wait": "{"}]], compared)
    assert card["unreadable"]


def test_where_no_call_is_right_that_is_said(packs, single_turn):
    _, _, card = packs(["No."], single_turn("python", WAIT, category=Category.IRRELEVANCE))
    assert (card["aim"], card["failure"]) == ("No function fits, so making no call is right.", None)


def test_a_request_is_part_of_the_card(dataset_of, compared, tmp_path):
    record = {"outcome": "passed", "error": None, "messages": [], "steps": [request(0, 1)]}
    folder = kept_tools(tmp_path / "run", {"function": {"name": "clock_wait"}})
    source = source_of({compared.id: [[RIGHT]]}, {compared.id: record}, folder)
    _, _, card = unpacked(report([viewed(dataset_of(compared), source, STRICT)]))
    assert card["request"]["usage"]["prompt"] == 10


def test_what_cannot_be_judged_is_an_error(packs, compared):
    [index], _, card = packs(["Error during inference: 500"], compared)
    [row] = index["rows"]
    assert (row["outcome"], row["detail"]) == ("error", "the request failed")
    assert "pairs" not in card


def test_long_texts_are_cut_off(packs, compared):
    step = [called("clock_wait", n="x" * 1_000_000)]
    _, _, card = packs([step], compared)
    assert len(str(card)) < 200_000
