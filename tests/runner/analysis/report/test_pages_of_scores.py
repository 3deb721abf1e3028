from __future__ import annotations

from pathlib import Path

import pytest

from runner.analysis.figures import ActCounts, RunFigures, UsageTotals
from runner.analysis.report.pages import scores_page
from runner.analysis.run_scores import RunScores
from tests.runner.analysis.report.making import unpacked
from tests.runner.records.made import episode

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\ud800"


def card(shown, title):
    """Return the values of a card by the labels of its rows and columns."""
    rows = next((card["rows"] for card in shown["cards"] if card["title"] == title), [])
    return {row["label"]: {each["label"]: each["value"] for each in row["figures"]} for row in rows}


@pytest.fixture
def run():
    """Return a run of which some episodes passed, by category."""

    def make(name="model", totals=None, **passed):
        outcomes = [
            episode(f"{category}_{number}", 0, category, "passed" if right else "failed", 1, 0)
            for category, results in passed.items()
            for number, right in enumerate(results)
        ]
        return RunScores(name, Path("made-up"), "bfcl", RunFigures(outcomes, totals=totals))

    return make


def test_it_holds_the_groups_of_every_run(run):
    [shown] = unpacked(scores_page([run(multiple=[1, 0]), run(rest=[1])]))
    rates = {row["name"]: row["rates"] for row in shown["groups"]["rows"]}
    assert rates["multiple"][0]["value"] == 0.5
    assert rates["multiple"][1] is None
    assert rates["rest"][1]["entries"] == 1
    assert shown["groups"]["notes"][-1].startswith("BFCL's")


def test_it_holds_the_nine_classic_groups(run):
    [shown] = unpacked(scores_page([run(multiple=[1, 0])]))
    assert len(shown["groups"]["classic"]) == 9
    assert [group["name"] for group in shown["groups"]["classic"] if group["rates"][0]] == [
        "AST multiple"
    ]


def test_it_holds_what_requests_took(run):
    totals = UsageTotals(2, 10, 10, [1.0, 3.0], 0.5)
    [shown] = unpacked(scores_page([run(totals=totals, base=[1]), run(base=[1])]))
    [found] = card(shown, "Requests").items()
    assert found[0] == "1"
    assert (found[1]["requests"], found[1]["$ per 1,000"], found[1]["latency s"]) == (2, 250, 2)


def test_it_holds_what_was_made_up(run, monkeypatch):
    made_up = {
        "invented_functions": ActCounts(3, 1, 4),
        "calls_where_none_fits": ActCounts(0, 0, 4),
    }
    monkeypatch.setattr(RunFigures, "hallucinations", made_up)
    [shown] = unpacked(scores_page([run(multiple=[1, 0])]))
    acts = card(shown, "Hallucinations and irreversible calls")["1"]
    assert acts["invented functions"] == [3, 0.25]
    assert acts["unneeded calls"] == [0, 0.0]


def test_a_run_of_which_nothing_was_counted_has_no_such_figures(run, monkeypatch):
    monkeypatch.setattr(RunFigures, "hallucinations", {})
    monkeypatch.setattr(RunFigures, "irreversible", None)
    [shown] = unpacked(scores_page([run(multiple=[1, 0])]))
    assert card(shown, "Hallucinations and irreversible calls") == {}


def test_a_hostile_name_is_no_markup(run):
    text = scores_page([run(HOSTILE, base=[1])])
    assert "<img" not in text
    text.encode()
    assert unpacked(text)[0]["runs"][0]["name"] == HOSTILE
