from __future__ import annotations

import json

import pytest

from extensions.authoring.canary import CANARY
from runner.cli import main
from runner.commands import DONE, USER_ERROR


def said(capsys, *arguments):
    """Return what the command prints."""
    assert main(["dataset", "overlap", *map(str, arguments)]) == DONE
    return capsys.readouterr()


@pytest.mark.slow
def test_a_scenario_copied_into_a_text_is_found(capsys, tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a.txt").write_text("Nothing of ours in here, for as far as anybody can see.")
    (corpus / "b.txt").write_text(
        "so: go into chapters and show me line by line where they differ, ch2_methods.txt first"
    )
    (corpus / "picture.png").write_bytes(b"\x89PNG\xff\xfe")
    out, err = said(capsys, "turnwise", corpus)
    assert " entries (0." in out
    assert "base_files_thesis_chapters" in out
    assert "go into chapters and show me line by line where they differ" in out
    assert "picture.png: is not UTF-8 text" in err


def test_lines_of_json_are_entries_and_what_is_none_is_text(capsys, tmp_path):
    words = "one two three four five six seven eight nine"
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    first.write_text(json.dumps({"id": "mine", "messages": [{"content": words}]}) + "\n")
    second.write_text(f"{{broken {words}\n" + json.dumps(["a", "b"]) + "\n")
    found = json.loads(said(capsys, first, second, "--json").out)
    assert (found["entries"], found["others"], found["canary"]) == (1, 2, [])
    [shared] = found["shared"]
    assert (shared["id"], shared["shared"], shared["share"]) == ("mine", 2, 1.0)
    assert shared["other"] == f"{second}:1"


def test_the_canary_is_looked_for(capsys, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(f"a page from somewhere\n\n{CANARY}\n")
    assert "corpus.txt contains the canary" in said(capsys, "turnwise", corpus).err


def test_nothing_in_common_is_one_line(capsys, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("nothing")
    assert said(capsys, corpus, corpus).out == (
        f"{corpus}: 0 of 1 entries (0.0%) contain 8 consecutive words of {corpus} (1 entries)\n"
    )


def test_what_is_not_there_is_one_line(capsys):
    assert main(["dataset", "overlap", "turnwise", "no/such"]) == USER_ERROR
    assert capsys.readouterr().err == (
        "turnwise: no/such: must be `turnwise`, `bfcl`, `bfcl:FOLDER`, or an existing file or "
        "folder\n"
    )
