"""What readers found: ``turnwise dataset list`` and ``dataset show``."""

from __future__ import annotations

import json

import pytest

from envs.errors import DataError
from extensions.authoring.review_lines import describe_status, make_reviewer_rows, make_state_rows
from extensions.authoring.review_status import (
    EntryReviewStatus,
    Review,
    ReviewOutcome,
    read_record,
    tallies,
)
from tests.runner.commands.running import run
from trajectories.dataset import DATA
from trajectories.schema import Category

READINGS = [
    Review("base_one", "A", ReviewOutcome.ARGUABLE, "0f", "Two ways.", mended="one way"),
    Review("base_one", "B", ReviewOutcome.SOUND, "0f"),
]


def test_rows_count_readings_and_entries() -> None:
    assert make_reviewer_rows(tallies(READINGS))[1] == [
        *("A", "base", "1", "0", "1", "0", "100.0%", "20.7% to 100.0%")
    ]
    [heading, row] = make_state_rows([EntryReviewStatus("base_one", "1f", tuple(READINGS))])
    assert heading[1:6] == ["sound", "corrected", "open", "withdrawn", "not reviewed"]
    assert row == ["base", "0", "1", "0", "0", "0", "1"]


def test_lines_of_one_entry() -> None:
    assert list(describe_status(EntryReviewStatus("base_one", "1f", tuple(READINGS)))) == [
        "base_one: corrected; changed since its last review",
        "reviewer A: arguable; Two ways.; corrected: one way",
        "reviewer B: sound",
    ]
    assert list(describe_status(EntryReviewStatus("base_one", "1f", ()))) == [
        "base_one: not reviewed"
    ]


def test_an_entry_is_shown_with_its_standing(capsys: pytest.CaptureFixture[str]) -> None:
    mended = next(each for each in read_record() if each.mended)
    assert run("dataset show", "--ids", mended.entry) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["id"] == mended.entry
    assert f"{mended.entry}: corrected" in shown.err
    assert f"reviewer {mended.reader}: {mended.found}" in shown.err
    assert (
        run("dataset show", DATA / f"{Category.BASE}.jsonl", "--ids", "base_math_garden_plan") == 0
    )
    assert capsys.readouterr().err == ""


def test_sets_are_shown_and_listed_with_their_standing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("dataset show", "--category", "base") == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last.startswith("reviews: ")
    assert " withdrawn" in last
    assert run("dataset list") == 0
    heading, _, ours, reference = capsys.readouterr().out.splitlines()
    assert heading.endswith("reviews")
    assert " withdrawn" in ours
    assert reference.endswith("-")


def test_readings_are_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("dataset show", "--readings", "--category", "miss_param") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:6] == [
        "reviewer",
        "category",
        "reviewed",
        "sound",
        "arguable",
        "wrong",
    ]
    assert lines[2].split()[:3] == ["A", "miss_param", "108"]
    assert lines[-1].startswith("reviews: ")


def test_readings_are_of_what_comes_along() -> None:
    with pytest.raises(DataError, match="--readings: is for the built-in data set"):
        run("dataset show", DATA, "--readings")
