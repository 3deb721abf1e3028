"""A figure is one row: everything that shows figures takes it from there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from checkers.profile import STRICT
from checkers.verdict import SelectionCounts, Verdict
from runner.analysis import comparison_lines, figure_table
from runner.analysis.comparison import compare_each
from runner.analysis.figure_lines import csv_rows, lines, summary, table_lines
from runner.analysis.figure_table import FIGURES, REQUESTS, FigureRow, FigureSection
from runner.analysis.figures import ActCounts, RunFigures, UsageTotals
from runner.analysis.report.pages import comparison_json, scores_page
from runner.analysis.report.run_report import report
from runner.analysis.run_scores import RunScores
from tests.runner.analysis.report.making import request, source_of, unpacked, viewed
from tests.runner.analysis.test_runs_executed_again import RIGHT, WRONG, record
from tests.runner.records.made import episode


def turns_share(figures):
    """Return the share of passed turns."""
    turns = sum(each.turns for each in figures.judged)
    return sum(each.turns_passed for each in figures.judged) / turns if turns else None


BELOW = FigureRow(
    name="pace/long_episodes",
    label="long episodes",
    section=FigureSection(title="Pace"),
    value=lambda figures: ActCounts(7, 1, 2),
    form="acts",
    phrase="pace: {label} {text}",
)
BESIDE = FigureRow(
    name="pace/turns",
    label="turn share",
    section=FigureSection(title="Turns", beside_scores=True),
    value=turns_share,
    form="share",
)
USAGE = FigureRow(
    name="requests/watts",
    label="watts",
    section=REQUESTS,
    value=lambda figures: figures.totals and 2.5 * figures.totals.requests,
    form="seconds",
    phrase=", {value:.1f} W",
    caption="Power",
)


@pytest.fixture(autouse=True)
def rows(monkeypatch):
    """Add rows to the table."""
    monkeypatch.setattr(figure_table, "FIGURES", (*FIGURES, BELOW, BESIDE, USAGE))


@pytest.fixture
def scores(folders):
    """Return a run of one entry that passes one of two turns."""
    made = [episode(folders.id, 0, "base", "failed", 2, 1)]
    figures = RunFigures(made, [folders], UsageTotals(2, 9, 9, [1.0, 3.0], None))
    return RunScores("model", Path("made-up"), "strict", figures)


def test_a_row_is_in_the_lines_of_eval(scores):
    shown = "\n".join(summary(scores.figures, 1, 1, field=False)).splitlines()
    assert shown[0].endswith("turn share")
    assert shown[2].endswith("50.0%")
    assert "pace: long episodes 7 (50.0%)" in shown
    [_, latency] = lines(scores.figures, usage=True)
    assert latency.endswith(", p95 2.900 s, 5.0 W")


def test_a_row_is_in_the_text_csv_and_json_of_a_table(scores):
    shown = [line.split() for line in "\n".join(table_lines([scores])).splitlines()]
    assert ["1", "7", "(50.0%)"] in shown
    assert ["run", "turn", "share"] in shown
    assert ["5.000"] in [line[-1:] for line in shown]
    found = {row[2]: row[3:] for row in csv_rows([scores])}
    assert found["pace/long_episodes"] == (0.5, "", "", 2, "")
    assert found["pace/turns"] == (0.5, "", "", "", "")
    assert found["requests/watts"] == (5.0, "", "", "", "")
    pace, watts = (scores.to_json()[name] for name in ("pace", "watts"))
    assert pace == {"long_episodes": {"acts": 7, "episodes": 1, "judged": 2}, "turns": 0.5}
    assert watts == 5.0


def test_a_row_is_in_the_data_of_the_page_on_runs(scores):
    [shown] = unpacked(scores_page([scores]))
    cards = {card["title"]: card["rows"] for card in shown["cards"]}
    acts = {"label": "long episodes", "form": "acts", "value": [7, 0.5]}
    assert cards["Pace"] == [{"label": "1", "figures": [acts]}]
    assert cards["Requests"][0]["figures"][-1] == {
        "label": "watts",
        "form": "seconds",
        "value": 5.0,
    }


def test_the_page_on_runs_shows_the_choice_of_functions():
    verdict = Verdict(False, None, None, 1, 0, selected=SelectionCounts(4, 3, 2, 1))
    found = episode("base_0", 0, "base", "failed", 1, 0)._replace(verdict=verdict)
    [shown] = unpacked(scores_page([RunScores("a", Path("a"), "strict", RunFigures([found]))]))
    cards = {card["title"]: card["rows"][0]["figures"] for card in shown["cards"]}
    values = {figure["label"]: figure["value"] for figure in cards["Function choice"]}
    assert (values["correct functions"], values["correct arguments"]) == (0.75, 2 / 3)


def test_a_row_is_in_the_report(dataset_of, help_desk):
    used = {help_desk.id: record(steps=[request(0, 1), request(0, 2)])}
    run = viewed(dataset_of(help_desk), source_of({help_desk.id: WRONG}, used))
    shown = unpacked(report([run]))[0][0]["overview"]
    rows = {each["label"]: (each["value"], each["of"]) for each in shown["behaviour"]}
    assert rows["long episodes"] == ([7, 0.5], 2)
    beside = {"label": "turn share", "form": "share", "value": 0.0}
    assert beside in shown["scores"][0]["figures"]
    assert shown["usage"][-1] == {"label": "Power", "form": "seconds", "value": 5.0}


def test_a_row_beside_scores_is_in_a_comparison(dataset_of, help_desk):
    dataset = dataset_of(help_desk)
    runs = tuple(
        replace(source_of({help_desk.id: turns}), name=name)
        for name, turns in (("right", RIGHT), ("wrong", WRONG))
    )
    (found,) = compare_each(runs, dataset, STRICT, (20, 20))
    shown = [line.text.split() for line in comparison_lines.lines(found)]
    assert ["A", "100.0%"] in shown
    assert ["B", "0.0%"] in shown
    assert comparison_json(found)["pace"] == [{"turns": 1.0}, {"turns": 0.0}]
    assert [card["title"] for card in comparison_json(found)["cards"]] == ["Turns"]


def test_names_are_unique_and_what_a_table_shows_has_a_label():
    assert len({row.name for row in FIGURES}) == len(FIGURES)
    labels = [row.label for row in FIGURES if row.label]
    assert len({*labels}) == len(labels)
