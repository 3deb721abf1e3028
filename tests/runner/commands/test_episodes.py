from __future__ import annotations

import json
import sys

import pytest
import turnwise

from runner.cli import main
from runner.data import errata
from trajectories.dataset import load_embedded
from trajectories.fingerprint import fingerprint
from trajectories.schema import Category

IDS = "base_files_band_setlist,base_files_grandfather_recipes"


@pytest.fixture(scope="module")
def gave_up(tmp_path_factory):
    """Make a run of an agent that does nothing, twice for each of two entries."""
    folder = tmp_path_factory.mktemp("runs") / "a"
    turnwise.evaluate(lambda messages, tools: "No.", ids=IDS.split(","), trials=2, run_dir=folder)
    return folder


def test_every_episode_has_a_line_with_its_cause(gave_up, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["episodes", str(gave_up), "--failed"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in out] == [id for id in IDS.split(",") for _ in range(2)]
    assert ["trial 1" in line for line in out] == [False, True, False, True]
    assert all("missing_call (whole_turn) at end of turn 1: " in line for line in out)


@pytest.mark.parametrize("width", [80, 100])
def test_only_a_terminal_cuts_lines(gave_up, capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["episodes", str(gave_up)]) == 0
    whole = capsys.readouterr().out.splitlines()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["episodes", str(gave_up)]) == 0
    cut = capsys.readouterr().out.splitlines()
    assert max(map(len, whole)) > 100
    assert max(map(len, cut)) == width
    assert all(w.startswith(c.removesuffix("...")) for w, c in zip(whole, cut, strict=True))
    assert "missing_call (whole_turn) at end of turn 1: " in whole[0]


def test_as_json_there_is_all_of_it(gave_up, capsys):
    assert main(["episodes", str(gave_up), "--json"]) == 0
    episodes = json.loads(capsys.readouterr().out)["episodes"]
    assert len(episodes) == 4
    first = episodes[0]
    assert (first["trial"], first["category"], first["outcome"]) == (0, "base", "failed")
    assert (first["cause"], first["sub_reason"], first["turn"]) == ("missing_call", "whole_turn", 0)


@pytest.mark.parametrize(
    ("words", "lines"),
    [(["--cause", "missing_call"], 4), (["--cause", "loop"], 0), (["--category", "nested"], 0)],
)
def test_what_is_listed_can_be_chosen(gave_up, capsys, words, lines):
    assert main(["episodes", str(gave_up), *words]) == 0
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == lines
    assert said.err == ("" if lines else "turnwise: no episode matches the options\n")


def test_a_cause_that_there_is_not(gave_up, capsys):
    assert main(["episodes", str(gave_up), "--cause", "missing_cal"]) == 2
    message = "turnwise: --cause: unknown cause 'missing_cal'; did you mean missing_call?\n"
    assert capsys.readouterr().err == message
    assert main(["episodes", str(gave_up), "--cause", "zzz"]) == 2
    assert "'zzz'; turnwise episodes --help lists all causes\n" in capsys.readouterr().err


def test_known_errors_of_the_data_are_mentioned(gave_up, capsys, monkeypatch):
    wrong, changed = IDS.split(",")
    entry = load_embedded([Category.BASE]).trajectories[wrong]
    said = "known data error (--errata bfcl corrects the entry): It is too late."
    known = {wrong: (fingerprint(entry), said), changed: ("0" * 16, said)}
    monkeypatch.setattr(errata, "_known_errors", lambda: known)
    assert main(["episodes", str(gave_up)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert ["(known error of the data) failed: " in line for line in lines] == [1, 1, 0, 0]
    for id, found in ((wrong, said), (changed, None)):
        assert main(["replay", id, "--run", str(gave_up)]) == 0
        assert (capsys.readouterr().out.splitlines()[-1] == found) is (id == wrong)
        assert main(["replay", id, "--run", str(gave_up), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["data_error"] == found


def test_every_published_error_is_described(monkeypatch):
    described = errata._known_errors()
    assert len(described) > 200
    assert all(
        text.startswith("known ") and " (--errata bfcl " in text for _, text in described.values()
    )
