from __future__ import annotations

import json

import pytest
import turnwise

from envs.errors import DataError
from extensions.viewer.commands.annotate import with_tags
from runner.cli import main
from runner.records.annotations import TagsAndNote

ID = "base_files_band_setlist"


@pytest.fixture
def run(tmp_path):
    """Make a run of an agent that does nothing, twice for one entry."""
    turnwise.evaluate(lambda messages, tools: "No.", ids=[ID], trials=2, run_dir=tmp_path / "a")
    return str(tmp_path / "a")


def test_tags_and_notes_are_set_listed_and_filtered(run, tmp_path, capsys):
    assert main(["annotate", run, "--tag", "baseline"]) == 0
    assert main(["annotate", run, ID, "--trial", "1", "--tag", "odd", "--note", "see log"]) == 0
    capsys.readouterr()
    assert main(["annotate", run]) == 0
    assert capsys.readouterr().out == f"run: [baseline]\n{ID} trial 1: [odd] see log\n"
    assert main(["episodes", run, "--tag", "odd"]) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{ID} trial 1  [odd] failed")
    assert main(["episodes", run, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["episodes"]
    assert [(each["tags"], each["note"]) for each in shown] == [([], ""), (["odd"], "see log")]
    assert main(["runs", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("baseline")
    assert main(["annotate", run, ID, "--trial", "1", "--untag", "odd", "--note", ""]) == 0
    assert main(["annotate", run, "--json"]) == 0
    text = capsys.readouterr().out
    assert json.loads(text[text.index("{") :])["annotations"] == [
        {"id": None, "trial": None, "tags": ["baseline"], "note": ""}
    ]


@pytest.mark.parametrize("words", [["nothing"], [ID, "--trial", "7"], ["--untag", "x"]])
def test_what_is_not_there_cannot_be_annotated(run, capsys, words):
    assert main(["annotate", run, *words, "--note", "x"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_tags_are_added_once_and_removed():
    known = with_tags(TagsAndNote(("a",), "n"), ["b", "a"], [])
    assert known == TagsAndNote(("a", "b"), "n")
    assert with_tags(known, [], ["a"]).tags == ("b",)
    with pytest.raises(DataError, match="--untag: there is no tag 'c'"):
        with_tags(known, [], ["c"])
