from __future__ import annotations

import json

import pytest

from checkers.profile import STRICT
from runner.analysis.report.run_report import report
from runner.analysis.report.viewing import view
from runner.analysis.run_scores import ScoringRules, open_scores
from runner.analysis.run_scores_text import csv_rows
from runner.analysis.source import dataset_of
from runner.analysis.summary import totals_of, usage_lines
from runner.records.run import open_run
from tests.runner.analysis.report.making import request, unpacked
from tests.runner.analysis.runs import definition, record, truth_turns, write_run


@pytest.fixture
def folder(tmp_path, data, folders):
    """Write a run whose five requests took one to five seconds."""
    made = record(data, "folders_0", truth_turns(folders))
    steps = [request(0, 1, tools=None, latency=float(n)) for n in range(1, 6)]
    return write_run(tmp_path / "run", definition(data), made._replace(steps=steps))


def test_the_report_has_the_figures_of_the_table_and_of_eval(folder):
    source = open_run(folder)
    dataset = dataset_of(source, None, lambda line: None)
    shown = unpacked(report([view(source, dataset, STRICT, 20)]))[0][0]["overview"]
    rules = ScoringRules(None, None, 20)
    kept = open_scores(folder, rules, lambda line: None, allow_errors=False)
    table = json.loads(json.dumps(kept.to_json()))
    evaluated = "\n".join(usage_lines(totals_of(source.records)))
    rows = {row[2]: row[3] for row in csv_rows([kept])}

    assert shown["usage"]["p95"] == table["latency"]["p95"] == rows["requests/latency_p95"] == 4.8
    assert "p95 4.800 s" in evaluated
    assert shown["usage"]["p50"] == table["latency"]["p50"] == rows["requests/latency_p50"] == 3.0
    assert shown["usage"]["requests"] == table["requests"] == rows["requests/requests"] == 5
    assert shown["scores"][0]["rate"] == table["table"][0]["score"] == 1.0
    assert shown["scores"][0]["interval"] == table["table"][0]["interval"]
