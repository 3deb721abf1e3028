"""The figures of an experiment, and its lines, rows and page."""

from __future__ import annotations

import json

import pytest

from checkers.statistics import wilson
from envs.errors import DataError
from extensions.experiments.curve_page import curve_page
from extensions.experiments.experiment_lines import csv_rows, experiment_lines
from extensions.experiments.experiment_scores import experiment_json, load_experiment
from runner.cli import main
from tests.extensions.experiments.made_experiments import experiment, outcomes

LEVELS = {"need": outcomes(20, 20), "20": outcomes(10, 20, functions=2, strangers=1)}


@pytest.fixture
def folder(tmp_path):
    sizes = {"need": 5, "20": 20}
    return experiment(tmp_path / "one", {"tools": LEVELS}, sizes=sizes)


def test_each_level_stands_beside_the_first(folder):
    (axis,) = load_experiment(folder).axes
    first, second = axis.levels
    assert (first.passed[0], first.function_right[0], first.arguments_right[0]) == (1, 1, 0.75)
    assert (second.passed[0], second.function_right[0], second.arguments_right[0]) == (0.5, 0.5, 1)
    assert first.difference is None
    assert (second.difference.difference, second.difference.worse) == (-0.5, 10)
    assert second.corrected == second.difference.p_value == 2 / 2**10
    assert (second.figures.selection.distractors, second.tools) == (20, 20)


def test_slopes_are_for_every_doubling_of_the_functions(folder):
    (axis,) = load_experiment(folder).axes
    assert axis.slopes["passed"].value == pytest.approx(-0.25)
    assert axis.slopes["function right"].value == pytest.approx(-0.25)
    assert axis.slopes["both right"].value == pytest.approx(-0.125)
    low, high = axis.slopes["function right"].interval
    assert -0.5 < low < -0.25 < high < 0


def test_the_bias_of_places_is_told_of_near_distractors_only(tmp_path):
    places = {
        "head": outcomes(4, 4, functions=4),
        "middle": outcomes(4, 4, functions=1),
        "tail": outcomes(4, 4, functions=1),
    }
    near = experiment(tmp_path / "near", {"place": places}, rest={"distractors": "near"})
    far = experiment(tmp_path / "far", {"place": places}, rest={"distractors": "far"})
    assert load_experiment(near).axes[0].bias == pytest.approx(1 / 3)
    assert load_experiment(far).axes[0].bias is None


def test_what_is_not_finished_is_not_compared_and_said(tmp_path):
    levels = {"need": outcomes(4, 4), "20": []}
    folder = experiment(tmp_path / "one", {"tools": levels}, planned=4)
    found = load_experiment(folder)
    assert found.axes[0].levels[1].difference is None
    unscored = "these levels have no score (unfinished, or too many errors): 20"
    assert unscored in [*experiment_lines([found])]


def test_levels_that_entries_were_dealt_out_to_are_two_samples(tmp_path):
    folder = experiment(tmp_path / "one", {"tools": LEVELS}, design="latin")
    (axis,) = load_experiment(folder).axes
    assert axis.levels[1].difference.mcnemar is None
    assert axis.levels[1].difference.difference == -0.5
    assert any(
        "each level has different entries" in line
        for line in experiment_lines([load_experiment(folder)])
    )


def test_the_command_prints_tables_and_writes_rows_page_and_json(folder, tmp_path, capsys):
    page, rows = tmp_path / "c.html", tmp_path / "c.csv"
    assert main(["vary", str(folder), "--html", str(page), "--csv", str(rows)]) == 0
    said = capsys.readouterr().out
    assert "passed: -25.00 points for every doubling of the number of functions (95% -3" in said
    assert page.read_text().startswith("<!doctype html>")
    head, *lines = rows.read_text().splitlines()
    assert head.startswith("model,axis,at,level,run,episodes")
    assert "m,tools,,20,tools=20,20,0,20.0,passed,0.5," in rows.read_text()
    assert len(lines) == 2 * 8 + 1 + 4
    assert main(["vary", str(folder), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["experiments"] == [
        json.loads(json.dumps(experiment_json(load_experiment(folder))))
    ]
    assert shown["experiments"][0]["axes"][0]["levels"][1]["difference"]["value"] == -0.5


def test_the_same_experiment_gives_the_same_bytes(folder):
    found = load_experiment(folder)
    assert curve_page([found]) == curve_page([load_experiment(folder)])
    assert [*csv_rows([found])] == [*csv_rows([load_experiment(folder)])]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "contains no experiment: vary.json is missing"),
        ("{", "is not valid JSON"),
        ("[]", "must be a JSON object"),
        ("{}", "$.design"),
        ('{"design": 1, "trials": 1, "blocks": [], "sizes": {}, "bases": {}}', "$.design"),
        (
            '{"design": null, "trials": 1, "blocks": [], "sizes": {}, "bases": {}}',
            "no run that has started",
        ),
        ('{"design": null, "trials": 0, "blocks": [], "sizes": {}, "bases": {}}', "$.trials"),
        (
            '{"design": null, "trials": 1, "sizes": {}, "bases": {},'
            ' "blocks": [{"axis": "a", "rest": {}, "runs": {}}]}',
            "$.blocks[0].runs: names no run",
        ),
        (
            '{"design": null, "trials": 1, "sizes": {}, "bases": {},'
            ' "blocks": [{"axis": "a", "rest": {}, "runs": {"x": "../y"}}]}',
            "is not a folder name",
        ),
        (
            '{"design": null, "trials": 1, "sizes": {"x": {"e": 0}}, "bases": {}, "blocks": []}',
            "every size must be 1 to",
        ),
    ],
)
def test_what_is_no_experiment_is_one_line(tmp_path, text, message):
    if text is not None:
        (tmp_path / "vary.json").write_text(text)
    with pytest.raises(DataError) as raised:
        load_experiment(tmp_path)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_more_models_than_there_are_colours_are_refused(folder, capsys):
    assert main(["vary", *[str(folder)] * 6]) == 2
    assert "at most 5 experiments" in capsys.readouterr().err


def test_the_slope_of_equal_scores_is_zero_without_a_sign(tmp_path):
    levels = {level: outcomes(20, 20) for level in ("need", "20", "80")}
    folder = experiment(tmp_path / "one", {"tools": levels}, sizes={"need": 5, "20": 20, "80": 80})
    (axis,) = load_experiment(folder).axes
    assert axis.slopes["passed"].value < 0.0, "these sizes give no rounding error"
    said = "\n".join(experiment_lines([load_experiment(folder)]))
    assert "passed: +0.00 points" in said
    assert "-0.00" not in said


def test_a_level_has_the_interval_of_its_run(folder):
    half = load_experiment(folder).axes[0].levels[1]
    assert half.passed == (0.5, wilson(10, 20))
