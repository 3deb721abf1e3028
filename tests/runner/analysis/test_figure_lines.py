from __future__ import annotations

from dataclasses import replace

import pytest

from checkers.statistics import sampling_error
from runner.analysis.bfcl_table import score_rows, table
from runner.analysis.figure_lines import (
    format_percent,
    group_lines,
    group_lines_of_several,
    summary,
    worth_showing,
)
from runner.analysis.figures import RunFigures
from tests.group_scores import judged_once
from tests.runner.records.made import episode
from trajectories.schema import Category

ONE = table({"base": judged_once(1, 2), "live_simple": judged_once(3, 4)})
SCORE = judged_once(2, 2)
BASE = {"base": SCORE}
OTHER = table(BASE)


def line(found, name):
    """Return the cells of a line."""
    return next(text for text in found if text.split()[:1] == [name]).split()[1:]


def written(*chunks):
    """Return lines of text, one by one."""
    return "\n".join(*chunks).splitlines()


def test_one_run_with_intervals_and_the_fields_figures():
    found = written(group_lines(ONE, field=True))
    assert found[0].split() == ["group", "score", "95%", "entries", "BFCL's"]
    low, high = ONE[0].rate.interval
    interval = [f"{100 * low:.1f}%", "to", f"{100 * high:.1f}%"]
    assert line(found, "weighted") == ["overall", "56.2%", *interval, "6", "3.8%"]
    assert line(found, "live_simple")[-2:] == ["4", "75.0%"]
    assert found[-1] == "BFCL's: in this total, categories that were not run count as 0"


def test_the_fields_figures_are_left_out_where_they_mean_nothing():
    found = written(group_lines(ONE, field=False))
    assert "BFCL's" not in "\n".join(found)
    assert found[-1].startswith("totals cover only categories")


def test_what_was_not_run_is_said_once():
    found = written(group_lines(ONE, field=False))
    assert line(found, "non-live") == ["not", "run"]
    assert line(found, "miss_func") == ["not", "run"]
    names = [text.split()[0] for text in found]
    assert not {"simple_python", "executable", "chat"} & {*names}


def test_runs_side_by_side():
    found = written(group_lines_of_several([ONE, OTHER], [True, False]))
    assert line(found, "weighted")[:2] == ["overall", "56.2%"]
    assert line(found, "weighted")[-4:] == ["100.0%", "(34.2", "to", "100.0)"]
    assert ["weighted", "overall,", "BFCL's", "3.8%", "-"] in [text.split() for text in found]
    assert line(found, "live_simple") == ["75.0%", "(30.1", "to", "95.4)", "not", "run"]
    assert "these totals cover different entries and cannot be compared" in found


def test_more_runs_than_there_is_room_for_take_several_tables():
    found = written(group_lines_of_several([ONE] * 10, [False] * 10))
    assert [text.split()[1:] for text in found if text.startswith("group")] == [
        ["1", "2", "3"],
        ["4", "5", "6"],
        ["7", "8", "9"],
        ["10"],
    ]
    assert max(map(len, found)) <= 100


def test_the_same_lines_are_shown_of_all_runs():
    for rows in worth_showing([ONE, OTHER]):
        assert rows[0].path == rows[1].path
    several = {"base": judged_once(1, 2), "miss_func": judged_once(3, 4)}
    tables = [score_rows(rate, rates) for rate, rates in ((ONE[0].rate, several), (SCORE, BASE))]
    means = [rows for rows in worth_showing(tables) if rows[0].name == "mean of categories"]
    assert [row.rate for row in means[0]][1:] == [SCORE]


def test_executable_categories_alone_have_no_figures_of_the_field():
    rows = table({"rest": judged_once(1, 2)})
    for found in (
        group_lines(rows, field=True),
        group_lines_of_several([rows, rows], [True, True]),
    ):
        text = "\n".join(found)
        assert "BFCL's" not in text
        assert "overall" not in text


@pytest.mark.parametrize(("category", "shown"), [("simple_python", True), ("base", False)])
def test_the_groups_are_shown_with_single_turns_only(single_turn, folders, category, shown):
    entry = folders if category == "base" else single_turn("python", {"name": "wait"})
    found = [episode(entry.id, 0, category, "passed", 1, 1)]
    text = "\n".join(summary(RunFigures(found, [entry]), 1, 1, field=True))
    assert ("\ngroup " in text) is shown
    assert ("BFCL's" in text) is shown


def test_too_many_errors_show_no_groups(single_turn):
    entry = single_turn("python", {"name": "wait"}, category=Category.SIMPLE_PYTHON)
    found = [episode(entry.id, 0, "simple_python", "error", 0, 0)]
    assert "\ngroup " not in "\n".join(summary(RunFigures(found, [entry]), 1, 1, field=False))


def test_the_error_of_a_sample_is_that_of_its_judged_entries(folders):
    entries = [replace(folders, id=f"base_{n}") for n in range(8)]
    found = [episode(entry.id, 0, "base", "passed", 1, 1) for entry in entries[:4]]
    found[0] = episode("base_0", 0, "base", "failed", 1, 0)
    text = "\n".join(summary(RunFigures(found, entries), 1, 100, field=False))
    margin = format_percent(sampling_error(0.75, 4, 100))
    assert f"sample of 8 of 100 entries: sampling error ±{margin}" in text


def test_errors_bound_a_score_in_which_every_entry_counts_the_same(folders):
    entries = [replace(folders, id=f"base_{n}") for n in range(2)]
    found = [episode("base_0", trial, "base", "passed", 1, 1) for trial in range(3)]
    figures = RunFigures([*found, episode("base_1", 0, "base", "error", 1, 0)], entries)
    text = "\n".join(summary(figures, 3, 2, field=False))
    assert "the score is 50.0% if they count as failed, and 100.0% if they" in text


def test_a_line_of_many_trials_is_short():
    trials = 100
    made = [episode("a", trial, "base", "passed", 1, 1) for trial in range(trials)]
    figures = RunFigures(made, [])
    found = [text for text in written(summary(figures, trials, 1, field=False)) if "k=1 " in text]
    assert len(found) == 2
    for text in found:
        known = [int(part.split()[0]) for part in text.split("k=")[1:]]
        assert known == [*range(1, 17), 32, 64, 100]
