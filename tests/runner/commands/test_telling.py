"""What answers told: a column of every table, and with --require-info part of passing."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from checkers.required_info import Number, Text
from runner.episodes.info_verdict import find_reported_info
from tests.runner.analysis.replayed_runs import definition, record, write_run
from tests.runner.analysis.report.making import call, unpacked
from tests.runner.commands.running import run
from trajectories.dataset import load_path
from trajectories.schema import Category

MOVE = call("mv", source="notes.txt", destination="old")
COUNT = [*call("cd", folder="old"), *call("wc", file_name="notes.txt")]
SILENT = [[MOVE], [COUNT]]
WRONG = [[MOVE, "They are in old."], [COUNT, "They have 7 lines."]]
RIGHT = [WRONG[0], [COUNT, "They have three lines."]]
CALLS = (
    ["mv(source='notes.txt', destination='old')"],
    ["cd(folder='old')", "wc(file_name='notes.txt')"],
)
COLUMNS = ["facts", "reported", "turns", "reported"]
SHARES = {"facts reported": 0.5, "turns reported": 0.5}


@pytest.fixture
def data(write_lines, folders):
    """Write a trajectory that tells a fact in each turn."""
    first, second = folders.turns
    turns = (replace(first, tells=(Text("old"),)), replace(second, tells=(Number(3, "lines"),)))
    return write_lines("data.jsonl", replace(folders, turns=turns))


@pytest.fixture
def said(data, write_lines, capsys):
    """Run a command on a result file of one episode; return what it printed, cell by cell."""

    def lines(command, turns, *options):
        file = write_lines("model.json", {"id": "folders_0", "result": turns})
        paths = (file, file) if command == "compare" else (file,)
        run(command, *paths, "--dataset", data, *options)
        return capsys.readouterr().out

    return lines


def cells(text, first):
    """Return the cells of the last line that begins so."""
    return [line.split() for line in text.splitlines() if line.split()[:1] == [first]][-1]


def values(figures):
    """Return the values that a page draws by their labels."""
    return {figure["label"]: figure["value"] for figure in figures}


def rows(card):
    """Return the values of a card by the labels of its rows."""
    return {row["label"]: values(row["figures"]) for row in card["rows"]}


def test_score_has_columns_for_what_was_told(said):
    shown = said("score", WRONG)
    assert cells(shown, "category")[-4:] == COLUMNS
    assert cells(shown, "base")[1:3] == ["1", "1"]
    assert cells(shown, "base")[-2:] == ["50.0%", "50.0%"]
    assert cells(said("score", RIGHT), "base")[-2:] == ["100.0%", "100.0%"]


def test_eval_has_them_of_a_replay(said, data, write_lines, capsys):
    file = write_lines("model.json", {"id": "folders_0", "result": WRONG})
    run("eval", "--model", f"replay:{file}", "--dataset", data)
    assert cells(capsys.readouterr().out, "category")[-4:] == COLUMNS


@pytest.mark.parametrize("command", ["score", "table", "compare"])
def test_where_no_words_are_on_record_there_is_no_such_column(said, command):
    assert "reported" not in said(command, SILENT)


def test_a_table_has_them_of_every_run(said, tmp_path):
    csv, page = tmp_path / "rows.csv", tmp_path / "page.html"
    shown = said("table", WRONG, "--csv", csv, "--html", page)
    assert cells(shown, "run") == ["run", *COLUMNS]
    assert cells(shown, "1") == ["1", "50.0%", "50.0%"]
    assert "told/facts_told,0.5," in csv.read_text()
    cards = {card["title"]: rows(card) for card in unpacked(page.read_text())[0]["cards"]}
    assert cards["Required information"] == {"1": SHARES}
    told = json.loads(said("table", WRONG, "--json"))["runs"][0]["told"]
    assert (told["facts"], told["facts_told"]) == (2, 1)


def test_a_comparison_has_them_of_both_runs(said, tmp_path):
    page = tmp_path / "page.html"
    shown = said("compare", WRONG, "--html", page)
    assert cells(shown, "A") == ["A", "50.0%", "50.0%"]
    [card] = unpacked(page.read_text())[0]["cards"]
    assert rows(card) == {"A": SHARES, "B": SHARES}
    assert [told["facts"] for told in json.loads(said("compare", WRONG, "--json"))["told"]] == [
        2,
        2,
    ]


def test_a_report_has_them_of_categories_and_episodes(said, tmp_path):
    page = tmp_path / "page.html"
    said("report", WRONG, "--output", page)
    [about] = unpacked(page.read_text())[0]
    assert values(about["overview"]["scores"][0]["figures"]) == SHARES
    assert about["overview"]["told"] is True
    [row] = about["rows"]
    assert (row["told"], row["outcome"]) == ([1, 2], "passed")


def test_where_it_is_required_an_episode_fails_that_leaves_something_out(said, tmp_path):
    lines, page = tmp_path / "verdicts.jsonl", tmp_path / "page.html"
    shown = said("score", WRONG, "--require-info", "--output", lines)
    assert cells(shown, "base")[1:4] == ["1", "0", "1"]
    verdict = json.loads(lines.read_text())
    assert (verdict["error_type"], verdict["failed_turn"]) == ("multi_turn:not_told", 1)
    assert verdict["untold"] == ["3 lines"]
    table = json.loads(said("table", WRONG, "--require-info", "--json"))
    assert table["runs"][0]["table"][0]["score"] == 0
    assert cells(said("compare", WRONG, "--require-info"), "not_told")[1:3] == ["100.0%", "100.0%"]
    said("report", WRONG, "--require-info", "--output", page)
    [row] = unpacked(page.read_text())[0][0]["rows"]
    assert (row["outcome"], row["cause"]) == ("failed", "not_told")
    assert row["detail"] == "not reported: 3 lines"


@pytest.mark.parametrize("turns", [RIGHT, SILENT])
def test_what_tells_all_or_has_no_words_passes_all_the_same(said, turns):
    assert cells(said("score", turns, "--require-info"), "base")[1:4] == ["1", "1", "0"]


def test_a_failure_for_another_reason_keeps_it(said, tmp_path):
    lines = tmp_path / "verdicts.jsonl"
    said("score", [["Done."], ["Done."]], "--require-info", "--output", lines)
    assert json.loads(lines.read_text())["error_type"] == "multi_turn:empty_turn_model_response"


def test_verdict_lines_and_run_folders_keep_what_was_told(said, data, tmp_path, capsys):
    lines = tmp_path / "verdicts.jsonl"
    said("score", WRONG, "--output", lines)
    turns = [[f"[{', '.join(t)}]", w] for t, w in zip(CALLS, ("In old.", "7 lines."), strict=True)]
    made = record(data, "folders_0", turns)
    made = made._replace(
        telling=find_reported_info(
            load_path(data, [Category.BASE]).trajectories["folders_0"], turns
        )
    )
    folder = write_run(tmp_path / "run", definition(data), made)
    for path in (lines, folder):
        run("table", path)
        shown = capsys.readouterr().out
        assert ["1", "50.0%", "50.0%"] in [line.split() for line in shown.splitlines()]
        run("table", path, "--require-info", "--json")
        shown = json.loads(capsys.readouterr().out)
        assert shown["runs"][0]["table"][0]["score"] == 0
