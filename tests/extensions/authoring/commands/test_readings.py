"""What readers found: ``turnwise dataset list`` and ``dataset show``."""

from __future__ import annotations

import json

import pytest

from extensions.authoring.reading_lines import reader_rows, standing_lines, state_rows
from extensions.authoring.standing import EntryStanding, Opinion, Reading, read_record, tallies
from tests.runner.commands.running import run
from trajectories.dataset import DATA
from trajectories.errors import DataError
from trajectories.schema import Category

READINGS = [
    Reading("base_one", "A", Opinion.ARGUABLE, "0f", "Two ways.", mended="one way"),
    Reading("base_one", "B", Opinion.SOUND, "0f"),
]


def test_rows_count_readings_and_entries() -> None:
    assert reader_rows(tallies(READINGS))[1] == [
        *("A", "base", "1", "0", "1", "0", "100.0%", "20.7% to 100.0%")
    ]
    [heading, row] = state_rows([EntryStanding("base_one", "1f", tuple(READINGS))])
    assert heading[1:6] == ["sound", "mended", "open", "withdrawn", "not read"]
    assert row == ["base", "0", "1", "0", "0", "0", "1"]


def test_lines_of_one_entry() -> None:
    assert list(standing_lines(EntryStanding("base_one", "1f", tuple(READINGS)))) == [
        "base_one: mended; not read since its last change",
        "reader A: arguable; Two ways.; mended: one way",
        "reader B: sound",
    ]
    assert list(standing_lines(EntryStanding("base_one", "1f", ()))) == ["base_one: not read"]


def test_an_entry_is_shown_with_its_standing(capsys: pytest.CaptureFixture[str]) -> None:
    mended = next(each for each in read_record() if each.mended)
    assert run("dataset show", "--ids", mended.entry) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["id"] == mended.entry
    assert f"{mended.entry}: mended" in shown.err
    assert f"reader {mended.reader}: {mended.found}" in shown.err
    assert (
        run("dataset show", DATA / f"{Category.BASE}.jsonl", "--ids", "base_math_garden_plan") == 0
    )
    assert capsys.readouterr().err == ""


def test_sets_are_shown_and_listed_with_their_standing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("dataset show", "--category", "base") == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last.startswith("as read: ")
    assert " withdrawn" in last
    assert run("dataset list") == 0
    heading, _, ours, reference = capsys.readouterr().out.splitlines()
    assert heading.endswith("as read")
    assert " withdrawn" in ours
    assert reference.endswith("-")


def test_readings_are_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("dataset show", "--readings", "--category", "miss_param") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:6] == ["reader", "category", "read", "sound", "arguable", "wrong"]
    assert lines[2].split()[:3] == ["A", "miss_param", "108"]
    assert lines[-1].startswith("as read: ")


def test_readings_are_of_what_comes_along() -> None:
    with pytest.raises(DataError, match="--readings: is for the data set that comes along"):
        run("dataset show", DATA, "--readings")
